/* engine/precision/precision.h: the precision in which layers store their tensors.
 *
 * The module engine/precision/ assigns a precision to each layer, rounds tensors, and computes int8 scales
 * (calibration.h). It depends on engine/network/.
 *
 * Storage semantics: a layer at float16 rounds its inputs, constants and outputs to float16 (overflow becomes infinity)
 * and accumulates in float32; bfloat16 likewise. int8 is symmetric: inputs per tensor with scales from calibration,
 * weights per output channel, in [-127, 127]; sums are exact. Buffers stay float32, but contain only values that the
 * narrow type can represent.
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

/* The type of stored elements; float32 for TF32. */
enum data_type precision_type(enum precision precision);

/* The precision that stores elements of `type`; PRECISION_COUNT if there is none. */
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

/* The precision of one layer. */
struct layer_precision {
    enum precision precision;
    bool constrained; /* by the user */
    /* Of each output; owned. Same as `precision` unless set by --tensor-dtypes; int8 layers store float32. */
    enum precision *outputs;
};

/* Whether a layer may have a precision: it must have float32 tensors and compute (moves_data is false). int8 is for
 * convolutions, deconvolutions and matrix products with a constant second input. Operators that do not support float16
 * (see node_takes_half()), including those with bodies, stay float32. */
bool precision_eligible(const struct network *network, const struct layer *layer, enum precision precision);

/* Whether a layer at a reduced precision rounds this input: a float32 tensor, except those that determine sizes (the
 * scales of Resize). int8: only the first two inputs. */
bool precision_narrows_input(const struct network *network, const struct layer *layer, size_t input,
                             enum precision precision);

/* Assigns a precision to every layer: the lowest enabled one. `ret` has network->layers.count elements. With the policy
 * FASTEST, unconstrained layers are float32: kernels compute in float32, so rounding only adds work.
 *
 * ERR_INVALID for unknown layers and outputs (with suggestions), and for types that are not a precision. A layer that
 * cannot have the requested precision is an error with PRECISION_CONSTRAINTS_OBEY (all of them are listed), and a
 * warning with PREFER. With NONE, --layer-precisions are ignored, as in TensorRT; a warning advises to set
 * --precision-constraints. */
int precisions_assign(const struct network *network, const struct precision_settings *settings, struct log *log,
                      struct layer_precision *ret, struct error *err);
void precisions_release(struct layer_precision *precisions, size_t count);

/* For an enabled precision that no layer in `precisions` has: appends the reason, if known, to follow a colon. Returns
 * whether that may be unexpected: not if all eligible layers were constrained to another precision. */
bool precision_explain_unused(const struct network *network, const struct precision_settings *settings,
                              const struct layer_precision *precisions, enum precision precision,
                              struct string_builder *ret);

/* Rounds float32 values in place to `precision` (not int8). Vectorizable loops; NaN stays NaN. */
void precision_round(enum precision precision, float *values, size_t count);

/* Quantizes and dequantizes in place with one scale: rounds half to even, saturates at [-128, 127]; NaN becomes 0. */
void precision_quantize(float scale, float *values, size_t count);

/* Rounds or quantizes a constant, input `input` of the layer, for this precision. int8: per output channel (axis by the
 * layer's operator; the groups of a deconvolution share a scale), bias untouched. If values change, `constant` is
 * replaced by a copy that owns its data. */
int precision_constant(const struct network *network, const struct layer *layer, size_t input, enum precision precision,
                       struct tensor *constant, struct error *err);

#endif
