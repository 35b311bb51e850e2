/* debug/accuracy/repetition.h: runs that differ are repeated until that is seen. */
#ifndef DEBUG_ACCURACY_REPETITION_H
#define DEBUG_ACCURACY_REPETITION_H

#include "debug/accuracy/investigation.h"

/* The failure rate that so many runs without a failure exclude, with 95 % confidence. */
double accuracy_rate_excluded(int64_t runs);

/* How many comparisons of the whole model have to agree until that is not by chance, with 95 % confidence: 1 where it
 * always fails. Of failures rarer than one in ten it may be too few: see accuracy_how_sure(). */
int64_t accuracy_enough_comparisons(const struct investigation *investigation);

/* What so many comparisons of the whole model say that all agree: false when the failure is so rare that they may have
 * missed it. `*ret_text` goes behind a sentence that says that it agrees; "" where it always fails. */
bool accuracy_how_sure(struct investigation *investigation, int64_t comparisons, const char **ret_text);

/* Takes from a `run` of one build how many of `times` runs of the same data fail: where one of the outputs does. */
int accuracy_count_failed_runs(struct investigation *investigation, struct experiment *experiment, int64_t times,
                               int64_t *ret_failed, struct error *err);

/* The whole model as a check needs it: run so often that it fails nearly always where only some runs fail. */
struct failing_case accuracy_repeated_whole(const struct investigation *investigation);

/* Makes the minimal case one of many runs, so that a check of it misses its failure in less than one of a thousand
 * times. Where none of its runs fail, it stays as it was. */
int accuracy_repeat_minimal(struct investigation *investigation, struct error *err);

#endif
