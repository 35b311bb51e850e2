/* engine/onednn/v3.c: computations with the interface of oneDNN 3. See dialect.h. */
#include "engine/onednn/v3.h"

#include <string.h>

#include "engine/onednn/dialect.h"

#define MAX_TAGS 4096

ONEDNN_V3_FUNCTIONS(ONEDNN_POINTER)

#define NUMBER(ours, theirs, two, three) [ONEDNN_##ours] = (three),

static const unsigned algorithms[] = {ONEDNN_ALGORITHMS(NUMBER)};

/* Format tags are spelled like our layouts; newer versions have more of them. */
static const char *tag_names[MAX_TAGS];
static unsigned tag_count;

static void read_v3_layout_tags(void)
{
    for (tag_count = 0; tag_count < MAX_TAGS; tag_count++) {
        tag_names[tag_count] = fmt_tag2str(tag_count);
        if (!tag_names[tag_count] || strcmp(tag_names[tag_count], "format_tag_last") == 0)
            break; /* larger tags must not be queried */
    }
}

static const char *find_v3_functions(void *library)
{
    ONEDNN_V3_FUNCTIONS(ONEDNN_FIND)
    read_v3_layout_tags();
    return NULL;
}

/* ---- memory ---- */

/* Blocked formats can only be specified by a tag. */
static unsigned create_blocked_memory_desc(struct dnnl_memory_desc **ret, const struct onednn_memory_desc *memory)
{
    for (unsigned tag = ONEDNN_V3_FORMAT_TAG_ANY + 1; tag < tag_count; tag++)
        if (strcmp(tag_names[tag], memory->layout.text) == 0)
            return memory_desc_create_with_tag(ret, (int)memory->shape.rank, memory->shape.dims, ONEDNN_F32, tag);
    return ~0U;
}

static struct dnnl_memory_desc *create_v3_memory_desc(const struct onednn_memory_desc *memory)
{
    int rank = (int)memory->shape.rank;
    const int64_t *dims = memory->shape.dims;
    struct dnnl_memory_desc *ret = NULL;
    struct layout_strides strides;
    unsigned status = ~0U;

    switch (memory->kind) {
    case ONEDNN_MEMORY_OPEN:
        status = memory_desc_create_with_tag(&ret, rank, dims, ONEDNN_F32, ONEDNN_V3_FORMAT_TAG_ANY);
        break;
    case ONEDNN_MEMORY_STRIDES:
        status = memory_desc_create_with_strides(&ret, rank, dims, ONEDNN_F32, memory->strides);
        break;
    case ONEDNN_MEMORY_LAYOUT:
        if (!layout_resolve(&memory->layout, &memory->shape, &strides))
            return NULL;
        status = strides.block_count > 0
                     ? create_blocked_memory_desc(&ret, memory)
                     : memory_desc_create_with_strides(&ret, rank, dims, ONEDNN_F32, strides.strides);
        break;
    }
    return status == ONEDNN_SUCCESS ? ret : NULL;
}

static void free_v3_memory_desc(struct dnnl_memory_desc *memory)
{
    if (memory)
        memory_desc_destroy(memory);
}

/* `ret` points to the result of the query. */
static bool query_memory_desc(const struct dnnl_memory_desc *memory, unsigned what, void *ret)
{
    return memory_desc_query(memory, what, ret) == ONEDNN_SUCCESS;
}

static bool read_v3_memory_desc(const struct dnnl_memory_desc *memory, struct onednn_blocked_memory *ret)
{
    const onednn_dims *dims, *padded, *offsets, *strides, *blocks, *block_dimensions;
    struct onednn_blocked_memory read = {0};
    unsigned type, format;
    int32_t rank, count;
    int64_t offset;

    if (!query_memory_desc(memory, ONEDNN_V3_QUERY_NDIMS_S32, &rank) ||
        !query_memory_desc(memory, ONEDNN_V3_QUERY_DATA_TYPE, &type) ||
        !query_memory_desc(memory, ONEDNN_V3_QUERY_FORMAT_KIND, &format) ||
        !query_memory_desc(memory, ONEDNN_V3_QUERY_SUBMEMORY_OFFSET_S64, &offset) || rank == 0 || type != ONEDNN_F32 ||
        format != ONEDNN_BLOCKED || offset != 0)
        return false;
    if (!query_memory_desc(memory, ONEDNN_V3_QUERY_DIMS, &dims) ||
        !query_memory_desc(memory, ONEDNN_V3_QUERY_PADDED_DIMS, &padded) ||
        !query_memory_desc(memory, ONEDNN_V3_QUERY_PADDED_OFFSETS, &offsets) ||
        !query_memory_desc(memory, ONEDNN_V3_QUERY_STRIDES, &strides) ||
        !query_memory_desc(memory, ONEDNN_V3_QUERY_INNER_NBLKS_S32, &count) ||
        !query_memory_desc(memory, ONEDNN_V3_QUERY_INNER_BLKS, &blocks) ||
        !query_memory_desc(memory, ONEDNN_V3_QUERY_INNER_IDXS, &block_dimensions) || count > LAYOUT_MAX_BLOCKS)
        return false;
    read.shape.rank = read.strides.rank = (size_t)rank;
    for (size_t i = 0; i < read.shape.rank; i++) {
        if ((*offsets)[i] != 0)
            return false;
        read.shape.dims[i] = (*dims)[i];
        read.strides.padded[i] = (*padded)[i];
        read.strides.strides[i] = (*strides)[i];
    }
    read.strides.block_count = (size_t)count;
    for (size_t i = 0; i < read.strides.block_count; i++) {
        read.strides.block_sizes[i] = (*blocks)[i];
        read.strides.block_dimensions[i] = (uint8_t)(*block_dimensions)[i];
    }
    *ret = read;
    return true;
}

