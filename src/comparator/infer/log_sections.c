/* comparator/infer/log_sections.c: see log_sections.h. */
#include "comparator/infer/log_sections.h"

#include <stdlib.h>

#include "base/memory.h"

static void keep_line(void *data, enum log_level level, int depth, struct text message)
{
    struct log_sections *sections = data;

    *VECTOR_APPEND(&sections->lines) = (struct log_line){.section = sections->current,
                                                         .level = level,
                                                         .depth = depth,
                                                         .text = memory_copy(message.data, message.size),
                                                         .size = message.size};
}

void log_sections_init(struct log_sections *sections, struct log *target)
{
    *sections = (struct log_sections){.target = target};
    if (target != NULL)
        sections->log = (struct log){.threshold = target->threshold, .write = keep_line, .data = sections};
    sections->log.depth = target != NULL ? target->depth : 0;
    *VECTOR_APPEND(&sections->depths) = sections->log.depth;
}

struct log *log_sections_select(struct log_sections *sections, size_t section)
{
    sections->depths.items[sections->current] = sections->log.depth;
    while (sections->depths.count <= section)
        *VECTOR_APPEND(&sections->depths) = sections->target != NULL ? sections->target->depth : 0;
    sections->current = section;
    sections->log.depth = sections->depths.items[section];
    return &sections->log;
}

void log_sections_release(struct log_sections *sections)
{
    struct log *target = sections->target;
    int depth = target != NULL ? target->depth : 0;

    for (size_t section = 0; section < sections->depths.count; section++) {
        for (size_t i = 0; i < sections->lines.count; i++) {
            struct log_line *line = &sections->lines.items[i];

            if (line->section != section)
                continue;
            target->depth = line->depth;
            log_text(target, line->level, (struct text){line->text, line->size});
            free(line->text);
        }
    }
    if (target != NULL)
        target->depth = depth;
    log_release(&sections->log);
    free(sections->lines.items);
    free(sections->depths.items);
    *sections = (struct log_sections){0};
}
