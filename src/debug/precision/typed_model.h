/* debug/precision/typed_model.h: the ONNX models of a network some of whose layers compute in float16 or bfloat16, with
 * Casts in between.
 *
 * A choice is a set of layers. All lowered layers but the chosen ones compute in the lower precision, and so does what
 * only moves their data.
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
    uint64_t *elements;                 /* of each value, as far as a run has told; 0: it has not */
};

/* The layer runs in lower precision unless it is chosen. */
static inline bool typed_model_lowers(const struct typed_models *models, size_t layer)
{
    return models->low[layer].precision > models->high[layer].precision;
}

bool typed_model_takes_half(const struct typed_models *models, const struct layer *layer); /* each of its nodes */

/* Initialises `nodes`: those that compute in lower precision. `rounds`: without what only moves data. */
void typed_model_find_low(const struct typed_models *models, const struct bitset *chosen, bool rounds,
                          struct bitset *nodes);

/* Makes the model. `rounds`: these nodes compute in float32, on what the lower precision can hold
 * (onnx/half/rounded_nodes.h). `log` (may be NULL) gets what becomes of weights. */
int typed_model_make(const struct typed_models *models, const struct bitset *chosen, bool rounds, struct log *log,
                     struct model **ret, struct error *err);

/* What it costs, and, to compare, what all of it costs in float32. Sizes that no run has told are as the model says. */
struct precision_costs {
    size_t float32_nodes, low_nodes; /* of those with float32 tensors, before: node_has_float32() */
    size_t float32_moving;           /* of the former, those that only move data */
    struct mixed_precision_costs mixed, float32;
};

void typed_model_costs(const struct typed_models *models, const struct bitset *chosen, struct precision_costs *ret);

/* Which lowered layers are not worth their Casts (debug/precision/casts.h), in pieces with no tensor in common, each of
 * which has fewer Casts if it is chosen, too, or as many and fewer bytes. `ret`, zeroed, gets the number of the piece
 * of each layer, from 1 on; 0: it is in none. Returns how many there are. */
uint32_t typed_model_savings(const struct typed_models *models, const struct bitset *chosen, uint32_t *ret);

#endif
