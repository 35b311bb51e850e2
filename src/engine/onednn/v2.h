/* engine/onednn/v2.h: declarations of version 2 of oneDNN's C interface, from 2.6 on. See abi.h.
 *
 * A computation is an operation descriptor, which is opaque; an iterator then lists implementations for it.
 */
#ifndef ENGINE_ONEDNN_V2_H
#define ENGINE_ONEDNN_V2_H

#include "engine/onednn/abi.h"

enum { ONEDNN_V2_POST_OP_BASE = 16384 }; /* DNNL_ARG_ATTR_MULTIPLE_POST_OP(i) is (i + 1) * this */
enum { ONEDNN_V2_USE_GLOBAL_STATS = 0x1, ONEDNN_V2_USE_SCALE = 0x8, ONEDNN_V2_USE_SHIFT = 0x10 };

struct onednn_v2_blocking {
    onednn_dims strides; /* in elements; for a blocked dimension: between blocks */
    int inner_nblks;
    onednn_dims inner_blks;
    onednn_dims inner_idxs;
};

struct dnnl_memory_desc { /* dnnl_memory_desc_t */
    int ndims;
    onednn_dims dims;
    int data_type;
    onednn_dims padded_dims;
    onednn_dims padded_offsets;
    int64_t offset0;
    int format_kind;
    union {
        struct onednn_v2_blocking blocking;
        char opaque[296]; /* other formats, passed through */
    } format_desc;
    struct {
        uint64_t flags;
        int compensation_mask;
        float scale_adjust;
        int asymm_compensation_mask;
        char reserved[60];
    } extra;
};

union onednn_v2_op_desc {
    int64_t alignment;
    char bytes[8192];
};

struct dnnl_primitive_desc_iterator;

/* See ONEDNN_FUNCTIONS. */
#define ONEDNN_V2_FUNCTIONS(X)                                                                                         \
    X(unsigned, post_ops_append_sum, (struct dnnl_post_ops *, float scale))                                            \
    X(unsigned, post_ops_append_eltwise,                                                                               \
      (struct dnnl_post_ops *, float scale, unsigned algorithm, float alpha, float beta))                              \
    X(unsigned, post_ops_append_binary, (struct dnnl_post_ops *, unsigned algorithm, onednn_md))                       \
    X(unsigned, primitive_desc_iterator_create,                                                                        \
      (struct dnnl_primitive_desc_iterator **, const void *op, const struct dnnl_primitive_attr *,                     \
       struct dnnl_engine *, const struct dnnl_primitive_desc *hint))                                                  \
    X(unsigned, primitive_desc_iterator_next, (struct dnnl_primitive_desc_iterator *))                                 \
    X(struct dnnl_primitive_desc *, primitive_desc_iterator_fetch, (const struct dnnl_primitive_desc_iterator *))      \
    X(unsigned, primitive_desc_iterator_destroy, (struct dnnl_primitive_desc_iterator *))                              \
    X(unsigned, primitive_desc_destroy, (struct dnnl_primitive_desc *))                                                \
    X(unsigned, concat_primitive_desc_create,                                                                          \
      (struct dnnl_primitive_desc **, onednn_md target, int count, int axis, onednn_md sources,                        \
       const struct dnnl_primitive_attr *, struct dnnl_engine *))                                                      \
    X(unsigned, dilated_convolution_forward_desc_init,                                                                 \
      (union onednn_v2_op_desc *, unsigned kind, unsigned algorithm, onednn_md source, onednn_md weights,              \
       onednn_md bias, onednn_md target, const int64_t *strides, const int64_t *dilations, const int64_t *before,      \
       const int64_t *after))                                                                                          \
    X(unsigned, dilated_deconvolution_forward_desc_init,                                                               \
      (union onednn_v2_op_desc *, unsigned kind, unsigned algorithm, onednn_md source, onednn_md weights,              \
       onednn_md bias, onednn_md target, const int64_t *strides, const int64_t *dilations, const int64_t *before,      \
       const int64_t *after))                                                                                          \
    X(unsigned, matmul_desc_init,                                                                                      \
      (union onednn_v2_op_desc *, onednn_md a, onednn_md b, onednn_md bias, onednn_md target))                         \
    X(unsigned, inner_product_forward_desc_init,                                                                       \
      (union onednn_v2_op_desc *, unsigned kind, onednn_md source, onednn_md weights, onednn_md bias,                  \
       onednn_md target))                                                                                              \
    X(unsigned, pooling_v2_forward_desc_init,                                                                          \
      (union onednn_v2_op_desc *, unsigned kind, unsigned algorithm, onednn_md source, onednn_md target,               \
       const int64_t *strides, const int64_t *kernel, const int64_t *dilations, const int64_t *before,                 \
       const int64_t *after))                                                                                          \
    X(unsigned, eltwise_forward_desc_init,                                                                             \
      (union onednn_v2_op_desc *, unsigned kind, unsigned algorithm, onednn_md data, float alpha, float beta))         \
    X(unsigned, binary_desc_init,                                                                                      \
      (union onednn_v2_op_desc *, unsigned algorithm, onednn_md source_0, onednn_md source_1, onednn_md target))       \
    X(unsigned, softmax_v2_forward_desc_init,                                                                          \
      (union onednn_v2_op_desc *, unsigned kind, unsigned algorithm, onednn_md source, onednn_md target, int axis))    \
    X(unsigned, batch_normalization_forward_desc_init,                                                                 \
      (union onednn_v2_op_desc *, unsigned kind, onednn_md data, float epsilon, unsigned flags))                       \
    X(unsigned, layer_normalization_forward_desc_init,                                                                 \
      (union onednn_v2_op_desc *, unsigned kind, onednn_md data, onednn_md statistics, float epsilon, unsigned flags)) \
    X(unsigned, lrn_forward_desc_init,                                                                                 \
      (union onednn_v2_op_desc *, unsigned kind, unsigned algorithm, onednn_md data, int64_t size, float alpha,        \
       float beta, float k))                                                                                           \
    X(unsigned, resampling_forward_desc_init,                                                                          \
      (union onednn_v2_op_desc *, unsigned kind, unsigned algorithm, const float *factors, onednn_md source,           \
       onednn_md target))                                                                                              \
    X(unsigned, reduction_desc_init,                                                                                   \
      (union onednn_v2_op_desc *, unsigned algorithm, onednn_md source, onednn_md target, float p, float epsilon))

#endif
