/* engine/build/builder.h: chooses a tactic for every layer.
 *
 * Layers are built in the order in which they run, on real values: what a layer made is what the next one is timed
 * on. So shapes that depend on data are known, and calibration sees what runs. A tactic pays for the reorders of its
 * inputs into the layouts that it wants.
 */
#ifndef ENGINE_BUILD_BUILDER_H
#define ENGINE_BUILD_BUILDER_H

#include "engine/build/timing_cache.h"
#include "engine/engine.h"
#include "engine/precision/calibration.h"
#include "format/polygraphy/tactic_replay.h"

/* Makes the feed of one iteration for these inputs, in their order. Shapes are the profile's optimal ones. */
struct sample_source {
    int (*feed)(void *context, const struct backend_io *inputs, size_t count, int64_t iteration,
                struct tensor_list *ret, struct error *err);
    void *context;
    int64_t iterations; /* used for calibration; the first one is for timing */
    bool generated;     /* at random: scales that come from it may suit no real data */
};

struct input_profile { /* of one input, by name */
    const char *name;
    struct shape minimum, optimum, maximum;
};

struct builder_settings {
    struct provider_list providers; /* borrowed; outlive the engine */
    struct precision_settings precision;
    /* --trt-min-shapes and so on: `profile_count` lists of `profile_sizes` */
    const struct input_profile *const *profiles;
    const size_t *profile_sizes;
    size_t profile_count; /* 0: one of the sample's shapes, any other shape allowed that the model allows */
    struct sample_source sample;
    struct calibration *calibration; /* needed for int8 */
    struct timing_cache *cache;      /* may be NULL */
    bool error_on_cache_miss;        /* a time that is not in `cache`: ERR_MISSING */
    bool deterministic;              /* no timing: the first tactic of the first provider that has one */
    int optimization_level; /* 0..5, default 3: how many tactics are timed and how often; 0: as with deterministic */
    /* --load-tactics: layers that it names take what it says, by name or else by numbers; the others are timed.
     * ERR_MISSING names the layer and the tactic that do not exist here. */
    const struct tactic_replay *replay;
    /* Draws at random among the tactics whose time is at most `explore_within` that of the fastest. Each layer draws on
     * its own, from the seed and its name. */
    bool explore;
    double explore_within;
    uint64_t seed;
    int threads;
    struct log *log;                                                             /* may be NULL */
    void (*progress)(void *context, const char *layer, size_t done, size_t all); /* may be NULL */
    void *progress_context;
};

/* The network has to outlive the engine. Interruptible (base/interrupt.h): ERR_INTERRUPTED.
 *
 * A tactic that cannot be made or does not run is skipped, with a verbose line; when none is left, or there never was
 * one, ERR_BACKEND names the layer and the last reason. ERR_INVALID for profiles and sample data
 * that do not fit the network, and for int8 tensors without a scale. `progress` is called before each layer. */
int engine_build(const struct network *network, const struct builder_settings *settings, struct engine **ret,
                 struct error *err);

#endif
