/* engine/onednn/computation.h: one computation, in words that do not depend on the version of oneDNN.
 *
 * The file for a kind of layers fills a struct onednn_computation. v2.c and v3.c, one for each major
 * version, say the same to the library.
 */
#ifndef ENGINE_ONEDNN_COMPUTATION_H
#define ENGINE_ONEDNN_COMPUTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/onednn/abi.h"
#include "engine/tactic/layout.h"

/* How a float32 tensor lies in memory. */
struct onednn_memory_desc {
    struct shape shape; /* at least one dimension, at most ONEDNN_MAX_RANK; no size is 0 */
    enum onednn_memory_kind {
        ONEDNN_MEMORY_OPEN,    /* oneDNN chooses */
        ONEDNN_MEMORY_LAYOUT,  /* dense, in `layout` */
        ONEDNN_MEMORY_STRIDES, /* `strides` count elements */
    } kind;
    struct layout layout;
    int64_t strides[ONEDNN_MAX_RANK];
};

enum onednn_algorithm {
    ONEDNN_NO_ALGORITHM, /* there is only one */
    ONEDNN_CONVOLUTION_DIRECT,
    ONEDNN_CONVOLUTION_WINOGRAD,
    ONEDNN_DECONVOLUTION_DIRECT,
    ONEDNN_DECONVOLUTION_WINOGRAD,
    ONEDNN_ELTWISE_RELU, /* alpha: slope below 0 */
    ONEDNN_ELTWISE_TANH,
    ONEDNN_ELTWISE_ELU, /* alpha */
    ONEDNN_ELTWISE_ABS,
    ONEDNN_ELTWISE_SQRT,
    ONEDNN_ELTWISE_LINEAR,    /* alpha * x + beta */
    ONEDNN_ELTWISE_SOFT_RELU, /* log(1 + exp(alpha * x)) / alpha; version 2: alpha is 1 */
    ONEDNN_ELTWISE_LOGISTIC,
    ONEDNN_ELTWISE_EXP,
    ONEDNN_ELTWISE_SWISH, /* x * logistic(alpha * x) */
    ONEDNN_ELTWISE_LOG,
    ONEDNN_ELTWISE_CLIP, /* from alpha to beta */
    ONEDNN_ELTWISE_GELU_ERF,
    ONEDNN_ELTWISE_HARDSWISH, /* x * clip(alpha * x + beta, 0, 1); version 2: alpha is 1/6, beta 1/2 */
    ONEDNN_POOLING_MAX,
    ONEDNN_POOLING_AVG_INCLUDE_PADDING,
    ONEDNN_POOLING_AVG_EXCLUDE_PADDING,
    ONEDNN_LRN_ACROSS_CHANNELS,
    ONEDNN_BINARY_ADD,
    ONEDNN_BINARY_MUL,
    ONEDNN_BINARY_MAX,
    ONEDNN_BINARY_MIN,
    ONEDNN_BINARY_DIV,
    ONEDNN_BINARY_SUB,
    ONEDNN_RESAMPLING_NEAREST,
    ONEDNN_RESAMPLING_LINEAR,
    ONEDNN_REDUCTION_SUM,
    ONEDNN_REDUCTION_MUL,
    ONEDNN_REDUCTION_MEAN,
    ONEDNN_REDUCTION_NORM_LP_SUM,
    ONEDNN_REDUCTION_NORM_LP_POWER_P_SUM,
    ONEDNN_SOFTMAX_ACCURATE,
    ONEDNN_SOFTMAX_LOG,
    ONEDNN_ALGORITHM_COUNT
};

/* Of convolution and pooling, for each spatial dimension. */
struct onednn_window {
    int64_t kernel[ONEDNN_MAX_RANK], strides[ONEDNN_MAX_RANK], dilations[ONEDNN_MAX_RANK]; /* dilations count from 0 */
    int64_t before[ONEDNN_MAX_RANK], after[ONEDNN_MAX_RANK];
    int64_t output[ONEDNN_MAX_RANK]; /* sizes of the result */
};

/* Done with the result, in their order. */
struct onednn_post_op {
    enum { ONEDNN_POST_SUM, ONEDNN_POST_ELTWISE, ONEDNN_POST_BINARY } kind; /* a sum adds to what was in the target */
    enum onednn_algorithm algorithm;
    float alpha, beta;                 /* of ONEDNN_POST_ELTWISE */
    struct onednn_memory_desc operand; /* of ONEDNN_POST_BINARY */
};

struct onednn_computation {
    enum onednn_primitive {
        ONEDNN_CONVOLUTION,
        ONEDNN_DECONVOLUTION,
        ONEDNN_MATMUL,
        ONEDNN_INNER_PRODUCT,
        ONEDNN_POOLING,
        ONEDNN_ELTWISE,
        ONEDNN_BINARY,
        ONEDNN_CONCAT,
        ONEDNN_SOFTMAX,
        ONEDNN_BATCH_NORMALIZATION, /* with given mean and variance */
        ONEDNN_LAYER_NORMALIZATION,
        ONEDNN_LRN,
        ONEDNN_RESAMPLING,
        ONEDNN_REDUCTION,
    } primitive;
    enum onednn_algorithm algorithm;
    struct onednn_memory_desc source, second, bias, target; /* rank 0: there is none. second: weights, or a source */
    struct onednn_memory_desc *sources;                     /* of concatenation, instead of `source`; malloc'd */
    size_t source_count;
    struct onednn_window window;
    int axis;          /* of concatenation and softmax */
    float alpha, beta; /* of eltwise and LRN */
    int64_t size;      /* of LRN */
    float k;           /* of LRN */
    float power;       /* of norms */
    float epsilon;     /* of normalizations */
    bool has_scale, has_shift;
    struct {
        struct onednn_post_op *items;
        size_t count, capacity;
    } post_ops;
};

#endif
