/* comparator/compare/metrics.c: see metrics.h. */
#include "comparator/compare/metrics.h"

#include <math.h>

#include "base/text/number.h"

/* One metric that is held against a limit. */
static bool check(struct log *log, const char *what, double value, bool at_least, double limit)
{
    bool fulfilled = at_least ? value >= limit : value <= limit; /* neither for NaN */
    char value_text[NUMBER_TEXT_SIZE], limit_text[NUMBER_TEXT_SIZE];

    log_message(log, fulfilled ? LOG_INFO : LOG_ERROR, "%s: %s | %s: %s%s", what,
                number_to_text_rounded(value, 'g', 5, value_text), at_least ? "Threshold" : "Tolerance",
                number_to_text_rounded(limit, 'g', 5, limit_text), fulfilled ? "" : " | FAILED");
    return fulfilled;
}

static void log_verdict(struct log *log, bool passed, const char *name, const char *what)
{
    log_message(log, passed ? LOG_FINISH : LOG_ERROR, "%s | Output: '%s' | %s is %s its limits",
                passed ? "PASSED" : "FAILED", name, what, passed ? "within" : "outside");
}

int compare_distance(const struct tensor *a, const struct tensor *b, const struct metric_criteria *criteria,
                     const char *name, struct log *log, struct metrics *ret, bool *ret_passed, struct error *err)
{
    int rc = metrics_compute(a, b, ret, err);

    if (rc < 0)
        return rc;
    *ret_passed = check(log, "L2 Norm", ret->l2_norm, false, criteria->l2_tolerance);
    *ret_passed &= check(log, "Cosine Similarity", ret->cosine_similarity, true, criteria->cosine_threshold);
    log_verdict(log, *ret_passed, name, "Distance");
    return 0;
}

int compare_quality(const struct tensor *a, const struct tensor *b, const struct metric_criteria *criteria,
                    const char *name, struct log *log, struct metrics *ret, bool *ret_passed, struct error *err)
{
    char mean[NUMBER_TEXT_SIZE], normalized[NUMBER_TEXT_SIZE];
    int rc = metrics_compute(a, b, ret, err);

    if (rc < 0)
        return rc;
    log_message(log, LOG_INFO, "Mean Squared Error: %s | Normalized: %s",
                number_to_text_rounded(ret->mean_squared_error, 'g', 5, mean),
                number_to_text_rounded(ret->normalized_mean_squared_error, 'g', 5, normalized));
    *ret_passed =
        check(log, "Peak Signal-to-Noise Ratio (dB)", ret->peak_signal_to_noise, true, criteria->psnr_threshold);
    *ret_passed &= check(log, "Signal-to-Noise Ratio (dB)", ret->signal_to_noise, true, criteria->snr_threshold);
    if (!isnan(criteria->nmse_tolerance))
        *ret_passed &= check(log, "Normalized Mean Squared Error", ret->normalized_mean_squared_error, false,
                             criteria->nmse_tolerance);
    log_verdict(log, *ret_passed, name, "Quality");
    return 0;
}
