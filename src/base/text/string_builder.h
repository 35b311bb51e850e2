/* base/text/string_builder.h: a growing string. `data` is always NUL-terminated; "" while empty. */
#ifndef BASE_TEXT_STRING_BUILDER_H
#define BASE_TEXT_STRING_BUILDER_H

#include <stdarg.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/text/text.h"

struct string_builder {
    char *data;
    size_t size; /* bytes, without the NUL */
    size_t capacity;
};

extern char string_empty[1]; /* what `data` points to while nothing is allocated; never written */

/* Declares a local string builder: empty, and released where its scope ends. */
#define SCOPED_STRING(name) struct string_builder name SCOPED(string_release) = {.data = string_empty}

void string_init(struct string_builder *builder);
void string_release(struct string_builder *builder);
void string_clear(struct string_builder *builder); /* empty, memory kept */
void string_add(struct string_builder *builder, const char *string);
void string_add_char(struct string_builder *builder, char c);
void string_add_bytes(struct string_builder *builder, const void *data, size_t size);
void string_add_text(struct string_builder *builder, struct text text);

/* Appends 'word', or "word" if it contains a single quote and no double quote, as Python's repr() does. Backslashes,
 * line breaks and bytes that are not printable are escaped, so that a message stays on one line. */
void string_add_quoted(struct string_builder *builder, const char *word);

/* Appends untrusted text from files and other programs, made safe for a terminal: control characters other than tabs
 * and line breaks, characters that change text direction, and bytes that are not UTF-8 become \xNN; sequences that only
 * set colours are dropped. */
void string_add_visible(struct string_builder *builder, struct text text);

/* Like string_add_visible(), but for a single line: line breaks and tabs become \n and \t. */
void string_add_in_line(struct string_builder *builder, const char *text);

/* Appends a message without what differs between two equal cases: digits, and names in single quotes. An apostrophe
 * within a word begins no name. Blanks that are then next to each other become one. */
void string_add_without_names(struct string_builder *builder, struct text message);

void string_add_integer(struct string_builder *builder, int64_t value); /* much faster than string_add_format() */
void string_add_format(struct string_builder *builder, const char *format, ...) __attribute__((format(printf, 2, 3)));
void string_add_format_list(struct string_builder *builder, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
void string_truncate(struct string_builder *builder, size_t size);

/* Reserves `more` bytes and returns a pointer to them. The caller writes them and adds their number to `size`. The NUL
 * after `more` bytes is set already; a caller that writes fewer sets it itself. */
void *string_reserve(struct string_builder *builder, size_t more);

/* Returns the text, which the caller frees; the builder is empty afterwards. Never NULL. */
char *string_take(struct string_builder *builder);

#endif
