/* bench/quantize/insert.h: selects the tensors of a model to quantize, and inserts the nodes for it. */
#ifndef BENCH_QUANTIZE_INSERT_H
#define BENCH_QUANTIZE_INSERT_H

#include "comparator/reference/values.h"

struct quantize_settings {
    bool all_operators;         /* also pooling, sums and others, and outputs; see quantization_plan_init() */
    bool symmetric_activations; /* int8 with zero point 0; else uint8 */
    bool per_channel;           /* weights */
    bool float_weights;         /* quantized when the model runs; else stored as integers */
    bool float_bias;            /* not quantized; else stored as int32, with the product of scales */
    const struct bad_scale {
        struct text name; /* a tensor of the float model */
        double factor;
    } * bad_scales;
    size_t bad_scale_count;
};

enum tensor_role { ROLE_NONE, ROLE_ACTIVATION, ROLE_WEIGHT, ROLE_BIAS };

/* How a tensor of the model is quantized. */
struct tensor_plan {
    enum tensor_role role; /* ROLE_NONE: not quantized */
    enum data_type type;
    int64_t zero_point;
    int64_t axis; /* axis of the channels; -1: one scale for the tensor */
    float *scales;
    size_t scale_count;
    uint32_t alike;         /* the tensor whose scale is used; VALUE_NONE: the tensor has its own */
    uint32_t input, weight; /* for a bias: the tensors whose scales are multiplied for its scale */
};

struct quantization_plan {
    struct tensor_plan *tensors; /* one for each value of the model */
    size_t count;
    bool *quantized_nodes; /* whether each node reads quantized tensors */
};

/* Selects the tensors to quantize: as TensorRT expects it, the inputs of Conv, ConvTranspose, Gemm and MatMul. With
 * `all_operators`, as in ONNX Runtime's own quantizer, also their outputs (after a Relu that is the only reader) and
 * the inputs and outputs of other operators that have integer kernels; then all nodes read the quantized tensors.
 * Outputs of the model are not quantized. */
void quantization_plan_init(const struct model *model, const struct quantize_settings *settings,
                            struct quantization_plan *ret);
void quantization_plan_release(struct quantization_plan *plan);

/* Adds the activations whose ranges are needed to `ret`. */
void quantization_plan_list(const struct quantization_plan *plan, struct value_list *ret);

/* Computes the scales; those of activations from the smallest and largest recorded value. ERR_INVALID for a bad scale
 * of a tensor that is not quantized. */
int quantization_plan_calibrate(struct quantization_plan *plan, const struct model *model,
                                const struct reference_values *recorded, const struct quantize_settings *settings,
                                struct error *err);

/* Inserts the QuantizeLinear and DequantizeLinear nodes into `model`. */
int quantization_plan_insert(const struct quantization_plan *plan, struct model *model,
                             const struct quantize_settings *settings, struct error *err);

#endif
