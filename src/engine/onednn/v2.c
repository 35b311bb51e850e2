/* engine/onednn/v2.c: computations with the interface of oneDNN 2, from 2.6 on. See dialect.h. */
#include "engine/onednn/v2.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/onednn/dialect.h"

ONEDNN_V2_FUNCTIONS(ONEDNN_POINTER)

#define NUMBER(ours, theirs, two, three) [ONEDNN_##ours] = (two),

static const unsigned algorithms[] = {ONEDNN_ALGORITHMS(NUMBER)};

static const char *find_v2_functions(void *library)
{
    ONEDNN_V2_FUNCTIONS(ONEDNN_FIND)
    return NULL;
}

/* ---- memory ---- */

static bool describe_v2_memory(const struct onednn_memory_desc *memory, struct dnnl_memory_desc *ret)
{
    struct onednn_v2_blocking *blocking = &ret->format_desc.blocking;
    struct layout_strides strides;

    if (!layout_resolve(&memory->layout, &memory->shape, &strides))
        return false;
    memset(ret, 0, sizeof(*ret));
    ret->ndims = (int)memory->shape.rank;
    ret->data_type = ONEDNN_F32;
    ret->format_kind = memory->kind == ONEDNN_MEMORY_OPEN ? ONEDNN_FORMAT_KIND_ANY : ONEDNN_BLOCKED;
    for (size_t i = 0; i < memory->shape.rank; i++) {
        ret->dims[i] = memory->shape.dims[i];
        ret->padded_dims[i] = strides.padded[i];
        if (memory->kind != ONEDNN_MEMORY_OPEN)
            blocking->strides[i] = memory->kind == ONEDNN_MEMORY_STRIDES ? memory->strides[i] : strides.strides[i];
    }
    if (memory->kind != ONEDNN_MEMORY_LAYOUT)
        return true;
    blocking->inner_nblks = (int)strides.block_count;
    for (size_t i = 0; i < strides.block_count; i++) {
        blocking->inner_blks[i] = strides.block_sizes[i];
        blocking->inner_idxs[i] = strides.block_dimensions[i];
    }
    return true;
}

static struct dnnl_memory_desc *create_v2_memory_desc(const struct onednn_memory_desc *memory)
{
    struct dnnl_memory_desc described;

    return describe_v2_memory(memory, &described)
               ? memcpy(memory_alloc(sizeof(described)), &described, sizeof(described))
               : NULL;
}

static void free_v2_memory_desc(struct dnnl_memory_desc *memory)
{
    free(memory);
}

static bool read_v2_memory_desc(const struct dnnl_memory_desc *memory, struct onednn_blocked_memory *ret)
{
    const struct onednn_v2_blocking *blocking = &memory->format_desc.blocking;
    struct onednn_blocked_memory read = {.shape.rank = (size_t)memory->ndims, .strides.rank = (size_t)memory->ndims};

    if (memory->ndims == 0 || memory->format_kind != ONEDNN_BLOCKED || memory->data_type != ONEDNN_F32 ||
        memory->offset0 != 0 || memory->extra.flags != 0 || blocking->inner_nblks > LAYOUT_MAX_BLOCKS)
        return false;
    for (size_t i = 0; i < read.shape.rank; i++) {
        if (memory->padded_offsets[i] != 0)
            return false;
        read.shape.dims[i] = memory->dims[i];
        read.strides.padded[i] = memory->padded_dims[i];
        read.strides.strides[i] = blocking->strides[i];
    }
    read.strides.block_count = (size_t)blocking->inner_nblks;
    for (size_t i = 0; i < read.strides.block_count; i++) {
        read.strides.block_sizes[i] = blocking->inner_blks[i];
        read.strides.block_dimensions[i] = (uint8_t)blocking->inner_idxs[i];
    }
    *ret = read;
    return true;
}

/* ---- computations ---- */

static bool append_v2_post_op(struct dnnl_post_ops *post_ops, const struct onednn_post_op *post_op,
                              const struct dnnl_memory_desc *operand)
{
    unsigned status = ONEDNN_SUCCESS;

    switch (post_op->kind) {
    case ONEDNN_POST_SUM:
        status = post_ops_append_sum(post_ops, 1.0f);
        break;
    case ONEDNN_POST_ELTWISE:
        status = post_ops_append_eltwise(post_ops, 1.0f, algorithms[post_op->algorithm], post_op->alpha, post_op->beta);
        break;
    case ONEDNN_POST_BINARY:
        status = post_ops_append_binary(post_ops, algorithms[post_op->algorithm], operand);
        break;
    }
    return status == ONEDNN_SUCCESS;
}

