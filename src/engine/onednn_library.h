/* engine/onednn_library.h: oneDNN itself, loaded once per process and kept until its end.
 *
 *   const struct onednn *onednn;
 *   rc = onednn_load(&onednn, err);
 *   status = onednn->convolution_forward_desc_init(&op, ...);
 *
 * Everything that depends on the version of oneDNN is here and in onednn_abi.h. Its threads are OpenMP's: they do not
 * survive a fork().
 */
#ifndef ENGINE_ONEDNN_LIBRARY_H
#define ENGINE_ONEDNN_LIBRARY_H

#include "base/error.h"
#include "engine/onednn_abi.h"

struct dnnl_engine;
struct dnnl_stream;
struct dnnl_memory;
struct dnnl_primitive;
struct dnnl_primitive_attr;
struct dnnl_primitive_desc;
struct dnnl_primitive_desc_iterator;
struct dnnl_post_ops;

typedef const struct onednn_memory_desc *onednn_md; /* for the table below */

/* X(result, name without "dnnl_", (parameters)). Where the result is an `int`, it is a status unless said otherwise. */
#define ONEDNN_FUNCTIONS(X)                                                                                            \
    X(const struct onednn_version *, version, (void))                                                                  \
    X(int, engine_create, (struct dnnl_engine **, int kind, size_t index))                                             \
    X(int, stream_create, (struct dnnl_stream **, struct dnnl_engine *, unsigned flags))                               \
    X(int, stream_wait, (struct dnnl_stream *))                                                                        \
    X(int, set_default_fpmath_mode, (int))                                                                             \
    X(int, memory_desc_init_by_strides,                                                                                \
      (struct onednn_memory_desc *, int ndims, const int64_t *dims, int type, const int64_t *strides))                 \
    X(int, memory_desc_equal, (onednn_md, onednn_md)) /* a truth value */                                              \
    X(size_t, memory_desc_get_size, (onednn_md))                                                                       \
    X(int, memory_create, (struct dnnl_memory **, onednn_md, struct dnnl_engine *, void *))                            \
    X(int, memory_set_data_handle, (struct dnnl_memory *, void *))                                                     \
    X(int, memory_destroy, (struct dnnl_memory *))                                                                     \
    X(int, primitive_attr_create, (struct dnnl_primitive_attr **))                                                     \
    X(int, primitive_attr_destroy, (struct dnnl_primitive_attr *))                                                     \
    X(int, primitive_attr_set_scratchpad_mode, (struct dnnl_primitive_attr *, int))                                    \
    X(int, primitive_attr_set_fpmath_mode, (struct dnnl_primitive_attr *, int))                                        \
    X(int, primitive_attr_set_post_ops, (struct dnnl_primitive_attr *, const struct dnnl_post_ops *))                  \
    X(int, primitive_attr_set_output_scales, (struct dnnl_primitive_attr *, int64_t count, int mask, const float *))   \
    X(int, post_ops_create, (struct dnnl_post_ops **))                                                                 \
    X(int, post_ops_destroy, (struct dnnl_post_ops *))                                                                 \
    X(int, post_ops_len, (const struct dnnl_post_ops *)) /* a number */                                                \
    X(int, post_ops_append_sum, (struct dnnl_post_ops *, float scale))                                                 \
    X(int, post_ops_append_eltwise, (struct dnnl_post_ops *, float scale, int algorithm, float alpha, float beta))     \
    X(int, post_ops_append_binary, (struct dnnl_post_ops *, int algorithm, onednn_md))                                 \
    X(int, primitive_desc_iterator_create,                                                                             \
      (struct dnnl_primitive_desc_iterator **, const void *op, const struct dnnl_primitive_attr *,                     \
       struct dnnl_engine *, const struct dnnl_primitive_desc *hint))                                                  \
    X(int, primitive_desc_iterator_next, (struct dnnl_primitive_desc_iterator *))                                      \
    X(struct dnnl_primitive_desc *, primitive_desc_iterator_fetch, (const struct dnnl_primitive_desc_iterator *))      \
    X(int, primitive_desc_iterator_destroy, (struct dnnl_primitive_desc_iterator *))                                   \
    X(int, primitive_desc_destroy, (struct dnnl_primitive_desc *))                                                     \
    X(int, primitive_desc_query, (const struct dnnl_primitive_desc *, int what, int index, void *))                    \
    X(onednn_md, primitive_desc_query_md, (const struct dnnl_primitive_desc *, int what, int index))                   \
    X(int, primitive_create, (struct dnnl_primitive **, const struct dnnl_primitive_desc *))                           \
    X(int, primitive_execute,                                                                                          \
      (const struct dnnl_primitive *, struct dnnl_stream *, int count, const struct onednn_exec_arg *))                \
    X(int, primitive_destroy, (struct dnnl_primitive *))                                                               \
    X(int, reorder_primitive_desc_create,                                                                              \
      (struct dnnl_primitive_desc **, onednn_md, struct dnnl_engine *, onednn_md, struct dnnl_engine *,                \
       const struct dnnl_primitive_attr *))                                                                            \
    X(int, concat_primitive_desc_create,                                                                               \
      (struct dnnl_primitive_desc **, onednn_md target, int count, int axis, onednn_md sources,                        \
       const struct dnnl_primitive_attr *, struct dnnl_engine *))                                                      \
    X(int, dilated_convolution_forward_desc_init,                                                                      \
      (union onednn_op_desc *, int kind, int algorithm, onednn_md source, onednn_md weights, onednn_md bias,           \
       onednn_md target, const int64_t *strides, const int64_t *dilations, const int64_t *before,                      \
       const int64_t *after))                                                                                          \
    X(int, dilated_deconvolution_forward_desc_init,                                                                    \
      (union onednn_op_desc *, int kind, int algorithm, onednn_md source, onednn_md weights, onednn_md bias,           \
       onednn_md target, const int64_t *strides, const int64_t *dilations, const int64_t *before,                      \
       const int64_t *after))                                                                                          \
    X(int, matmul_desc_init, (union onednn_op_desc *, onednn_md a, onednn_md b, onednn_md bias, onednn_md target))     \
    X(int, inner_product_forward_desc_init,                                                                            \
      (union onednn_op_desc *, int kind, onednn_md source, onednn_md weights, onednn_md bias, onednn_md target))       \
    X(int, pooling_v2_forward_desc_init,                                                                               \
      (union onednn_op_desc *, int kind, int algorithm, onednn_md source, onednn_md target, const int64_t *strides,    \
       const int64_t *kernel, const int64_t *dilations, const int64_t *before, const int64_t *after))                  \
    X(int, eltwise_forward_desc_init,                                                                                  \
      (union onednn_op_desc *, int kind, int algorithm, onednn_md data, float alpha, float beta))                      \
    X(int, binary_desc_init,                                                                                           \
      (union onednn_op_desc *, int algorithm, onednn_md source_0, onednn_md source_1, onednn_md target))               \
    X(int, softmax_v2_forward_desc_init,                                                                               \
      (union onednn_op_desc *, int kind, int algorithm, onednn_md source, onednn_md target, int axis))                 \
    X(int, batch_normalization_forward_desc_init,                                                                      \
      (union onednn_op_desc *, int kind, onednn_md data, float epsilon, unsigned flags))                               \
    X(int, layer_normalization_forward_desc_init,                                                                      \
      (union onednn_op_desc *, int kind, onednn_md data, onednn_md statistics, float epsilon, unsigned flags))         \
    X(int, lrn_forward_desc_init,                                                                                      \
      (union onednn_op_desc *, int kind, int algorithm, onednn_md data, int64_t size, float alpha, float beta,         \
       float k))                                                                                                       \
    X(int, resampling_forward_desc_init,                                                                               \
      (union onednn_op_desc *, int kind, int algorithm, const float *factors, onednn_md source, onednn_md target))     \
    X(int, reduction_desc_init,                                                                                        \
      (union onednn_op_desc *, int algorithm, onednn_md source, onednn_md target, float p, float epsilon))

struct onednn {
#define X(result, name, parameters) result(*name) parameters;
    ONEDNN_FUNCTIONS(X)
#undef X
    void (*omp_set_num_threads)(int); /* NULL when the library does not use OpenMP */
    struct dnnl_engine *engine;
    struct dnnl_stream *stream;
    char version_text[32];
};

/* ERR_MISSING when there is none; ERR_UNSUPPORTED when it is too old or, having no operation descriptors, too new
 * (3.0). Once that has worked, every later call gives the same. */
int onednn_load(const struct onednn **ret, struct error *err);

/* What the calling thread does with oneDNN from now on takes this many threads; 0: as many as the process may use. A
 * primitive has to be run with as many as it was made for. */
void onednn_use_threads(const struct onednn *onednn, int threads);

#endif
