/* backend/tensorrt/abi/values.h: tables of the values of TensorRT's enums, one for each major release. */
#ifndef BACKEND_TENSORRT_ABI_VALUES_H
#define BACKEND_TENSORRT_ABI_VALUES_H

#include <stddef.h>
#include <stdint.h>

/* TensorRT's enums. Types of data have the same values in all releases. */
enum tensorrt_value_kind {
    TENSORRT_BUILDER_FLAG,
    TENSORRT_NETWORK_FLAG,
    TENSORRT_PARSER_FLAG,
    TENSORRT_PREVIEW_FEATURE,
    TENSORRT_QUANTIZATION_FLAG,
    TENSORRT_TACTIC_SOURCE,
    TENSORRT_MEMORY_POOL,
    TENSORRT_ENGINE_CAPABILITY,
    TENSORRT_HARDWARE_COMPATIBILITY,
    TENSORRT_RUNTIME_PLATFORM,
    TENSORRT_TILING_LEVEL,
    TENSORRT_PROFILING_VERBOSITY,
    TENSORRT_ALLOCATION_STRATEGY,
    TENSORRT_TENSOR_FORMAT,
    TENSORRT_LAYER_TYPE,
    TENSORRT_VALUE_KINDS,
};

/* A name as in the header, without its k. */
struct tensorrt_value {
    enum tensorrt_value_kind kind;
    const char *name;
    int32_t value;
};

/* Each ends with a row of TENSORRT_VALUE_KINDS. */
extern const struct tensorrt_value tensorrt_values_8[], tensorrt_values_10[], tensorrt_values_11[],
    tensorrt_values_rtx[];

#endif
