/* debug/simplify/kind.h: one kind of simplification: which parts of a model it is about, and what becomes of them.
 *
 * Adding one is a struct simplify_kind, and a row in the table of simplify.c.
 */
#ifndef DEBUG_SIMPLIFY_KIND_H
#define DEBUG_SIMPLIFY_KIND_H

#include "base/hash.h"
#include "base/text/string_builder.h"
#include "onnx/model/model.h"

/* The parts of one model. */
struct simplify_parts {
    void *data;            /* the kind's own */
    uint8_t *alternatives; /* of each part, how many it has */
    size_t count;
};

struct simplify_kind {
    const char *suffix;  /* of replay keys, behind those of the kinds that were tried before */
    const char *title;   /* "Replacing weights" */
    const char *parts;   /* "weight(s)" */
    bool changes_types;  /* types and shapes have to be worked out anew, which takes a runtime that knows the model */
    bool changes_inputs; /* data for the inputs of the model as it was do not fit */

    /* Lists the parts of `model`; `ret` is zeroed, and released after an error, too. */
    int (*survey)(struct model *model, struct simplify_parts *ret, struct error *err);
    void (*release)(struct simplify_parts *parts);

    /* Changes `model`, a copy of the one that was surveyed, which lives longer. A choice for each part; 0 leaves it
     * alone. */
    int (*apply)(const struct simplify_parts *parts, struct model *model, const uint8_t *choices, struct error *err);

    /* The identity of a changed model, where different choices may come to the same; NULL: they do not. */
    struct hash (*identify)(const struct model *changed);

    /* What alternative `choice` is: "zeros". */
    const char *(*choice_name)(unsigned choice);

    /* Appends what part `index` is called. */
    void (*name)(const struct simplify_parts *parts, const struct model *model, size_t index,
                 struct string_builder *out);

    /* Appends what has come of it: one sentence without its full stop. At least one choice is not 0. */
    void (*report)(const struct simplify_parts *parts, const struct model *model, const uint8_t *choices,
                   struct string_builder *out);

    /* Appends what the user should know of the model that this kind leaves; NULL: nothing. */
    void (*warn)(const struct model *model, struct string_builder *out);
};

extern const struct simplify_kind simplify_weights, simplify_attributes, simplify_shapes, simplify_bodies;

#endif
