/* tensor/compare/detections.h: what two runs of a detector found, compared as sets of boxes.
 *
 * Two detections match if they are of one image and label, their boxes overlap enough, and their scores are close. The
 * greatest possible number of detections is matched one to one, whatever their order in the outputs. A detector drops
 * what is below a threshold or not among the K best; a detection close to this cut may be in one output only.
 */
#ifndef TENSOR_COMPARE_DETECTIONS_H
#define TENSOR_COMPARE_DETECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct detection {
    double x1, y1, x2, y2; /* corners, in any unit */
    double score, label;   /* 0 where the output has none */
    int64_t image;         /* position in the batch */
    size_t row;            /* in the output, counted through all images */
};

/* The detections of one output; `items` is freed by the caller. */
struct detections {
    struct detection *items;
    size_t count, capacity;
};

/* Images whose product of detections in both outputs is greater are refused: matching takes that many steps. */
#define DETECTIONS_MOST_PAIRS ((size_t)1 << 28)

struct detection_criteria {
    double iou;             /* matching boxes have at least this intersection over union */
    double score_tolerance; /* greatest difference of the scores of matching detections */
    bool has_scores;        /* of the outputs; false: none is at the cut */
    double cut;             /* score below which the detector drops; NAN: see detections_compare() */
};

/* Detections without a partner that are kept for messages. */
#define LONE_DETECTIONS_MOST 5

struct lone_detection {
    struct detection detection;
    bool is_of_second;        /* output */
    double best_iou;          /* with a detection of the other output in the same image, of any label and score */
    struct detection nearest; /* that detection; valid with best_iou > 0 */
};

struct detection_agreement {
    size_t first, second; /* detections of each output */
    size_t matched;       /* pairs */
    size_t lone;          /* without a partner, of both outputs, except for those at the cut */
    size_t at_cut;        /* without a partner, close to the cut of the other output, or below a given one */
    double lowest_cut;    /* over the images with such detections; NAN: none */
    size_t moved;         /* matched, in another place among the matched detections of the image */
    bool moved_are_ties;  /* the scores at each such place are within the tolerance, too */
    struct lone_detection examples[LONE_DETECTIONS_MOST]; /* the first ones of `lone`, by image */
};

/* Intersection over union of two boxes, 0 .. 1; 1 for equal boxes, even empty ones; NaN with NaN. */
double detection_iou(const struct detection *a, const struct detection *b);

/* Compares two sets; `b` is the reference. Both are sorted by image, and keep their order within each.
 *
 * Without a given cut that of an output is the lowest score that it has in the image. There is none if the greatest
 * score with a partner is not above it by ten times the tolerance: then all scores are close to the lowest one. A
 * detection is not at the cut if the other output has one without a partner at the same place. NaN matches nothing.
 * ERR_UNSUPPORTED for more than DETECTIONS_MOST_PAIRS in an image. */
int detections_compare(struct detections *a, struct detections *b, const struct detection_criteria *criteria,
                       struct detection_agreement *ret, struct error *err);

#endif
