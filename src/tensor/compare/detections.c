/* tensor/compare/detections.c: see detections.h. */
#include "tensor/compare/detections.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

#define NO_PARTNER SIZE_MAX

/* In units of the tolerance: scores of a smaller range are all close to the lowest one, which then is no cut. */
#define LEAST_SCORE_RANGE 10

static double find_area(double x1, double y1, double x2, double y2)
{
    return x2 > x1 && y2 > y1 ? (x2 - x1) * (y2 - y1) : 0;
}

double detection_iou(const struct detection *a, const struct detection *b)
{
    double common, both;

    if (a->x1 == b->x1 && a->y1 == b->y1 && a->x2 == b->x2 && a->y2 == b->y2)
        return 1;
    if (isnan(a->x1 + a->y1 + a->x2 + a->y2 + b->x1 + b->y1 + b->x2 + b->y2))
        return NAN;
    common = find_area(fmax(a->x1, b->x1), fmax(a->y1, b->y1), fmin(a->x2, b->x2), fmin(a->y2, b->y2));
    both = find_area(a->x1, a->y1, a->x2, a->y2) + find_area(b->x1, b->y1, b->x2, b->y2) - common;
    return both > 0 ? common / both : 0;
}

/* ---- One image ---- */

/* Both outputs' detections of an image, and their partners so far: indices in the other one. */
struct image {
    const struct detection *first, *second;
    size_t first_count, second_count;
    size_t *first_partner, *second_partner;
    const struct detection_criteria *criteria;
};

static bool scores_are_close(const struct image *image, const struct detection *a, const struct detection *b)
{
    return a->score == b->score || fabs(a->score - b->score) <= image->criteria->score_tolerance;
}

/* The overlap of two detections that match; negative: they do not. */
static double find_overlap(const struct image *image, size_t a, size_t b)
{
    const struct detection *first = &image->first[a], *second = &image->second[b];
    double iou;

    if (first->label != second->label || !scores_are_close(image, first, second))
        return -1;
    iou = detection_iou(first, second);
    return iou >= image->criteria->iou ? iou : -1;
}

static void join_detections(struct image *image, size_t a, size_t b)
{
    image->first_partner[a] = b;
    image->second_partner[b] = a;
}

/* Gives each detection of the first output the free one with the greatest overlap. */
static void match_nearest(struct image *image)
{
    for (size_t a = 0; a < image->first_count; a++) {
        size_t best = NO_PARTNER;
        double greatest = -1;

        for (size_t b = 0; b < image->second_count; b++) {
            double overlap = image->second_partner[b] == NO_PARTNER ? find_overlap(image, a, b) : -1;

            if (overlap > greatest) {
                greatest = overlap;
                best = b;
            }
        }
        if (best != NO_PARTNER)
            join_detections(image, a, best);
    }
}

/* An augmenting path in search: `from[b]` is the detection of the first output from which `b` was reached, or
 * NO_PARTNER; `queue` has those of the first output that are still to be looked at. */
struct partner_search {
    size_t *from, *queue;
    size_t queued, taken;
};

/* Joins along the path that ends at `b`, which is free. */
static void join_path(struct image *image, const struct partner_search *search, size_t b)
{
    while (b != NO_PARTNER) {
        size_t a = search->from[b], next = image->first_partner[a];

        join_detections(image, a, b);
        b = next;
    }
}

/* Looks for a partner of `start`, whose finding may give others new partners. */
static bool find_path(struct image *image, struct partner_search *search, size_t start)
{
    search->queue[0] = start;
    search->queued = 1;
    search->taken = 0;
    while (search->taken < search->queued) {
        size_t a = search->queue[search->taken++];

        for (size_t b = 0; b < image->second_count; b++) {
            if (search->from[b] != NO_PARTNER || find_overlap(image, a, b) < 0)
                continue;
            search->from[b] = a;
            if (image->second_partner[b] == NO_PARTNER) {
                join_path(image, search, b);
                return true;
            }
            search->queue[search->queued++] = image->second_partner[b];
        }
    }
    return false;
}

