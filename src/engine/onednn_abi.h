/* engine/onednn_abi.h: the part of oneDNN's C interface, version 2.6, that we use.
 *
 * oneDNN is loaded while the program runs, so its headers are not needed to build; a test compares what is written
 * here with them where they are installed. Names are oneDNN's, with ONEDNN_ for dnnl_. Operation descriptors are
 * opaque: only the library fills and reads them.
 */
#ifndef ENGINE_ONEDNN_ABI_H
#define ENGINE_ONEDNN_ABI_H

#include <stddef.h>
#include <stdint.h>

#define ONEDNN_MAX_RANK 12

enum { /* dnnl_status_t */
       ONEDNN_SUCCESS = 0,
       ONEDNN_OUT_OF_MEMORY = 1,
       ONEDNN_INVALID_ARGUMENTS = 2,
       ONEDNN_UNIMPLEMENTED = 3,
       ONEDNN_ITERATOR_ENDS = 4,
};

enum { ONEDNN_F32 = 3, ONEDNN_S32 = 4, ONEDNN_S8 = 5, ONEDNN_U8 = 6, ONEDNN_F16 = 1, ONEDNN_BF16 = 2 };
enum { ONEDNN_FORMAT_KIND_UNDEF = 0, ONEDNN_FORMAT_KIND_ANY = 1, ONEDNN_BLOCKED = 2, ONEDNN_FORMAT_KIND_WINO = 3 };
enum { ONEDNN_CPU = 1 };
enum { ONEDNN_STREAM_IN_ORDER = 1 };
enum { ONEDNN_FORWARD_INFERENCE = 96 };
enum { ONEDNN_FPMATH_MODE_STRICT = 0 };
enum { ONEDNN_SCRATCHPAD_MODE_USER = 1 };
enum { ONEDNN_QUERY_IMPL_INFO_STR = 8, ONEDNN_QUERY_SCRATCHPAD_MD = 136, ONEDNN_QUERY_EXEC_ARG_MD = 255 };

enum { /* dnnl_alg_kind_t */
       ONEDNN_CONVOLUTION_DIRECT = 0x1,
       ONEDNN_CONVOLUTION_WINOGRAD = 0x2,
       ONEDNN_DECONVOLUTION_DIRECT = 0xa,
       ONEDNN_DECONVOLUTION_WINOGRAD = 0xb,
       ONEDNN_ELTWISE_RELU = 0x1f,
       ONEDNN_ELTWISE_TANH = 0x2f,
       ONEDNN_ELTWISE_ELU = 0x3f,
       ONEDNN_ELTWISE_ABS = 0x5f,
       ONEDNN_ELTWISE_SQRT = 0x6f,
       ONEDNN_ELTWISE_LINEAR = 0x7f,
       ONEDNN_ELTWISE_SOFT_RELU = 0x9f,
       ONEDNN_ELTWISE_LOGISTIC = 0xaf,
       ONEDNN_ELTWISE_EXP = 0xbf,
       ONEDNN_ELTWISE_SWISH = 0xdf,
       ONEDNN_ELTWISE_LOG = 0xef,
       ONEDNN_ELTWISE_CLIP = 0xff,
       ONEDNN_ELTWISE_GELU_ERF = 0x30,
       ONEDNN_ELTWISE_HARDSWISH = 0x70,
       ONEDNN_POOLING_MAX = 0x1ff,
       ONEDNN_POOLING_AVG_INCLUDE_PADDING = 0x2ff,
       ONEDNN_POOLING_AVG_EXCLUDE_PADDING = 0x3ff,
       ONEDNN_LRN_ACROSS_CHANNELS = 0xaff,
       ONEDNN_BINARY_ADD = 0x1fff0,
       ONEDNN_BINARY_MUL = 0x1fff1,
       ONEDNN_BINARY_MAX = 0x1fff2,
       ONEDNN_BINARY_MIN = 0x1fff3,
       ONEDNN_BINARY_DIV = 0x1fff4,
       ONEDNN_BINARY_SUB = 0x1fff5,
       ONEDNN_RESAMPLING_NEAREST = 0x2fff0,
       ONEDNN_RESAMPLING_LINEAR = 0x2fff1,
       ONEDNN_REDUCTION_MAX = 0x2fff2,
       ONEDNN_REDUCTION_MIN = 0x2fff3,
       ONEDNN_REDUCTION_SUM = 0x2fff4,
       ONEDNN_REDUCTION_MUL = 0x2fff5,
       ONEDNN_REDUCTION_MEAN = 0x2fff6,
       ONEDNN_REDUCTION_NORM_LP_SUM = 0x2fff8,
       ONEDNN_REDUCTION_NORM_LP_POWER_P_SUM = 0x2fffa,
       ONEDNN_SOFTMAX_ACCURATE = 0x30000,
       ONEDNN_SOFTMAX_LOG = 0x30001,
};

enum { /* of normalizations */
       ONEDNN_USE_GLOBAL_STATS = 0x1,
       ONEDNN_USE_SCALESHIFT = 0x2,
       ONEDNN_FUSE_NORM_RELU = 0x4,
       ONEDNN_USE_SCALE = 0x8,
       ONEDNN_USE_SHIFT = 0x10,
};

enum { /* DNNL_ARG_...: what a tensor is to an operation */
       ONEDNN_ARG_SRC = 1,
       ONEDNN_ARG_SRC_1 = 2,
       ONEDNN_ARG_DST = 17,
       ONEDNN_ARG_DST_1 = 18,
       ONEDNN_ARG_WEIGHTS = 33,
       ONEDNN_ARG_SCALE_SHIFT = 33,
       ONEDNN_ARG_BIAS = 41,
       ONEDNN_ARG_MEAN = 49,
       ONEDNN_ARG_VARIANCE = 50,
       ONEDNN_ARG_SCALE = 51,
       ONEDNN_ARG_SHIFT = 52,
       ONEDNN_ARG_SCRATCHPAD = 80,
       ONEDNN_ARG_MULTIPLE_SRC = 1024,
       ONEDNN_ARG_POST_OP_BASE = 16384, /* DNNL_ARG_ATTR_MULTIPLE_POST_OP(i) is this, i + 1 times */
};

typedef int64_t onednn_dims[ONEDNN_MAX_RANK]; /* an array type: as oneDNN passes them */

struct onednn_blocking_desc {
    onednn_dims strides; /* in elements; of a dimension that is cut into blocks: from block to block */
    int inner_nblks;
    onednn_dims inner_blks;
    onednn_dims inner_idxs;
};

struct onednn_memory_desc {
    int ndims;
    onednn_dims dims;
    int data_type;
    onednn_dims padded_dims;
    onednn_dims padded_offsets;
    int64_t offset0;
    int format_kind;
    union {
        struct onednn_blocking_desc blocking;
        char opaque[296]; /* the others, which we only hand around */
    } format_desc;
    struct {
        uint64_t flags;
        int compensation_mask;
        float scale_adjust;
        int asymm_compensation_mask;
        char reserved[60];
    } extra;
};

union onednn_op_desc {
    int64_t alignment;
    char bytes[8192];
};

struct onednn_exec_arg {
    int arg;
    struct dnnl_memory *memory;
};

struct onednn_version {
    int major, minor, patch;
};

#endif
