/* onnx/model/mark_outputs.h: other outputs for a model than its own: --onnx-outputs and --onnx-exclude-outputs, and
 * outputs that keep a compiler from working across a tensor. All nodes stay, whether or not an output still depends on
 * them.
 */
#ifndef ONNX_MODEL_MARK_OUTPUTS_H
#define ONNX_MODEL_MARK_OUTPUTS_H

#include "base/text/names.h"
#include "onnx/model/subgraph.h"

struct output_names {
    bool mark_all;
    struct words names; /* empty when mark_all */
};

/* Makes every output of every node the outputs, in the order of nodes, each once. Left out are constants, omitted
 * optional outputs, and what the model says is no tensor; `ret_skipped` (may be NULL) gets the latter. Outputs that no
 * node makes, inputs and initializers, stay, behind the others. */
void outputs_mark_all(struct subgraph *subgraph, struct value_list *ret_skipped);

/* Makes the named tensors the outputs, in this order. ERR_INVALID lists the names that the model does not have. */
int outputs_mark_named(struct subgraph *subgraph, const char *const *names, size_t count, struct error *err);

/* What barriers are called where they are decisions that are switched off: "across:TENSOR". */
#define BARRIER_KIND "across"
#define BARRIER_PREFIX BARRIER_KIND ":"

/* Makes the named tensors outputs as well, behind the others: what has to come out cannot be hidden by a fusion, so a
 * compiler does nothing across them. `ret_added` (may be NULL) gets those that were no outputs before. ERR_INVALID
 * lists the names that the model does not have, or says which is no tensor; names with NAME_MAY_MISS in front are
 * left out then. */
int outputs_add_barriers(struct subgraph *subgraph, struct words names, struct value_list *ret_added,
                         struct error *err);

/* Takes the named tensors off the outputs. ERR_INVALID lists the names that are no outputs; it is an error, too,
 * when none would be left. */
int outputs_exclude(struct subgraph *subgraph, const char *const *names, size_t count, struct error *err);

#endif
