/* running_sum.c: a plug-in for CumSum with a race.
 *
 * A parallel running sum adds up blocks of rows side by side, and then adds to each block what those before it have
 * made. Here the last row is a block of its own, and whether it is waited for depends on the moment: in 35 of 100 runs
 * it goes without what lies before it. Which ones the clock decides, as in a race; threads that really race would do so
 * at another rate on every machine.
 */
#include "polygraphy/tactic_plugin.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PERCENT_TOO_LATE 35

struct running_sum {
    int64_t outer, rows, inner; /* sums run along the one in the middle */
};

static int read_running_sum(const struct polygraphy_layer *layer, struct running_sum *ret)
{
    const struct polygraphy_input *x = &layer->inputs[0];
    int64_t axis;

    if (strcmp(layer->op_type, "CumSum") != 0 || strcmp(layer->domain, "") != 0 || layer->attribute_count > 0)
        return 0;
    if (!x->present || x->data_type != POLYGRAPHY_FLOAT32 || layer->input_count < 2)
        return 0;
    if (!layer->inputs[1].constant || layer->inputs[1].data_type != POLYGRAPHY_INT64)
        return 0;
    axis = *(const int64_t *)layer->inputs[1].constant;
    axis += axis < 0 ? (int64_t)x->rank : 0;
    if (axis < 0 || axis >= (int64_t)x->rank)
        return 0;
    *ret = (struct running_sum){1, x->dims[axis], 1};
    for (int64_t i = 0; i < axis; i++)
        ret->outer *= x->dims[i];
    for (int64_t i = axis + 1; i < (int64_t)x->rank; i++)
        ret->inner *= x->dims[i];
    return 1;
}

static const char *tactic_name(void *context, const struct polygraphy_layer *layer, uint32_t index)
{
    struct running_sum sum;

    (void)context;
    return index == 0 && read_running_sum(layer, &sum) ? "parallel" : NULL;
}

static void *create(void *context, const struct polygraphy_layer *layer, const char *tactic,
                    struct polygraphy_output *outputs, const char **message)
{
    struct running_sum *sum = malloc(sizeof(*sum));

    (void)context, (void)tactic;
    if (!sum || !read_running_sum(layer, sum)) {
        *message = "it is no running sum along a constant axis";
        free(sum);
        return NULL;
    }
    outputs[0].data_type = POLYGRAPHY_FLOAT32;
    outputs[0].rank = layer->inputs[0].rank;
    memcpy(outputs[0].dims, layer->inputs[0].dims, outputs[0].rank * sizeof(*outputs[0].dims));
    return sum;
}

/* The lowest digits of a clock that counts nanoseconds, mixed: as good as a die here. */
static int is_too_late(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15 / 0x100000000 % 100 < PERCENT_TOO_LATE;
}

static int32_t run(void *kernel, const void *const *inputs, void *const *outputs, const char **message)
{
    const struct running_sum *s = kernel;
    const float *x = inputs[0];
    float *y = outputs[0];
    int64_t waited_for = is_too_late() ? s->rows - 1 : s->rows;

    (void)message;
    if (!y)
        return 0;
    for (int64_t o = 0; o < s->outer; o++)
        for (int64_t row = 0; row < s->rows; row++, x += s->inner, y += s->inner)
            for (int64_t i = 0; i < s->inner; i++)
                y[i] = x[i] + (row > 0 && row < waited_for ? y[i - s->inner] : 0);
    return 0;
}

static const struct polygraphy_plugin plugin = {
    .struct_size = sizeof(plugin),
    .version = POLYGRAPHY_PLUGIN_VERSION,
    .name = "running_sum",
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
