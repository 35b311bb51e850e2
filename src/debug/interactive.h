/* debug/interactive.h: asking the user for a verdict. */
#ifndef DEBUG_INTERACTIVE_H
#define DEBUG_INTERACTIVE_H

#include "debug/check.h"

/* Asks whether `subject` (NULL: 'this iteration') passed or failed until an answer begins with p or f. */
int interactive_ask(const struct check_settings *settings, const char *subject, enum verdict *ret, struct error *err);

#endif
