/* report/result_render.c: a result as members of a JSON document, and on the page. */
#include <math.h>

#include "base/memory.h"
#include "base/text/string_builder.h"
#include "report/result.h"

/* ---- JSON ---- */

/* In the order of enum report_verdict. */
static const char *const verdict_keys[] = {"unknown", "passed", "failed", "cause"};

static void write_lines(const struct result *result, enum result_line_kind kind, const char *key,
                        struct json_writer *writer)
{
    json_writer_begin_array_member(writer, key);
    for (size_t i = 0; i < result->lines.count; i++)
        if (result->lines.items[i].text != NULL && result->lines.items[i].kind == kind)
            json_writer_string(writer, result->lines.items[i].text);
    json_writer_end_array(writer);
}

static void write_cell(const struct result_column *column, const struct result_cell *cell, struct json_writer *writer)
{
    if (column->kind == RESULT_NAMES)
        json_writer_add_strings(writer, column->key, cell->names.items, cell->names.count);
    else if (column->kind == RESULT_TEXT)
        json_writer_add_string(writer, column->key, cell->text);
    else if (!json_writer_key_or_null(writer, column->key, cell->text == NULL && !isnan(cell->number)))
        return;
    else if (column->kind == RESULT_FLAG)
        json_writer_boolean(writer, cell->number != 0);
    else if (column->kind == RESULT_COUNT && isfinite(cell->number))
        json_writer_integer(writer, (int64_t)cell->number);
    else
        json_writer_number(writer, cell->number);
}

static void write_table(const struct result_rows *rows, struct json_writer *writer)
{
    const struct result_table *table = rows->table;

    if (table->key == NULL)
        return;
    json_writer_begin_array_member(writer, table->key);
    for (size_t i = 0; i < rows->count; i += table->column_count) {
        json_writer_begin_object(writer);
        for (size_t k = 0; k < table->column_count; k++)
            if (table->columns[k].key != NULL)
                write_cell(&table->columns[k], &rows->items[i + k], writer);
        json_writer_end_object(writer);
    }
    json_writer_end_array(writer);
}

void result_write(const struct result *result, struct json_writer *writer)
{
    json_writer_add_integer(writer, "version", RESULT_VERSION);
    json_writer_add_string(writer, "tool", result->tool);
    json_writer_add_string(writer, "verdict", verdict_keys[result->verdict]);
    json_writer_add_string(writer, "answer", result->sentence);
    write_lines(result, RESULT_EVIDENCE, "evidence", writer);
    write_lines(result, RESULT_NOT_TESTED, "not_tested", writer);
    write_lines(result, RESULT_FIX, "fix", writer);
    write_lines(result, RESULT_REPRODUCE, "reproduce", writer);
    write_lines(result, RESULT_NOTE, "notes", writer);
    write_lines(result, RESULT_CAUTION, "cautions", writer);
    json_writer_members(writer, &result->facts);
    for (size_t i = 0; i < result->tables.count; i++)
        write_table(&result->tables.items[i], writer);
}

/* ---- The page ---- */

static void show_heading(const struct result_column *column, struct string_builder *ret)
{
    static const char *const units[] = {
        [RESULT_DECIBELS] = ", dB", [RESULT_GAIN] = ", dB", [RESULT_SHARE] = ", %", [RESULT_RATIO] = ""};

    string_add(ret, column->heading);
    if (column->kind < ARRAY_LEN(units) && units[column->kind] != NULL)
        string_add(ret, units[column->kind]);
}

static struct report_cell show_cell(const struct result_column *column, const struct result_cell *cell,
                                    struct string_builder *text)
{
    string_clear(text);
    if (column->kind == RESULT_FLAG && cell->text == NULL && !isnan(cell->number))
        return (struct report_cell){.text = cell->number != 0 ? "yes" : "no"};
    if (column->kind != RESULT_TEXT && column->kind != RESULT_NAMES && cell->text == NULL)
        return (struct report_cell){.number = column->kind == RESULT_SHARE ? 100 * cell->number : cell->number};
    string_add(text, cell->text != NULL ? cell->text : "");
    for (size_t i = 0; i < cell->names.count; i++)
        string_add_format(text, "%s%s", i > 0 ? ", " : "", cell->names.items[i]);
    return (struct report_cell){.text = text->data};
}

static void show_table(const struct result_rows *rows, struct report *report)
{
    const struct result_table *table = rows->table;
    size_t all = table->column_count, shown = 0;
    struct string_builder *texts;
    struct report_cell *cells;
    const char **headings;
    SCOPED_ARENA(arena);

    if (table->title == NULL || rows->count == 0)
        return;
    texts = arena_alloc_zero(&arena, all, sizeof(*texts));
    cells = arena_alloc_zero(&arena, all, sizeof(*cells));
    headings = arena_alloc_zero(&arena, all, sizeof(*headings));
    for (size_t k = 0; k < all; k++) {
        SCOPED_STRING(heading);

        string_init(&texts[k]);
        if (table->columns[k].heading == NULL)
            continue;
        show_heading(&table->columns[k], &heading);
        headings[shown++] = arena_strdup(&arena, heading.data);
    }
    report_begin_table(report, table->title, headings, shown);
    for (size_t i = 0; i < rows->count; i += all) {
        size_t next = 0;

        for (size_t k = 0; k < all; k++)
            if (table->columns[k].heading != NULL)
                cells[next++] = show_cell(&table->columns[k], &rows->items[i + k], &texts[k]);
        report_add_row(report, cells);
    }
    for (size_t k = 0; k < all; k++)
        string_release(&texts[k]);
}

void result_show(const struct result *result, struct report *report)
{
    static const char *const labels[] = {
        [RESULT_EVIDENCE] = "", [RESULT_NOT_TESTED] = "Not tested: ",
        [RESULT_FIX] = "Fix: ", [RESULT_REPRODUCE] = "",
        [RESULT_NOTE] = "",     [RESULT_CAUTION] = "",
    };

    if (result->sentence != NULL)
        report_set_verdict(report, result->verdict, "%s", result->sentence);
    VECTOR_EACH (const struct result_item, item, result->lines) {
        if (item->text == NULL)
            show_table(&result->tables.items[item->table], report);
        else if (item->kind == RESULT_REPRODUCE)
            report_add_command(report, "reproduces it", item->text);
        else
            report_add_proof(report, "%s%s", labels[item->kind], item->text);
    }
    for (size_t i = 0; i < result->nodes.count; i++)
        report_add_culprit(report, result->nodes.items[i]);
}
