/* base/log.h: the interface through which library code logs messages.
 *
 * The library never prints: it passes lines to the sink that src/cli sets up. Levels and layout are Polygraphy's
 * (docs/coming-from-polygraphy.md, "Log lines"). Every function accepts a NULL `struct log *` and then logs nothing.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdarg.h>
#include <stdbool.h>

#include "base/text/text.h"

enum log_level {
    LOG_ULTRA_VERBOSE = -20, /* [U] */
    LOG_SUPER_VERBOSE = -10, /* [S] */
    LOG_EXTRA_VERBOSE = 0,   /* [X] */
    LOG_VERBOSE = 10,        /* [V] */
    LOG_INFO = 20,           /* [I] */
    LOG_START = 22,          /* [I] an operation starts */
    LOG_FINISH = 28,         /* [I] an operation finished successfully */
    LOG_WARNING = 30,        /* [W] */
    LOG_ERROR = 40,          /* [E] */
    LOG_CRITICAL = 50,       /* [!] the tool aborts; written to stderr */
};

/* Lines recorded by speculative work, for later display. Initialize with zeros. */
struct log_lines {
    struct kept_line {
        enum log_level level;
        int depth; /* relative to the log's depth at log_keep() */
        bool once; /* of log_once() */
        char *message;
        size_t size;
    } * items;
    size_t count, capacity;
    int depth; /* of the log at log_keep() */
};

struct log {
    enum log_level threshold; /* lines below are dropped */
    int depth;                /* current nesting, in steps of four blanks */
    bool muted;               /* drop all lines, also from log_once()'s memory: speculative work */
    /* Writes one message, which may contain line breaks. `data` is passed through. */
    void (*write)(void *data, enum log_level level, int depth, struct text message);
    void *data;
    struct log_seen *seen;  /* messages of log_once() so far; owned, see log_release() */
    struct log_lines *kept; /* borrowed; receives lines instead of the sink, see log_keep(); or NULL */
};

void log_message(struct log *log, enum log_level level, const char *format, ...) __attribute__((format(printf, 3, 4)));
void log_text(struct log *log, enum log_level level, struct text message);

/* The same message (after formatting) is shown only the first time. */
void log_once(struct log *log, enum log_level level, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* True when a message of this level would be shown: lets callers skip costly rendering. */
bool log_shows(const struct log *log, enum log_level level);

/* Records the following lines in `lines` instead of showing them, until it is called with NULL. log_show_lines() shows
 * recorded lines any number of times, as if they were logged then. */
void log_keep(struct log *log, struct log_lines *lines);
void log_show_lines(struct log *log, const struct log_lines *lines);
void log_lines_release(struct log_lines *lines); /* leaves them empty */

void log_indent(struct log *log, int steps); /* +1 deeper, -1 back */
void log_release(struct log *log);

#endif
