/* debug/accuracy/subgraph.h: subgraphs of the model, each a model of its own that is run on the reference's values, or
 * replaced by them in the whole model.
 *
 *   if (!study_open_model(study))
 *       return;
 *   bitset_add(&nodes, 17);
 *   run = study_run_nodes(study, &nodes, tolerance);
 *   if (run.agreement == DIFFERS)
 *       ...
 *
 * A subgraph that cannot be extracted or run is inconclusive: it REFUSES. All but study_make_values() and
 * study_make_case() need the model to be open, and the reference's values.
 */
#ifndef DEBUG_ACCURACY_SUBGRAPH_H
#define DEBUG_ACCURACY_SUBGRAPH_H

#include "debug/accuracy/study.h"

/* ---- Values of the reference ---- */

/* Has the reference give out all tensors, once: `values` of the study is for --load-outputs then, and `layerwise`,
 * which contains the model's inputs as well, for --load-inputs of any subgraph. Both are safetensors, or JSON where a
 * tensor is of a type that these do not have. ERR_BACKEND when the model does not run like that. */
bool study_make_values(struct study *study);

/* Gives a model that was cut out data of its own: its inputs from `layerwise`, its golden outputs by the reference. The
 * files are called FOLDER/NAME_inputs.json and FOLDER/NAME_golden.json. */
struct failing_case study_make_case(struct study *study, const char *model, const char *name);

/* Compares a model, the whole or a subgraph, with the reference's values. */
struct failing_case study_values_case(const struct study *study, const char *model, struct words tolerance);

/* ---- Names ---- */

const char *tensor_label(struct study *study, uint32_t value);

/* The name of a node, or that of its first output where it has none, or shares it with another node. */
const char *node_label(struct study *study, uint32_t node);

/* "'a' (Conv), 'b' (Add) and 3 more". */
const char *describe_nodes(struct study *study, const struct bitset *nodes);
struct words node_labels(struct study *study, const struct bitset *nodes);

/* A set with this node alone: valid until the next call. */
const struct bitset *study_node(struct study *study, uint32_t node);

/* ---- Nodes alone ---- */

/* What became of nodes that were run alone. */
struct lone_run {
    enum agreement agreement;
    const char *model;       /* the extracted nodes; NULL: they cannot be extracted */
    struct study_step *step; /* the comparison of the suspect; NULL: none was made */
    const char *outputs;     /* of the suspect, from the reference's values */
    const char *golden;      /* of study_compare_nodes(): of the reference, likewise */
};

/* Extracts the nodes, and has the suspect compute them from the reference's values. They DIFFER only if the reference
 * itself agrees with what it had in the whole model. */
struct lone_run study_run_nodes(struct study *study, const struct bitset *nodes, struct words tolerance);

/* Extracts the nodes, and has both sides compute them from these inputs: the reference's values (`layerwise` of the
 * study), or the suspect's. Other than in study_run_nodes(), what the reference had in the whole model does not matter.
 * UNKNOWN where they cannot be extracted, or do not run in the reference. */
struct lone_run study_compare_nodes(struct study *study, const struct bitset *nodes, const char *inputs,
                                    struct words tolerance);

/* Adds neighbours to `nodes` until they fail together, and removes what they fail without. Returns the last run that
 * failed: that of what is left, which is 1-minimal; else, they do not DIFFER. */
struct lone_run study_grow_nodes(struct study *study, struct bitset *nodes, struct words tolerance);

/* Control of a suspect that is a command: whether it returns the reference's values of what these nodes make, the
 * outputs of the extracted part `model`, unchanged through an Identity. Else its tensors of that shape are in another
 * layout or type, or come out wrong whatever computes them, and no node is to blame: a note says that. True where it
 * cannot be tested. (control.c) */
bool study_suspect_returns_outputs(struct study *study, const struct bitset *nodes, const char *model);

/* Control of a suspect that is a command: whether a tensor that it gave out among all others (`suspect_values`) is the
 * same when it is the only output of the model. Else what it gives out of the inside depends on what is asked for, and
 * no node is to blame for it. True where that cannot be tested. (control.c) */
