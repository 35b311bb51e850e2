/* engine/plan/engine.h: an engine: a network with a tactic and a precision for each layer.
 *
 * The module engine/plan/ contains engines as data: in memory, in plan files (plan.h), and their tactics as a tactic
 * replay (replay.h). It depends on engine/network/, engine/tactic/ and engine/precision/.
 */
#ifndef ENGINE_PLAN_ENGINE_H
#define ENGINE_PLAN_ENGINE_H

#include "engine/precision/precision.h"
#include "engine/tactic/tactic.h"
#include "format/polygraphy/tactic_replay.h"

struct engine_layer {
    struct tactic tactic;
    struct layer_precision precision;
    double seconds;          /* measured, including reorders of inputs; 0: not timed */
    double share_of_fastest; /* seconds divided by those of the fastest tactic; 0: not timed */
    size_t tactic_count;     /* number of candidates */
    float *input_scales;     /* int8: layer->inputs.count; 0 for inputs that are not quantized; else NULL */
    /* Shapes at build time, layer->inputs.count and layer->outputs.count, for replays. NULL if unknown. */
    struct shape *input_shapes, *output_shapes;
};

/* The shapes allowed for inputs. An unrestricted dimension is from 0 to INT64_MAX. */
struct engine_profile {
    struct shape *minimum, *optimum, *maximum; /* network->inputs.count each */
};

struct engine {
    const struct network *network;
    struct network *owned_network;          /* loaded from a plan file, or moved to the engine; may be NULL */
    struct engine_layer *layers;            /* network->layers.count */
    VECTOR(struct engine_profile) profiles; /* at least one */
    struct provider_list providers;         /* owned if loaded from a plan file */
    bool owns_providers;
    int threads;
    struct tactic_options precision; /* precision options; unknown for an engine from a plan file */
};

void engine_free(struct engine *engine); /* NULL is fine */

/* Descriptions of its inputs and outputs as a backend provides them, in the network's order; release with
 * model_io_free(). A dimension with one size in all profiles is static, even if dynamic in the model. */
struct backend_io *engine_inputs_new(const struct engine *engine);
struct backend_io *engine_outputs_new(const struct engine *engine);

#endif
