/* cli/options/runners/lines.h: the values of --runner and --runner-build: shell commands with optional names. */
#ifndef CLI_OPTIONS_RUNNERS_LINES_H
#define CLI_OPTIONS_RUNNERS_LINES_H

#include "cli/parse/value.h"

/* Splits `NAME=COMMAND`; NAME consists of letters, digits, '-', '_' and '.', and begins with a letter. Without such a
 * name the whole word is the command. Fills struct runner_lines. */
option_convert convert_runner_lines;

/* Assigns the builds to the commands, and refuses builds or commands without a counterpart. */
int finish_runner_lines(struct parse *parse, void *given, struct error *err);

#endif
