/* library/command_log.h: the log of a process of the program, line by line. */
#ifndef LIBRARY_COMMAND_LOG_H
#define LIBRARY_COMMAND_LOG_H

#include "base/text/string_builder.h"
#include "polygraphy/reduce.h"

struct command_log {
    polygraphy_log *write; /* NULL: no log */
    void *context;
    struct string_builder line;  /* incomplete so far */
    int32_t level;               /* of the last message, for its further lines */
    struct string_builder error; /* the last message that ends a command, "[!] ...", in one line; empty: none */
};

void command_log_init(struct command_log *log, polygraphy_log *write, void *context);
void command_log_release(struct command_log *log);

/* Passes each complete line in `bytes` to the log, without "[I] " in front of it. */
void command_log_add(struct command_log *log, struct text bytes);

/* Passes what is left without a line break. */
void command_log_end(struct command_log *log);

#endif
