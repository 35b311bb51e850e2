/* base/log.c: formatting messages and handing them to the sink. */
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

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

static void pass_line(struct log *log, enum log_level level, bool once, struct text message)
{
    struct kept_line *line = VECTOR_APPEND(log->kept);
    char *copy = memory_alloc(message.size + 1);

    memcpy(copy, message.data, message.size);
    copy[message.size] = '\0';
    *line = (struct kept_line){level, log->depth - log->kept->depth, once, copy, message.size};
}

void log_text(struct log *log, enum log_level level, struct text message)
{
    if (!log_shows(log, level))
        return;
    if (log->kept != NULL)
        pass_line(log, level, false, message);
    else
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

/* Returns true, and records the message, if it was not logged before. */
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
    if (log->kept != NULL)
        pass_line(log, level, true, message);
    else if (is_new(log, message))
        log_text(log, level, message);
}

void log_keep(struct log *log, struct log_lines *lines)
{
    if (log == NULL)
        return;
    log->kept = lines;
    if (lines != NULL)
        lines->depth = log->depth;
}

void log_show_lines(struct log *log, const struct log_lines *lines)
{
    VECTOR_EACH (const struct kept_line, line, *lines) {
        log_indent(log, line->depth);
        if (line->once)
            log_once(log, line->level, "%s", line->message);
        else
            log_text(log, line->level, (struct text){line->message, line->size});
        log_indent(log, -line->depth);
    }
}

void log_lines_release(struct log_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        free(lines->items[i].message);
    free(lines->items);
    *lines = (struct log_lines){0};
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
