/* report/result_log.c: a result as lines of the log. */
#include <math.h>

#include "base/memory.h"
#include "base/text/names.h"
#include "base/text/number.h"
#include "base/text/string_builder.h"
#include "report/result.h"

#define SHOWN_NAMES 5 /* of a list in a cell */

static void add_name_list(const struct words *names, struct string_builder *ret)
{
    struct short_list list = {.text = ret, .most = SHOWN_NAMES};

    for (size_t i = 0; i < names->count; i++)
        short_list_add(&list, names->items[i]);
    short_list_end(&list);
}

void result_add_decibels(double value, const char *format, struct string_builder *ret)
{
    if (isnan(value))
        string_add(ret, "-");
    else if (isinf(value))
        string_add(ret, value > 0 ? "exact" : "lost");
    else
        string_add_format(ret, format, value);
}

static void add_share(double share, struct string_builder *ret)
{
    if (share > 0 && share < 0.0001)
        string_add(ret, "<0.01%");
    else
        string_add_format(ret, "%.2f%%", 100 * share);
}

static void add_number(enum result_column_kind kind, double number, struct string_builder *ret)
{
    char text[NUMBER_TEXT_SIZE];

    switch (kind) {
    case RESULT_FLAG:
        string_add(ret, number != 0 ? "yes" : "no");
        return;
    case RESULT_COUNT:
        string_add_format(ret, "%.0f", number);
        return;
    case RESULT_DECIBELS:
        result_add_decibels(number, "%.1f", ret);
        return;
    case RESULT_GAIN:
        result_add_decibels(number, "%+.1f", ret);
        return;
    case RESULT_SHARE:
        add_share(number, ret);
        return;
    case RESULT_RATIO:
        string_add_format(ret, "%.1fx", number);
        return;
    default:
        string_add(ret, number_to_text_short(number, text));
    }
}

static void add_cell(enum result_column_kind kind, const struct result_cell *cell, struct string_builder *ret)
{
    if (kind == RESULT_NAMES && cell->names.count > 0)
        add_name_list(&cell->names, ret);
    else if (cell->text != NULL)
        string_add_in_line(ret, cell->text);
    else if (kind == RESULT_NAMES || kind == RESULT_TEXT || isnan(cell->number))
        string_add(ret, "-");
    else
        add_number(kind, cell->number, ret);
}

static bool is_shown(const struct result_column *column)
{
    return column->heading != NULL && !column->detail;
}

static bool is_number(enum result_column_kind kind)
{
    return kind != RESULT_TEXT && kind != RESULT_NAMES;
}

/* Numbers at the right of their column, text at the left; nothing behind the last column. */
static void log_row(const struct result_table *table, const struct string_builder *cells, const size_t *widths,
                    struct log *log)
{
    SCOPED_STRING(line);
    size_t blanks = 0;

    for (size_t i = 0; i < table->column_count; i++) {
        size_t rest = widths[i] - cells[i].size;

        if (!is_shown(&table->columns[i]))
            continue;
        if (is_number(table->columns[i].kind))
            blanks += rest;
        string_add_format(&line, "%*s", (int)blanks, "");
        string_add_text(&line, (struct text){cells[i].data, cells[i].size});
        blanks = 2 + (is_number(table->columns[i].kind) ? 0 : rest);
    }
    log_message(log, LOG_FINISH, "    %s", line.data);
}

static void log_table(const struct result_rows *rows, struct log *log)
{
    const struct result_table *table = rows->table;
    size_t columns = table->column_count, all = rows->count / columns;
    size_t shown = all < table->log_rows ? all : table->log_rows;
    struct string_builder *cells SCOPED_FREE = NULL;
    size_t *widths SCOPED_FREE = NULL;

    if (table->line == NULL || all == 0)
        return;
    cells = memory_alloc_zero((shown + 1) * columns, sizeof(*cells));
    widths = memory_alloc_zero(columns, sizeof(*widths));
    for (size_t i = 0; i < (shown + 1) * columns; i++) {
        const struct result_column *column = &table->columns[i % columns];

        string_init(&cells[i]);
        if (is_shown(column) && i < columns)
            string_add(&cells[i], column->heading);
        else if (is_shown(column))
            add_cell(column->kind, &rows->items[i - columns], &cells[i]);
        if (cells[i].size > widths[i % columns])
            widths[i % columns] = cells[i].size;
    }
    log_message(log, LOG_FINISH, "%s", table->line);
    for (size_t i = 0; i <= shown; i++)
        log_row(table, &cells[i * columns], widths, log);
    if (shown < all)
        log_message(log, LOG_FINISH, "    and %zu more: --json and --report have all of them", all - shown);
    for (size_t i = 0; i < (shown + 1) * columns; i++)
        string_release(&cells[i]);
}

void result_log(struct result *result, struct log *log)
{
    static const char *const labels[] = {
        [RESULT_EVIDENCE] = "Evidence: ",
        [RESULT_NOT_TESTED] = "Not tested: ",
        [RESULT_FIX] = "Fix: ",
        [RESULT_REPRODUCE] = "Reproduce: ",
        [RESULT_NOTE] = "",
        [RESULT_CAUTION] = "",
    };
    bool is_answered = result->verdict == REPORT_CAUSE || result->verdict == REPORT_PASSED;

    if (result->sentence != NULL && !result->verdict_is_logged)
        log_message(log, is_answered ? LOG_FINISH : LOG_WARNING, "%s", result->sentence);
    result->verdict_is_logged = true;
    for (; result->logged < result->lines.count; result->logged++) {
        const struct result_item *item = &result->lines.items[result->logged];

        if (item->text == NULL)
            log_table(&result->tables.items[item->table], log);
        else
            log_message(log, item->kind == RESULT_CAUTION ? LOG_WARNING : LOG_FINISH, "    %s%s", labels[item->kind],
                        item->text);
    }
}
