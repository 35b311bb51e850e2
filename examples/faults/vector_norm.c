/* vector_norm.c: a plug-in for layer normalization, with a fault that many a kernel has had.
 *
 * It goes through a row in vectors of 16 numbers and forgets what is left: where the width is no multiple of 16, the
 * last columns stay 0 and do not count for the mean. On all other widths it is right, and it is much faster than what
 * else there is.
 */
#include "polygraphy/tactic_plugin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LANES 16

struct normalization {
    int64_t rows, width;
    float epsilon;
    const float *scale, *bias; /* constants: the program keeps them. bias may be NULL */
};

static int is_row_constant(const struct polygraphy_input *input, int64_t width)
{
    return input->present && input->constant && input->data_type == POLYGRAPHY_FLOAT32 && input->rank == 1 &&
           input->dims[0] == width;
}

/* Whether the layer is one over the last axis, with one output; if so, describes it. */
static int read_normalization(const struct polygraphy_layer *layer, struct normalization *ret)
{
    const struct polygraphy_input *x = &layer->inputs[0];
    struct normalization n = {.rows = 1, .epsilon = 1e-5f};
    int64_t axis = -1;

    if (strcmp(layer->op_type, "LayerNormalization") != 0 || strcmp(layer->domain, "") != 0 || layer->output_count != 1)
        return 0;
    if (!x->present || x->data_type != POLYGRAPHY_FLOAT32 || x->rank == 0)
        return 0;
    for (uint32_t i = 0; i < layer->attribute_count; i++) {
        const struct polygraphy_attribute *attribute = &layer->attributes[i];

        if (strcmp(attribute->name, "axis") == 0)
            axis = attribute->integers[0];
        if (strcmp(attribute->name, "epsilon") == 0)
            n.epsilon = attribute->floats[0];
    }
    if (axis != -1 && axis != (int64_t)x->rank - 1)
        return 0;
    n.width = x->dims[x->rank - 1];
    for (uint32_t i = 0; i + 1 < x->rank; i++)
        n.rows *= x->dims[i];
    if (n.width < LANES || layer->input_count < 2 || !is_row_constant(&layer->inputs[1], n.width))
        return 0;
    n.scale = layer->inputs[1].constant;
    if (layer->input_count > 2 && layer->inputs[2].present) {
        if (!is_row_constant(&layer->inputs[2], n.width))
            return 0;
        n.bias = layer->inputs[2].constant;
    }
    *ret = n;
    return 1;
}

static const char *tactic_name(void *context, const struct polygraphy_layer *layer, uint32_t index)
{
    struct normalization normalization;

    (void)context;
    return index == 0 && read_normalization(layer, &normalization) ? "vectors_of_16" : NULL;
}

static void *create(void *context, const struct polygraphy_layer *layer, const char *tactic,
                    struct polygraphy_output *outputs, const char **message)
{
    struct normalization *normalization = malloc(sizeof(*normalization));

    (void)context, (void)tactic;
    if (!normalization || !read_normalization(layer, normalization)) {
        *message = "it is no normalization of rows of 16 numbers or more";
        free(normalization);
        return NULL;
    }
    outputs[0].data_type = POLYGRAPHY_FLOAT32;
    outputs[0].rank = layer->inputs[0].rank;
    memcpy(outputs[0].dims, layer->inputs[0].dims, outputs[0].rank * sizeof(*outputs[0].dims));
    return normalization;
}

static float sum_of(float lanes[LANES])
{
    for (int width = LANES / 2; width > 0; width /= 2)
        for (int i = 0; i < width; i++)
            lanes[i] += lanes[i + width];
    return lanes[0];
}

/* The fault: nowhere is what lies behind the last whole vector looked at. */
static void normalize_row(const struct normalization *n, const float *x, float *y)
{
    float sums[LANES] = {0}, squares[LANES] = {0}, mean, factor;
    int64_t end = n->width / LANES * LANES;

    for (int64_t i = 0; i < end; i += LANES)
        for (int k = 0; k < LANES; k++)
            sums[k] += x[i + k];
    mean = sum_of(sums) / (float)n->width;
    for (int64_t i = 0; i < end; i += LANES)
        for (int k = 0; k < LANES; k++)
            squares[k] += (x[i + k] - mean) * (x[i + k] - mean);
    factor = 1 / sqrtf(sum_of(squares) / (float)n->width + n->epsilon);
    for (int64_t i = 0; i < end; i++)
        y[i] = (x[i] - mean) * factor * n->scale[i];
    for (int64_t i = 0; n->bias && i < end; i++)
        y[i] += n->bias[i];
}

static int32_t run(void *kernel, const void *const *inputs, void *const *outputs, const char **message)
{
    const struct normalization *n = kernel;
    const float *x = inputs[0];
    float *y = outputs[0];

    (void)message;
    if (!y)
        return 0;
    memset(y, 0, (size_t)(n->rows * n->width) * sizeof(*y));
    for (int64_t row = 0; row < n->rows; row++)
        normalize_row(n, x + row * n->width, y + row * n->width);
    return 0;
}

static const struct polygraphy_plugin plugin = {
    .struct_size = sizeof(plugin),
    .version = POLYGRAPHY_PLUGIN_VERSION,
    .name = "vector_norm",
    .plugin_version = "1.0",
    .tactic_name = tactic_name,
    .create = create,
    .run = run,
    .free_kernel = free,
};

const struct polygraphy_plugin *polygraphy_tactic_plugin(uint32_t host_version)
{
    return host_version >= POLYGRAPHY_PLUGIN_VERSION ? &plugin : NULL;
}
