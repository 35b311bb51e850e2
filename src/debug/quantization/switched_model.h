/* debug/quantization/switched_model.h: a model in which each quantizer can be enabled and disabled for each run.
 *
 * For computed tensors, a node after each DequantizeLinear selects its output or the float tensor by an input.
 * Constants are inputs: fed as floats, or rounded. So one session serves any set of quantizers. Other nodes compute in
 * float: this measures quantization itself, not a runtime's integer kernels.
 */
#ifndef DEBUG_QUANTIZATION_SWITCHED_MODEL_H
#define DEBUG_QUANTIZATION_SWITCHED_MODEL_H

#include "backend/backend.h"
#include "base/container/bitset.h"
#include "debug/quantization/subject.h"
#include "onnx/external/data.h"

struct switched_model;

/* Creates the model. The contents of `subject` must outlive it. */
int switched_model_new(const struct quantization_subject *subject, struct switched_model **ret, struct error *err);

/* Loads it, replacing its session, if any, with a request whose model is ignored. Call it before running. Errors are
 * those of subgraph_session_open(). */
int switched_model_open(struct switched_model *switched, const struct backend *backend,
                        const struct backend_request *request, struct error *err);

/* Adds the fed constants in both forms; borrowed. */
void switched_model_add_values(const struct switched_model *switched, struct text_list *ret);
void switched_model_free(struct switched_model *switched); /* NULL is fine */

/* Reason why a quantizer has no switch and stays enabled; NULL if it has one. */
const char *switched_model_why_not(const struct switched_model *switched, size_t quantizer);

/* Float values of a quantizer with a switch if they are constant; else NULL: they are an output with the tensor's name,
 * or an input. */
const struct tensor *switched_model_constant(const struct switched_model *switched, size_t quantizer);

/* Runs with these quantizers enabled (and those without a switch). `inputs` are the model's; `wanted` names tensors
 * among its outputs and among the quantized ones; NULL: its outputs. */
int switched_model_run(struct switched_model *switched, const struct tensor_list *inputs, const struct bitset *on,
                       const struct words *wanted, struct tensor_list *ret, struct error *err);

#endif
