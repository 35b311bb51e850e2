/* cli/debug/precision_result.h: the answer of `debug precision`. */
#ifndef CLI_DEBUG_PRECISION_RESULT_H
#define CLI_DEBUG_PRECISION_RESULT_H

#include "cli/options/runners/precision_rules.h"
#include "debug/precision/lab.h"
#include "engine/network/network.h"
#include "report/result.h"

/* All pointers are borrowed. */
struct precision_report {
    const struct precision_result *result;
    const struct network *network;
    const struct debug_precision_settings *values;
    bool by_casts;                               /* the builder uses the types of the model */
    const struct precision_costs *costs;         /* NULL: no Casts */
    const struct precision_costs *without_added; /* without layers that are in higher precision only to save Casts */
    const struct precision_errors *errors;       /* NULL: not measured */
    enum data_type half;                         /* the lower precision of `errors` */
    int64_t iterations, skipped;
};

/* Fills the answer: layers and ONNX nodes that need the higher precision, how to build with them, costs, and the
 * largest errors of the outputs. docs/formats.md describes the members of the JSON document. */
void precision_result_fill(const struct precision_report *report, struct result *ret);

#endif
