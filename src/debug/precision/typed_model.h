/* debug/precision/typed_model.h: ONNX models of a network with some layers in float16 or bfloat16, and Casts in
 * between.
 *
 * A choice is a set of layers. All lowered layers but the chosen ones compute in the lower precision, and so do nodes
 * that only move their data.
 */
#ifndef DEBUG_PRECISION_TYPED_MODEL_H
#define DEBUG_PRECISION_TYPED_MODEL_H

#include "engine/network/network.h"
#include "engine/precision/precision.h"
#include "onnx/half/mixed_precision.h"

struct typed_models {
    const struct network *network;
    enum data_type half;                /* FLOAT16, or BFLOAT16 */
    struct layer_precision *low, *high; /* of each layer, with none and with all chosen */
    uint64_t *elements;                 /* of each value, if known from a run; 0: unknown */
};

/* Whether the layer runs in lower precision unless chosen. */
static inline bool typed_model_lowers(const struct typed_models *models, size_t layer)
{
    return models->low[layer].precision > models->high[layer].precision;
}

bool typed_model_takes_half(const struct typed_models *models,
                            const struct layer *layer); /* all its nodes support it */

/* Initializes `nodes`: those in lower precision. `rounds`: without nodes that only move data. */
void typed_model_find_low(const struct typed_models *models, const struct bitset *chosen, bool rounds,
                          struct bitset *nodes);

/* Creates the model. `rounds`: nodes in lower precision compute in float32 on rounded values
 * (onnx/half/rounded_nodes.h). `log` (may be NULL) gets changes of weights. */
int typed_model_make(const struct typed_models *models, const struct bitset *chosen, bool rounds, struct log *log,
                     struct model **ret, struct error *err);

/* Costs of the model, and for comparison those in float32. Sizes that are unknown from a run are the model's. */
struct precision_costs {
    size_t float32_nodes, low_nodes; /* among nodes with float32 tensors: node_has_float32() */
    size_t float32_moving;           /* float32 nodes that only move data */
    struct mixed_precision_costs mixed, float32;
};

void typed_model_costs(const struct typed_models *models, const struct bitset *chosen, struct precision_costs *ret);

/* Finds lowered layers that are not worth their Casts (debug/precision/casts.h), in pieces without common tensors;
 * choosing a piece saves Casts, or bytes with the same number of Casts. `ret`, zeroed, gets the number of the piece of
 * each layer, from 1; 0: none. Returns the number of pieces. */
uint32_t typed_model_savings(const struct typed_models *models, const struct bitset *chosen, uint32_t *ret);

#endif
