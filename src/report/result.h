/* report/result.h: what a command found, as one value. Three renderers write it: log lines, JSON and the page.
 *
 * A result has a verdict, lines (evidence, what was not tested, fixes, commands that reproduce it), tables with typed
 * columns, and facts that only other programs read. A tool fills it and formats nothing: alignment, units, escaping,
 * "and 3 more" and missing values are the renderers'. All text is copied; it may contain any bytes.
 *
 *   struct result *result = result_new("debug passes");
 *   result_set_verdict(result, REPORT_CAUSE, "Cause: %s", names);
 *   result_add_line(result, RESULT_EVIDENCE, "without it, and with all else, the check passes");
 *   result_begin_table(result, &quantizer_table);
 *   result_add_row(result, cells);
 *   result_log(result, log);
 *   result_write(result, &writer);
 *   result_show(result, report);
 *   result_free(result);
 */
#ifndef REPORT_RESULT_H
#define REPORT_RESULT_H

#include "base/container/arena.h"
#include "base/text/text.h"
#include "format/json/writer.h"
#include "report/report.h"

/* Of the JSON documents, as docs/formats.md describes them. It goes up when a member changes its name or meaning. */
#define RESULT_VERSION 2

struct result;

/* `tool` is the command without "polygraphy": "debug passes". */
struct result *result_new(const char *tool);
void result_free(struct result *result); /* NULL is fine */

/* ---- The answer ---- */

/* One sentence. In the log it is information where the question is answered, else a warning. */
void result_set_verdict(struct result *result, enum report_verdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

enum result_line_kind {
    RESULT_EVIDENCE,   /* an observation that supports the verdict */
    RESULT_NOT_TESTED, /* what was not ruled out, and the option that would test it */
    RESULT_FIX,        /* what makes the model pass: an option, a file */
    RESULT_REPRODUCE,  /* a command line that shows the failure, or more of it */
    RESULT_NOTE,       /* anything else that belongs to the answer */
    RESULT_CAUTION,    /* why the answer may be wrong: a warning in the log */
};

/* Lines keep their order in the log, also between tables; JSON and the page group them by kind. */
void result_add_line(struct result *result, enum result_line_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The nodes that the verdict is about: the page marks them, and JSON lists them. */
void result_add_node(struct result *result, const char *name);

/* ---- Tables ---- */

enum result_column_kind {
    RESULT_TEXT,
    RESULT_NAMES,    /* a list of names */
    RESULT_FLAG,     /* 0 or 1 */
    RESULT_COUNT,    /* a number without digits behind the point */
    RESULT_NUMBER,   /* any other */
    RESULT_DECIBELS, /* a signal-to-noise ratio: infinite is "exact", minus infinite is "lost" */
    RESULT_GAIN,     /* a difference of such ratios, with its sign */
    RESULT_SHARE,    /* 0 to 1, shown in percent */
    RESULT_RATIO,    /* shown as "2.5x" */
};

struct result_column {
    const char *key;     /* of the JSON member; NULL: not in JSON */
    const char *heading; /* in the log and on the page; NULL: only in JSON */
    enum result_column_kind kind;
    bool detail; /* not in the log */
};

/* What all rows have in common; static data. */
struct result_table {
    const char *key;   /* of the JSON member: a list of objects; NULL: not in JSON */
    const char *title; /* of the page's table; NULL: not on the page */
    const char *line;  /* of the log, above the rows; NULL: not in the log */
    size_t log_rows;   /* more are counted only */
    const struct result_column *columns;
    size_t column_count;
};

/* One value: `names` of RESULT_NAMES, `text` of RESULT_TEXT (NULL: unknown), else `number` (NAN: unknown). A text in a
 * column of numbers says on the page and in the log why there is none; it is null in JSON. */
struct result_cell {
    const char *text;
    double number;
    struct words names;
};

/* Rows go to the table that was begun last. `table` has to outlive the result. A table without rows is left out of the
 * log and the page, and is an empty list in JSON. */
void result_begin_table(struct result *result, const struct result_table *table);
void result_add_row(struct result *result, const struct result_cell *cells); /* table->column_count of them */

/* Appends a signal-to-noise ratio, or a difference of two, in `format`: infinite is "exact", minus infinite is "lost",
 * NaN is "-". */
void result_add_decibels(double value, const char *format, struct string_builder *ret);

/* ---- Facts for programs: members of the JSON document, in order ---- */

void result_add_text(struct result *result, const char *key, const char *value); /* NULL becomes null */
void result_add_count(struct result *result, const char *key, uint64_t value);
void result_add_integer(struct result *result, const char *key, int64_t value);
void result_add_number(struct result *result, const char *key, double value); /* NAN becomes null */
void result_add_flag(struct result *result, const char *key, bool value);
void result_add_names(struct result *result, const char *key, struct words names);
void result_add_null(struct result *result, const char *key);

/* An object or a list in the one that is open. In a list, keys are NULL. */
void result_begin_record(struct result *result, const char *key);
void result_end_record(struct result *result);
void result_begin_list(struct result *result, const char *key);
void result_end_list(struct result *result);

/* ---- The renderers ---- */

struct result_rows {
    const struct result_table *table;
    struct result_cell *items; /* row by row; what they point to is in the arena */
    size_t count, capacity;    /* of cells */
};

/* A line, or the place of a table among the lines. */
struct result_item {
    enum result_line_kind kind;
    const char *text; /* NULL: a table */
    size_t table;     /* its index */
};

/* For the renderers; others use the functions. */
struct result {
    const char *tool;
    enum report_verdict verdict;
    const char *sentence; /* NULL: no verdict was set */
    VECTOR(struct result_item) lines;
    VECTOR(struct result_rows) tables;
    size_t logged;          /* of the lines */
    bool verdict_is_logged; /* the one that is set */
    struct word_list nodes;
    struct json_writer facts; /* an open object */
    struct arena arena;
};

/* The verdict, then lines and tables below it: what was added since the last call. Part of a result may be logged while
 * the work goes on. */
void result_log(struct result *result, struct log *log);

/* Members of the object that is open: version, tool, verdict, the lines by kind, facts, tables. */
void result_write(const struct result *result, struct json_writer *writer);

/* The verdict, evidence and other lines as its proof, commands, nodes and tables. */
void result_show(const struct result *result, struct report *report);

#endif
