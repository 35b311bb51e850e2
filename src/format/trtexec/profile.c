/* format/trtexec/profile.c: times of layers, out of what need not be JSON. */
#include "format/trtexec/profile.h"

#include <math.h>
#include <stdlib.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "format/trtexec/unescaped.h"

#define LARGEST_FILE ((size_t)1 << 30)

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
            value = unescaped_value_of(text, at, members[i].key);
            if (value > 0)
                at = unescaped_number(text, value, members[i].ret);
        }
        at += value == 0;
    }
    return at;
}

static int parse_profile(struct layer_profile *profile, struct text text, struct error *err)
{
    for (size_t at = 0; at < text.size; at++) {
        size_t value = unescaped_value_of(text, at, "count");
        struct text name;
        double count;

        if (value > 0) {
            at = unescaped_number(text, value, &count);
            profile->iterations = count >= 0 && count < 1e15 ? (int64_t)count : 0;
            continue;
        }
        value = unescaped_value_of(text, at, "name");
        if (value == 0)
            continue;
        at = unescaped_text(text, value, "timeMs", &name);
        if (at == 0)
            return error_set(err, ERR_CORRUPT, "it ends within layer %zu", profile->count);
        *VECTOR_APPEND(profile) = (struct layer_time){arena_text(&profile->arena, name), NAN, NAN, NAN, NAN};
        at = read_times(text, at, &profile->items[profile->count - 1]);
    }
    if (profile->count == 0)
        return error_set(err, ERR_INVALID, "it is no profile: it names no layer, as trtexec --exportProfile does");
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
    char *data;
    size_t size;
    int rc = file_read(path, LARGEST_FILE, &data, &size, err);

    if (rc < 0)
        return rc;
    rc = layer_profile_parse(ret, (struct text){data, size}, path, err);
    free(data);
    return rc;
}

void layer_profile_release(struct layer_profile *profile)
{
    free(profile->items);
    arena_release(&profile->arena);
    *profile = (struct layer_profile){0};
}
