/* engine/build/settings.h: settings of a build: precisions, profiles, tactics, and their selection. */
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
    size_t profile_count; /* 0: one profile with the sample's shapes, which allows all shapes of the model */
    struct sample_source sample;
    struct calibration *calibration; /* needed for int8 */
    struct timing_cache *cache;      /* may be NULL */
    bool deterministic;              /* no timing: use the first tactic of the first provider that has one */
    struct build_effort effort;      /* level 0: like `deterministic` */
    /* --load-tactics: layers in it use its tactics, found by name or else by numbers; others are timed. ERR_MISSING
     * names a layer whose tactic does not exist here. */
    const struct tactic_replay *replay;
    /* --exclude-tactics: tactics that match these rules (tactic_rule_covers()) are not used; a layer whose replayed
     * tactic is excluded is timed. ERR_BACKEND names a layer without any other tactic; a rule without a match causes a
     * warning. */
    struct words excluded;
    /* Names of disabled tactic sources, with priority over a replay; ERR_INVALID for an unknown name. */
    struct words sources_off;
    bool plain_layouts; /* use no tactics with layouts other than row-major */
    /* Selects randomly among tactics whose time is at most `explore_within` times the fastest. Each layer is selected
     * independently by the seed and its name; with an odd seed half of the algorithms are avoided in all layers, where
     * acceptable alternatives exist, so that builds also distinguish kernels. */
    bool explore;
    double explore_within;
    uint64_t seed;
    int threads;
    struct log *log;                                                             /* may be NULL */
    void (*progress)(void *context, const char *layer, size_t done, size_t all); /* may be NULL */
    void *progress_context;
};

#endif
