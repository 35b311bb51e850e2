/* A plug-in that does one thing wrong, which POLYGRAPHY_TEST_PLUGIN names when it is loaded. Otherwise it computes
 * Relu. */
#include "polygraphy/tactic_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int does(const char *what)
{
    const char *wanted = getenv("POLYGRAPHY_TEST_PLUGIN");

    return wanted && strcmp(wanted, what) == 0;
}

static const char *tactic_name(void *context, const struct polygraphy_layer *layer, uint32_t index)
{
    static char name[200];

    (void)context;
    if (strcmp(layer->op_type, "Relu") != 0)
        return NULL;
    if (does("endless tactics")) {
        snprintf(name, sizeof(name), "tactic%u", index);
        return name;
    }
    if (does("long name")) {
        memset(name, 'x', sizeof(name) - 1);
        return index == 0 ? name : NULL;
    }
    if (does("empty name"))
        return index == 0 ? "" : NULL;
    if (does("same name twice"))
        return index < 2 ? "relu" : NULL;
    return index == 0 ? "relu" : NULL;
}

static void *create(void *context, const struct polygraphy_layer *layer, const char *tactic,
                    struct polygraphy_output *outputs, const char **message)
{
    int64_t *size;

    (void)context;
    (void)tactic;
    if (does("no kernel"))
        return NULL;
    if (does("no kernel with reason")) {
        *message = "today is not a good day";
        return NULL;
    }
    size = malloc(sizeof(*size));
    if (!size)
        return NULL;
    *size = 1;
    outputs[0].data_type = does("wrong type") ? POLYGRAPHY_INT64 : does("no type") ? 99 : POLYGRAPHY_FLOAT32;
    outputs[0].rank = does("too many dimensions") ? 1000 : layer->inputs[0].rank;
    for (uint32_t i = 0; i < layer->inputs[0].rank; i++) {
        outputs[0].dims[i] = does("negative dimension") ? -1
                             : does("too large")        ? INT64_MAX / 2
                                                        : layer->inputs[0].dims[i];
        *size *= layer->inputs[0].dims[i];
    }
    return size;
}

static int32_t run(void *kernel, const void *const *inputs, void *const *outputs, const char **message)
{
    const float *x = inputs[0];
    float *y = outputs[0];

    if (does("failing run")) {
        *message = "it was too hot";
        return 1;
    }
    for (int64_t i = 0; i < *(int64_t *)kernel; i++)
        y[i] = x[i] > 0 ? x[i] : 0;
    return 0;
}

const struct polygraphy_plugin *polygraphy_tactic_plugin(uint32_t host_version)
{
    static struct polygraphy_plugin plugin;

    (void)host_version;
    plugin = (struct polygraphy_plugin){
        .struct_size = does("small table") ? 24 : sizeof(plugin),
        .version = does("future version") ? 99
                   : does("no version")   ? 0
                                          : POLYGRAPHY_PLUGIN_VERSION,
        .name = does("no name")      ? NULL
                : does("bad name")   ? "../Evil"
                : does("taken name") ? "onnxrt"
                                     : "misbehaving",
        .plugin_version = NULL,
        .tactic_name = does("no tactic_name") ? NULL : tactic_name,
        .create = does("no create") ? NULL : create,
        .run = does("no run") ? NULL : run,
        .free_kernel = does("no free_kernel") ? NULL : free,
    };
    return does("no table") ? NULL : &plugin;
}
