/* comparator/compare/detections.c: see detections.h. */
#include "comparator/compare/detections.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/text/number.h"
#include "comparator/compare/pair.h"

/* What is compared, and how. */
struct detection_subject {
    struct log *log;
    const struct detector *detector;
    const struct pairing *pairing;
    struct detection_criteria criteria;
    bool has_labels, has_images;
};

static int read_side(const struct detection_subject *subject, bool is_second, struct detections *ret, struct error *err)
{
    struct detection_source sources[DETECTION_COLUMNS];
    const struct detector *detector = subject->detector;

    for (size_t i = 0; i < detector->count; i++) {
        const struct output_pair *pair = &subject->pairing->items[detector->outputs[i].pair];

        sources[i].tensor = is_second ? &pair->second->tensor : &pair->first->tensor;
        sources[i].columns = detector->outputs[i].columns;
    }
    return detections_read(sources, detector->count, ret, err);
}

static void add_number(struct string_builder *ret, const char *before, double value)
{
    char number[NUMBER_TEXT_SIZE];

    string_add_format(ret, "%s%s", before, number_to_text_rounded(value, 'g', 5, number));
}

/* "box (1, 2, 3, 4), label 7, score 0.5": the corners, and what the outputs have. */
static void add_detection(const struct detection_subject *subject, const struct detection *detection,
                          struct string_builder *ret)
{
    add_number(ret, "box (", detection->x1);
    add_number(ret, ", ", detection->y1);
    add_number(ret, ", ", detection->x2);
    add_number(ret, ", ", detection->y2);
    string_add(ret, ")");
    if (subject->has_labels)
        add_number(ret, ", label ", detection->label);
    if (subject->criteria.has_scores)
        add_number(ret, ", score ", detection->score);
}

static void log_lone(const struct detection_subject *subject, const struct lone_detection *lone)
{
    SCOPED_STRING(line);

    string_add_format(&line, "Row %zu of the %s output", lone->detection.row, lone->is_of_second ? "second" : "first");
    if (subject->has_images)
        string_add_format(&line, " (image %" PRId64 ")", lone->detection.image);
    string_add(&line, " has no partner: ");
    add_detection(subject, &lone->detection, &line);
    add_number(&line, "; best IoU ", lone->best_iou);
    if (lone->best_iou > 0) {
        string_add_format(&line, " with row %zu: ", lone->nearest.row);
        add_detection(subject, &lone->nearest, &line);
    }
    log_message(subject->log, LOG_ERROR, "%s", line.data);
}

static void log_ties(const struct detection_subject *subject, const struct detection_agreement *agreement)
{
    SCOPED_STRING(line);

    if (agreement->moved > 0)
        log_message(subject->log, LOG_INFO, "%zu of the matching detections are in another order%s", agreement->moved,
                    agreement->moved_are_ties ? ": ties in score" : "");
    if (agreement->at_cut == 0)
        return;
    string_add_format(&line, "%zu detection(s) without a partner are ", agreement->at_cut);
    if (isnan(subject->criteria.cut)) {
        add_number(&line, "ties in score at the cut of ", agreement->lowest_cut);
        string_add(&line, ", the lowest score of the other output (--score-cut specifies the detector's)");
    } else {
        add_number(&line, "below or ties in score at the cut of ", agreement->lowest_cut);
    }
    log_message(subject->log, LOG_INFO, "%s", line.data);
}

static void log_agreement(const struct detection_subject *subject, const struct detection_agreement *agreement)
{
    size_t shown = agreement->lone < LONE_DETECTIONS_MOST ? agreement->lone : LONE_DETECTIONS_MOST;
    SCOPED_STRING(line);

    string_add_format(&line, "%zu pair(s) match of %zu and %zu detections", agreement->matched, agreement->first,
                      agreement->second);
    add_number(&line, ": IoU of at least ", subject->criteria.iou);
    if (subject->has_labels)
        string_add(&line, ", equal labels");
    if (subject->criteria.has_scores)
        add_number(&line, ", scores within ", subject->criteria.score_tolerance);
    log_message(subject->log, LOG_INFO, "%s", line.data);
    log_ties(subject, agreement);
    for (size_t i = 0; i < shown; i++)
        log_lone(subject, &agreement->examples[i]);
    if (agreement->lone > shown)
        log_message(subject->log, LOG_ERROR, "%zu more detection(s) have no partner", agreement->lone - shown);
    if (agreement->lone > 0 && subject->criteria.has_scores && isnan(subject->criteria.cut))
        log_once(subject->log, LOG_INFO,
                 "Detections at the score threshold of the detector need no partner: specify it with --score-cut");
}

static int compare_sets(const struct detection_subject *subject, double *ret_share, struct error *err)
{
    struct detections first = {0}, second = {0};
    struct detection_agreement agreement;
    int rc = read_side(subject, false, &first, err);

    if (rc == 0)
        rc = read_side(subject, true, &second, err);
    if (rc < 0)
        goto done;
    rc = detections_compare(&first, &second, &subject->criteria, &agreement, err);
    if (rc < 0)
        goto done;
    log_agreement(subject, &agreement);
    *ret_share = agreement.lone > 0 ? (double)agreement.lone / (double)(agreement.first + agreement.second) : 0;
done:
    free(first.items);
    free(second.items);
    return rc;
}

int compare_detections(struct log *log, const struct detector *detector, const struct pairing *pairing,
                       const struct comparison_criteria *criteria, struct compare_result *ret, struct error *err)
{
    const struct output_pair *boxes = &pairing->items[detector->outputs[detector->boxes].pair];
    struct detection_subject subject = {.log = log, .detector = detector, .pairing = pairing};
    struct detection_layout layout;
    int rc;

    subject.criteria = criteria->detections;
    subject.criteria.has_scores = detector_has_scores(detector);
    subject.has_labels = detector_has_labels(detector);
    subject.has_images =
        detector_has(detector, DETECTION_IMAGE) ||
        (detection_layout_find(&boxes->first->tensor, &detector->outputs[detector->boxes].columns, &layout) &&
         layout.images > 1);
    pair_log_beginning(log, COMPARISON_DETECTIONS, boxes);
    log_indent(log, 1);
    rc = compare_sets(&subject, &ret->metric, err);
    if (rc == 0)
        pair_judge_metric(log, COMPARISON_DETECTIONS, criteria->limits[COMPARISON_DETECTIONS], ret);
    log_indent(log, -1);
    return rc < 0 ? error_context(err, "output '%s'", boxes->first->name) : 0;
}