/* Completes the pairs to a maximum matching by augmenting paths (C. Berge, Two Theorems in Graph Theory, 1957). What a
 * search without a result has reached leads nowhere later, either: it stays marked, so that all such searches together
 * look at each pair once. */
static void complete_matching(struct image *image)
{
    struct partner_search search = {0};
    bool *dead = memory_alloc_zero(image->second_count + 1, sizeof(*dead));

    search.from = memory_alloc_zero(image->second_count + 1, sizeof(*search.from));
    search.queue = memory_alloc_zero(image->second_count + 2, sizeof(*search.queue));
    for (size_t a = 0; a < image->first_count; a++) {
        bool found;

        if (image->first_partner[a] != NO_PARTNER)
            continue;
        for (size_t b = 0; b < image->second_count; b++)
            search.from[b] = dead[b] ? 0 : NO_PARTNER;
        found = find_path(image, &search, a);
        for (size_t b = 0; !found && b < image->second_count; b++)
            dead[b] = search.from[b] != NO_PARTNER;
    }
    free(search.from);
    free(search.queue);
    free(dead);
}

/* One output's detections of an image, seen from the other one. */
struct image_side {
    const struct detection *items;
    const size_t *partner;
    size_t count;
};

static struct image_side side_of(const struct image *image, bool is_second)
{
    return is_second ? (struct image_side){image->second, image->second_partner, image->second_count}
                     : (struct image_side){image->first, image->first_partner, image->first_count};
}

/* The cut of an output that lacks detections; NAN: unknown. */
static double find_cut(const struct image *image, const struct image_side *side)
{
    double lowest = INFINITY, greatest = -INFINITY;

    if (!image->criteria->has_scores || !isnan(image->criteria->cut))
        return image->criteria->cut;
    for (size_t i = 0; i < side->count; i++) {
        lowest = fmin(lowest, side->items[i].score);
        greatest = side->partner[i] != NO_PARTNER ? fmax(greatest, side->items[i].score) : greatest;
    }
    return greatest - lowest >= LEAST_SCORE_RANGE * image->criteria->score_tolerance ? lowest : NAN;
}

/* Whether the other output has a detection without a partner at the same place: then the two disagree on what is there,
 * and it was not dropped. */
static bool is_contradicted(const struct image *image, const struct detection *detection,
                            const struct image_side *others)
{
    for (size_t i = 0; i < others->count; i++)
        if (others->partner[i] == NO_PARTNER && !(others->items[i].score < image->criteria->cut) &&
            detection_iou(detection, &others->items[i]) >= image->criteria->iou)
            return true;
    return false;
}

static bool is_at_cut(const struct image *image, const struct detection *detection, const struct image_side *others)
{
    double cut = find_cut(image, others), sum = detection->x1 + detection->y1 + detection->x2 + detection->y2;

    if (detection->score < image->criteria->cut)
        return true;
    return fabs(detection->score - cut) <= image->criteria->score_tolerance && !isnan(sum + detection->label) &&
           !is_contradicted(image, detection, others);
}

static void add_example(const struct detection *detection, bool is_of_second, const struct image_side *others,
                        struct lone_detection *ret)
{
    *ret = (struct lone_detection){.detection = *detection, .is_of_second = is_of_second};
    for (size_t i = 0; i < others->count; i++) {
        double iou = detection_iou(detection, &others->items[i]);

        if (iou > ret->best_iou) {
            ret->best_iou = iou;
            ret->nearest = others->items[i];
        }
    }
}

