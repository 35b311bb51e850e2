/* engine/precision/precision.h: in which precision a layer stores its tensors.
 *
 * The module engine/precision/ decides which layers store what, rounds tensors to it, and finds scales for int8
 * (calibration.h). Settings and a network come in, a precision for each layer goes out. It uses engine/network/.
 *
 * Storage semantics: a layer at float16 rounds its inputs, constants and outputs to float16 (overflow becomes infinity)
 * and accumulates in float32; bfloat16 likewise. int8 is symmetric: inputs per tensor with scales from calibration,
 * weights per output channel, in [-127, 127]; sums are exact. Buffers stay float32: what is stored in them is what the
 * narrow type could hold.
 */
#ifndef ENGINE_PRECISION_PRECISION_H
#define ENGINE_PRECISION_PRECISION_H

#include "base/log.h"
#include "engine/network/network.h"
#include "tensor/values/tensor.h"

enum precision { /* from high to low */
                 PRECISION_FLOAT32,
                 PRECISION_TF32, /* accepted; computes as float32: TF32 is a property of NVIDIA's matrix units */
                 PRECISION_BFLOAT16,
                 PRECISION_FLOAT16,
                 PRECISION_INT8,
                 PRECISION_COUNT,
};

/* "float32", "tf32", "bfloat16", "float16", "int8" */
const char *precision_name(enum precision precision);
/* "DataType.FLOAT", "DataType.HALF", "DataType.BF16", "DataType.INT8": in replays */
const char *precision_tensorrt_name(enum precision precision);

/* The type that it stores; float32 for TF32. */
enum data_type precision_type(enum precision precision);

/* The precision that stores elements of `type`; PRECISION_COUNT when `type` is none. */
enum precision precision_of_type(enum data_type type);

struct precision_override {
    const char *name; /* of a layer (or ONNX node), or of a tensor */
    enum data_type type;
};

struct precision_overrides {
    const struct precision_override *items;
    size_t count;
};

enum precision_constraints { PRECISION_CONSTRAINTS_NONE, PRECISION_CONSTRAINTS_PREFER, PRECISION_CONSTRAINTS_OBEY };
enum precision_policy { PRECISION_POLICY_LOWEST, PRECISION_POLICY_FASTEST };

struct precision_settings {
    bool enabled[PRECISION_COUNT]; /* float32 always counts as enabled */
    enum precision_constraints constraints;
    enum precision_policy policy;
    struct precision_overrides layers;  /* --layer-precisions */
    struct precision_overrides tensors; /* --tensor-dtypes: an output of a layer is stored in this type */
};

/* What one layer stores. */
struct layer_precision {
    enum precision precision;
    bool constrained; /* by the user */
    /* Of each output; owned. Same as `precision` unless --tensor-dtypes says otherwise; int8 layers store float32. */
    enum precision *outputs;
};

/* Whether a layer has float32 tensors and computes (moves_data is false): those get the lowest enabled precision. int8
 * is for convolutions, deconvolutions and matrix products whose second input is constant. Layers of operators that have
 * no float16 form (see node_takes_half()), among them those with bodies, stay in float32, which every layer with a
 * float32 tensor can have. */
bool precision_eligible(const struct network *network, const struct layer *layer, enum precision precision);

/* Whether a layer at a reduced precision rounds this input: a float32 tensor, and not one whose every bit decides about
 * a size (the scales of Resize). int8: only the first two inputs. */
bool precision_narrows_input(const struct network *network, const struct layer *layer, size_t input,
                             enum precision precision);

/* Decides for every layer; `ret` is network->layers.count long. With the policy FASTEST, layers that are not
 * constrained are float32: kernels compute in float32, so that rounding only adds work.
 *
 * ERR_INVALID for names that are no layer, or no output of one (with close names), and for types that are no precision.
 * A layer that cannot have what was asked for is an error with PRECISION_CONSTRAINTS_OBEY (all of them are named), and
 * with PREFER a warning. With NONE, --layer-precisions mean nothing, as in TensorRT; one warning says so, and that
 * --precision-constraints is missing. */
int precisions_assign(const struct network *network, const struct precision_settings *settings, struct log *log,
                      struct layer_precision *ret, struct error *err);
void precisions_release(struct layer_precision *precisions, size_t count);

/* For a precision that was enabled and that no layer of `precisions` has: appends why, as far as it is known, in words
 * that follow a colon. Whether it may come as a surprise: not when layers could have it, and each of them was
 * constrained to something else. */
bool precision_explain_unused(const struct network *network, const struct precision_settings *settings,
                              const struct layer_precision *precisions, enum precision precision,
                              struct string_builder *ret);

/* Rounds float32 values, in place, to what `precision` (not int8) can hold. Vectorizable loops; NaN stays NaN. */
void precision_round(enum precision precision, float *values, size_t count);

/* Quantizes and dequantizes in place with one scale: rounds half to even, saturates at [-128, 127]; NaN becomes 0. */
void precision_quantize(float scale, float *values, size_t count);

/* Makes a constant what a layer at this precision computes with: `input` is its position. int8: per output channel
 * (axis by the layer's operator; the groups of a deconvolution share a scale), bias untouched. Where that changes
 * anything, `constant` is replaced by a copy that owns its data. */
int precision_constant(const struct network *network, const struct layer *layer, size_t input, enum precision precision,
                       struct tensor *constant, struct error *err);

#endif
