/* engine/build/state.h: an engine while it is built, and the steps that its layers go through: scales for int8, then a
 * tactic each. */
#ifndef ENGINE_BUILD_STATE_H
#define ENGINE_BUILD_STATE_H

#include "engine/build/layer_walk.h"
#include "engine/build/layout_wishes.h"
#include "engine/build/settings.h"

/* An algorithm that has turned out to be far slower than another one for layers of some kind. */
struct slow_algorithm {
    enum layer_kind kind;
    int64_t implementation;
    double ratio; /* its time to that of the fastest */
};

/* An engine that is being built. */
struct engine_builder {
    const struct builder_settings *settings;
    struct engine *engine;
    struct timing_cache *cache; /* the settings' one, or one of this build's own */
    struct layer_walk walk;
    struct layout_wishes wishes;
    struct {
        struct slow_algorithm *items;
        size_t count, capacity;
    } slow;
    size_t measured, remembered;  /* times of tactics */
    size_t held[DATA_TYPE_COUNT]; /* layers that compute and store in a floating type */
    struct source_use {
        size_t offered, refused;      /* layers that it has tactics for; that it has not looked at */
        const char *obstacle, *layer; /* why, of the first of these */
    } * sources;                      /* of each provider */
    bool *exclusions;                 /* which of the settings' were for something */
    size_t freed;                     /* layers whose tactic in the replay is excluded */
    size_t moving, other;             /* those that only move data; those without floating-point numbers */
};

/* Gives int8 layers their input_scales. Where the calibration lacks one and was not loaded from a file, the network
 * is run in float32 on all iterations of the sample source first. `feed` is its first one. ERR_INVALID names a tensor
 * that has no scale. */
int builder_calibrate(struct engine_builder *build, struct tensor_list *feed, struct error *err);

/* Chooses the tactic for a layer whose inputs exist in the walk's values, fills engine->layers[layer] but for its
 * precision and scales, which are there already, and runs it. ERR_BACKEND when no provider has a tactic,
 * or none works, with the last one's reason; ERR_MISSING when the replay wants what is not there, or a
 * time is missing that has to be in the cache. */
int build_layer(struct engine_builder *build, size_t layer, struct error *err);

/* The same for values alone: the first tactic that works, in float32. `ret_step` is the caller's, and runs again. */
int build_plain_step(struct engine_builder *build, size_t layer, struct layer_step **ret_step, struct error *err);

#endif
