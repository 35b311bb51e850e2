/* cli/debug/quantization/result.h: the table of quantizers, as part of the answer of `debug quantization`.
 *
 * The module cli/debug/quantization/ is what `debug quantization` reports, and how it searches.
 */
#ifndef CLI_DEBUG_QUANTIZATION_RESULT_H
#define CLI_DEBUG_QUANTIZATION_RESULT_H

#include "debug/quantization/table.h"
#include "debug/quantization/traps.h"
#include "report/result.h"

/* Everything is borrowed. */
struct quantization_report {
    const struct quantization_subject *subject;
    const struct quantization_table *table;
    const struct quantization_rewriting *rewriting;
    const struct quantization_traps *traps;
    const char *float_path;  /* NULL: none was given */
    bool data_are_generated; /* nothing was loaded */
};

/* The tables of quantizers, outputs and known traps, and the notes below. */
void quantization_result_fill(const struct quantization_report *result, struct result *ret);

/* What is remarkable about them: lines of their own. */
void quantization_notes_fill(const struct quantization_report *result, struct result *ret);

#endif
