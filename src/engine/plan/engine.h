/* engine/plan/engine.h: a network for which everything has been decided: the tactic and the precision of each layer.
 *
 * The module engine/plan/ has engines as data: in memory, in a plan file (plan.h), and their choices as a tactic replay
 * (replay.h). What is built comes in, what can be run, saved or looked at goes out. It uses engine/network/,
 * engine/tactic/ and engine/precision/.
 */
#ifndef ENGINE_PLAN_ENGINE_H
#define ENGINE_PLAN_ENGINE_H

#include "engine/precision/precision.h"
#include "engine/tactic/tactic.h"
#include "format/polygraphy/tactic_replay.h"

struct engine_layer {
    struct tactic tactic;
    struct layer_precision precision;
    double seconds;          /* as timed, reorders of its inputs included; 0: not timed */
    double share_of_fastest; /* seconds / those of the fastest tactic; 0: not timed */
    size_t tactic_count;     /* among how many it was chosen */
    float *input_scales;     /* int8: layer->inputs.count; 0 for those that are not quantized; else NULL */
    /* As it was built: layer->inputs.count and layer->outputs.count shapes, for replays. NULL when that is not known
     * any more. */
    struct shape *input_shapes, *output_shapes;
};

/* Shapes that an input may have. A dimension that may be anything goes from 0 to INT64_MAX. */
struct engine_profile {
    struct shape *minimum, *optimum, *maximum; /* network->inputs.count each */
};

struct engine {
    const struct network *network;
    struct network *owned_network; /* what came out of a plan file, or was handed over; may be NULL */
    struct engine_layer *layers;   /* network->layers.count */
    struct {
        struct engine_profile *items;
        size_t count, capacity;
    } profiles;                     /* at least one */
    struct provider_list providers; /* `owned` when it came out of a plan file */
    bool owns_providers;
    int threads;
    struct tactic_options precision; /* what decided on precisions; not known of an engine out of a plan file */
};

void engine_free(struct engine *engine); /* NULL is fine */

/* Its inputs and outputs as every backend describes them, in the network's order, for model_io_free(). A dimension that
 * all profiles give the same single size is known, whatever the model says. */
struct backend_io *engine_inputs_new(const struct engine *engine);
struct backend_io *engine_outputs_new(const struct engine *engine);

#endif
