/* engine/build/settings.h: what a build is asked for: precisions, profiles, tactics, and how they are chosen. */
#ifndef ENGINE_BUILD_SETTINGS_H
#define ENGINE_BUILD_SETTINGS_H

#include "backend/build_effort.h"
#include "engine/build/timing_cache.h"
#include "engine/network/branch_decision.h"
#include "engine/precision/calibration.h"
#include "engine/precision/precision.h"
#include "format/polygraphy/tactic_replay.h"

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
    bool deterministic;              /* no timing: the first tactic of the first provider that has one */
    struct build_effort effort;      /* level 0: as with deterministic */
    /* --load-tactics: layers that it names take what it says, by name or else by numbers; the others are timed.
     * ERR_MISSING names the layer and the tactic that do not exist here. */
    const struct tactic_replay *replay;
    /* --exclude-tactics: what these words mean (tactic_rule_covers()) is not taken; where a replay says it, the layer
     * is timed. ERR_BACKEND names a layer that has no other tactic; a word that means nothing in the whole network is a
     * warning. */
    struct words excluded;
    /* Sources, by name, whose tactics are not taken, whatever a replay says; ERR_INVALID when there is none of a
     * name. */
    struct words sources_off;
    bool plain_layouts; /* nor are tactics that read or make a tensor in another layout than row by row */
    /* Draws at random among the tactics whose time is at most `explore_within` that of the fastest. Each layer draws on
     * its own, from the seed and its name; but with an odd seed half of the algorithms are avoided in all layers, as
     * far as there are others that are bearable, so that builds tell of kernels, too. */
    bool explore;
    double explore_within;
    uint64_t seed;
    int threads;
    struct log *log;                                                             /* may be NULL */
    void (*progress)(void *context, const char *layer, size_t done, size_t all); /* may be NULL */
    void *progress_context;
};

#endif
