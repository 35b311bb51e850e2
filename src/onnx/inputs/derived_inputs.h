/* onnx/inputs/derived_inputs.h: sizes and values with which a model runs, derived from what it says.
 *
 * The module onnx/inputs/ walks over a model's nodes and derives what the inputs have to be: sizes from names of
 * dimensions ("past + sequence") and from what operators demand, values from what looks them up, compares or masks with
 * them. It runs nothing and reads no weights. Rules depend on the structure, except for those that `by_name` marks.
 *
 * Sizes that remain free get representative values: 16 for a sequence, 5 for the entries of a cache, 64 or more for
 * what windows move along, else 1.
 */
#ifndef ONNX_INPUTS_DERIVED_INPUTS_H
#define ONNX_INPUTS_DERIVED_INPUTS_H

#include "onnx/inputs/value_rules.h"

struct derived_input {
    uint32_t value; /* of the model */
    const char *name;
    bool has_shape;  /* otherwise the model does not say its rank */
    bool is_open;    /* the model leaves a size open */
    bool is_given;   /* the user gave a shape */
    bool by_name;    /* a rule depends on its name or on those of its dimensions */
    bool is_certain; /* values that obey the rule are known to be valid */
    struct shape shape;
    enum derived_values values;
    int64_t low, high;
    const char *size_rule, *value_rule; /* for users; in the arena; NULL: none */
};

struct derived_inputs {
    struct arena arena;
    struct derived_input *items; /* of the model's inputs, in their order */
    size_t count;
    /* With 1 for all open sizes, and values of 0 and 1, the model runs as far as is known, or with nothing that can be
     * derived; else why it does not. */
    bool defaults_fit;
    const char *refusal;
    bool is_proven; /* every node is known to accept the derived sizes */
};

/* A shape that is known beforehand. Dimensions of -1 are derived. */
struct derivation_shape {
    uint32_t input; /* position among the model's inputs */
    struct shape shape;
};

/* Derives the inputs of `model`. `given` shapes that the model excludes are left to whoever uses them. */
void derived_inputs_init(struct derived_inputs *derived, const struct model *model,
                         const struct derivation_shape *given, size_t given_count);
void derived_inputs_release(struct derived_inputs *derived);

/* Whether a model has inputs of which something can be derived: an open size, integers or booleans. */
bool derived_inputs_are_needed(const struct model *model);

#endif
