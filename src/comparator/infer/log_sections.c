/* comparator/infer/log_sections.c: see log_sections.h. */
#include "comparator/infer/log_sections.h"

#include <stdlib.h>

#include "base/memory.h"

static void keep_section_line(void *data, enum log_level level, int depth, struct text message)
{
    struct log_sections *sections = data;

    *VECTOR_APPEND(&sections->lines) = (struct log_line){.section = sections->current,
                                                         .level = level,
                                                         .depth = depth,
                                                         .text = memory_copy(message.data, message.size),
                                                         .size = message.size};
}

void log_sections_init(struct log_sections *sections, struct log *target, bool in_turns)
{
    *sections = (struct log_sections){.log = target, .target = target, .base = target != NULL ? target->depth : 0};
    *VECTOR_APPEND(&sections->depths) = 0;
    if (target == NULL || !in_turns)
        return;
    sections->kept = (struct log){
        .threshold = target->threshold, .depth = target->depth, .write = keep_section_line, .data = sections};
    sections->log = &sections->kept;
}

struct log *log_sections_select(struct log_sections *sections, size_t section, size_t nesting)
{
    if (sections->log == NULL)
        return NULL;
    sections->depths.items[sections->current] = sections->log->depth - sections->base - (int)sections->nesting;
    while (sections->depths.count <= section)
        *VECTOR_APPEND(&sections->depths) = 0;
    sections->current = section;
    sections->nesting = nesting;
    sections->log->depth = sections->base + (int)nesting + sections->depths.items[section];
    return sections->log;
}

void log_sections_flush(struct log_sections *sections, size_t end)
{
    struct log *target = sections->target;
    int depth = target != NULL ? target->depth : 0;
    size_t kept = 0;

    if (sections->lines.count == 0)
        return;
    for (size_t section = 0; section < end && section < sections->depths.count; section++)
        VECTOR_EACH (struct log_line, line, sections->lines) {
            if (line->section != section)
                continue;
            target->depth = line->depth;
            log_text(target, line->level, (struct text){line->text, line->size});
            free(line->text);
        }
    for (size_t i = 0; i < sections->lines.count; i++)
        if (sections->lines.items[i].section >= end)
            sections->lines.items[kept++] = sections->lines.items[i];
    sections->lines.count = kept;
    target->depth = depth;
}

void log_sections_release(struct log_sections *sections)
{
    log_sections_flush(sections, SIZE_MAX);
    if (sections->target != NULL)
        sections->target->depth = sections->base;
    log_release(&sections->kept);
    free(sections->lines.items);
    free(sections->depths.items);
    *sections = (struct log_sections){0};
}
