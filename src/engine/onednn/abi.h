/* engine/onednn/abi.h: the part of oneDNN's C interface that we use and that is the same in versions 2 and 3.
 *
 * oneDNN is loaded while the program runs, so its headers are not needed to build; a test compares this file, v2.h and
 * v3.h with the headers if these are installed. Names are oneDNN's, with ONEDNN_ for dnnl_.
 */
#ifndef ENGINE_ONEDNN_ABI_H
#define ENGINE_ONEDNN_ABI_H

#include <stddef.h>
#include <stdint.h>

#define ONEDNN_MAX_RANK 12

enum { ONEDNN_SUCCESS = 0 }; /* dnnl_status_t */
enum { ONEDNN_F32 = 3 };
enum { ONEDNN_FORMAT_KIND_ANY = 1, ONEDNN_BLOCKED = 2 };
enum { ONEDNN_CPU = 1 };
enum { ONEDNN_STREAM_IN_ORDER = 1 };
enum { ONEDNN_FORWARD_INFERENCE = 96 };
enum { ONEDNN_FPMATH_MODE_STRICT = 0 };
enum { ONEDNN_SCRATCHPAD_MODE_USER = 1 };
enum { ONEDNN_QUERY_IMPL_INFO_STR = 8, ONEDNN_QUERY_SCRATCHPAD_MD = 136, ONEDNN_QUERY_EXEC_ARG_MD = 255 };

enum { /* DNNL_ARG_...: the role of a tensor in an operation */
       ONEDNN_ARG_SRC = 1,
       ONEDNN_ARG_SRC_1 = 2,
       ONEDNN_ARG_DST = 17,
       ONEDNN_ARG_WEIGHTS = 33,
       ONEDNN_ARG_BIAS = 41,
       ONEDNN_ARG_MEAN = 49,
       ONEDNN_ARG_VARIANCE = 50,
       ONEDNN_ARG_SCALE = 51,
       ONEDNN_ARG_SHIFT = 52,
       ONEDNN_ARG_SCRATCHPAD = 80,
       ONEDNN_ARG_MULTIPLE_SRC = 1024,
};

/* X(ONEDNN_..., dnnl_..., number in version 2, number in version 3). In version 2, HARDSWISH has an alpha of 1/6 and a
 * beta of 1/2. */
/* clang-format off */
#define ONEDNN_ALGORITHMS(X) \
    X(CONVOLUTION_DIRECT, convolution_direct, 0x1, 0x1) \
    X(CONVOLUTION_WINOGRAD, convolution_winograd, 0x2, 0x2) \
    X(DECONVOLUTION_DIRECT, deconvolution_direct, 0xa, 0xa) \
    X(DECONVOLUTION_WINOGRAD, deconvolution_winograd, 0xb, 0xb) \
    X(ELTWISE_RELU, eltwise_relu, 0x1f, 0x20) /* alpha: slope below 0 */ \
    X(ELTWISE_TANH, eltwise_tanh, 0x2f, 0x21) \
    X(ELTWISE_ELU, eltwise_elu, 0x3f, 0x22) /* alpha */ \
    X(ELTWISE_ABS, eltwise_abs, 0x5f, 0x24) \
    X(ELTWISE_SQRT, eltwise_sqrt, 0x6f, 0x25) \
    X(ELTWISE_LINEAR, eltwise_linear, 0x7f, 0x26) /* alpha * x + beta */ \
    X(ELTWISE_SOFT_RELU, eltwise_soft_relu, 0x9f, 0x27) /* log(1 + exp(alpha * x)) / alpha; version 2: alpha is 1 */ \
    X(ELTWISE_LOGISTIC, eltwise_logistic, 0xaf, 0x29) \
    X(ELTWISE_EXP, eltwise_exp, 0xbf, 0x2a) \
    X(ELTWISE_SWISH, eltwise_swish, 0xdf, 0x2c) /* x * logistic(alpha * x) */ \
    X(ELTWISE_LOG, eltwise_log, 0xef, 0x2d) \
    X(ELTWISE_CLIP, eltwise_clip, 0xff, 0x2e) /* from alpha to beta */ \
    X(ELTWISE_GELU_ERF, eltwise_gelu_erf, 0x30, 0x31) \
    X(ELTWISE_HARDSWISH, eltwise_hardswish, 0x70, 0x34) /* x * clip(alpha * x + beta, 0, 1) */ \
    X(POOLING_MAX, pooling_max, 0x1ff, 0x1ff) \
    X(POOLING_AVG_INCLUDE_PADDING, pooling_avg_include_padding, 0x2ff, 0x2ff) \
    X(POOLING_AVG_EXCLUDE_PADDING, pooling_avg_exclude_padding, 0x3ff, 0x3ff) \
    X(LRN_ACROSS_CHANNELS, lrn_across_channels, 0xaff, 0xaff) \
    X(BINARY_ADD, binary_add, 0x1fff0, 0x1fff0) \
    X(BINARY_MUL, binary_mul, 0x1fff1, 0x1fff1) \
    X(BINARY_MAX, binary_max, 0x1fff2, 0x1fff2) \
    X(BINARY_MIN, binary_min, 0x1fff3, 0x1fff3) \
    X(BINARY_DIV, binary_div, 0x1fff4, 0x1fff4) \
    X(BINARY_SUB, binary_sub, 0x1fff5, 0x1fff5) \
    X(RESAMPLING_NEAREST, resampling_nearest, 0x2fff0, 0x2fff0) \
    X(RESAMPLING_LINEAR, resampling_linear, 0x2fff1, 0x2fff1) \
    X(REDUCTION_SUM, reduction_sum, 0x2fff4, 0x2fff4) \
    X(REDUCTION_MUL, reduction_mul, 0x2fff5, 0x2fff5) \
    X(REDUCTION_MEAN, reduction_mean, 0x2fff6, 0x2fff6) \
    X(REDUCTION_NORM_LP_SUM, reduction_norm_lp_sum, 0x2fff8, 0x2fff8) \
    X(REDUCTION_NORM_LP_POWER_P_SUM, reduction_norm_lp_power_p_sum, 0x2fffa, 0x2fffa) \
    X(SOFTMAX_ACCURATE, softmax_accurate, 0x30000, 0x30000) \
    X(SOFTMAX_LOG, softmax_log, 0x30001, 0x30001)
