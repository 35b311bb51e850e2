/* engine/tactic/plugin.h: what it takes to let a shared library that somebody else has written compute a layer: whether
 * the file can be loaded at all, and the layer as the interface describes it (polygraphy/tactic_plugin.h). */
#ifndef ENGINE_TACTIC_PLUGIN_H
#define ENGINE_TACTIC_PLUGIN_H

#include "base/container/arena.h"
#include "engine/tactic/tactic.h"
#include "polygraphy/tactic_plugin.h"

/* The loader maps what a library's headers promise, and the process dies when a truncated file does not have it. So
 * that is looked at before. Files of other formats than ELF pass: loaders there are of another kind. ERR_CORRUPT. */
int plugin_file_check(const char *path, struct error *err);

struct plugin_layer {
    struct polygraphy_layer layer;
    struct arena arena; /* everything that it points to, but for constants of the request */
    struct {
        struct tensor *items;
        size_t count, capacity;
    } tensors; /* decoded from attributes */
};

/* Why plug-ins do not get to see such a layer at all, in words that follow its name; NULL when they do. */
const char *plugin_layer_obstacle(const struct kernel_request *request);

/* The layer with what is fused, or its first node alone. Refers to `request`, which has to outlive it. ERR_UNSUPPORTED
 * for an attribute that has no place in the interface. */
int plugin_layer_init(struct plugin_layer *layer, const struct kernel_request *request, bool with_fused,
                      struct error *err);
void plugin_layer_release(struct plugin_layer *layer);

#endif
