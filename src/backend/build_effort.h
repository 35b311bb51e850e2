/* backend/build_effort.h: how much a build of an engine may try, whether TensorRT makes it or the built-in engine. */
#ifndef BACKEND_BUILD_EFFORT_H
#define BACKEND_BUILD_EFFORT_H

#include <stdbool.h>
#include <stdint.h>

/* Members have the names of their options. */
struct build_effort {
    int64_t optimization_level;      /* 0..5: how many tactics are timed and how often */
    bool has_optimization_level;     /* else that is the default of the options, and not passed to TensorRT */
    bool error_on_timing_cache_miss; /* a time that is not in the timing cache: ERR_MISSING */
};

#endif
