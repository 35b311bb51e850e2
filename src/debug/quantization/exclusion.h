/* debug/quantization/exclusion.h: quantizers as those who quantize a model name them: by the nodes around them.
 *
 * Programs that quantize a model take names of nodes that are to stay as they are. A quantizer goes away when no node
 * that asks for it is left, and with a node go all quantizers that only this node has asked for: often more than were
 * meant.
 */
#ifndef DEBUG_QUANTIZATION_EXCLUSION_H
#define DEBUG_QUANTIZATION_EXCLUSION_H

#include "base/container/bitset.h"
#include "debug/quantization/subject.h"

/* Which nodes ask for a quantizer. */
enum exclusion_style {
    EXCLUSION_BOTH_SIDES, /* who reads the tensor, and who makes it: ONNX Runtime's quantizer */
    EXCLUSION_READERS,    /* who reads it: NVIDIA Model Optimizer, nncf */
    EXCLUSION_STYLES,     /* how many there are */
};

/* What is known of the model without all that the nodes take away. */
enum exclusion_proof {
    EXCLUSION_EXACT,  /* it is what was asked for, and that was checked */
    EXCLUSION_PASSES, /* the check was seen to pass */
    EXCLUSION_FAILS,  /* the check was seen to fail */
    EXCLUSION_UNSEEN, /* it was not checked, or the check said nothing: some of it cannot be left out */
};

struct quantizer_exclusion {
    struct {
        struct text *items; /* names of nodes, each once; they live as long as the models */
        size_t count, capacity;
    } names;
    size_t unnamed;         /* nodes without a name, which no list can have */
    size_t unknown;         /* names that the float model has not, if there is one */
    struct bitset left_out; /* quantizers that go with these nodes */
    bool leaves_out_enough; /* all that were asked for are among them */
    enum exclusion_proof proof;
};

/* The nodes around `off`. To be released. */
void quantizer_exclusion_find(const struct quantization_subject *subject, const struct bitset *off,
                              enum exclusion_style style, struct quantizer_exclusion *ret);
void quantizer_exclusion_release(struct quantizer_exclusion *exclusion);

#endif
