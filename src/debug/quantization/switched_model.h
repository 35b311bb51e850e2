/* debug/quantization/switched_model.h: a model in which each quantizer can be switched on and off from run to run.
 *
 * For what is computed, a node is put behind each DequantizeLinear that takes either its output or the float tensor, as
 * an input says. Constants are inputs of their own: they are fed as floats, or as what was rounded. So one session does
 * for any set of quantizers. Between them it computes in float: this is what quantization does to values, not what
 * integer kernels of a runtime make of it.
 */
#ifndef DEBUG_QUANTIZATION_SWITCHED_MODEL_H
#define DEBUG_QUANTIZATION_SWITCHED_MODEL_H

#include "backend/backend.h"
#include "base/container/bitset.h"
#include "debug/quantization/subject.h"
#include "onnx/external/data.h"

struct switched_model;

/* Makes it. What `subject` has is to outlive it. */
int switched_model_new(const struct quantization_subject *subject, struct switched_model **ret, struct error *err);

/* Loads it, in place of a session that it had, by a request whose model is not used. Comes before it is run. Errors are
 * those of subgraph_session_open(). */
int switched_model_open(struct switched_model *switched, const struct backend *backend,
                        const struct backend_request *request, struct error *err);

/* Adds the constants that it is fed, in both forms: they stay where they are. */
void switched_model_add_values(const struct switched_model *switched, struct text_list *ret);
void switched_model_free(struct switched_model *switched); /* NULL is fine */

/* Why a quantizer has no switch, and stays on; NULL when it has one. */
const char *switched_model_why_not(const struct switched_model *switched, size_t quantizer);

/* The float values of a quantizer with a switch, where these are a constant; else NULL: they are the output of a run
 * that is called after the tensor, or an input. */
const struct tensor *switched_model_constant(const struct switched_model *switched, size_t quantizer);

/* Runs with these quantizers on (those without a switch whatever it says). `inputs` are the model's; `wanted` names
 * tensors among its outputs and among those that are quantized, NULL: its outputs. */
int switched_model_run(struct switched_model *switched, const struct tensor_list *inputs, const struct bitset *on,
                       const struct words *wanted, struct tensor_list *ret, struct error *err);

#endif
