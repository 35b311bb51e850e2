/* support/captured_log.c: see captured_log.h. */
#include "support/captured_log.h"

#include <string.h>

static char letter_of(enum log_level level)
{
    switch (level) {
    case LOG_INFO:
        return 'I';
    case LOG_START:
        return 'S';
    case LOG_FINISH:
        return 'F';
    case LOG_WARNING:
        return 'W';
    case LOG_ERROR:
        return 'E';
    case LOG_CRITICAL:
        return '!';
    default:
        return 'V';
    }
}

static void capture(void *data, enum log_level level, int depth, struct text message)
{
    struct string_builder *text = data;

    string_add_format(text, "%c %*s", letter_of(level), depth * 4, "");
    string_add_text(text, message);
    string_add_char(text, '\n');
}

void captured_log_init(struct captured_log *captured)
{
    string_init(&captured->text);
    captured->log = (struct log){.threshold = LOG_ULTRA_VERBOSE, .write = capture, .data = &captured->text};
}

void captured_log_release(struct captured_log *captured)
{
    log_release(&captured->log);
    string_release(&captured->text);
}

bool captured_log_has(const struct captured_log *captured, const char *part)
{
    return strstr(captured->text.data, part) != NULL;
}
