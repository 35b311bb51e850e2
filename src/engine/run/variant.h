/* engine/run/variant.h: an engine made ready for one set of input shapes: kernels, and the memory that they
 * share. */
#ifndef ENGINE_RUN_VARIANT_H
#define ENGINE_RUN_VARIANT_H

#include "engine/run/layer_step.h"

#define VARIANT_OTHER_STEPS 3

/* What does not depend on shapes: how long tensors are needed. */
struct value_lifetimes {
    size_t *last_use; /* of each value: the last layer that reads it, or makes it */
    bool *is_output;
    uint32_t *ending; /* values whose last use is layer i: from ending_start[i] up to ending_start[i + 1] */
    size_t *ending_start;
};

void value_lifetimes_init(struct value_lifetimes *lifetimes, const struct network *network);
void value_lifetimes_release(struct value_lifetimes *lifetimes);

/* The steps of one layer. Shapes inside of a network may depend on data, so that there can be several. */
struct variant_layer {
    struct layer_step *step; /* made in the first run; what the memory plan is for */
    struct layer_step *others[VARIANT_OTHER_STEPS];
    size_t next_other;
    bool settled; /* all of its inputs come from the plan or from outside: `step` always fits */
    bool bound;   /* its outputs stand where the plan has them */
};

struct variant {
    const struct engine *engine;
    struct log *log;
    struct shape *inputs; /* network->inputs.count of these two: what it is for */
    enum data_type *types;
    struct layer_values *values;  /* model->values.count */
    struct variant_layer *layers; /* network->layers.count */
    size_t *offsets;              /* of each value in `memory`; SIZE_MAX when it is not in the plan */
    bool planned;
    char *memory, *scratch;
    size_t memory_size, scratch_size, without_reuse; /* bytes */
    uint64_t last_run;
    double making; /* seconds of this run that went into making steps */
};

/* `feed`: network->inputs.count tensors. `log` may be NULL. */
struct variant *variant_new(const struct engine *engine, const struct tensor *feed, struct log *log);
void variant_free(struct variant *variant); /* NULL is fine */

/* The step that a layer takes for the inputs that it has now, made if need be. */
int variant_step(struct variant *variant, size_t layer, struct layer_step **ret, struct error *err);

/* After the first run: places the tensors whose sizes are known beforehand. */
int variant_plan(struct variant *variant, const struct value_lifetimes *lifetimes, struct error *err);

/* Gives up what the layer's inputs do not need any longer; or everything that the run has made. */
void variant_release_ending(struct variant *variant, const struct value_lifetimes *lifetimes, size_t layer);
void variant_release_values(struct variant *variant);

#endif
