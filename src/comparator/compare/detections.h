/* comparator/compare/detections.h: compares the outputs of a detector as sets, and logs what has no partner. */
#ifndef COMPARATOR_COMPARE_DETECTIONS_H
#define COMPARATOR_COMPARE_DETECTIONS_H

#include "comparator/compare/criteria.h"
#include "comparator/compare/detector.h"

/* Compares all outputs of `detector` at once. The criteria are those of the output with boxes, and so is the result, of
 * which only the metric and the verdict are set: the share of the detections of both results that have no partner and
 * are not at the cut. ERR_INVALID if outputs of a result differ in their rows, ERR_UNSUPPORTED for too many. */
int compare_detections(struct log *log, const struct detector *detector, const struct pairing *pairing,
                       const struct comparison_criteria *criteria, struct compare_result *ret, struct error *err);

#endif
