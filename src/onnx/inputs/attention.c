/* onnx/inputs/attention.c: attention, and what ONNX Runtime's fusers and generators write. See operators.h. The sizes
 * are those of ONNX's operator set 23 and of ONNX Runtime's documentation of its own operators. */
#include <string.h>

#include "onnx/inputs/operators.h"
#include "onnx/proto/node_attribute.h"

/* A tensor [batch, sequence, heads * size], and a cache [batch, heads, length, size]. */

static void set_cache(struct pass *pass, const struct node *node, size_t output, const struct fact *past,
                      struct dimension total)
{
    struct dimension dims[4];

    if (!past->has_shape || past->rank != 4)
        return;
    memcpy(dims, past->dims, sizeof(dims));
    dims[2] = total;
    pass_set_shape(pass, node, output, dims, 4);
}

/* The length of a cache after `added` more entries. */
static struct dimension extend_cache(struct pass *pass, const struct fact *past, struct dimension added)
{
    if (!past->has_shape || past->rank != 4)
        return added;
    pass_mark(pass, past->dims[2], ROLE_CACHE);
    return dimension_add(pass->system, past->dims[2], added, 1);
}

static void attend_in_groups(struct pass *pass, const struct node *node)
{
    struct fact query = *pass_input(pass, node, 0), past = *pass_input(pass, node, 3);
    struct fact past_value = *pass_input(pass, node, 4), total_length = *pass_input(pass, node, 6);
    int64_t heads = node_attribute_integer(node->message, "num_heads", 1);
    int64_t pairs = node_attribute_integer(node->message, "kv_num_heads", heads);
    bool packed = node_input(pass->model, node, 1) == VALUE_NONE;
    bool slides = node_attribute_integer(node->message, "sliding_window_cache", 0) != 0;
    struct dimension dims[3], size, total;

    if (!query.has_shape || query.rank != 3)
        return;
    size = dimension_divide(pass->system, query.dims[2], packed ? heads + 2 * pairs : heads);
    pass_mark(pass, query.dims[1], ROLE_SEQUENCE);
    total = slides && past.has_shape && past.rank == 4 ? past.dims[2] : extend_cache(pass, &past, query.dims[1]);
    if (slides) /* the cache is a buffer of the window, from which old entries are dropped */
        pass_equate(pass, total, dimension_constant(node_attribute_integer(node->message, "local_window_size", -1)));
    for (size_t i = 0; i < 2; i++) {
        const struct fact *cache = i == 0 ? &past : &past_value;

        if (!cache->has_shape || cache->rank != 4)
            continue;
        pass_equate(pass, cache->dims[0], query.dims[0]);
        pass_equate(pass, cache->dims[1], dimension_constant(pairs));
        pass_equate(pass, cache->dims[2], past.dims[2]);
        pass_equate(pass, cache->dims[3], size);
        set_cache(pass, node, i + 1, cache, total);
    }
    if (total_length.has_numbers && total_length.number_count == 1 && !slides)
        pass_equate(pass, total_length.numbers[0], total);
    memcpy(dims, query.dims, sizeof(dims));
    dims[2] = dimension_multiply(pass->system, size, heads);
    pass_set_shape(pass, node, 0, dims, 3);
}

/* MultiHeadAttention with separate or packed inputs; the cache is inputs 6 and 7. */
static void attend_with_heads(struct pass *pass, const struct node *node)
{
    struct fact query = *pass_input(pass, node, 0), key = *pass_input(pass, node, 1),
                value = *pass_input(pass, node, 2);
    struct fact past = *pass_input(pass, node, 6), bias = *pass_input(pass, node, 5);
    int64_t heads = node_attribute_integer(node->message, "num_heads", 1);
    struct dimension dims[3], added = dimension_unknown(), total, size;

    if (!query.has_shape || query.rank != 3)
        return;
    if (key.has_shape && key.rank >= 3)
        added = key.rank == 3 ? key.dims[1] : key.dims[2];
    total = extend_cache(pass, &past, added);
    size = dimension_divide(pass->system, query.dims[2], heads);
    pass_mark(pass, added, ROLE_SEQUENCE);
    if (past.has_shape && past.rank == 4) {
        pass_equate(pass, past.dims[1], dimension_constant(heads));
        pass_equate(pass, past.dims[3], size);
    }
    if (bias.has_shape && bias.rank == 4)
        pass_assume(pass, bias.dims[3], total);
    memcpy(dims, query.dims, sizeof(dims));
    if (value.has_shape && value.rank == 3)
        dims[2] = value.dims[2];
    pass_set_shape(pass, node, 0, dims, 3);
    set_cache(pass, node, 1, &past, total);
    set_cache(pass, node, 2, &past, total);
}

