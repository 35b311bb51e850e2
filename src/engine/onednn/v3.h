/* engine/onednn/v3.h: declarations of version 3 of oneDNN's C interface. See abi.h.
 *
 * Memory descriptors are opaque: created from strides or a format tag, and read by queries. Primitive descriptors are
 * created directly and iterate over implementations themselves.
 */
#ifndef ENGINE_ONEDNN_V3_H
#define ENGINE_ONEDNN_V3_H

#include "engine/onednn/abi.h"

enum { ONEDNN_V3_POST_OP_BASE = 32768 }; /* DNNL_ARG_ATTR_MULTIPLE_POST_OP(i) is (i + 1) * this */
enum { ONEDNN_V3_USE_GLOBAL_STATS = 0x1, ONEDNN_V3_USE_SCALE = 0x2, ONEDNN_V3_USE_SHIFT = 0x4 };
enum { ONEDNN_V3_FORMAT_TAG_ANY = 1 };

enum { /* dnnl_query_t, of memory descriptors */
       ONEDNN_V3_QUERY_STRIDES = 14,
       ONEDNN_V3_QUERY_NDIMS_S32 = 256,
       ONEDNN_V3_QUERY_DIMS = 257,
       ONEDNN_V3_QUERY_DATA_TYPE = 258,
       ONEDNN_V3_QUERY_SUBMEMORY_OFFSET_S64 = 259,
       ONEDNN_V3_QUERY_PADDED_DIMS = 260,
       ONEDNN_V3_QUERY_PADDED_OFFSETS = 261,
       ONEDNN_V3_QUERY_FORMAT_KIND = 262,
       ONEDNN_V3_QUERY_INNER_NBLKS_S32 = 263,
       ONEDNN_V3_QUERY_INNER_BLKS = 264,
       ONEDNN_V3_QUERY_INNER_IDXS = 265,
};

