/* debug/quantization/traps.h: what is known to go wrong with quantized models, found where it is, without running them:
 * in the model, and in what the runtime has made of it.
 *
 * A trap is a reason to look, no proof: the table and the search say what it costs.
 */
#ifndef DEBUG_QUANTIZATION_TRAPS_H
#define DEBUG_QUANTIZATION_TRAPS_H

#include "debug/quantization/rewriting.h"

struct quantization_trap {
    const char *key; /* for programs: "bad-scale", "zero-point-out-of-range", "bias-scale", "saturation",
                      * "asymmetric-weight", "asymmetric-activation", "prevents-fusion", "kept-in-float",
                      * "removed-by-runtime" */
    const char *what, *why, *remedy;
    struct {
        size_t *items; /* quantizers */
        size_t count, capacity;
    } quantizers; /* at least one */
};

struct quantization_traps {
    struct {
        struct quantization_trap *items;
        size_t count, capacity;
    } list; /* the worst first */
};

/* `saturates`: products of 8-bit numbers saturate where the model runs (system_saturates_products()). `rewriting`: what
 * the runtime made of the model. */
void quantization_traps_find(const struct quantization_subject *subject, bool saturates,
                             const struct quantization_rewriting *rewriting, struct quantization_traps *ret);
void quantization_traps_release(struct quantization_traps *traps);

#endif
