/* comparator/infer/log_sections.h: a log whose parts are written in turns and read one after the other. */
#ifndef COMPARATOR_INFER_LOG_SECTIONS_H
#define COMPARATOR_INFER_LOG_SECTIONS_H

#include "base/log.h"
#include "base/text/string_builder.h"

struct log_line {
    size_t section;
    enum log_level level;
    int depth;
    char *text; /* owned */
    size_t size;
};

struct log_sections {
    struct log log; /* what is logged here goes to the current section. May not move */
    struct log *target;
    size_t current;
    struct {
        int *items; /* the nesting of each section */
        size_t count, capacity;
    } depths;
    struct {
        struct log_line *items;
        size_t count, capacity;
    } lines;
};

/* `target` may be NULL. */
void log_sections_init(struct log_sections *sections, struct log *target);

/* Returns the log, which from now on writes to that section. */
struct log *log_sections_select(struct log_sections *sections, size_t section);

/* Hands all lines over, section by section, and forgets them. */
void log_sections_release(struct log_sections *sections);

#endif
