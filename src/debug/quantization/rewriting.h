/* debug/quantization/rewriting.h: effect of ONNX Runtime's optimizers on the quantizers of a model.
 *
 * The runtime saves the rewritten model, in which quantizers are searched, too. They are matched by the names of their
 * integers, else by the values of their scales: names of scales do not help, because the runtime shares equal
 * constants, and types and zero points change when int8 becomes uint8.
 */
#ifndef DEBUG_QUANTIZATION_REWRITING_H
#define DEBUG_QUANTIZATION_REWRITING_H

#include "base/container/bitset.h"
#include "base/container/arena.h"
#include "debug/quantization/runs.h"

struct quantization_rewriting {
    bool known;                /* if false, the rest is empty */
    size_t integer_kernels;    /* number of integer nodes */
    struct word_list in_float; /* layers that compute in float on dequantized inputs */
    struct bitset dequantized; /* quantizers of these inputs */
    struct bitset gone;        /* quantizers that were removed or merged with another one */
    struct arena arena;
};

/* Compares two open models. Release `ret`. */
void quantization_rewriting_find(const struct quantization_subject *subject, struct model *rewritten,
                                 struct quantization_rewriting *ret);

/* Lets the runtime rewrite the model. If it cannot be rewritten or saved, the result is unknown, which is not an error.
 * Release `ret` in any case. */
void quantization_rewriting_read(const struct quantization_study *study, struct quantization_rewriting *ret);
void quantization_rewriting_release(struct quantization_rewriting *rewriting);

#endif
