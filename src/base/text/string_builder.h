/* base/text/string_builder.h: text that grows. `data` is always NUL-terminated once something was added, else "". */
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

/* Appends 'word', or "word" when it holds a single quote and no double one, as Python's repr() does. Backslashes, line
 * breaks and bytes that are not printable are escaped, so that a message stays on its line. */
void string_add_quoted(struct string_builder *builder, const char *word);

/* For people's eyes, of text that comes from files and other programs: it must not steer the terminal that shows it.
 * Control characters but tabs and line breaks, those that change the order in which text is shown, and bytes that are
 * not UTF-8, become \xNN; sequences that only set colours are left out. */
void string_add_visible(struct string_builder *builder, struct text text);

/* The same where it must not end the line either: line breaks and tabs become \n and \t. */
void string_add_in_line(struct string_builder *builder, const char *text);
void string_add_integer(struct string_builder *builder, int64_t value); /* many times as fast as a format */
void string_add_format(struct string_builder *builder, const char *format, ...) __attribute__((format(printf, 2, 3)));
void string_add_format_list(struct string_builder *builder, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
void string_truncate(struct string_builder *builder, size_t size);

/* Makes room for `more` bytes and returns where they start. The caller writes them and adds their number to `size`; the
 * NUL behind all of them is there already, behind fewer it is the caller's to set. */
void *string_reserve(struct string_builder *builder, size_t more);

/* Gives up the text to the caller, who frees it; the builder is empty afterwards. Never NULL. */
char *string_take(struct string_builder *builder);

#endif
