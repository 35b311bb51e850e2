/* engine/run/variant.h: an engine prepared for one set of input shapes: kernels and shared memory. */
#ifndef ENGINE_RUN_VARIANT_H
#define ENGINE_RUN_VARIANT_H

#include "engine/run/layer_step.h"

#define VARIANT_OTHER_STEPS 3

/* Lifetimes of values, which do not depend on shapes. */
struct value_lifetimes {
    size_t *last_use; /* of each value: the last layer that reads it, or its producer */
    bool *is_output;
    uint32_t *ending; /* values whose last use is layer i: from ending_start[i] up to ending_start[i + 1] */
    size_t *ending_start;
};

void value_lifetimes_init(struct value_lifetimes *lifetimes, const struct network *network);
void value_lifetimes_release(struct value_lifetimes *lifetimes);

/* The steps of one layer; several if inner shapes depend on data. */
struct variant_layer {
    struct layer_step *step; /* created in the first run; used for the memory plan */
    struct layer_step *others[VARIANT_OTHER_STEPS];
    size_t next_other;
    bool settled; /* all inputs are in the plan or from outside: `step` always fits */
    bool bound;   /* its outputs have their planned addresses */
};

struct variant {
    const struct engine *engine;
    struct log *log;
    struct shape *inputs; /* network->inputs.count, as types: the key of the variant */
    enum data_type *types;
    struct layer_values *values;  /* model->values.count */
    struct variant_layer *layers; /* network->layers.count */
    size_t *offsets;              /* of each value in `memory`; SIZE_MAX: not planned */
    bool planned;
    char *memory, *scratch;
    size_t memory_size, scratch_size, without_reuse; /* bytes */
    uint64_t last_run;
    double making; /* seconds of this run spent on creating steps */
};

/* `feed`: network->inputs.count tensors. `log` may be NULL. */
struct variant *variant_new(const struct engine *engine, const struct tensor *feed, struct log *log);
void variant_free(struct variant *variant); /* NULL is fine */

/* The step of a layer for its current inputs, created if necessary. */
int variant_step(struct variant *variant, size_t layer, struct layer_step **ret, struct error *err);

/* After the first run: plans memory for tensors with known sizes. */
int variant_plan(struct variant *variant, const struct value_lifetimes *lifetimes, struct error *err);

/* Release values whose last use is this layer; or all values of the run. */
void variant_release_ending(struct variant *variant, const struct value_lifetimes *lifetimes, size_t layer);
void variant_release_values(struct variant *variant);

#endif
