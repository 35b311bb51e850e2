/* onnx/half/float16.h: a float32 model becomes a float16 model, with inputs and outputs of the types that they had.
 *
 * The module onnx/half/ makes nodes compute in float16, all of a model (this header) or some, these in bfloat16, too
 * (mixed_precision.h), or round as if they did (rounded_nodes.h); half_operators.h says which nodes can. A model comes
 * in and is changed. It may use onnx/write/ and what that may.
 *
 * Bodies of If, Loop and Scan are converted, too; what goes into them and comes out of them stays float32. Local
 * functions stay as they are. What is computed from integers alone stays float32, because it often says how large
 * something is, and so do operators that do not take float16 (see onnx/half/half_operators.h).
 */
#ifndef ONNX_HALF_FLOAT16_H
#define ONNX_HALF_FLOAT16_H

#include "onnx/half/mixed_precision.h"
#include "onnx/model/subgraph.h"

enum float16_reason {
    FLOAT16_LISTED,      /* among settings->keep */
    FLOAT16_OF_INTEGERS, /* computed from integers alone */
    FLOAT16_NOT_TAKEN,   /* its operator does not take float16, or types are not known */
};

/* What became of the nodes that read or make float32 tensors, those in bodies included. */
struct float16_outcome {
    size_t converted;
    struct {
        struct float16_kept {
            const char *name; /* its name; without one, its operator and number */
            enum float16_reason reason;
        } * items;
        size_t count, capacity;
    } kept;
    size_t functions; /* calls of local functions */
    struct arena arena;
};

void float16_outcome_release(struct float16_outcome *outcome); /* harmless on a zeroed struct */

struct float16_settings {
    /* Nodes to be kept in float32: names, patterns of names (see text_matches_pattern()), or operators. */
    const char *const *keep;
    size_t keep_count;

    /* Describes the values of a graph, all of `model`, as far as it can; asked for the main graph and for every body,
     * whose inputs then are all that it reads from outside. */
    void (*infer)(void *data, struct model *model, const struct subgraph *graph);
    void *data;
    struct log *log; /* may be NULL */
};

/* Nodes whose descriptions are not complete stay as they are. `ret` is made anew. After an error the model can only be
 * freed. */
int float16_convert(struct model *model, const struct float16_settings *settings, struct float16_outcome *ret,
                    struct error *err);

#endif
