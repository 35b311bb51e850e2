/* base/text/string_builder.c: a growing string. */
#include "base/text/string_builder.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

char string_empty[1];

void string_init(struct string_builder *builder)
{
    *builder = (struct string_builder){.data = string_empty};
}

void string_release(struct string_builder *builder)
{
    if (builder->capacity > 0)
        free(builder->data);
    string_init(builder);
}

void string_truncate(struct string_builder *builder, size_t size)
{
    if (size >= builder->size)
        return;
    builder->size = size;
    builder->data[size] = '\0';
}

void string_clear(struct string_builder *builder)
{
    string_truncate(builder, 0);
}

void *string_reserve(struct string_builder *builder, size_t more)
{
    if (more >= SIZE_MAX / 2 - builder->size)
        memory_alloc(SIZE_MAX); /* exits */

    size_t needed = builder->size + more + 1;
    if (needed > builder->capacity) {
        size_t capacity = builder->capacity * 2 > needed ? builder->capacity * 2 : needed;
        if (capacity < 32)
            capacity = 32;
        builder->data = memory_resize(builder->capacity > 0 ? builder->data : NULL, capacity, 1);
        builder->capacity = capacity;
    }
    builder->data[builder->size] = '\0';
    builder->data[builder->size + more] = '\0';
    return builder->data + builder->size;
}

void string_add_bytes(struct string_builder *builder, const void *data, size_t size)
{
    void *end = string_reserve(builder, size);

    if (size > 0)
        memcpy(end, data, size);
    builder->size += size;
}

void string_add(struct string_builder *builder, const char *string)
{
    string_add_bytes(builder, string, strlen(string));
}

void string_add_char(struct string_builder *builder, char c)
{
    string_add_bytes(builder, &c, 1);
}

void string_add_text(struct string_builder *builder, struct text text)
{
    string_add_bytes(builder, text.data, text.size);
}

/* The length of a sequence that only sets colours (ECMA-48: CSI, numbers, 'm') at the start of `text`; else 0. */
static size_t color_length(struct text text)
{
    size_t at = 2;

    if (text.size < 3 || memcmp(text.data, "\033[", 2) != 0)
        return 0;
    while (at < text.size && (text.data[at] == ';' || (text.data[at] >= '0' && text.data[at] <= '9')))
        at++;
    return at < text.size && text.data[at] == 'm' ? at + 1 : 0;
}

/* Whether three bytes of UTF-8 are a bidirectional control character (U+202A to U+202E, U+2066 to U+2069) or a line or
 * paragraph separator (U+2028, U+2029). */
static bool character_rearranges_text(const unsigned char *bytes)
{
    return bytes[0] == 0xe2 && ((bytes[1] == 0x80 && bytes[2] >= 0xa8 && bytes[2] <= 0xae) ||
                                (bytes[1] == 0x81 && bytes[2] >= 0xa6 && bytes[2] <= 0xa9));
}

/* The length of the first character of `text`; 0 if it is invalid or could control a terminal, which includes U+0080 to
 * U+009F. */
static size_t harmless_length(struct text text)
{
    unsigned char first = (unsigned char)text.data[0];

    if (first >= ' ' && first < 0x7f)
        return 1;
    if (first < ' ' || first == 0x7f)
        return first == '\n' || first == '\t';
    if (first == 0xc2 && text.size > 1 && (unsigned char)text.data[1] < 0xa0)
        return 0;
    if (text.size > 2 && character_rearranges_text((const unsigned char *)text.data))
        return 0;
    return text_utf8_length(text.data, text.size);
}

void string_add_visible(struct string_builder *builder, struct text text)
{
    size_t at = 0, clean = 0; /* [clean, at) is harmless and not yet added */

    while (at < text.size) {
        struct text rest = {text.data + at, text.size - at};
        size_t length = harmless_length(rest), color = length == 0 ? color_length(rest) : 0;

        if (length > 0) {
            at += length;
            continue;
        }
        string_add_bytes(builder, text.data + clean, at - clean);
        if (color == 0)
            string_add_format(builder, "\\x%02x", (unsigned)(unsigned char)text.data[at]);
        at += color > 0 ? color : 1;
        clean = at;
    }
    string_add_bytes(builder, text.data + clean, at - clean);
}

void string_add_in_line(struct string_builder *builder, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n\t");

        string_add_visible(builder, (struct text){text, length});
        text += length;
        if (*text != '\0')
            string_add(builder, *text++ == '\n' ? "\\n" : "\\t");
    }
}

void string_add_without_names(struct string_builder *builder, struct text message)
{
    char before = ' ';

    for (size_t i = 0; i < message.size; i++) {
        char c = message.data[i];
        const char *end = NULL;

        if (c == '\'' && !isalnum((unsigned char)before))
            end = memchr(&message.data[i + 1], '\'', message.size - i - 1);
        before = c;
        if (end != NULL)
            i = (size_t)(end - message.data);
        else if (!isdigit((unsigned char)c) &&
                 (c != ' ' || builder->size == 0 || builder->data[builder->size - 1] != ' '))
            string_add_char(builder, c);
    }
}

void string_add_format_list(struct string_builder *builder, const char *format, va_list args)
{
    va_list again;
    const size_t guess = 120; /* most lines fit: one pass is enough for them */

    va_copy(again, args);
    int length = vsnprintf(string_reserve(builder, guess), guess + 1, format, args);
    if (length > (int)guess)
        length = vsnprintf(string_reserve(builder, (size_t)length), (size_t)length + 1, format, again);
    va_end(again);
    if (length > 0)
        builder->size += (size_t)length;
    builder->data[builder->size] = '\0';
}

void string_add_integer(struct string_builder *builder, int64_t value)
{
    char digits[20]; /* of a 64-bit number with its sign */
    size_t start = sizeof(digits);
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

    do
        digits[--start] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0)
        digits[--start] = '-';
    string_add_bytes(builder, digits + start, sizeof(digits) - start);
}

void string_add_format(struct string_builder *builder, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    string_add_format_list(builder, format, args);
    va_end(args);
}

void string_add_quoted(struct string_builder *builder, const char *word)
{
    char quote = strchr(word, '\'') && !strchr(word, '"') ? '"' : '\'';
    size_t size = strlen(word);

    string_add_char(builder, quote);
    for (size_t i = 0; i < size;) {
        size_t length = text_utf8_length(word + i, size - i);
        unsigned char c = (unsigned char)word[i];

        if (c == (unsigned char)quote || c == '\\')
            string_add_format(builder, "\\%c", c);
        else if (c == '\n')
            string_add(builder, "\\n");
        else if (c == '\t')
            string_add(builder, "\\t");
        else if (c == '\r')
            string_add(builder, "\\r");
        else if (c < 0x20 || c == 0x7f || length == 0)
            string_add_format(builder, "\\x%02x", c);
        else
            string_add_bytes(builder, word + i, length);
        i += length > 0 ? length : 1;
    }
    string_add_char(builder, quote);
}

char *string_take(struct string_builder *builder)
{
    char *ret = builder->capacity > 0 ? builder->data : memory_strdup("");

    string_init(builder);
    return ret;
}
