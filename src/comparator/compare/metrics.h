/* comparator/compare/metrics.h: the verdict on two outputs as a whole, from their distance or from the quality of the
 * first one, and what the log says about it. Strings and complex numbers have neither:
 * ERR_UNSUPPORTED.
 */
#ifndef COMPARATOR_COMPARE_METRICS_H
#define COMPARATOR_COMPARE_METRICS_H

#include "base/log.h"
#include "tensor/compare/metrics.h"

/* What is demanded of the metrics. One that is NaN fulfils nothing. */
struct metric_criteria {
    double l2_tolerance;     /* distance: at most */
    double cosine_threshold; /* distance: at least */
    double psnr_threshold;   /* quality: dB, at least */
    double snr_threshold;    /* quality: dB, at least */
    double nmse_tolerance;   /* quality: normalized mean squared error, at most; NaN: does not matter */
};

/* The outputs have as many elements as each other; `name` is that of the first one. */
int compare_distance(const struct tensor *a, const struct tensor *b, const struct metric_criteria *criteria,
                     const char *name, struct log *log, struct metrics *ret, bool *ret_passed, struct error *err);
int compare_quality(const struct tensor *a, const struct tensor *b, const struct metric_criteria *criteria,
                    const char *name, struct log *log, struct metrics *ret, bool *ret_passed, struct error *err);

#endif
