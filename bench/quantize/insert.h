/* bench/quantize/insert.h: what of a model is quantized, and the nodes that do it. */
#ifndef BENCH_QUANTIZE_INSERT_H
#define BENCH_QUANTIZE_INSERT_H

#include "comparator/reference/values.h"

struct quantize_settings {
    bool all_operators;         /* also pooling, sums and their like; outputs, too: see quantization_plan_init() */
    bool symmetric_activations; /* int8 with zero point 0; else uint8 */
    bool per_channel;           /* weights */
    bool float_weights;         /* they are quantized as the model runs; else stored as integers */
    bool float_bias;            /* it is not quantized; else stored as int32, with the product of scales */
    const struct bad_scale {
        struct text name; /* a tensor of the float model */
        double factor;
    } * bad_scales;
    size_t bad_scale_count;
};

enum tensor_role { ROLE_NONE, ROLE_ACTIVATION, ROLE_WEIGHT, ROLE_BIAS };

/* How a tensor of the model is quantized. */
struct tensor_plan {
    enum tensor_role role; /* ROLE_NONE: it is not */
    enum data_type type;
    int64_t zero_point;
    int64_t axis; /* of the channels; -1: one scale for the tensor */
    float *scales;
    size_t scale_count;
    uint32_t alike;         /* a tensor that the scale is taken from; VALUE_NONE: the tensor has its own */
    uint32_t input, weight; /* of a bias: tensors whose scales are its own's factors */
};

struct quantization_plan {
    struct tensor_plan *tensors; /* of each value of the model */
    size_t count;
    bool *quantized_nodes; /* of each node: it reads what is quantized */
};

/* Finds what is quantized. As TensorRT wants it, that is what Conv, ConvTranspose, Gemm and MatMul read. With
 * `all_operators`, as ONNX Runtime's own quantizer does it, also what these make (with the Relu behind it, where that
 * is all that reads it) and what other operators with a form for integers read and make; and every node reads what is
 * quantized. Outputs of the model stay as they are. */
void quantization_plan_init(const struct model *model, const struct quantize_settings *settings,
                            struct quantization_plan *ret);
void quantization_plan_release(struct quantization_plan *plan);

/* Adds the activations whose ranges are needed. */
void quantization_plan_list(const struct quantization_plan *plan, struct value_list *ret);

/* Chooses scales: of activations by the least and the greatest number that was recorded. ERR_INVALID for a bad scale of
 * a tensor that is not quantized. */
int quantization_plan_calibrate(struct quantization_plan *plan, const struct model *model,
                                const struct reference_values *recorded, const struct quantize_settings *settings,
                                struct error *err);

/* Inserts QuantizeLinear and DequantizeLinear. */
int quantization_plan_insert(const struct quantization_plan *plan, struct model *model,
                             const struct quantize_settings *settings, struct error *err);

#endif
