/* cli/debug/quantization/result.h: what quantizers cost, in words: as log lines, as JSON, on the page.
 *
 * The room cli/debug/quantization/ is what `debug quantization` prints and writes, and how it puts the question of
 * its search.
 */
#ifndef CLI_DEBUG_QUANTIZATION_RESULT_H
#define CLI_DEBUG_QUANTIZATION_RESULT_H

#include "base/log.h"
#include "debug/quantization/table.h"
#include "debug/quantization/traps.h"
#include "format/json/writer.h"
#include "report/report.h"

struct quantization_report {
    const struct quantization_subject *subject;
    const struct quantization_table *table;
    const struct quantization_rewriting *rewriting;
    const struct quantization_traps *traps;
    const char *float_path;  /* NULL: none was given */
    bool data_are_generated; /* nothing was loaded */
};

void quantization_result_log(const struct quantization_report *result, struct log *log);
void quantization_result_tell(const struct quantization_report *result, struct report *page); /* NULL: no page */
void quantization_result_write(const void *result, struct json_writer *writer); /* struct quantization_report */

#endif
