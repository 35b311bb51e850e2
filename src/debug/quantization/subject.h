/* debug/quantization/subject.h: a quantized model, its quantizers, and the float model that it was made of.
 *
 * The module debug/quantization/ measures what each quantizer of a model costs (table.h) and looks for the smallest set
 * of them to leave out. Models with their quantizers (onnx/quantizer/), data and a backend come in; a table, known
 * traps and repaired models go out. It may use comparator/, the modules session/ and precision/ beside it, and what
 * these may.
 */
#ifndef DEBUG_QUANTIZATION_SUBJECT_H
#define DEBUG_QUANTIZATION_SUBJECT_H

#include "onnx/quantizer/quantizers.h"
#include "onnx/quantizer/twins.h"

struct quantization_subject {
    struct model *model;       /* its constants are lowered */
    struct model *float_model; /* likewise; NULL: none was given */
    struct quantizers quantizers;
    struct quantizer_twins twins; /* one for each quantizer where there is a float model; else none */
};

/* Opens the models (`float_path` may be NULL). ERR_INVALID when the first has no quantizers; errors of model_open(). */
int quantization_subject_open(const char *path, const char *float_path, struct quantization_subject *ret,
                              struct error *err);
void quantization_subject_release(struct quantization_subject *subject); /* harmless on a zeroed struct */

/* What a quantizer's tensor is in the float model; NULL without one. */
const struct quantizer_twin *quantization_twin(const struct quantization_subject *subject, size_t quantizer);

#endif
