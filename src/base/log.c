/* base/log.c: formatting messages and handing them to the sink. */
#include "base/log.h"

#include <stdlib.h>

#include "base/container/arena.h"
#include "base/container/name_map.h"
#include "base/memory.h"
#include "base/text/string_builder.h"

struct log_seen {
    struct name_map messages;
    struct arena memory; /* of the messages */
};

bool log_shows(const struct log *log, enum log_level level)
{
    return log && log->write && !log->muted && level >= log->threshold;
}

void log_text(struct log *log, enum log_level level, struct text message)
{
    if (log_shows(log, level))
        log->write(log->data, level, log->depth, message);
}

void log_message(struct log *log, enum log_level level, const char *format, ...)
{
    SCOPED_STRING(message);
    va_list args;

    if (!log_shows(log, level))
        return;
    va_start(args, format);
    string_add_format_list(&message, format, args);
    va_end(args);
    log_text(log, level, (struct text){message.data, message.size});
}

/* Returns true, and remembers the message, when it was not logged before. */
static bool is_new(struct log *log, struct text message)
{
    if (!log->seen) {
        log->seen = memory_alloc(sizeof(*log->seen));
        name_map_init(&log->seen->messages);
        arena_init(&log->seen->memory);
    }
    if (name_map_find(&log->seen->messages, message) != NAME_MAP_NONE)
        return false;
    const char *copy = arena_copy(&log->seen->memory, message.data, message.size);
    name_map_add(&log->seen->messages, (struct text){copy, message.size}, 0);
    return true;
}

void log_once(struct log *log, enum log_level level, const char *format, ...)
{
    SCOPED_STRING(builder);
    va_list args;

    if (!log_shows(log, level))
        return;
    va_start(args, format);
    string_add_format_list(&builder, format, args);
    va_end(args);
    struct text message = {builder.data, builder.size};
    if (is_new(log, message))
        log_text(log, level, message);
}

void log_indent(struct log *log, int steps)
{
    if (log)
        log->depth += steps;
}

void log_release(struct log *log)
{
    if (!log || !log->seen)
        return;
    name_map_release(&log->seen->messages);
    arena_release(&log->seen->memory);
    free(log->seen);
    log->seen = NULL;
}
