/* engine/tactic/plugin.h: support for plug-ins: checks the file of a shared library, and converts a layer to the
 * plug-in interface (polygraphy/tactic_plugin.h). */
#ifndef ENGINE_TACTIC_PLUGIN_H
#define ENGINE_TACTIC_PLUGIN_H

#include "base/container/arena.h"
#include "engine/tactic/tactic.h"
#include "polygraphy/tactic_plugin.h"

/* Checks that an ELF file is not truncated: the dynamic loader maps segments by its headers, and the process would die
 * if they are missing. Other formats are not checked. ERR_CORRUPT. */
int plugin_file_check(const char *path, struct error *err);

struct plugin_layer {
    struct polygraphy_layer layer;
    struct arena arena;            /* of all data that it points to, except constants of the request */
    VECTOR(struct tensor) tensors; /* decoded from attributes */
};

/* Why such a layer is not passed to plug-ins, in words that follow its name; NULL if it is. */
const char *plugin_layer_obstacle(const struct kernel_request *request);

/* Converts the layer with its fused operations, or its first node alone. Refers to `request`, which must outlive it.
 * ERR_UNSUPPORTED for an attribute that the interface cannot represent. */
int plugin_layer_init(struct plugin_layer *layer, const struct kernel_request *request, bool with_fused,
                      struct error *err);
void plugin_layer_release(struct plugin_layer *layer);

#endif
