/* onnx/half/float16.h: converts a float32 model to float16; its inputs and outputs keep their types.
 *
 * The module onnx/half/ converts all nodes of a model to float16 (this header) or some to float16 or bfloat16
 * (mixed_precision.h), or only rounds tensors as these would (rounded_nodes.h); half_operators.h determines which nodes
 * can be converted. It depends on onnx/write/ and its dependencies.
 *
 * Bodies of If, Loop and Scan are converted, too; their inputs and outputs stay float32. Local functions are not
 * converted. Nodes that compute only on integers stay float32, because they often compute sizes, and so do operators
 * that do not support float16 (see onnx/half/half_operators.h).
 */
#ifndef ONNX_HALF_FLOAT16_H
#define ONNX_HALF_FLOAT16_H

#include "onnx/half/mixed_precision.h"
#include "onnx/model/subgraph.h"

enum float16_reason {
    FLOAT16_LISTED,      /* among settings->keep */
    FLOAT16_OF_INTEGERS, /* computed only from integers */
    FLOAT16_NOT_TAKEN,   /* its operator does not support float16, or types are unknown */
};

/* Result for the nodes that read or produce float32 tensors, including nodes in bodies. */
struct float16_outcome {
    size_t converted;
    struct {
        struct float16_kept {
            const char *name; /* its name; if empty, its operator and index */
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

    /* Infers the types of a graph, all of `model`, if possible. Called for the main graph and for every body; captured
     * tensors are then inputs of the body. */
    void (*infer)(void *data, struct model *model, const struct subgraph *graph);
    void *data;
    struct log *log; /* may be NULL */
};

/* Converts the model. Nodes with incomplete types stay float32. `ret` is overwritten. After an error the model can only
 * be freed. */
int float16_convert(struct model *model, const struct float16_settings *settings, struct float16_outcome *ret,
                    struct error *err);

#endif
