/* base/text/close_names.h: the names that somebody may have meant, for messages about a name that does not exist. */
#ifndef BASE_TEXT_CLOSE_NAMES_H
#define BASE_TEXT_CLOSE_NAMES_H

#include "base/text/string_builder.h"

#define CLOSE_NAMES_LIMIT 3

struct close_names {
    struct text wanted;
    struct {
        struct text name;
        size_t distance; /* insertions, deletions and replacements of a byte */
    } best[CLOSE_NAMES_LIMIT];
    size_t count;
};

void close_names_start(struct close_names *names, struct text wanted);

/* Offers a name, whose memory has to outlive `names`. The same one may be offered several times. */
void close_names_offer(struct close_names *names, struct text name);

/* Appends "; did you mean 'a', 'b' or 'c'?", or nothing when no offered name was close. */
void close_names_add_to(const struct close_names *names, struct string_builder *ret);

#endif