/* Creates an operation descriptor: for all primitives except concatenation. */
static unsigned describe_v2_operation(const struct onednn_computation *computation,
                                      const struct onednn_memories *memories, union onednn_v2_op_desc *ret)
{
    const struct onednn_window *window = &computation->window;
    unsigned algorithm = algorithms[computation->algorithm], kind = ONEDNN_FORWARD_INFERENCE, flags;
    onednn_md source = memories->source, second = memories->second, bias = memories->bias, target = memories->target;

    switch (computation->primitive) {
    case ONEDNN_CONVOLUTION:
        return dilated_convolution_forward_desc_init(ret, kind, algorithm, source, second, bias, target,
                                                     window->strides, window->dilations, window->before, window->after);
    case ONEDNN_DECONVOLUTION:
        return dilated_deconvolution_forward_desc_init(ret, kind, algorithm, source, second, bias, target,
                                                       window->strides, window->dilations, window->before,
                                                       window->after);
    case ONEDNN_MATMUL:
        return matmul_desc_init(ret, source, second, bias, target);
    case ONEDNN_INNER_PRODUCT:
        return inner_product_forward_desc_init(ret, kind, source, second, bias, target);
    case ONEDNN_POOLING:
        return pooling_v2_forward_desc_init(ret, kind, algorithm, source, target, window->strides, window->kernel,
                                            window->dilations, window->before, window->after);
    case ONEDNN_ELTWISE:
        return eltwise_forward_desc_init(ret, kind, algorithm, source, computation->alpha, computation->beta);
    case ONEDNN_BINARY:
        return binary_desc_init(ret, algorithm, source, second, target);
    case ONEDNN_SOFTMAX:
        return softmax_v2_forward_desc_init(ret, kind, algorithm, source, target, computation->axis);
    case ONEDNN_BATCH_NORMALIZATION:
    case ONEDNN_LAYER_NORMALIZATION:
        flags = (computation->has_scale ? ONEDNN_V2_USE_SCALE : 0) | (computation->has_shift ? ONEDNN_V2_USE_SHIFT : 0);
        return computation->primitive == ONEDNN_BATCH_NORMALIZATION
                   ? batch_normalization_forward_desc_init(ret, kind, source, computation->epsilon,
                                                           flags | ONEDNN_V2_USE_GLOBAL_STATS)
                   : layer_normalization_forward_desc_init(ret, kind, source, NULL, computation->epsilon, flags);
    case ONEDNN_LRN:
        return lrn_forward_desc_init(ret, kind, algorithm, source, computation->size, computation->alpha,
                                     computation->beta, computation->k);
    case ONEDNN_RESAMPLING:
        return resampling_forward_desc_init(ret, kind, algorithm, NULL, source, target);
    case ONEDNN_REDUCTION:
        return reduction_desc_init(ret, algorithm, source, target, computation->power, 0.0f);
    case ONEDNN_CONCAT:
        break;
    }
    return ~0U;
}

/* Concatenation has one implementation for each choice of layouts. */
static void visit_v2_concatenation(struct dnnl_engine *engine, const struct onednn_computation *computation,
                                   const struct onednn_memories *memories, const struct dnnl_primitive_attr *attributes,
                                   bool (*visit)(void *context, const struct dnnl_primitive_desc *descriptor),
                                   void *context)
{
    struct dnnl_memory_desc *sources SCOPED_FREE = memory_alloc_zero(computation->source_count, sizeof(*sources));
    struct dnnl_primitive_desc *descriptor;

    for (size_t i = 0; i < computation->source_count; i++)
        sources[i] = *memories->sources[i];
    if (concat_primitive_desc_create(&descriptor, memories->target, (int)computation->source_count, computation->axis,
                                     sources, attributes, engine) == ONEDNN_SUCCESS) {
        visit(context, descriptor);
        primitive_desc_destroy(descriptor);
    }
}

static void visit_v2_implementations(struct dnnl_engine *engine, const struct onednn_computation *computation,
                                     const struct onednn_memories *memories,
                                     const struct dnnl_primitive_attr *attributes,
                                     bool (*visit)(void *context, const struct dnnl_primitive_desc *descriptor),
                                     void *context)
{
    struct dnnl_primitive_desc_iterator *iterator;
    union onednn_v2_op_desc op;
    bool more = true;

    if (computation->primitive == ONEDNN_CONCAT) {
        visit_v2_concatenation(engine, computation, memories, attributes, visit, context);
        return;
    }
    if (describe_v2_operation(computation, memories, &op) != ONEDNN_SUCCESS ||
        primitive_desc_iterator_create(&iterator, &op, attributes, engine, NULL) != ONEDNN_SUCCESS)
        return;
    while (more) {
        struct dnnl_primitive_desc *descriptor = primitive_desc_iterator_fetch(iterator);

        if (descriptor) {
            more = visit(context, descriptor);
            primitive_desc_destroy(descriptor);
        }
        more = more && primitive_desc_iterator_next(iterator) == ONEDNN_SUCCESS;
    }
    primitive_desc_iterator_destroy(iterator);
}

const struct onednn_dialect onednn_v2 = {
    .major = 2,
    .oldest_minor = 6,
    .post_op_argument = ONEDNN_V2_POST_OP_BASE,
    .find_functions = find_v2_functions,
    .memory_desc_new = create_v2_memory_desc,
    .memory_desc_free = free_v2_memory_desc,
    .memory_desc_read = read_v2_memory_desc,
    .post_ops_append = append_v2_post_op,
    .each_implementation = visit_v2_implementations,
};
