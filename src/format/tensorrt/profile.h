/* format/tensorrt/profile.h: the time that each layer of an engine took: the file of `trtexec --exportProfile`.
 *
 *   [
 *     { "count" : 10 }
 *   , { "name" : "Conv_0 + Relu_1", "timeMs" : 1.1, "averageMs" : 0.11, "medianMs" : 0.1, "percentage" : 10.9 }
 *   ]
 *
 * trtexec escapes nothing in names and writes numbers as C++ does ("nan"), so the file need not be JSON. It is read by
 * the members' names and what stands between them: a name ends where `", "timeMs"` follows.
 */
#ifndef FORMAT_TENSORRT_PROFILE_H
#define FORMAT_TENSORRT_PROFILE_H

#include "base/container/arena.h"
#include "base/error.h"

struct layer_time {
    const char *name;
    double total, average, median; /* milliseconds; NaN: not told */
    double percentage;             /* of all layers */
};

struct layer_profile {
    struct layer_time *items; /* in the order in which the layers run */
    size_t count, capacity;
    int64_t iterations; /* 0: not told */
    struct arena arena;
};

/* Reads the file at `path`. ERR_INVALID when it names no layer, ERR_CORRUPT when it ends in the middle of one. */
int layer_profile_open(struct layer_profile *ret, const char *path, struct error *err);

/* The same for text in memory, which is not needed afterwards. */
int layer_profile_parse(struct layer_profile *ret, struct text text, const char *name, struct error *err);
void layer_profile_release(struct layer_profile *profile); /* harmless on a zeroed struct */

#endif
