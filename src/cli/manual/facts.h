/* cli/manual/facts.h: exit statuses, environment variables and files of commands, for manuals. */
#ifndef CLI_MANUAL_FACTS_H
#define CLI_MANUAL_FACTS_H

#include <stddef.h>

#include "cli/manual/format.h"

/* A row applies to the command that it names, to commands with the option that it names, or to all commands if it names
 * neither. */
struct manual_fact {
    const char *name;    /* an exit status, a variable, a file */
    const char *command; /* "check lint"; its row has precedence over a general row with the same name */
    const char *option;
    const char *text;
};

struct manual_facts {
    const char *section; /* its title */
    enum manual_term term;
    const struct manual_fact *items;
    size_t count;
};

extern const struct manual_facts manual_exit_statuses;
extern const struct manual_facts manual_variables;
extern const struct manual_facts manual_files;

#endif
