/* debug/quantization/traps.h: finds known problems of quantized models without running them: in the model, and in the
 * model as the runtime rewrites it.
 *
 * A trap is a hint, not a proof: the table and the search measure its cost.
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
    VECTOR(struct quantization_trap) list; /* the worst first */
};

/* `saturates`: 8-bit products saturate on the processor that runs the model (system_saturates_products()). `rewriting`:
 * the model as rewritten by the runtime. */
void quantization_traps_find(const struct quantization_subject *subject, bool saturates,
                             const struct quantization_rewriting *rewriting, struct quantization_traps *ret);
void quantization_traps_release(struct quantization_traps *traps);

#endif