/* clang-format on */

typedef int64_t onednn_dims[ONEDNN_MAX_RANK]; /* an array type: as oneDNN passes them */

struct dnnl_engine;
struct dnnl_stream;
struct dnnl_memory;
struct dnnl_memory_desc; /* memory layout of a tensor: a structure in version 2, opaque in version 3 */
struct dnnl_primitive;
struct dnnl_primitive_attr;
struct dnnl_primitive_desc;
struct dnnl_post_ops;

struct onednn_exec_arg {
    int arg;
    struct dnnl_memory *memory;
};

struct onednn_version {
    int major, minor, patch;
};

typedef const struct dnnl_memory_desc *onednn_md; /* for tables of functions */

/* X(result, name without "dnnl_", (parameters)). An `unsigned` result is a status. Enumerations are `unsigned`, the
 * type that compilers choose for oneDNN's. */
#define ONEDNN_FUNCTIONS(X)                                                                                            \
    X(unsigned, engine_create, (struct dnnl_engine **, unsigned kind, size_t index))                                   \
    X(unsigned, stream_create, (struct dnnl_stream **, struct dnnl_engine *, unsigned flags))                          \
    X(unsigned, stream_wait, (struct dnnl_stream *))                                                                   \
    X(unsigned, set_default_fpmath_mode, (unsigned))                                                                   \
    X(int, memory_desc_equal, (onednn_md, onednn_md)) /* a boolean */                                                  \
    X(size_t, memory_desc_get_size, (onednn_md))                                                                       \
    X(unsigned, memory_create, (struct dnnl_memory **, onednn_md, struct dnnl_engine *, void *))                       \
    X(unsigned, memory_set_data_handle, (struct dnnl_memory *, void *))                                                \
    X(unsigned, memory_destroy, (struct dnnl_memory *))                                                                \
    X(unsigned, primitive_attr_create, (struct dnnl_primitive_attr **))                                                \
    X(unsigned, primitive_attr_destroy, (struct dnnl_primitive_attr *))                                                \
    X(unsigned, primitive_attr_set_scratchpad_mode, (struct dnnl_primitive_attr *, unsigned))                          \
    X(unsigned, primitive_attr_set_fpmath_mode, (struct dnnl_primitive_attr *, unsigned))                              \
    X(unsigned, primitive_attr_set_post_ops, (struct dnnl_primitive_attr *, const struct dnnl_post_ops *))             \
    X(unsigned, post_ops_create, (struct dnnl_post_ops **))                                                            \
    X(unsigned, post_ops_destroy, (struct dnnl_post_ops *))                                                            \
    X(unsigned, primitive_desc_destroy, (struct dnnl_primitive_desc *))                                                \
    X(unsigned, primitive_desc_query, (const struct dnnl_primitive_desc *, unsigned what, int index, void *))          \
    X(onednn_md, primitive_desc_query_md, (const struct dnnl_primitive_desc *, unsigned what, int index))              \
    X(unsigned, primitive_create, (struct dnnl_primitive **, const struct dnnl_primitive_desc *))                      \
    X(unsigned, primitive_execute,                                                                                     \
      (const struct dnnl_primitive *, struct dnnl_stream *, int count, const struct onednn_exec_arg *))                \
    X(unsigned, primitive_destroy, (struct dnnl_primitive *))                                                          \
    X(unsigned, reorder_primitive_desc_create,                                                                         \
      (struct dnnl_primitive_desc **, onednn_md, struct dnnl_engine *, onednn_md, struct dnnl_engine *,                \
       const struct dnnl_primitive_attr *))

#endif
