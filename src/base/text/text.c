/* base/text/text.c: compares and matches text that is not NUL-terminated. */
#define _GNU_SOURCE /* memmem */
#include "base/text/text.h"

#include <stdint.h>
#include <string.h>

struct text text_of(const char *string)
{
    return string ? (struct text){string, strlen(string)} : (struct text){"", 0};
}

bool text_equal(struct text a, struct text b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

bool string_equal(const char *a, const char *b)
{
    return a != NULL && b != NULL ? strcmp(a, b) == 0 : a == b;
}

bool text_equal_string(struct text a, const char *b)
{
    return text_equal(a, text_of(b));
}

bool text_is_one_of(struct text text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (text_equal_string(text, words[i]))
            return true;
    return false;
}

bool text_begins_with(struct text text, const char *beginning)
{
    size_t size = strlen(beginning);

    return text.size >= size && memcmp(text.data, beginning, size) == 0;
}

bool text_contains(struct text haystack, struct text needle)
{
    return text_find(haystack, needle) != SIZE_MAX;
}

size_t text_find(struct text haystack, struct text needle)
{
    const char *found;

    if (needle.size == 0)
        return 0;
    found = needle.size <= haystack.size ? memmem(haystack.data, haystack.size, needle.data, needle.size) : NULL;
    return found != NULL ? (size_t)(found - haystack.data) : SIZE_MAX;
}

size_t text_find_last(struct text haystack, struct text needle)
{
    for (size_t i = haystack.size < needle.size ? 0 : haystack.size - needle.size + 1; i-- > 0;)
        if (memcmp(haystack.data + i, needle.data, needle.size) == 0)
            return i;
    return SIZE_MAX;
}

static char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool begins_ignoring_case(const char *data, struct text prefix)
{
    for (size_t i = 0; i < prefix.size; i++) {
        if (ascii_lower(data[i]) != ascii_lower(prefix.data[i]))
            return false;
    }
    return true;
}

bool text_contains_ignoring_case(struct text haystack, struct text needle)
{
    if (needle.size == 0)
        return true;
    if (needle.size > haystack.size)
        return false;
    for (size_t i = 0; i <= haystack.size - needle.size; i++) {
        if (begins_ignoring_case(haystack.data + i, needle))
            return true;
    }
    return false;
}

/* RFC 3629, table of section 4: no overlong forms, no surrogates, nothing above U+10FFFF. */
size_t text_utf8_length(const char *data, size_t size)
{
    const uint8_t *bytes = (const uint8_t *)data;
    uint8_t low = 0x80, high = 0xBF; /* bounds of the second byte */
    size_t length;

    if (size == 0)
        return 0;
    uint8_t lead = bytes[0];
    if (lead < 0x80)
        return 1;
    if (lead < 0xC2 || lead > 0xF4)
        return 0;
    if (lead < 0xE0) {
        length = 2;
    } else if (lead < 0xF0) {
        length = 3;
        low = lead == 0xE0 ? 0xA0 : low;
        high = lead == 0xED ? 0x9F : high;
    } else {
        length = 4;
        low = lead == 0xF0 ? 0x90 : low;
        high = lead == 0xF4 ? 0x8F : high;
    }
    if (size < length || bytes[1] < low || bytes[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++) {
        if ((bytes[i] & 0xC0) != 0x80)
            return 0;
    }
    return length;
}

/* Removes the first character and returns its code point. A byte that is not UTF-8 gives a distinct value above all
 * code points, so that it equals only itself. */
static uint32_t next_character(struct text *text)
{
    const uint8_t *bytes = (const uint8_t *)text->data;
    size_t length = text_utf8_length(text->data, text->size);
    uint32_t ret;

    switch (length) {
    case 0:
        ret = 0x110000u + bytes[0];
        length = 1;
        break;
    case 1:
        ret = bytes[0];
        break;
    default:
        ret = bytes[0] & (0x7Fu >> length);
        for (size_t i = 1; i < length; i++)
            ret = ret << 6 | (bytes[i] & 0x3Fu);
        break;
    }
    text->data += length;
    text->size -= length;
    return ret;
}

/* `pattern` starts after a '['. Finds the ']' that ends the set: one at the start (or after '!') is a member. Returns
 * its offset, or SIZE_MAX when there is none (the '[' is then literal). */
static size_t set_end(struct text pattern)
{
    size_t i = 0;

    if (i < pattern.size && pattern.data[i] == '!')
        i++;
    if (i < pattern.size && pattern.data[i] == ']')
        i++;
    while (i < pattern.size && pattern.data[i] != ']')
        i++;
    return i < pattern.size ? i : SIZE_MAX;
}

static bool set_has(struct text set, uint32_t character)
{
    bool negated = set.size > 0 && set.data[0] == '!';
    bool found = false;

    if (negated) {
        set.data++;
        set.size--;
    }
    while (set.size > 0 && !found) {
        uint32_t low = next_character(&set);
        uint32_t high = low;
        if (set.size >= 2 && set.data[0] == '-') {
            next_character(&set);
            high = next_character(&set);
        }
        found = low <= character && character <= high;
    }
    return found != negated;
}

/* Matches one character of `name` against one element of `pattern` other than '*' and advances both. */
static bool match_one_character(struct text *name, struct text *pattern)
{
    if (name->size == 0)
        return false;
    uint32_t character = next_character(name);
    uint32_t wanted = next_character(pattern);

    if (wanted == '?')
        return true;
    if (wanted == '[') {
        size_t end = set_end(*pattern);
        if (end != SIZE_MAX) {
            struct text set = {pattern->data, end};
            pattern->data += end + 1;
            pattern->size -= end + 1;
            return set_has(set, character);
        }
    }
    return wanted == character;
}

bool text_matches_pattern(struct text name, struct text pattern)
{
    struct text retry_name = name, retry_pattern = pattern;
    bool starred = false;

    /* Only the last '*' ever needs to be tried again: time is at most the product of the two lengths. */
    while (name.size > 0 || pattern.size > 0) {
        if (pattern.size > 0 && pattern.data[0] == '*') {
            pattern.data++;
            pattern.size--;
            starred = true;
            retry_name = name;
            retry_pattern = pattern;
            continue;
        }
        if (pattern.size > 0 && match_one_character(&name, &pattern))
            continue;
        if (!starred || retry_name.size == 0)
            return false;
        next_character(&retry_name);
        name = retry_name;
        pattern = retry_pattern;
    }
    return true;
}
