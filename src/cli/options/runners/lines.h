/* cli/options/runners/lines.h: the values of --runner and --runner-build: lines of the shell, with names in front. */
#ifndef CLI_OPTIONS_RUNNERS_LINES_H
#define CLI_OPTIONS_RUNNERS_LINES_H

#include "cli/parse/value.h"

/* Takes `NAME=COMMAND` apart, NAME being letters, digits, '-', '_' and '.', the first one a letter. Without such a name
 * all of it is the command. Fills struct runner_lines. */
option_convert convert_runner_lines;

/* Finds out which builds belong to which commands, and refuses what does not go together. */
int finish_runner_lines(struct parse *parse, void *given, struct error *err);

#endif
