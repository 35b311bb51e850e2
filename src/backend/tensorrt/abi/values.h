/* backend/tensorrt/abi/values.h: the values of TensorRT's enums. */
#ifndef BACKEND_TENSORRT_ABI_VALUES_H
#define BACKEND_TENSORRT_ABI_VALUES_H

#include "backend/tensorrt/abi/methods.h"

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

/* A name as in the header, without its k, and its value in each release, -1 where they do not have it. */
struct tensorrt_value {
    enum tensorrt_value_kind kind;
    const char *name;
    int32_t values[TENSORRT_SERIES_COUNT];
};

/* Ends with a row of TENSORRT_VALUE_KINDS. */
extern const struct tensorrt_value tensorrt_values[];

#endif
