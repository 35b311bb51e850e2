/* onnx/model/mark_outputs.h: changes the outputs of a model: --onnx-outputs and --onnx-exclude-outputs, and outputs
 * that prevent a compiler from fusing across a tensor. All nodes stay, even if no output depends on them.
 */
#ifndef ONNX_MODEL_MARK_OUTPUTS_H
#define ONNX_MODEL_MARK_OUTPUTS_H

#include "base/text/names.h"
#include "onnx/model/subgraph.h"

struct output_names {
    bool mark_all;
    struct words names; /* empty when mark_all */
};

/* Marks every output of every node as an output, in the order of nodes, each once, except constants, omitted optional
 * outputs, and values that are not tensors; `ret_skipped` (may be NULL) gets the latter. Existing outputs without a
 * producer (inputs and initializers) stay, after the others. */
void outputs_mark_all(struct subgraph *subgraph, struct value_list *ret_skipped);

/* Whether a name in a list of outputs is a pattern if no tensor has it: it contains one of * ? [. */
bool output_name_is_pattern(const char *name);

/* Makes the named tensors the only outputs, in this order. A name that no tensor has may be a pattern, see
 * text_matches_pattern(): it selects outputs of nodes, in the order of nodes, without constants and values that are not
 * tensors. ERR_INVALID lists unknown names and patterns that match nothing. */
int outputs_mark_named(struct subgraph *subgraph, const char *const *names, size_t count, struct error *err);

/* Name of a barrier in the list of disabled decisions: "across:TENSOR". */
#define BARRIER_KIND "across"
#define BARRIER_PREFIX BARRIER_KIND ":"

/* Adds the named tensors as outputs, after the others: an output must be materialized, so a compiler cannot fuse across
 * it. `ret_added` (may be NULL) gets the new outputs. ERR_INVALID lists unknown names, or names a value that is not a
 * tensor; unknown names with prefix NAME_MAY_MISS are ignored. */
int outputs_add_barriers(struct subgraph *subgraph, struct words names, struct value_list *ret_added,
                         struct error *err);

/* Makes the outputs of all nodes with these operators (upper and lower case are equal) the only outputs. ERR_INVALID
 * lists operators that the model does not contain, with suggestions. */
int outputs_mark_operators(struct subgraph *subgraph, const char *const *operators, size_t count, struct error *err);

/* Removes the named tensors, or those that match a pattern, from the outputs. ERR_INVALID lists names that are not
 * outputs; also if no output would be
 * left. */
int outputs_exclude(struct subgraph *subgraph, const char *const *names, size_t count, struct error *err);

#endif
