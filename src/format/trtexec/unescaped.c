/* format/trtexec/unescaped.c: members of objects that need not be JSON. */
#include "format/trtexec/unescaped.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/text/number.h"

size_t unescaped_skip_blanks(struct text text, size_t at)
{
    while (at < text.size && isspace((unsigned char)text.data[at]))
        at++;
    return at;
}

size_t unescaped_value_of(struct text text, size_t at, const char *key)
{
    size_t size = strlen(key);

    if (at >= text.size || text.size - at < size + 2 || text.data[at] != '"' ||
        memcmp(text.data + at + 1, key, size) != 0 || text.data[at + 1 + size] != '"')
        return 0;
    at = unescaped_skip_blanks(text, at + size + 2);
    return at < text.size && text.data[at] == ':' ? unescaped_skip_blanks(text, at + 1) : 0;
}

size_t unescaped_text(struct text text, size_t at, const char *next_key, struct text *ret)
{
    size_t start = at + 1;

    if (at >= text.size || text.data[at] != '"')
        return 0;
    for (at = start; at < text.size; at++) {
        size_t next;

        if (text.data[at] != '"')
            continue;
        next = unescaped_skip_blanks(text, at + 1);
        if (next >= text.size || text.data[next] != ',')
            continue;
        if (unescaped_value_of(text, unescaped_skip_blanks(text, next + 1), next_key) > 0) {
            *ret = (struct text){text.data + start, at - start};
            return at + 1;
        }
    }
    return 0;
}

size_t unescaped_number(struct text text, size_t at, double *ret)
{
    size_t end = at;

    while (end < text.size && !strchr(",}] \t\r\n", text.data[end]))
        end++;
    if (!number_parse_float((struct text){text.data + at, end - at}, ret))
        *ret = NAN;
    return end;
}
