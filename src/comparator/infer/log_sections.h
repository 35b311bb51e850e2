/* comparator/infer/log_sections.h: a log whose sections are written alternately and shown one after the other. */
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
    struct log *log; /* messages to it go to the current section; NULL: no log. Must not move */
    struct log kept;
    struct log *target;
    int base;                /* the target's depth */
    size_t current, nesting; /* the section, and its initial depth */
    struct {
        int *items; /* the current additional depth of each section */
        size_t count, capacity;
    } depths;
    VECTOR(struct log_line) lines;
};

/* `in_turns`: sections alternate, and lines are kept until the end. Else sections follow each other, and lines are
 * passed on at once. `target` may be NULL. */
void log_sections_init(struct log_sections *sections, struct log *target, bool in_turns);

/* Selects a section and returns the log; the section starts `nesting` steps deeper than the target. */
struct log *log_sections_select(struct log_sections *sections, size_t section, size_t nesting);

/* Writes the lines of the sections before `end` to the target, section by section. */
void log_sections_flush(struct log_sections *sections, size_t end);
void log_sections_release(struct log_sections *sections); /* flushes all */

#endif
