/* debug/simplify/kind.h: interface of a kind of simplification: the parts of a model that it changes, and how.
 *
 * To add one, define a struct simplify_kind and add it to the table in simplify.c.
 */
#ifndef DEBUG_SIMPLIFY_KIND_H
#define DEBUG_SIMPLIFY_KIND_H

#include "base/hash.h"
#include "base/text/string_builder.h"
#include "onnx/model/model.h"
#include "onnx/shrink/attributes.h"
#include "onnx/shrink/bodies.h"
#include "onnx/shrink/inputs.h"
#include "onnx/shrink/stand_in_weights.h"

/* The parts of one model; of the lists only those of the kind are filled. */
struct simplify_parts {
    uint8_t *alternatives; /* number of alternatives of each part */
    size_t count;

    struct weight_list weights;
    struct optional_attribute_list attributes;
    struct input_size_list sizes;
    struct value_list decisions;  /* the `If` nodes of the main graph, which a branch can replace; then ... */
    struct inner_node_list inner; /* ... nodes in subgraphs and functions */
};

struct simplify_kind {
    const char *suffix;  /* of replay keys, after those of earlier kinds */
    const char *title;   /* "Replacing weights" */
    const char *parts;   /* "weight(s)" */
    bool changes_types;  /* types and shapes must be inferred again, which needs a runtime that accepts the model */
    bool changes_inputs; /* data for the original inputs do not fit */

    /* Lists the parts of `model`; `ret` is zeroed, and released also after an error. */
    int (*survey)(struct model *model, struct simplify_parts *ret, struct error *err);

    /* Changes `model`, a copy of the surveyed one, which outlives it. One choice for each part; 0 leaves it unchanged.
     * */
    int (*apply)(const struct simplify_parts *parts, struct model *model, const uint8_t *choices, struct error *err);

    /* Identity of a changed model, if different choices may give the same model; else NULL. */
    struct hash (*identify)(const struct model *changed);

    /* Name of alternative `choice`: "zeros". */
    const char *(*choice_name)(unsigned choice);

    /* Appends the name of part `index`. */
    void (*name)(const struct simplify_parts *parts, const struct model *model, size_t index,
                 struct string_builder *out);

    /* Appends the result: one sentence without full stop. At least one choice is not 0. */
    void (*report)(const struct simplify_parts *parts, const struct model *model, const uint8_t *choices,
                   struct string_builder *out);

    /* Appends a warning about the model of this kind; may be NULL. */
    void (*warn)(const struct model *model, struct string_builder *out);
};

extern const struct simplify_kind simplify_weights, simplify_attributes, simplify_shapes, simplify_bodies;

#endif
