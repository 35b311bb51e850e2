/* engine/build/state.h: the state of a build, and its steps for layers: int8 scales, then the selection of a tactic. */
#ifndef ENGINE_BUILD_STATE_H
#define ENGINE_BUILD_STATE_H

#include "engine/build/layer_walk.h"
#include "engine/build/layout_wishes.h"
#include "engine/build/settings.h"

/* An algorithm that was much slower than another one for a kind of layers. */
struct slow_algorithm {
    enum layer_kind kind;
    int64_t implementation;
    double ratio; /* its time to that of the fastest */
};

/* An engine that is being built. */
struct engine_builder {
    const struct builder_settings *settings;
    struct engine *engine;
    struct timing_cache *cache; /* the settings' cache, or a temporary one */
    struct layer_walk walk;
    struct layout_wishes wishes;
    VECTOR(struct slow_algorithm) slow;
    size_t measured, remembered;  /* numbers of tactic times */
    size_t held[DATA_TYPE_COUNT]; /* number of layers by floating type */
    struct source_use {
        size_t offered, refused;      /* layers with tactics; layers that it cannot handle */
        const char *obstacle, *layer; /* reason and layer of the first refusal */
    } * sources;                      /* by provider */
    bool *exclusions;                 /* the settings' exclusions that had an effect */
    size_t freed;                     /* layers whose tactic in the replay is excluded */
    size_t moving, other;             /* layers that only move data; layers without floating-point tensors */
};

/* Sets input_scales of int8 layers. If the calibration lacks a scale and was not loaded from a file, the network is
 * first run in float32 on all iterations of the sample source. `feed` is its first iteration. ERR_INVALID names a
 * tensor without a scale. */
int builder_calibrate(struct engine_builder *build, struct tensor_list *feed, struct error *err);

/* Selects the tactic of a layer whose inputs exist in the walk's values, completes engine->layers[layer] (precision and
 * scales are set already), and runs it. ERR_BACKEND if no provider has a working tactic, with the last reason;
 * ERR_MISSING if the replay's tactic does not exist, or a time required in the cache is missing. */
int build_layer(struct engine_builder *build, size_t layer, struct error *err);

/* Runs a layer only for its values: with the first working tactic, in float32. The caller owns `ret_step`, which can
 * run again. */
int build_plain_step(struct engine_builder *build, size_t layer, struct layer_step **ret_step, struct error *err);

#endif
