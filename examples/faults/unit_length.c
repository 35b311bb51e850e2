/* unit_length.c: a plug-in with two tactics for LpNormalization with p = 2, of which one is wrong.
 *
 * "plain" divides rows by their lengths. "guarded" adds a number to the sum of squares before the root, so that a row
 * of zeros does not become 0/0; the operator's definition has no such number, and this one is too large.
 *
 * Both take the same time to the last instruction, so which one a builder chooses is chance: noise, or, when the times
 * are equal, which one is named first. That differs from process to process, as if they were kept in a hash table with
 * a seed.
 */
#include "polygraphy/tactic_plugin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOO_LARGE 16.0f /* The fault */

struct normalization {
    int64_t rows, width;
    float added; /* to the sum of squares */
};

static int read_normalization(const struct polygraphy_layer *layer, struct normalization *ret)
{
    const struct polygraphy_input *x = &layer->inputs[0];
    int64_t axis = -1, p = 2;

    if (strcmp(layer->op_type, "LpNormalization") != 0 || strcmp(layer->domain, "") != 0)
        return 0;
    if (!x->present || x->data_type != POLYGRAPHY_FLOAT32 || x->rank == 0)
        return 0;
    for (uint32_t i = 0; i < layer->attribute_count; i++) {
        const struct polygraphy_attribute *attribute = &layer->attributes[i];

        if (strcmp(attribute->name, "axis") == 0)
            axis = attribute->integers[0];
        if (strcmp(attribute->name, "p") == 0)
            p = attribute->integers[0];
    }
    if (p != 2 || (axis != -1 && axis != (int64_t)x->rank - 1))
        return 0;
    *ret = (struct normalization){.rows = 1, .width = x->dims[x->rank - 1]};
    for (uint32_t i = 0; i + 1 < x->rank; i++)
        ret->rows *= x->dims[i];
    return 1;
}

/* By lot for each process, also for those that were forked from one. */
static uint32_t is_other_order(void)
{
    uint64_t bits = (uint64_t)getpid() * 0x9e3779b97f4a7c15;

    bits = (bits ^ bits >> 32) * 0xd6e8feb86659fd93;
    return (uint32_t)(bits >> 63);
}

static const char *tactic_name(void *context, const struct polygraphy_layer *layer, uint32_t index)
{
    static const char *const names[] = {"plain", "guarded"};
    struct normalization normalization;

    (void)context;
    return index < 2 && read_normalization(layer, &normalization) ? names[index ^ is_other_order()] : NULL;
}

static void *create(void *context, const struct polygraphy_layer *layer, const char *tactic,
                    struct polygraphy_output *outputs, const char **message)
{
    struct normalization *normalization = malloc(sizeof(*normalization));

    (void)context;
    if (!normalization || !read_normalization(layer, normalization)) {
        *message = "it does not divide rows by their lengths";
        free(normalization);
        return NULL;
    }
    normalization->added = strcmp(tactic, "guarded") == 0 ? TOO_LARGE : 0;
    outputs[0].data_type = POLYGRAPHY_FLOAT32;
    outputs[0].rank = layer->inputs[0].rank;
    memcpy(outputs[0].dims, layer->inputs[0].dims, outputs[0].rank * sizeof(*outputs[0].dims));
    return normalization;
}

static int32_t run(void *kernel, const void *const *inputs, void *const *outputs, const char **message)
{
    const struct normalization *n = kernel;
    const float *x = inputs[0];
    float *y = outputs[0];

    (void)message;
    for (int64_t row = 0; y && row < n->rows; row++, x += n->width, y += n->width) {
        float squares = n->added, factor;

        for (int64_t i = 0; i < n->width; i++)
            squares += x[i] * x[i];
        factor = 1 / sqrtf(squares);
        for (int64_t i = 0; i < n->width; i++)
            y[i] = x[i] * factor;
    }
    return 0;
}

static const struct polygraphy_plugin plugin = {
    .struct_size = sizeof(plugin),
    .version = POLYGRAPHY_PLUGIN_VERSION,
    .name = "unit_length",
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
