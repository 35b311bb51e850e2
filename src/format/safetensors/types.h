/* format/safetensors/types.h: safetensors' names of element types. Internal to format/safetensors. */
#ifndef FORMAT_SAFETENSORS_TYPES_H
#define FORMAT_SAFETENSORS_TYPES_H

#include "tensor/values/data_type.h"

/* Maximum header size in bytes; readers of the format refuse a longer one. */
#define SAFETENSORS_LONGEST_HEADER 100000000u

/* The name of a type, or NULL if the format lacks it. */
static inline const char *safetensors_type_name(enum data_type type)
{
    static const char *const names[DATA_TYPE_COUNT] = {
        [DATA_BOOL] = "BOOL",
        [DATA_UINT8] = "U8",
        [DATA_INT8] = "I8",
        [DATA_UINT16] = "U16",
        [DATA_INT16] = "I16",
        [DATA_UINT32] = "U32",
        [DATA_INT32] = "I32",
        [DATA_UINT64] = "U64",
        [DATA_INT64] = "I64",
        [DATA_FLOAT16] = "F16",
        [DATA_BFLOAT16] = "BF16",
        [DATA_FLOAT32] = "F32",
        [DATA_FLOAT64] = "F64",
        [DATA_COMPLEX64] = "C64",
        [DATA_FLOAT8E4M3FN] = "F8_E4M3",
        [DATA_FLOAT8E4M3FNUZ] = "F8_E4M3FNUZ",
        [DATA_FLOAT8E5M2] = "F8_E5M2",
        [DATA_FLOAT8E5M2FNUZ] = "F8_E5M2FNUZ",
        [DATA_FLOAT4E2M1] = "F4",
    };

    return type < DATA_TYPE_COUNT ? names[type] : NULL;
}

#endif