/* See ONEDNN_FUNCTIONS. */
#define ONEDNN_V3_FUNCTIONS(X)                                                                                         \
    X(const char *, fmt_tag2str, (unsigned tag))                                                                       \
    X(unsigned, memory_desc_create_with_strides,                                                                       \
      (struct dnnl_memory_desc **, int ndims, const int64_t *dims, unsigned type, const int64_t *strides))             \
    X(unsigned, memory_desc_create_with_tag,                                                                           \
      (struct dnnl_memory_desc **, int ndims, const int64_t *dims, unsigned type, unsigned tag))                       \
    X(unsigned, memory_desc_destroy, (struct dnnl_memory_desc *))                                                      \
    X(unsigned, memory_desc_query, (onednn_md, unsigned what, void *result))                                           \
    X(unsigned, post_ops_append_sum, (struct dnnl_post_ops *, float scale, int32_t zero_point, unsigned type))         \
    X(unsigned, post_ops_append_eltwise, (struct dnnl_post_ops *, unsigned algorithm, float alpha, float beta))        \
    X(unsigned, post_ops_append_binary, (struct dnnl_post_ops *, unsigned algorithm, onednn_md))                       \
    X(unsigned, primitive_desc_next_impl, (struct dnnl_primitive_desc *))                                              \
    X(unsigned, primitive_desc_destroy, (struct dnnl_primitive_desc *))                                                \
    X(unsigned, concat_primitive_desc_create,                                                                          \
      (struct dnnl_primitive_desc **, struct dnnl_engine *, onednn_md target, int count, int axis,                     \
       const onednn_md *sources, const struct dnnl_primitive_attr *))                                                  \
    X(unsigned, convolution_forward_primitive_desc_create,                                                             \
      (struct dnnl_primitive_desc **, struct dnnl_engine *, unsigned kind, unsigned algorithm, onednn_md source,       \
       onednn_md weights, onednn_md bias, onednn_md target, const int64_t *strides, const int64_t *dilations,          \
       const int64_t *before, const int64_t *after, const struct dnnl_primitive_attr *))                               \
    X(unsigned, deconvolution_forward_primitive_desc_create,                                                           \
      (struct dnnl_primitive_desc **, struct dnnl_engine *, unsigned kind, unsigned algorithm, onednn_md source,       \
       onednn_md weights, onednn_md bias, onednn_md target, const int64_t *strides, const int64_t *dilations,          \
       const int64_t *before, const int64_t *after, const struct dnnl_primitive_attr *))                               \
    X(unsigned, matmul_primitive_desc_create,                                                                          \
      (struct dnnl_primitive_desc **, struct dnnl_engine *, onednn_md a, onednn_md b, onednn_md bias,                  \
       onednn_md target, const struct dnnl_primitive_attr *))                                                          \
    X(unsigned, inner_product_forward_primitive_desc_create,                                                           \
      (struct dnnl_primitive_desc **, struct dnnl_engine *, unsigned kind, onednn_md source, onednn_md weights,        \
       onednn_md bias, onednn_md target, const struct dnnl_primitive_attr *))                                          \
    X(unsigned, pooling_forward_primitive_desc_create,                                                                 \
      (struct dnnl_primitive_desc **, struct dnnl_engine *, unsigned kind, unsigned algorithm, onednn_md source,       \
       onednn_md target, const int64_t *strides, const int64_t *kernel, const int64_t *dilations,                      \
       const int64_t *before, const int64_t *after, const struct dnnl_primitive_attr *))                               \
    X(unsigned, eltwise_forward_primitive_desc_create,                                                                 \
      (struct dnnl_primitive_desc **, struct dnnl_engine *, unsigned kind, unsigned algorithm, onednn_md source,       \
       onednn_md target, float alpha, float beta, const struct dnnl_primitive_attr *))                                 \
    X(unsigned, binary_primitive_desc_create,                                                                          \
      (struct dnnl_primitive_desc **, struct dnnl_engine *, unsigned algorithm, onednn_md source_0,                    \
       onednn_md source_1, onednn_md target, const struct dnnl_primitive_attr *))                                      \
    X(unsigned, softmax_forward_primitive_desc_create,                                                                 \
      (struct dnnl_primitive_desc **, struct dnnl_engine *, unsigned kind, unsigned algorithm, onednn_md source,       \
       onednn_md target, int axis, const struct dnnl_primitive_attr *))                                                \
    X(unsigned, batch_normalization_forward_primitive_desc_create,                                                     \
      (struct dnnl_primitive_desc **, struct dnnl_engine *, unsigned kind, onednn_md source, onednn_md target,         \
       float epsilon, unsigned flags, const struct dnnl_primitive_attr *))                                             \
    X(unsigned, layer_normalization_forward_primitive_desc_create,                                                     \
      (struct dnnl_primitive_desc **, struct dnnl_engine *, unsigned kind, onednn_md source, onednn_md target,         \
       onednn_md statistics, float epsilon, unsigned flags, const struct dnnl_primitive_attr *))                       \
    X(unsigned, lrn_forward_primitive_desc_create,                                                                     \
      (struct dnnl_primitive_desc **, struct dnnl_engine *, unsigned kind, unsigned algorithm, onednn_md source,       \
       onednn_md target, int64_t size, float alpha, float beta, float k, const struct dnnl_primitive_attr *))          \
    X(unsigned, resampling_forward_primitive_desc_create,                                                              \
      (struct dnnl_primitive_desc **, struct dnnl_engine *, unsigned kind, unsigned algorithm, const float *factors,   \
       onednn_md source, onednn_md target, const struct dnnl_primitive_attr *))                                        \
    X(unsigned, reduction_primitive_desc_create,                                                                       \
      (struct dnnl_primitive_desc **, struct dnnl_engine *, unsigned algorithm, onednn_md source, onednn_md target,    \
       float p, float epsilon, const struct dnnl_primitive_attr *))

#endif
