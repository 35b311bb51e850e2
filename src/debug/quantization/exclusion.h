/* debug/quantization/exclusion.h: quantizers as lists of nodes to exclude, for programs that quantize models.
 *
 * These programs accept names of nodes that are not to be quantized. A quantizer is omitted if all nodes that require
 * it are excluded; excluding a node omits all quantizers that only this node requires, often more than intended.
 */
#ifndef DEBUG_QUANTIZATION_EXCLUSION_H
#define DEBUG_QUANTIZATION_EXCLUSION_H

#include "base/container/bitset.h"
#include "debug/quantization/subject.h"

/* Nodes that require a quantizer. */
enum exclusion_style {
    EXCLUSION_BOTH_SIDES, /* consumers and producer of the tensor: ONNX Runtime's quantizer */
    EXCLUSION_READERS,    /* consumers: NVIDIA Model Optimizer, nncf */
    EXCLUSION_STYLES,     /* their number */
};

/* Verdict on the model without the omitted quantizers. */
enum exclusion_proof {
    EXCLUSION_EXACT,  /* exactly the requested quantizers, which was checked */
    EXCLUSION_PASSES, /* the check passes */
    EXCLUSION_FAILS,  /* the check fails */
    EXCLUSION_UNSEEN, /* not checked, or inconclusive: some of them cannot be disabled */
};

struct quantizer_exclusion {
    struct {
        struct text *items; /* names of nodes, without duplicates; borrowed from the models */
        size_t count, capacity;
    } names;
    size_t unnamed;         /* nodes without a name, which cannot be listed */
    size_t unknown;         /* names that are not in the float model, if there is one */
    struct bitset left_out; /* quantizers omitted with these nodes */
    bool leaves_out_enough; /* they include all requested quantizers */
    enum exclusion_proof proof;
};

/* Finds the nodes to exclude for `off`. Release `ret`. */
void quantizer_exclusion_find(const struct quantization_subject *subject, const struct bitset *off,
                              enum exclusion_style style, struct quantizer_exclusion *ret);
void quantizer_exclusion_release(struct quantizer_exclusion *exclusion);

#endif
