/* cli/debug/precision_result.h: the answer of `debug precision`, for people and for programs. */
#ifndef CLI_DEBUG_PRECISION_RESULT_H
#define CLI_DEBUG_PRECISION_RESULT_H

#include "base/log.h"
#include "cli/options/runners/precision_rules.h"
#include "debug/precision/precision.h"
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
    const struct precision_values *values;
    int64_t iterations;
};

/* Writes these members of an open object; `report` is a struct precision_report:
 *   mode, precision    "bisect", "linear" or "minimal"; "float32" or "float16", the higher one
 *   found              whether any choice of layers passes the check
 *   none_needed        whether all layers in lower precision pass it
 *   minimal            whether the check fails without any single one of the layers
 *   lowered            how many layers run in lower precision unless they are selected
 *   selected           how many layers were selected, those included whose precision cannot be lowered
 *   iterations         how many were run
 *   layers             those of them that are lowered otherwise: "layer", "nodes" (names), "score" (null: not made)
 *   layer_precisions   the same as words for --layer-precisions
 */
void precision_result_write(const void *report, struct json_writer *writer);

#endif
