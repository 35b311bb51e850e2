/* cli/terminal/prompt.h: prompts for the user on standard output, answered on standard input. */
#ifndef CLI_TERMINAL_PROMPT_H
#define CLI_TERMINAL_PROMPT_H

#include "base/error.h"
#include "base/text/string_builder.h"

/* Writes `question` unchanged and appends the line of the answer, without its line break, to `ret`. Fails with
 * ERR_MISSING at the end of standard input, ERR_INTERRUPTED after a signal. The signature is that of
 * `check_settings.ask`. */
int prompt_ask(const char *question, struct string_builder *ret, struct error *err);

#endif
