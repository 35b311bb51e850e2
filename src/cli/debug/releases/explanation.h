/* cli/debug/releases/explanation.h: why a release fails: the answers of other tools, which are run as commands. */
#ifndef CLI_DEBUG_RELEASES_EXPLANATION_H
#define CLI_DEBUG_RELEASES_EXPLANATION_H

#include "cli/parse/command.h"

/* A command of this program that answers a question. */
struct explanation_request {
    const struct command_context *context;
    const char *tool;        /* "passes": the second word of the command, and the name of its folder */
    const char *folder;      /* of the results of `debug releases` */
    struct word_list *words; /* behind "polygraphy debug TOOL" */
    const char *variable;    /* "NAME=value" in its environment; NULL: none */
    struct words last;       /* behind all other words */
};

struct explanation {
    const char *command; /* the command, as it can be typed */
    const char *answer;  /* "Cause: NchwcTransformer"; NULL: none */
    const char *fix;     /* its first one; NULL: none */
    const char *why_not; /* reason if there is no answer */
    bool is_cause;
};

/* Runs the command with its results in the folder. Text is in the arena of the parse. ERR_INTERRUPTED and errors of
 * starting it; a command that fails has a reason. */
int explanation_find(const struct explanation_request *request, struct explanation *ret, struct error *err);

#endif
