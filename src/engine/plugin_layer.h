/* engine/plugin_layer.h: one layer as the interface for plug-ins describes it (polygraphy/tactic_plugin.h). */
#ifndef ENGINE_PLUGIN_LAYER_H
#define ENGINE_PLUGIN_LAYER_H

#include "base/arena.h"
#include "engine/tactic.h"
#include "polygraphy/tactic_plugin.h"

struct plugin_layer {
    struct polygraphy_layer layer;
    struct arena arena; /* everything that it points to, but for constants of the request */
    struct {
        struct tensor *items;
        size_t count, capacity;
    } tensors; /* decoded from attributes */
};

/* Whether plug-ins get to see such a layer at all: one node, without bodies, without strings. */
bool plugin_layer_is_offered(const struct kernel_request *request);

/* Refers to `request`, which has to outlive it. ERR_UNSUPPORTED for an attribute that has no place in the interface. */
int plugin_layer_init(struct plugin_layer *layer, const struct kernel_request *request, struct error *err);
void plugin_layer_release(struct plugin_layer *layer);

#endif
