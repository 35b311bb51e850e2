/* cli/debug/quantization/result.h: the tables of `debug quantization` in its answer.
 *
 * The module cli/debug/quantization/ contains the answer of `debug quantization`, and its search.
 */
#ifndef CLI_DEBUG_QUANTIZATION_RESULT_H
#define CLI_DEBUG_QUANTIZATION_RESULT_H

#include "debug/quantization/table.h"
#include "debug/quantization/traps.h"
#include "debug/quantization/weight_faults.h"
#include "report/result.h"

/* All pointers are borrowed. */
struct quantization_report {
    const struct quantization_subject *subject;
    const struct quantization_table *table;
    const struct quantization_rewriting *rewriting;
    const struct quantization_traps *traps;
    const struct weight_faults *faults; /* of stored weights, against the float model */
    const char *float_path;             /* NULL: none */
    bool data_are_generated;            /* no data were loaded */
};

/* Fills the tables of quantizers, outputs, faults of weights and known traps, and the notes below. */
void quantization_result_fill(const struct quantization_report *result, struct result *ret);

/* Adds lines about remarkable figures. */
void quantization_notes_fill(const struct quantization_report *result, struct result *ret);

#endif
