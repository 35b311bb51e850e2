/* debug/quantization/rewriting.h: what ONNX Runtime's optimizers have made of the quantizers of a model.
 *
 * The runtime saves the model as it has rewritten it, and quantizers are looked for in there, too. They are the same
 * where their integers have the same name, else where their scales have the same values: names of scales are of no
 * use, as the runtime has equal constants share one, and types and zero points change where it makes int8 uint8.
 */
#ifndef DEBUG_QUANTIZATION_REWRITING_H
#define DEBUG_QUANTIZATION_REWRITING_H

#include "base/container/bitset.h"
#include "base/container/arena.h"
#include "debug/quantization/runs.h"

struct quantization_rewriting {
    bool known;                /* else all of this is empty */
    size_t integer_kernels;    /* nodes that work on integers */
    struct word_list in_float; /* layers that compute in float with what was dequantized for them */
    struct bitset dequantized; /* quantizers that these layers read */
    struct bitset gone;        /* quantizers that were removed, or merged with another one */
    struct arena arena;
};

/* Of models that were opened. `ret` is to be released. */
void quantization_rewriting_find(const struct quantization_subject *subject, struct model *rewritten,
                                 struct quantization_rewriting *ret);

/* Has the runtime rewrite the model. What cannot be rewritten, or not be saved, is not known, which is no error; `ret`
 * is to be released in any case. */
void quantization_rewriting_read(const struct quantization_study *study, struct quantization_rewriting *ret);
void quantization_rewriting_release(struct quantization_rewriting *rewriting);

#endif
