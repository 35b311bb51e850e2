/* base/text/text.h: non-owning views of text and bytes, with their length. Not NUL-terminated.
 *
 * The module base/text/ contains text in memory: views, growing strings, numbers and bytes as text, names as users type
 * them. It does no input or output.
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

/* A list of NUL-terminated strings that it does not own, for example the words of a command line. */
struct words {
    const char *const *items; /* usually NULL-terminated; NULL if the list is empty */
    size_t count;
};

/* A `struct words` under construction; `items` is malloc'd, the strings are not owned. */
struct word_list {
    const char **items;
    size_t count, capacity;
};

static inline struct text span_text(struct span span)
{
    return (struct text){(const char *)span.data, span.size};
}

struct text text_of(const char *string);         /* of a NUL-terminated string; NULL gives empty text */
bool string_equal(const char *a, const char *b); /* NULL equals only NULL */
bool text_equal(struct text a, struct text b);
bool text_equal_string(struct text a, const char *b);
bool text_is_one_of(struct text text, const char *const *words, size_t count);
bool text_begins_with(struct text text, const char *beginning);
bool text_contains(struct text haystack, struct text needle);
size_t text_find(struct text haystack, struct text needle);      /* offset of the first occurrence; SIZE_MAX: none */
size_t text_find_last(struct text haystack, struct text needle); /* offset of the last occurrence; SIZE_MAX: none */
bool text_contains_ignoring_case(struct text haystack, struct text needle); /* ASCII case only */

/* Shell-style patterns as in Python's fnmatch: * ? [seq] [!seq]; no special treatment of '/' or a leading '.'. */
bool text_matches_pattern(struct text name, struct text pattern);

/* The length (1 to 4) of the valid UTF-8 sequence at `data`, or 0 if it is not valid. */
size_t text_utf8_length(const char *data, size_t size);

#endif
