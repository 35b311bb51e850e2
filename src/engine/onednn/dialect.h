/* engine/onednn/dialect.h: the differences between the major versions of oneDNN, implemented in one file for each. The
 * rest of the engine uses `onednn->dialect` (library.h). */
#ifndef ENGINE_ONEDNN_DIALECT_H
#define ENGINE_ONEDNN_DIALECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/system.h"
#include "engine/onednn/abi.h"
#include "engine/tactic/layout.h"

/* One computation, described independently of the version of oneDNN.
 *
 * The file for a kind of layers fills a struct onednn_computation; v2.c and v3.c translate it for the library.
 */

/* The memory layout of a float32 tensor. */
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
    ONEDNN_NO_ALGORITHM, /* the primitive has only one */
#define ALGORITHM_CONSTANT(ours, theirs, two, three) ONEDNN_##ours,
    ONEDNN_ALGORITHMS(ALGORITHM_CONSTANT)
#undef ALGORITHM_CONSTANT
        ONEDNN_ALGORITHM_COUNT
};

/* Of convolution and pooling, for each spatial dimension. */
struct onednn_window {
    int64_t kernel[ONEDNN_MAX_RANK], strides[ONEDNN_MAX_RANK], dilations[ONEDNN_MAX_RANK]; /* dilations count from 0 */
    int64_t before[ONEDNN_MAX_RANK], after[ONEDNN_MAX_RANK];
    int64_t output[ONEDNN_MAX_RANK]; /* sizes of the result */
};

/* Operations on the result, in order. */
struct onednn_post_op {
    /* a sum adds to the previous content of the target */
    enum { ONEDNN_POST_SUM, ONEDNN_POST_ELTWISE, ONEDNN_POST_BINARY } kind;
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
    struct onednn_memory_desc source, second, bias, target; /* rank 0: none. second: weights, or a source */
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
    VECTOR(struct onednn_post_op) post_ops;
};

/* The memory layout of a tensor, read from the library. */
struct onednn_blocked_memory {
    struct shape shape;
    struct layout_strides strides;
};

/* The library's memory descriptors of a computation; NULL: none. */
struct onednn_memories {
    struct dnnl_memory_desc *source, *second, *bias, *target;
    struct dnnl_memory_desc **sources;
};

struct onednn_dialect {
    int major, oldest_minor; /* supported versions: from here to the next major version */
    int post_op_argument;    /* the operand of post-op i has the argument (i + 1) * this + ONEDNN_ARG_SRC_1 */

    /* Called once, before anything else. Returns NULL, or the name of a missing function. */
    const char *(*find_functions)(void *library);

    /* NULL if the library cannot describe it. Free it with memory_desc_free(), which accepts NULL. */
    struct dnnl_memory_desc *(*memory_desc_new)(const struct onednn_memory_desc *memory);
    void (*memory_desc_free)(struct dnnl_memory_desc *memory);

    /* False unless it is float32 in a blocked format without an offset (not undefined, open, or opaque). */
    bool (*memory_desc_read)(const struct dnnl_memory_desc *memory, struct onednn_blocked_memory *ret);

    /* `operand`: that of ONEDNN_POST_BINARY. */
    bool (*post_ops_append)(struct dnnl_post_ops *post_ops, const struct onednn_post_op *post_op,
                            const struct dnnl_memory_desc *operand);

    /* Calls `visit` for each implementation, in oneDNN's order, until it returns false. Descriptors live as long as the
     * call. */
    void (*each_implementation)(struct dnnl_engine *engine, const struct onednn_computation *computation,
                                const struct onednn_memories *memories, const struct dnnl_primitive_attr *attributes,
                                bool (*visit)(void *context, const struct dnnl_primitive_desc *descriptor),
                                void *context);
};

extern const struct onednn_dialect onednn_v2, onednn_v3;

/* For tables of functions: declares a pointer for each, and, in find_functions(), finds it. */
#define ONEDNN_POINTER(result, name, parameters) static result(*name) parameters;
#define ONEDNN_FIND(result, name, parameters)                                                                          \
    if (!system_find_function(library, "dnnl_" #name, &(name)))                                                        \
        return "dnnl_" #name;

#endif