/* ---- computations ---- */

static bool append_v3_post_op(struct dnnl_post_ops *post_ops, const struct onednn_post_op *post_op,
                              const struct dnnl_memory_desc *operand)
{
    unsigned status = ONEDNN_SUCCESS;

    switch (post_op->kind) {
    case ONEDNN_POST_SUM:
        status = post_ops_append_sum(post_ops, 1.0f, 0, ONEDNN_F32);
        break;
    case ONEDNN_POST_ELTWISE:
        status = post_ops_append_eltwise(post_ops, algorithms[post_op->algorithm], post_op->alpha, post_op->beta);
        break;
    case ONEDNN_POST_BINARY:
        status = post_ops_append_binary(post_ops, algorithms[post_op->algorithm], operand);
        break;
    }
    return status == ONEDNN_SUCCESS;
}

/* Creates a descriptor of the first implementation. */
static unsigned create_v3_primitive_desc(struct dnnl_engine *engine, const struct onednn_computation *computation,
                                         const struct onednn_memories *memories,
                                         const struct dnnl_primitive_attr *attributes, struct dnnl_primitive_desc **ret)
{
    const struct onednn_window *window = &computation->window;
    unsigned algorithm = algorithms[computation->algorithm], kind = ONEDNN_FORWARD_INFERENCE, flags;
    onednn_md source = memories->source, second = memories->second, bias = memories->bias, target = memories->target;

    switch (computation->primitive) {
    case ONEDNN_CONVOLUTION:
        return convolution_forward_primitive_desc_create(ret, engine, kind, algorithm, source, second, bias, target,
                                                         window->strides, window->dilations, window->before,
                                                         window->after, attributes);
    case ONEDNN_DECONVOLUTION:
        return deconvolution_forward_primitive_desc_create(ret, engine, kind, algorithm, source, second, bias, target,
                                                           window->strides, window->dilations, window->before,
                                                           window->after, attributes);
    case ONEDNN_MATMUL:
        return matmul_primitive_desc_create(ret, engine, source, second, bias, target, attributes);
    case ONEDNN_INNER_PRODUCT:
        return inner_product_forward_primitive_desc_create(ret, engine, kind, source, second, bias, target, attributes);
    case ONEDNN_POOLING:
        return pooling_forward_primitive_desc_create(ret, engine, kind, algorithm, source, target, window->strides,
                                                     window->kernel, window->dilations, window->before, window->after,
                                                     attributes);
    case ONEDNN_ELTWISE:
        return eltwise_forward_primitive_desc_create(ret, engine, kind, algorithm, source, target, computation->alpha,
                                                     computation->beta, attributes);
    case ONEDNN_BINARY:
        return binary_primitive_desc_create(ret, engine, algorithm, source, second, target, attributes);
    case ONEDNN_CONCAT:
        return concat_primitive_desc_create(ret, engine, target, (int)computation->source_count, computation->axis,
                                            (const onednn_md *)memories->sources, attributes);
    case ONEDNN_SOFTMAX:
        return softmax_forward_primitive_desc_create(ret, engine, kind, algorithm, source, target, computation->axis,
                                                     attributes);
    case ONEDNN_BATCH_NORMALIZATION:
    case ONEDNN_LAYER_NORMALIZATION:
        flags = (computation->has_scale ? ONEDNN_V3_USE_SCALE : 0) | (computation->has_shift ? ONEDNN_V3_USE_SHIFT : 0);
        return computation->primitive == ONEDNN_BATCH_NORMALIZATION
                   ? batch_normalization_forward_primitive_desc_create(ret, engine, kind, source, target,
                                                                       computation->epsilon,
                                                                       flags | ONEDNN_V3_USE_GLOBAL_STATS, attributes)
                   : layer_normalization_forward_primitive_desc_create(ret, engine, kind, source, target, NULL,
                                                                       computation->epsilon, flags, attributes);
    case ONEDNN_LRN:
        return lrn_forward_primitive_desc_create(ret, engine, kind, algorithm, source, target, computation->size,
                                                 computation->alpha, computation->beta, computation->k, attributes);
    case ONEDNN_RESAMPLING:
        return resampling_forward_primitive_desc_create(ret, engine, kind, algorithm, NULL, source, target, attributes);
    case ONEDNN_REDUCTION:
        return reduction_primitive_desc_create(ret, engine, algorithm, source, target, computation->power, 0.0f,
                                               attributes);
    }
    return ~0U;
}

static void visit_v3_implementations(struct dnnl_engine *engine, const struct onednn_computation *computation,
                                     const struct onednn_memories *memories,
                                     const struct dnnl_primitive_attr *attributes,
                                     bool (*visit)(void *context, const struct dnnl_primitive_desc *descriptor),
                                     void *context)
{
    struct dnnl_primitive_desc *descriptor;

    if (create_v3_primitive_desc(engine, computation, memories, attributes, &descriptor) != ONEDNN_SUCCESS)
        return;
    while (visit(context, descriptor) && primitive_desc_next_impl(descriptor) == ONEDNN_SUCCESS)
        continue;
    primitive_desc_destroy(descriptor);
}

const struct onednn_dialect onednn_v3 = {
    .major = 3,
    .oldest_minor = 0,
    .post_op_argument = ONEDNN_V3_POST_OP_BASE,
    .find_functions = find_v3_functions,
    .memory_desc_new = create_v3_memory_desc,
    .memory_desc_free = free_v3_memory_desc,
    .memory_desc_read = read_v3_memory_desc,
    .post_ops_append = append_v3_post_op,
    .each_implementation = visit_v3_implementations,
};
