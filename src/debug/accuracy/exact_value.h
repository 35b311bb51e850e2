/* debug/accuracy/exact_value.h: which side is nearer to the exact value. A part of the model is evaluated in float64 on
 * the inputs that both sides had (backend/exact/), and once more as a runtime rounds that stores tensors in the type of
 * each side and adds up in float32, in two orders: an error far beyond that is no rounding.
 */
#ifndef DEBUG_ACCURACY_EXACT_VALUE_H
#define DEBUG_ACCURACY_EXACT_VALUE_H

#include "debug/accuracy/study.h"

enum wrong_side {
    SIDE_NOT_KNOWN, /* it cannot be evaluated */
    SUSPECT_IS_WRONG,
    REFERENCE_IS_WRONG,
    BOTH_ARE_WRONG,
    BOTH_ROUND, /* no error is larger than what rounding makes */
};

/* Errors are the largest ones, relative to the largest magnitude of the output; infinite where one side is not finite
 * and the exact value is. */
struct exact_judgement {
    enum wrong_side side;
    const char *why_not; /* SIDE_NOT_KNOWN: a clause */
    const char *output;  /* whose errors these are */
    double suspect_error, reference_error;
    double suspect_rounding, reference_rounding; /* what rounding makes in the type of each */
};

/* Judges a part: a model with its inputs, and the outputs of the reference (`golden`); `suspect_outputs` is a file with
 * those of the suspect. Nothing is logged; an error of the study is not made of what cannot be evaluated. */
void study_judge(struct study *study, const struct failing_case *part, const char *suspect_outputs,
                 struct exact_judgement *ret);

/* "the exact value (float64) of 'y': the suspect's error is 0.12 of its largest magnitude, the reference's 6e-08, where
 * rounding makes 2e-07: the suspect is wrong" */
const char *describe_judgement(struct study *study, const struct exact_judgement *judgement);

/* Adds it to the answer: as evidence, or as not tested. */
void study_add_judgement(struct study *study, const char *what, const struct exact_judgement *judgement);

#endif
