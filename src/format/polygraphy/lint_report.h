/* format/polygraphy/lint_report.h: the findings of `check lint`, and their file. */
#ifndef FORMAT_POLYGRAPHY_LINT_REPORT_H
#define FORMAT_POLYGRAPHY_LINT_REPORT_H

#include "base/error.h"
#include "base/memory.h"
#include "base/text/text.h"

enum lint_level { LINT_EXCEPTION, LINT_WARNING };

/* The source of a finding. Names in the file are Polygraphy's. */
enum lint_source { LINT_LOADER, LINT_CHECKER, LINT_GRAPH, LINT_RUNTIME, LINT_SOURCE_COUNT };

/* One kind of finding. Polygraphy's file contains level and source. */
struct lint_rule {
    const char *id; /* identifier, for example "unused-node" */
    enum lint_level level;
    enum lint_source source;
    const char *summary; /* the problem, one sentence */
    const char *help;    /* meaning and remedy, some sentences */
};

struct lint_entry {
    const struct lint_rule *rule;
    char *message; /* owned */
    char *node;    /* owned; NULL: the whole model */
};

struct lint_names {
    char **items; /* owned */
    size_t count, capacity;
};

struct lint_report {
    VECTOR(struct lint_entry) entries;
    struct lint_names passing, failing;
    bool looked[LINT_SOURCE_COUNT]; /* all rules of this source were applied; else a missing finding proves nothing */
};

void lint_report_release(struct lint_report *report);

/* Copies both texts; `node` may be NULL. A node with an exception counts as failing. */
const struct lint_entry *lint_report_add(struct lint_report *report, const struct lint_rule *rule, const char *node,
                                         struct text message);
void lint_report_add_passing(struct lint_report *report, const char *node);

bool lint_report_has_exceptions(const struct lint_report *report);

/* Sorts both lists of names and removes duplicates; failing nodes are removed from `passing`. */
void lint_report_finish(struct lint_report *report);

int lint_report_save(const struct lint_report *report, const char *path, struct error *err);

#endif
