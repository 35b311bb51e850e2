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
    struct log *log; /* what is logged here goes to the current section; NULL: nobody reads it. May not move */
    struct log kept;
    struct log *target;
    int base;                /* the target's depth */
    size_t current, nesting; /* the section, and how deep it begins */
    struct {
        int *items; /* how much deeper each section is at the moment */
        size_t count, capacity;
    } depths;
    struct {
        struct log_line *items;
        size_t count, capacity;
    } lines;
};

/* `in_turns`: lines are kept until the end. Else sections come one after the other, and lines are passed on at once.
 * `target` may be NULL. */
void log_sections_init(struct log_sections *sections, struct log *target, bool in_turns);

/* Returns the log, which from now on writes to that section; it begins `nesting` steps deeper than the target. */
struct log *log_sections_select(struct log_sections *sections, size_t section, size_t nesting);

/* Hands all lines over, section by section, and forgets them. */
void log_sections_release(struct log_sections *sections);

#endif
