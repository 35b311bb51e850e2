/* support/captured_log.h: a log whose lines a test can read. */
#ifndef SUPPORT_CAPTURED_LOG_H
#define SUPPORT_CAPTURED_LOG_H

#include "base/log.h"
#include "base/text/string_builder.h"

/* Every message becomes "<level> <indent><message>\n" in `text`: level I, W, E, S (start), F (finish), V or !, four
 * blanks of indent per nesting level. */
struct captured_log {
    struct log log;
    struct string_builder text;
};

void captured_log_init(struct captured_log *captured);
void captured_log_release(struct captured_log *captured);
bool captured_log_has(const struct captured_log *captured, const char *part);

#endif