/* ONNX's own Attention: inputs [batch, heads, sequence, size], or [batch, sequence, heads * size]. */
static void attend_to_keys(struct pass *pass, const struct node *node)
{
    struct fact query = *pass_input(pass, node, 0), key = *pass_input(pass, node, 1),
                value = *pass_input(pass, node, 2);
    struct fact mask = *pass_input(pass, node, 3), past = *pass_input(pass, node, 4);
    struct dimension dims[4], total;
    size_t axis;

    if (!query.has_shape || !key.has_shape || query.rank != key.rank || query.rank < 3 || query.rank > 4)
        return;
    axis = query.rank - 2;
    total = extend_cache(pass, &past, key.dims[axis]);
    pass_mark(pass, key.dims[axis], ROLE_SEQUENCE);
    pass_equate(pass, query.dims[0], key.dims[0]);
    if (value.has_shape && value.rank == key.rank)
        pass_equate(pass, value.dims[axis], key.dims[axis]);
    if (mask.has_shape && mask.rank >= 2) {
        pass_broadcast(pass, mask.dims[mask.rank - 1], total);
        pass_broadcast(pass, mask.dims[mask.rank - 2], query.dims[axis]);
    }
    memcpy(dims, query.dims, query.rank * sizeof(dims[0]));
    if (value.has_shape && value.rank == query.rank && query.rank == 4)
        dims[3] = value.dims[3];
    if (query.rank == 3)
        dims[2] = dimension_unknown();
    pass_set_shape(pass, node, 0, dims, query.rank);
    set_cache(pass, node, 1, &past, total);
    set_cache(pass, node, 2, pass_input(pass, node, 5), total);
}

static void keep_first(struct pass *pass, const struct node *node)
{
    struct fact x = *pass_input(pass, node, 0);

    if (x.has_shape)
        pass_set_shape(pass, node, 0, x.dims, x.rank);
}

/* The sum of both inputs, normalized; output 3 is the sum. */
static void add_and_normalize(struct pass *pass, const struct node *node)
{
    struct fact x = *pass_input(pass, node, 0), skip = *pass_input(pass, node, 1);
    struct dimension dims[TENSOR_MAX_RANK];
    size_t rank;

    if (!x.has_shape || !skip.has_shape)
        return;
    rank = pass_broadcast_shapes(pass, &x, &skip, 0, dims);
    pass_set_shape(pass, node, 0, dims, rank);
    pass_set_shape(pass, node, 3, dims, rank);
}

static void multiply_quantized(struct pass *pass, const struct node *node)
{
    struct fact x = *pass_input(pass, node, 0);
    struct dimension dims[TENSOR_MAX_RANK];
    struct span attribute;

    if (!x.has_shape || x.rank == 0)
        return;
    memcpy(dims, x.dims, x.rank * sizeof(dims[0]));
    if (node_attribute_find(node->message, "K", &attribute))
        pass_equate(pass, dims[x.rank - 1], dimension_constant(node_attribute_integer(node->message, "K", 0)));
    dims[x.rank - 1] = node_attribute_find(node->message, "N", &attribute)
                           ? dimension_constant(node_attribute_integer(node->message, "N", 0))
                           : dimension_unknown();
    pass_set_shape(pass, node, 0, dims, x.rank);
}

const struct known_operator attention_operators[] = {
    {"Attention", attend_to_keys},
    {"BiasGelu", keep_first},
    {"FastGelu", keep_first},
    {"Gelu", keep_first},
    {"GroupQueryAttention", attend_in_groups},
    {"MatMulNBits", multiply_quantized},
    {"MoE", keep_first},
    {"MultiHeadAttention", attend_with_heads},
    {"QMoE", keep_first},
    {"QuickGelu", keep_first},
    {"RotaryEmbedding", keep_first},
    {"SimplifiedLayerNormalization", keep_first},
    {"SkipLayerNormalization", add_and_normalize},
    {"SkipSimplifiedLayerNormalization", add_and_normalize},
    {0},
};