/* Counts the detections of one output that have no partner. */
static void count_lone(const struct image *image, bool is_second, struct detection_agreement *ret)
{
    struct image_side own = side_of(image, is_second), others = side_of(image, !is_second);

    for (size_t i = 0; i < own.count; i++) {
        if (own.partner[i] != NO_PARTNER)
            continue;
        if (is_at_cut(image, &own.items[i], &others)) {
            ret->at_cut++;
            ret->lowest_cut = fmin(ret->lowest_cut, find_cut(image, &others)); /* of NAN and a number the number */
            continue;
        }
        if (ret->lone < LONE_DETECTIONS_MOST)
            add_example(&own.items[i], is_second, &others, &ret->examples[ret->lone]);
        ret->lone++;
    }
}

/* Counts pairs that are not at the same place among the pairs of both outputs. */
static void count_moved(const struct image *image, struct detection_agreement *ret)
{
    size_t b = 0;

    for (size_t a = 0; a < image->first_count; a++) {
        if (image->first_partner[a] == NO_PARTNER)
            continue;
        ret->matched++;
        while (image->second_partner[b] == NO_PARTNER)
            b++;
        if (image->first_partner[a] != b) {
            ret->moved++;
            ret->moved_are_ties &=
                image->criteria->has_scores && scores_are_close(image, &image->first[a], &image->second[b]);
        }
        b++;
    }
}

static int compare_image(struct image *image, struct detection_agreement *ret, struct error *err)
{
    size_t first = image->first_count, second = image->second_count;

    if (second > 0 && first > DETECTIONS_MOST_PAIRS / second)
        return error_set(err, ERR_UNSUPPORTED,
                         "image %" PRId64 " has %zu and %zu detections, which are too many to match; raise the "
                         "detector's score threshold",
                         first > 0 ? image->first->image : image->second->image, first, second);
    image->first_partner = memory_alloc(first * sizeof(size_t) + 1);
    image->second_partner = memory_alloc(second * sizeof(size_t) + 1);
    for (size_t i = 0; i < first; i++)
        image->first_partner[i] = NO_PARTNER;
    for (size_t i = 0; i < second; i++)
        image->second_partner[i] = NO_PARTNER;
    match_nearest(image);
    complete_matching(image);
    count_moved(image, ret);
    count_lone(image, false, ret);
    count_lone(image, true, ret);
    free(image->first_partner);
    free(image->second_partner);
    return 0;
}

/* ---- All images ---- */

static int order_by_image(const void *first, const void *second)
{
    const struct detection *a = first, *b = second;

    if (a->image != b->image)
        return a->image < b->image ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static void sort_by_image(struct detections *detections)
{
    if (detections->count > 0)
        qsort(detections->items, detections->count, sizeof(*detections->items), order_by_image);
}

/* The end of the detections of `image`, which begin at `start` if there are any. */
static size_t find_end(const struct detections *detections, size_t start, int64_t image)
{
    while (start < detections->count && detections->items[start].image == image)
        start++;
    return start;
}

int detections_compare(struct detections *a, struct detections *b, const struct detection_criteria *criteria,
                       struct detection_agreement *ret, struct error *err)
{
    size_t first = 0, second = 0;
    int rc = 0;

    *ret =
        (struct detection_agreement){.first = a->count, .second = b->count, .lowest_cut = NAN, .moved_are_ties = true};
    sort_by_image(a);
    sort_by_image(b);
    while (rc == 0 && (first < a->count || second < b->count)) {
        bool from_first = first < a->count && (second == b->count || a->items[first].image <= b->items[second].image);
        int64_t index = from_first ? a->items[first].image : b->items[second].image;
        size_t first_end = find_end(a, first, index), second_end = find_end(b, second, index);
        struct image image = {.first = a->count > 0 ? a->items + first : NULL,
                              .second = b->count > 0 ? b->items + second : NULL,
                              .first_count = first_end - first,
                              .second_count = second_end - second,
                              .criteria = criteria};

        rc = compare_image(&image, ret, err);
        first = first_end;
        second = second_end;
    }
    return rc;
}
