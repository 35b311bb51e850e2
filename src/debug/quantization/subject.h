/* debug/quantization/subject.h: a quantized model, its quantizers, and the original float model.
 *
 * The module debug/quantization/ measures the cost of each quantizer of a model (table.h) and finds the smallest set of
 * them to disable. Inputs: models with their quantizers (onnx/quantizer/), data and a backend. Outputs: a table, known
 * traps and repaired models. It may use comparator/, debug/session/, debug/precision/, and what these may use.
 */
#ifndef DEBUG_QUANTIZATION_SUBJECT_H
#define DEBUG_QUANTIZATION_SUBJECT_H

#include "onnx/quantizer/expansion.h"
#include "onnx/quantizer/twins.h"

struct quantization_subject {
    struct model *model;        /* its constants are lowered, and operators with packed weights are expanded */
    struct model *float_model;  /* likewise; NULL: none */
    struct expansion expansion; /* to restore these operators in copies of the model */
    struct quantizers quantizers;
    struct quantizer_twins twins; /* one for each quantizer if there is a float model; else none */
};

/* Opens the models (`float_path` may be NULL). ERR_INVALID if the first has no quantizers; errors of model_open(). */
int quantization_subject_open(const char *path, const char *float_path, struct quantization_subject *ret,
                              struct error *err);
void quantization_subject_release(struct quantization_subject *subject); /* accepts a zeroed struct */

/* The tensor of the float model that corresponds to the quantizer's; NULL without a float model. */
const struct quantizer_twin *quantization_twin(const struct quantization_subject *subject, size_t quantizer);

#endif
