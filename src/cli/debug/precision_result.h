/* cli/debug/precision_result.h: the answer of `debug precision`, for people and for programs. */
#ifndef CLI_DEBUG_PRECISION_RESULT_H
#define CLI_DEBUG_PRECISION_RESULT_H

#include "base/log.h"
#include "cli/options/runners/precision_rules.h"
#include "debug/precision/lab.h"
#include "engine/network/network.h"
#include "format/json/writer.h"

/* Says which layers, and which ONNX nodes, were chosen, and how to build with them. `by_casts`: for a builder that goes
 * by the types of the model. */
void precision_result_log(const struct precision_result *result, const struct network *network, enum data_type high,
                          bool by_casts, struct log *log);

/* What precision_result_write() writes. */
struct precision_report {
    const struct precision_result *result;
    const struct network *network;
    const struct debug_precision_settings *values;
    const struct precision_costs *costs; /* NULL: there are no Casts */
    const struct precision_costs *without_added;
    const struct precision_errors *errors; /* NULL: they were not measured */
    int64_t iterations;
};

/* What the answer costs, as a model with Casts: nodes, Casts, bytes. `without_added`: the same without the layers that
 * are high only to save some of that. */
void precision_result_log_costs(const struct precision_costs *costs, const struct precision_costs *without_added,
                                struct log *log);

/* How far its outputs are from those in float32, in which forms, with what that was measured. */
void precision_result_log_errors(const struct precision_errors *errors, enum data_type half, struct log *log);

/* Writes these members of an open object; `report` is a struct precision_report:
 *   mode, precision    "bisect", "linear" or "minimal"; "float32" or "float16", the higher one
 *   found              whether any choice of layers passes the check
 *   none_needed        whether all layers in lower precision pass it
 *   minimal            whether the check fails without any single one of the layers
 *   lowered            how many layers run in lower precision unless they are selected
 *   selected           how many layers were selected, those included whose precision cannot be lowered
 *   iterations         how many were run
 *   layers             those of them that are lowered otherwise: "layer", "nodes" (names), "score" (null: not made)
 *   unfit              layers with values outside of the range of the lower precision (null: not asked)
 *   costs              null without Casts: "float32_nodes", of these "float32_moving", "low_nodes", "casts",
 *                      "cast_bytes" and "node_bytes" (read and written), "float32_bytes" (the latter with
 *                      all nodes in float32), "unknown" (tensors without a known size)
 *   largest_error      of the outputs against those of the model in float32, by ONNX Runtime (null: not measured):
 *                      "samples" of the data, "seen", the form that candidates had (null: engines), and in two forms,
 *                      "rounded" and "written" (null: the runtime does not take it): "output",
 *                      "absolute", "relative" (to the largest magnitude of the output)
 *   added              names of layers in higher precision because that saves Casts, with which the check passes, too
 *   without_added      `costs` with `layers` alone
 *   layer_precisions   `layers` and those that were added, as words for --layer-precisions
 */
void precision_result_write(const void *report, struct json_writer *writer);

#endif