bool study_suspect_repeats_tensor(struct study *study, uint32_t value, const char *suspect_values);

/* Extracts what computes one tensor from the model's inputs; NULL where that is impossible. */
const char *study_extract_tensor(struct study *study, uint32_t value);

/* Makes these nodes FOLDER/minimal.onnx, with its inputs and golden outputs, the study's minimal case, if they can be
 * extracted. */
void study_make_minimal(struct study *study, const struct bitset *nodes, struct words tolerance);

/* ---- The whole model with one change: outputs of some nodes come from elsewhere ---- */

/* The nodes with these labels; false unless each is the label of one node. */
bool find_labelled_nodes(const struct study *study, struct words labels, struct bitset *ret);

/* Compares two files of outputs by the tolerance of the whole model; no model is run. `ret_error` may be NULL;
 * otherwise the largest error, see comparison_error(), unless the answer is UNKNOWN or REFUSES. */
enum agreement compare_output_files(struct study *study, const char *values, const char *golden, const char *why,
                                    double *ret_error);

/* Whether the suspect agrees when the reference's values replace the outputs of these nodes. `*ret_model` is what was
 * run, and `ret_rest` (may be NULL; to be released) its nodes; NULL: nothing is left of it, or it cannot be extracted.
 */
enum agreement study_replace_nodes(struct study *study, const struct bitset *nodes, struct subgraph *ret_rest,
                                   const char **ret_model);

/* Control of a replacement of these nodes: `model` with the suspect's own values, of `suspect_values`. */
enum agreement study_control_replacement(struct study *study, const struct bitset *nodes, const char *model,
                                         const char *suspect_values);

/* Whether the two sides agree in all of the model but these nodes: what they make comes from the reference's values,
 * and what they read is compared as the outputs are. What is in front of them is part of that, other than in
 * study_replace_nodes(). `*ret_model` is what was run; NULL: nothing is left of it (AGREES), or it cannot be extracted
 * (UNKNOWN). */
enum agreement study_compare_rest(struct study *study, const struct bitset *nodes, struct words tolerance,
                                  const char **ret_model);

/* Adds what these nodes make of what other nodes read, and of the model's outputs, whether they read it themselves or
 * not: that is replaced. */
void study_list_replaced_values(const struct study *study, const struct bitset *nodes, struct value_list *ret);

/* What outputs are compared with where values of nodes are replaced in the reference. */
struct injection_base {
    const char *values; /* other values of what these nodes make */
    const char *golden; /* what the reference makes of those; NULL: nothing else is left of the model */
};

/* Has the reference run the model without these nodes, whose values come from the file `values`. False where that is
 * impossible. */
bool study_make_injection_base(struct study *study, const struct bitset *nodes, const char *values,
                               struct injection_base *ret);

/* Whether the reference still agrees when the outputs of these nodes come from the file `made`: with the model's golden
 * outputs, or with those of `base` (may be NULL). `ret_error` (may be NULL) is the largest error then, see
 * comparison_error(). */
enum agreement study_inject_outputs(struct study *study, const struct bitset *nodes, const char *made,
                                    const struct injection_base *base, double *ret_error);

/* The same, compared with the reference whose model is cut in the same place and has its own values there: a cut alone
 * has other outputs where the reference fuses these nodes with others. UNKNOWN without `made` (NULL). */
enum agreement study_measure_injection(struct study *study, const struct bitset *nodes, const char *made,
                                       double *ret_error);

/* Whether the reference agrees with the suspect when the suspect's values, of the file `suspect_values`, replace the
 * outputs of these nodes. `*ret_model` and `ret_rest` are as of study_replace_nodes(). */
enum agreement study_replace_in_reference(struct study *study, const struct bitset *nodes, const char *suspect_values,
                                          struct subgraph *ret_rest, const char **ret_model);

/* The suspect's values, with the model's inputs, as input data for any part. */
const char *study_suspect_inputs(struct study *study, const char *suspect_values);

#endif
