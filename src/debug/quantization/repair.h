/* debug/quantization/repair.h: whether a repaired model is nearer to the float model than the quantized one.
 *
 * Without a float model the reference is derived: the model with all possible quantizers disabled. It has the scales of
 * stored constants, so if one of these may be wrong (scales.h), a second reference has the median in place of outlying
 * scales, and the quantized model with only these scales changed is measured, too.
 */
#ifndef DEBUG_QUANTIZATION_REPAIR_H
#define DEBUG_QUANTIZATION_REPAIR_H

#include "debug/quantization/changes.h"
#include "debug/quantization/runs.h"
#include "debug/quantization/table.h"

/* Signal-to-noise ratio of the worst output in dB; NAN: not measured. */
struct repair_ratios {
    double quantized, repaired, rescaled; /* `rescaled`: with other scales in place of outlying ones */
};

struct repair_measures {
    bool is_known;
    const char *why_not;            /* reason if it is not; in the table's arena */
    struct repair_ratios reference; /* against the float model, else the derived reference */
    struct repair_ratios other;     /* against the derived reference with other scales; NAN: no scale is outlying */
};

/* Whether the repaired model is not nearer to the reference than the quantized one. */
bool repair_is_worse(const struct repair_ratios *ratios);

/* Measures the model with these changes. Outputs that count are those of `table`. ERR_INTERRUPTED; other errors are
 * reasons in `ret`. */
int quantization_measure_repair(const struct quantization_study *study, const struct quantizer_range *ranges,
                                const struct quantizer_changes *changes, struct quantization_table *table,
                                struct repair_measures *ret, struct error *err);

#endif
