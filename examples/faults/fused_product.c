/* fused_product.c: a plug-in that computes relu(x W + b + y) in one kernel, and does it in the wrong order.
 *
 * It takes products with a constant matrix to which a tensor is added before a Relu, and nothing else: not the product
 * alone, and not with the tensor between as an output of the network, for then nothing is fused. What it computes is
 * relu(x W + b) + y.
 */
#include "polygraphy/tactic_plugin.h"

#include <stdlib.h>
#include <string.h>

#define MOST_COLUMNS 64

struct product {
    int64_t rows, depth, columns;
    const float *weights, *bias; /* constants: the program keeps them. bias may be NULL */
    uint32_t added;              /* position among the inputs */
};

static int is_matrix(const struct polygraphy_input *input)
{
    return input->present && input->constant && input->data_type == POLYGRAPHY_FLOAT32 && input->rank == 2;
}

/* What is fused has to be a bias, perhaps, then a tensor, then a Relu. */
static int read_fused(const struct polygraphy_layer *layer, struct product *product)
{
    uint32_t count = layer->fused_count;
    const struct polygraphy_input *operand;

    if (count < 2 || count > 3 || layer->fused[count - 1].kind != POLYGRAPHY_FUSED_RELU)
        return 0;
    for (uint32_t i = 0; i + 1 < count; i++)
        if (layer->fused[i].kind != POLYGRAPHY_FUSED_ADD)
            return 0;
    product->added = layer->fused[count - 2].operand;
    operand = &layer->inputs[product->added];
    if (operand->constant || operand->data_type != POLYGRAPHY_FLOAT32)
        return 0;
    if (operand->rank != layer->inputs[0].rank || operand->dims[operand->rank - 1] != product->columns)
        return 0;
    if (count == 3) {
        operand = &layer->inputs[layer->fused[0].operand];
        if (!operand->constant || operand->rank != 1 || operand->dims[0] != product->columns)
            return 0;
        product->bias = operand->constant;
    }
    return 1;
}

static int read_product(const struct polygraphy_layer *layer, struct product *ret)
{
    const struct polygraphy_input *x = &layer->inputs[0];
    struct product p = {.rows = 1};

    if (strcmp(layer->op_type, "MatMul") != 0 || strcmp(layer->domain, "") != 0 || layer->input_count < 3)
        return 0;
    if (!x->present || x->constant || x->data_type != POLYGRAPHY_FLOAT32 || x->rank < 2 ||
        !is_matrix(&layer->inputs[1]))
        return 0;
    p.depth = layer->inputs[1].dims[0];
    p.columns = layer->inputs[1].dims[1];
    p.weights = layer->inputs[1].constant;
    for (uint32_t i = 0; i + 1 < x->rank; i++)
        p.rows *= x->dims[i];
    if (p.columns > MOST_COLUMNS || x->dims[x->rank - 1] != p.depth || !read_fused(layer, &p))
        return 0;
    *ret = p;
    return 1;
}

static const char *tactic_name(void *context, const struct polygraphy_layer *layer, uint32_t index)
{
    struct product product;

    (void)context;
    return index == 0 && read_product(layer, &product) ? "product_add_relu" : NULL;
}

static void *create(void *context, const struct polygraphy_layer *layer, const char *tactic,
                    struct polygraphy_output *outputs, const char **message)
{
    struct product *product = malloc(sizeof(*product));

    (void)context, (void)tactic;
    if (!product || !read_product(layer, product)) {
        *message = "it is no small product with a sum and a Relu behind it";
        free(product);
        return NULL;
    }
    outputs[0].data_type = POLYGRAPHY_FLOAT32;
    outputs[0].rank = layer->inputs[0].rank;
    memcpy(outputs[0].dims, layer->inputs[0].dims, outputs[0].rank * sizeof(*outputs[0].dims));
    outputs[0].dims[outputs[0].rank - 1] = product->columns;
    return product;
}

static int32_t run(void *kernel, const void *const *inputs, void *const *outputs, const char **message)
{
    const struct product *p = kernel;
    const float *x = inputs[0], *added = inputs[p->added];
    float *y = outputs[0];

    (void)message;
    for (int64_t row = 0; y && row < p->rows; row++, x += p->depth, y += p->columns, added += p->columns) {
        float sums[MOST_COLUMNS] = {0};

        for (int64_t i = 0; i < p->depth; i++)
            for (int64_t k = 0; k < p->columns; k++)
                sums[k] += x[i] * p->weights[i * p->columns + k];
        for (int64_t k = 0; k < p->columns; k++) {
            float sum = sums[k] + (p->bias ? p->bias[k] : 0);

            /* The fault: the sum with the tensor should come before the Relu. */
            y[k] = (sum > 0 ? sum : 0) + added[k];
        }
    }
    return 0;
}

static const struct polygraphy_plugin plugin = {
    .struct_size = sizeof(plugin),
    .version = POLYGRAPHY_PLUGIN_VERSION,
    .name = "fused_product",
    .plugin_version = "1.0",
    .tactic_name = tactic_name,
    .create = create,
    .run = run,
    .free_kernel = free,
    .takes_fused = 1,
};

const struct polygraphy_plugin *polygraphy_tactic_plugin(uint32_t host_version)
{
    return host_version >= POLYGRAPHY_PLUGIN_VERSION ? &plugin : NULL;
}
