/* format/tensorrt/profile.c: times of layers, out of what need not be JSON. */
#include "format/tensorrt/profile.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/number.h"

#define LARGEST_FILE ((size_t)1 << 30)

static size_t skip_blanks(struct text text, size_t at)
{
    while (at < text.size && isspace((unsigned char)text.data[at]))
        at++;
    return at;
}

/* Where the value of the member `key` begins when the member itself begins at `at`; else 0. */
static size_t find_value_of(struct text text, size_t at, const char *key)
{
    size_t size = strlen(key);

    if (at >= text.size || text.size - at < size + 2 || text.data[at] != '"' ||
        memcmp(text.data + at + 1, key, size) != 0 || text.data[at + 1 + size] != '"')
        return 0;
    at = skip_blanks(text, at + size + 2);
    return at < text.size && text.data[at] == ':' ? skip_blanks(text, at + 1) : 0;
}

/* trtexec escapes nothing, so a name ends at the quote with a comma and the member `next_key` behind it. Returns where
 * it ends, behind the quote; 0 when it does not begin or end. */
static size_t read_unescaped_text(struct text text, size_t at, const char *next_key, struct text *ret)
{
    size_t start = at + 1;

    if (at >= text.size || text.data[at] != '"')
        return 0;
    for (at = start; at < text.size; at++) {
        size_t next;

        if (text.data[at] != '"')
            continue;
        next = skip_blanks(text, at + 1);
        if (next >= text.size || text.data[next] != ',')
            continue;
        if (find_value_of(text, skip_blanks(text, next + 1), next_key) > 0) {
            *ret = (struct text){text.data + start, at - start};
            return at + 1;
        }
    }
    return 0;
}

/* The number at `at`; NaN when there is none. Returns where it ends. */
static size_t read_unescaped_number(struct text text, size_t at, double *ret)
{
    size_t end = at;

    while (end < text.size && !strchr(",}] \t\r\n", text.data[end]))
        end++;
    if (!number_parse_float((struct text){text.data + at, end - at}, ret))
        *ret = NAN;
    return end;
}

/* The members behind a name, up to the end of the object. */
static size_t read_times(struct text text, size_t at, struct layer_time *time)
{
    const struct {
        const char *key;
        double *ret;
    } members[] = {
        {"timeMs", &time->total},
        {"averageMs", &time->average},
        {"medianMs", &time->median},
        {"percentage", &time->percentage},
    };

    while (at < text.size && text.data[at] != '}') {
        size_t value = 0;

        for (size_t i = 0; i < ARRAY_LEN(members) && value == 0; i++) {
            value = find_value_of(text, at, members[i].key);
            if (value > 0)
                at = read_unescaped_number(text, value, members[i].ret);
        }
        at += value == 0;
    }
    return at;
}

static int parse_profile(struct layer_profile *profile, struct text text, struct error *err)
{
    for (size_t at = 0; at < text.size; at++) {
        size_t value = find_value_of(text, at, "count");
        struct text name;
        double count;

        if (value > 0) {
            at = read_unescaped_number(text, value, &count);
            profile->iterations = count >= 0 && count < 1e15 ? (int64_t)count : 0;
            continue;
        }
        value = find_value_of(text, at, "name");
        if (value == 0)
            continue;
        at = read_unescaped_text(text, value, "timeMs", &name);
        if (at == 0)
            return error_set(err, ERR_CORRUPT, "it ends within layer %zu", profile->count);
        *VECTOR_APPEND(profile) = (struct layer_time){arena_text(&profile->arena, name), NAN, NAN, NAN, NAN};
        at = read_times(text, at, &profile->items[profile->count - 1]);
    }
    if (profile->count == 0)
        return error_set(err, ERR_INVALID,
                         "it is no profile: it names no layer, as that of trtexec --exportProfile does");
    return 0;
}

int layer_profile_parse(struct layer_profile *ret, struct text text, const char *name, struct error *err)
{
    struct layer_profile profile = {0};

    if (parse_profile(&profile, text, err) < 0) {
        layer_profile_release(&profile);
        return error_context(err, "'%s'", name);
    }
    *ret = profile;
    return 0;
}

int layer_profile_open(struct layer_profile *ret, const char *path, struct error *err)
{
    char *data SCOPED_FREE = NULL;
    size_t size;
    int rc = file_read(path, LARGEST_FILE, &data, &size, err);

    if (rc < 0)
        return rc;
    return layer_profile_parse(ret, (struct text){data, size}, path, err);
}

void layer_profile_release(struct layer_profile *profile)
{
    free(profile->items);
    arena_release(&profile->arena);
    *profile = (struct layer_profile){0};
}
