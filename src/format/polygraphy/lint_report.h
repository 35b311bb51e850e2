/* format/polygraphy/lint_report.h: what `check lint` finds, and its file. */
#ifndef FORMAT_POLYGRAPHY_LINT_REPORT_H
#define FORMAT_POLYGRAPHY_LINT_REPORT_H

#include "base/error.h"
#include "base/text/text.h"

enum lint_level { LINT_EXCEPTION, LINT_WARNING };

/* Who found it. The names in the file are Polygraphy's. */
enum lint_source { LINT_LOADER, LINT_CHECKER, LINT_GRAPH, LINT_RUNTIME, LINT_SOURCE_COUNT };

/* One kind of finding. Polygraphy's file has its level and source. */
struct lint_rule {
    const char *id; /* a name for programs, "unused-node" */
    enum lint_level level;
    enum lint_source source;
    const char *summary; /* what is wrong, in one sentence */
    const char *help;    /* what that means and what to do, in some */
};

struct lint_entry {
    const struct lint_rule *rule;
    char *message; /* owned */
    char *node;    /* owned; NULL when it is about the whole model */
};

struct lint_names {
    char **items; /* owned */
    size_t count, capacity;
};

struct lint_report {
    struct {
        struct lint_entry *items;
        size_t count, capacity;
    } entries;
    struct lint_names passing, failing;
    bool looked[LINT_SOURCE_COUNT]; /* all rules of this source were applied; else nothing found means nothing */
};

void lint_report_release(struct lint_report *report);

/* Copies both texts; `node` may be NULL. A node with an exception counts as failing. */
const struct lint_entry *lint_report_add(struct lint_report *report, const struct lint_rule *rule, const char *node,
                                         struct text message);
void lint_report_add_passing(struct lint_report *report, const char *node);

bool lint_report_has_exceptions(const struct lint_report *report);

/* Sorts both lists of names; each name stays once, and one that fails is not said to pass. */
void lint_report_finish(struct lint_report *report);

int lint_report_save(const struct lint_report *report, const char *path, struct error *err);

#endif
