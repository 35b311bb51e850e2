/* debug/check/interactive.h: asking the user for a verdict. */
#ifndef DEBUG_CHECK_INTERACTIVE_H
#define DEBUG_CHECK_INTERACTIVE_H

#include "debug/check/check.h"

/* Asks whether `subject` (NULL: 'this iteration') passed or failed until an answer begins with p or f. */
int interactive_ask(const struct check_settings *settings, const char *subject, enum verdict *ret, struct error *err);

#endif
