/* report/result.c: a result is filled. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "report/result.h"

struct result *result_new(const char *tool)
{
    struct result *result = memory_alloc_zero(1, sizeof(*result));

    arena_init(&result->arena);
    result->tool = arena_strdup(&result->arena, tool);
    json_writer_init(&result->facts);
    json_writer_begin_object(&result->facts);
    return result;
}

void result_free(struct result *result)
{
    if (result == NULL)
        return;
    for (size_t i = 0; i < result->tables.count; i++)
        free(result->tables.items[i].items);
    free(result->tables.items);
    free(result->lines.items);
    free(result->nodes.items);
    json_writer_release(&result->facts);
    arena_release(&result->arena);
    free(result);
}

/* ---- The answer ---- */

static const char *copy_formatted(struct result *result, const char *format, va_list args)
{
    SCOPED_STRING(text);

    string_add_format_list(&text, format, args);
    return arena_text(&result->arena, (struct text){text.data, text.size});
}

void result_set_verdict(struct result *result, enum report_verdict verdict, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    result->sentence = copy_formatted(result, format, args);
    va_end(args);
    result->verdict = verdict;
    result->verdict_is_logged = false;
}

void result_add_line(struct result *result, enum result_line_kind kind, const char *format, ...)
{
    va_list args;
    const char *text;

    va_start(args, format);
    text = copy_formatted(result, format, args);
    va_end(args);
    *VECTOR_APPEND(&result->lines) = (struct result_item){.kind = kind, .text = text};
}

void result_add_node(struct result *result, const char *name)
{
    *VECTOR_APPEND(&result->nodes) = arena_strdup(&result->arena, name);
}

/* ---- Tables ---- */

void result_begin_table(struct result *result, const struct result_table *table)
{
    *VECTOR_APPEND(&result->lines) = (struct result_item){.table = result->tables.count};
    *VECTOR_APPEND(&result->tables) = (struct result_rows){.table = table};
}

static struct words copy_names(struct result *result, struct words names)
{
    const char **items = arena_alloc(&result->arena, names.count * sizeof(*items));

    for (size_t i = 0; i < names.count; i++)
        items[i] = arena_strdup(&result->arena, names.items[i]);
    return (struct words){.items = items, .count = names.count};
}

void result_add_row(struct result *result, const struct result_cell *cells)
{
    struct result_rows *rows = &result->tables.items[result->tables.count - 1];

    for (size_t i = 0; i < rows->table->column_count; i++) {
        struct result_cell cell = cells[i];

        cell.text = cell.text != NULL ? arena_strdup(&result->arena, cell.text) : NULL;
        cell.names = copy_names(result, cell.names);
        *VECTOR_APPEND(rows) = cell;
    }
}

/* ---- Facts ---- */

static struct json_writer *begin_fact(struct result *result, const char *key)
{
    if (key != NULL)
        json_writer_key(&result->facts, key);
    return &result->facts;
}

void result_add_null(struct result *result, const char *key)
{
    json_writer_null(begin_fact(result, key));
}

void result_add_text(struct result *result, const char *key, const char *value)
{
    if (value != NULL)
        json_writer_string(begin_fact(result, key), value);
    else
        result_add_null(result, key);
}

void result_add_count(struct result *result, const char *key, uint64_t value)
{
    json_writer_integer(begin_fact(result, key), (int64_t)value);
}

void result_add_integer(struct result *result, const char *key, int64_t value)
{
    json_writer_integer(begin_fact(result, key), value);
}

void result_add_number(struct result *result, const char *key, double value)
{
    if (isnan(value))
        result_add_null(result, key);
    else
        json_writer_number(begin_fact(result, key), value);
}

void result_add_flag(struct result *result, const char *key, bool value)
{
    json_writer_boolean(begin_fact(result, key), value);
}

void result_add_names(struct result *result, const char *key, struct words names)
{
    result_begin_list(result, key);
    for (size_t i = 0; i < names.count; i++)
        result_add_text(result, NULL, names.items[i]);
    result_end_list(result);
}

void result_begin_record(struct result *result, const char *key)
{
    json_writer_begin_object(begin_fact(result, key));
}

void result_end_record(struct result *result)
{
    json_writer_end_object(&result->facts);
}

void result_begin_list(struct result *result, const char *key)
{
    json_writer_begin_array(begin_fact(result, key));
}

void result_end_list(struct result *result)
{
    json_writer_end_array(&result->facts);
}
