/* engine/onednn/computation.c: see computation.h. */
#include "engine/onednn/computation.h"

#include <stdlib.h>

#include "base/memory.h"
#include "engine/onednn/library.h"

/* False when there is one and the library cannot describe it. */
static bool make_memory(const struct onednn_dialect *dialect, const struct onednn_memory_desc *memory,
                        struct dnnl_memory_desc **ret)
{
    *ret = memory->shape.rank > 0 ? dialect->memory_desc_new(memory) : NULL;
    return *ret || memory->shape.rank == 0;
}

/* What was made before it failed is in `ret`. */
static bool make_memories(const struct onednn_dialect *dialect, const struct onednn_computation *computation,
                          struct onednn_memories *ret)
{
    ret->sources = memory_alloc_zero(computation->source_count, sizeof(struct dnnl_memory_desc *));
    for (size_t i = 0; i < computation->source_count; i++)
        if (!make_memory(dialect, &computation->sources[i], &ret->sources[i]))
            return false;
    return make_memory(dialect, &computation->source, &ret->source) &&
           make_memory(dialect, &computation->second, &ret->second) &&
           make_memory(dialect, &computation->bias, &ret->bias) &&
           make_memory(dialect, &computation->target, &ret->target);
}

static void free_memories(const struct onednn_dialect *dialect, size_t source_count, struct onednn_memories *memories)
{
    for (size_t i = 0; i < source_count; i++)
        dialect->memory_desc_free(memories->sources[i]);
    free(memories->sources);
    dialect->memory_desc_free(memories->source);
    dialect->memory_desc_free(memories->second);
    dialect->memory_desc_free(memories->bias);
    dialect->memory_desc_free(memories->target);
}

static bool append_post_ops(const struct onednn_dialect *dialect, const struct onednn_computation *computation,
                            struct dnnl_post_ops *post_ops)
{
    bool done = true;

    for (size_t i = 0; done && i < computation->post_ops.count; i++) {
        const struct onednn_post_op *post_op = &computation->post_ops.items[i];
        struct dnnl_memory_desc *operand = NULL;

        done =
            make_memory(dialect, &post_op->operand, &operand) && dialect->post_ops_append(post_ops, post_op, operand);
        dialect->memory_desc_free(operand);
    }
    return done;
}

static bool make_attributes(const struct onednn *onednn, const struct onednn_computation *computation,
                            struct dnnl_primitive_attr *attributes)
{
    struct dnnl_post_ops *post_ops;
    bool done;

    if (onednn->primitive_attr_set_scratchpad_mode(attributes, ONEDNN_SCRATCHPAD_MODE_USER) != ONEDNN_SUCCESS ||
        onednn->primitive_attr_set_fpmath_mode(attributes, ONEDNN_FPMATH_MODE_STRICT) != ONEDNN_SUCCESS ||
        onednn->post_ops_create(&post_ops) != ONEDNN_SUCCESS)
        return false;
    done = append_post_ops(onednn->dialect, computation, post_ops) &&
           onednn->primitive_attr_set_post_ops(attributes, post_ops) == ONEDNN_SUCCESS;
    onednn->post_ops_destroy(post_ops);
    return done;
}

void onednn_computation_each(const struct onednn *onednn, const struct onednn_computation *computation,
                             bool (*visit)(void *context, const struct dnnl_primitive_desc *descriptor), void *context)
{
    struct dnnl_primitive_attr *attributes;
    struct onednn_memories memories = {0};

    if (onednn->primitive_attr_create(&attributes) != ONEDNN_SUCCESS)
        return;
    if (make_attributes(onednn, computation, attributes) && make_memories(onednn->dialect, computation, &memories))
        onednn->dialect->each_implementation(onednn->engine, computation, &memories, attributes, visit, context);
    free_memories(onednn->dialect, memories.sources ? computation->source_count : 0, &memories);
    onednn->primitive_attr_destroy(attributes);
}
