/* base/text/text.h: text and bytes that lie in somebody else's memory, with their length. Not ended by NUL.
 *
 * The module base/text/ holds text in memory: pieces of other memory, text that grows, numbers and bytes as text, names
 * as users type them. Nothing here reads or prints.
 *
 *   printf("node '" TEXT_FORMAT "'\n", TEXT_ARGS(node->name));
 */
#ifndef BASE_TEXT_TEXT_H
#define BASE_TEXT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    const char *data;
    size_t size; /* bytes */
};

struct span {
    const uint8_t *data;
    size_t size; /* bytes */
};

#define TEXT_FORMAT "%.*s"
#define TEXT_ARGS(t) (int)(t).size, (t).data
#define TEXT(literal) ((struct text){(literal), sizeof(literal) - 1})

/* Words of a command line, say: NUL-terminated strings in somebody else's memory. */
struct words {
    const char *const *items; /* as a rule a NULL follows the last one; NULL when there was none at all */
    size_t count;
};

/* The same while it is put together; `items` is malloc'd, the words are somebody else's. */
struct word_list {
    const char **items;
    size_t count, capacity;
};

static inline struct text span_text(struct span span)
{
    return (struct text){(const char *)span.data, span.size};
}

struct text text_of(const char *string); /* of a NUL-terminated string; NULL gives empty text */
bool text_equal(struct text a, struct text b);
bool text_equal_string(struct text a, const char *b);
bool text_begins_with(struct text text, const char *beginning);
bool text_contains(struct text haystack, struct text needle);
size_t text_find(struct text haystack, struct text needle);      /* where it begins; SIZE_MAX: it is not there */
size_t text_find_last(struct text haystack, struct text needle); /* the same of its last occurrence */
bool text_contains_ignoring_case(struct text haystack, struct text needle); /* ASCII case only */

/* Shell-style patterns as in Python's fnmatch: * ? [seq] [!seq]; no special treatment of '/' or a leading '.'. */
bool text_matches_pattern(struct text name, struct text pattern);

/* The length of the valid UTF-8 sequence that `data` begins with (1 to 4), or 0 when it is not valid. */
size_t text_utf8_length(const char *data, size_t size);

#endif
