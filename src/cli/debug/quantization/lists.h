/* cli/debug/quantization/lists.h: quantizers to leave out, in the words of programs that quantize: ONNX Runtime's
 * quantizer, NVIDIA Model Optimizer, nncf.
 *
 * All of them take names of nodes; Model Optimizer takes each as a regular expression that a name has to begin with
 * (Python's re.match), so these are escaped, and end with '$'. 16 bits and a scale for each channel have words in ONNX
 * Runtime's quantizer only, by tensor.
 */
#ifndef CLI_DEBUG_QUANTIZATION_LISTS_H
#define CLI_DEBUG_QUANTIZATION_LISTS_H

#include "base/container/arena.h"
#include "debug/quantization/search.h"

enum quantizer_program { QUANTIZER_ONNXRUNTIME, QUANTIZER_MODEL_OPTIMIZER, QUANTIZER_NNCF, QUANTIZER_PROGRAMS };

/* What to paste. Texts are in `arena`. */
struct quantizer_lists {
    struct {
        const char *name; /* "ONNX Runtime" */
        const char *key;  /* in JSON: "onnxruntime" */
        enum exclusion_style style;
        const char *names; /* a Python list of strings */
        const char *call;  /* a Python call with that list in it */
        const char *words; /* a command line with it, or NULL */
    } programs[QUANTIZER_PROGRAMS];
    const char *overrides; /* ONNX Runtime's extra_options, a Python dictionary, in place of leaving out; or NULL */
    struct arena arena;
};

/* To be released. */
void quantizer_lists_make(const struct quantization_subject *subject, const struct quantization_answer *answer,
                          struct quantizer_lists *ret);
void quantizer_lists_release(struct quantizer_lists *lists);

/* The same as a file of Python, whole or not at all. `model` is what its first line calls the model. */
int quantizer_lists_save(const struct quantizer_lists *lists, const char *model, const char *path, struct error *err);

#endif
