/* cli/debug/releases/answer.h: the answer of `debug releases`. */
#ifndef CLI_DEBUG_RELEASES_ANSWER_H
#define CLI_DEBUG_RELEASES_ANSWER_H

#include "cli/parse/command.h"
#include "debug/check/check.h"
#include "debug/releases/releases.h"
#include "report/result.h"

struct release_answer {
    const struct command_context *context;
    const char *folder;
    const char *model; /* as typed */
    const struct release_list *releases;
    const struct releases_result *found;
    const char *inputs; /* the data of the default check; NULL: the user's, or a --check */
    const struct check_settings *check;
    bool has_own_check;     /* else --check */
    bool has_own_reference; /* outputs of the release number `oldest` */
    bool is_confirmed;      /* decisive verdicts were repeated */
    size_t oldest;          /* that is testable */
};

/* Adds the verdict, what was not tested, and the table of releases. */
void release_answer_fill(const struct release_answer *answer, struct result *ret);

/* Runs the tools that find optimizer and nodes, and adds their answers. ERR_INTERRUPTED. */
int release_answer_explain(const struct release_answer *answer, struct result *ret, struct error *err);

#endif
