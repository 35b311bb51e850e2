/* comparator/compare/detector.h: which of the compared outputs are the boxes, scores and labels of a detector. */
#ifndef COMPARATOR_COMPARE_DETECTOR_H
#define COMPARATOR_COMPARE_DETECTOR_H

#include "base/log.h"
#include "base/text/named_values.h"
#include "comparator/compare/pairing.h"
#include "tensor/compare/detection_columns.h"

/* A pair of outputs with these columns. */
struct detector_output {
    size_t pair; /* index in the pairing */
    struct detection_columns columns;
    bool is_derived; /* not specified */
};

struct detector {
    struct detector_output outputs[DETECTION_COLUMNS]; /* no column twice */
    size_t count;                                      /* 0: the outputs are not those of a detector */
    size_t boxes;                                      /* index of the one with boxes */
};

/* Finds the outputs of a detector among pairs whose tensors are all available.
 *
 * `rules` specify columns by output (detection_columns_parse()); "_" alone excludes an output. A rule for all outputs
 * applies where the shape fits. The others are derived: boxes are the only float output with four columns, else with
 * five to seven, in the order that the second output's values allow; scores are floats, one for each row, or one for
 * each row and class; labels are integers; so are selected rows, with three columns and next to scores by class; the
 * number of rows of each image has a name that says so. Names decide between several. What was found is
 * logged, or why nothing was.
 *
 * ERR_INVALID if an output does not have the shape of its own rule, or if two have the same column. */
int detector_find(struct log *log, const struct pairing *pairing, const struct named_words *rules, struct detector *ret,
                  struct error *err);

/* The output of the detector that is this pair; NULL: none is. */
const struct detector_output *detector_find_pair(const struct detector *detector, size_t pair);

bool detector_has(const struct detector *detector, enum detection_column column);
bool detector_has_scores(const struct detector *detector); /* in any form */
bool detector_has_labels(const struct detector *detector);

#endif
