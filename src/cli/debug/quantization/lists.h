/* cli/debug/quantization/lists.h: the quantizers found, as lists for programs that quantize models: ONNX Runtime's
 * quantizer, NVIDIA Model Optimizer, nncf.
 *
 * All of them accept names of nodes; Model Optimizer treats each as a regular expression that matches the beginning of
 * a name (Python's re.match), so these are escaped and end with '$'. Only ONNX Runtime's quantizer has options for 16
 * bits and a scale for each channel, by tensor.
 */
#ifndef CLI_DEBUG_QUANTIZATION_LISTS_H
#define CLI_DEBUG_QUANTIZATION_LISTS_H

#include "base/container/arena.h"
#include "debug/quantization/search.h"

enum quantizer_program { QUANTIZER_ONNXRUNTIME, QUANTIZER_MODEL_OPTIMIZER, QUANTIZER_NNCF, QUANTIZER_PROGRAMS };

/* Texts to paste, in `arena`. */
struct quantizer_lists {
    struct {
        const char *name; /* "ONNX Runtime" */
        const char *key;  /* in JSON: "onnxruntime" */
        enum exclusion_style style;
        const char *names; /* a Python list of strings */
        const char *call;  /* a Python call with that list */
        const char *words; /* a command line, or NULL */
    } programs[QUANTIZER_PROGRAMS];
    const char *overrides; /* ONNX Runtime's extra_options, a Python dictionary, instead of exclusions; or NULL */
    struct arena arena;
};

/* Release `ret`. */
void quantizer_lists_make(const struct quantization_subject *subject, const struct quantization_answer *answer,
                          struct quantizer_lists *ret);
void quantizer_lists_release(struct quantizer_lists *lists);

/* Writes them as a Python file, atomically. `model`: the name of the model in its first line. */
int quantizer_lists_save(const struct quantizer_lists *lists, const char *model, const char *path, struct error *err);

#endif
