/* engine/tactic/onnxrt_layer.h: one layer as an ONNX model of its own, for ONNX Runtime. */
#ifndef ENGINE_TACTIC_ONNXRT_LAYER_H
#define ENGINE_TACTIC_ONNXRT_LAYER_H

#include "base/container/arena.h"
#include "engine/tactic/tactic.h"

/* A model of the layer's nodes. Its inputs have the request's types and shapes; its initializers the request's
 * values. */
struct onnxrt_layer {
    struct string_builder model; /* a ModelProto */
    struct arena arena;          /* names, NUL-terminated */
    const char **input_names;    /* what is fed */
    size_t *input_positions;     /* in the layer's inputs */
    size_t input_count;
    const char **constant_names; /* initializers whose data are not in `model`: they are handed over beside it */
    size_t *constant_positions;  /* in the layer's inputs */
    size_t constant_count;
    const char **output_names;
    size_t *output_positions; /* in the layer's outputs */
    size_t output_count;
};

void onnxrt_layer_init(struct onnxrt_layer *layer, const struct kernel_request *request);
void onnxrt_layer_release(struct onnxrt_layer *layer);

/* A constant as a tensor that borrows the request's data. */
void onnxrt_layer_constant(const struct kernel_input *input, struct tensor *ret);

#endif
