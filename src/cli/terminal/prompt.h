/* cli/terminal/prompt.h: asking the user on standard output and standard input. */
#ifndef CLI_TERMINAL_PROMPT_H
#define CLI_TERMINAL_PROMPT_H

#include "base/error.h"
#include "base/text/string_builder.h"

/* Writes `question` as it is and appends the line that is answered, without its line break, to `ret`. ERR_MISSING when
 * standard input has ended, ERR_INTERRUPTED when a signal came. Fits `check_settings.ask`. */
int prompt_ask(const char *question, struct string_builder *ret, struct error *err);

#endif
