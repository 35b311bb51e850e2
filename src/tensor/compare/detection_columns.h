/* tensor/compare/detection_columns.h: what the columns of a detector's outputs contain, and reading detections.
 *
 * An output has one row for each detection along the axis in front of the last one, and one column for each number. An
 * axis in front of the rows counts images; further axes of length 1 behind it do not matter: (N, 6), (B, N, 6),
 * (1, 1, N, 7). An output with a single column may lack the last axis: scores of (B, N).
 */
#ifndef TENSOR_COMPARE_DETECTION_COLUMNS_H
#define TENSOR_COMPARE_DETECTION_COLUMNS_H

#include "tensor/compare/detections.h"
#include "tensor/values/tensor.h"

enum detection_column {
    DETECTION_UNUSED, /* "_" */
    DETECTION_X1,     /* "x1", "y1", "x2", "y2": corners of the box */
    DETECTION_Y1,
    DETECTION_X2,
    DETECTION_Y2,
    DETECTION_CENTER_X, /* "cx", "cy": center of the box */
    DETECTION_CENTER_Y,
    DETECTION_WIDTH, /* "w", "h" */
    DETECTION_HEIGHT,
    DETECTION_SCORE, /* "score" */
    DETECTION_LABEL, /* "label" */
    DETECTION_IMAGE, /* "image": position in the batch */
    /* Whole outputs: */
    DETECTION_CLASS_SCORES,    /* "scores": one column for each label; the greatest is the score */
    DETECTION_SCORES_BY_CLASS, /* "class_scores": the same with rows and columns exchanged, as (B, labels, N) */
    DETECTION_COUNT,           /* "count": the number of valid rows of each image */
    DETECTION_SELECTED,        /* "selected": image, label and row of each detection, as of ONNX's NonMaxSuppression */
    DETECTION_COLUMNS,         /* their number */
};

#define DETECTION_MOST_COLUMNS 16

struct detection_columns {
    enum detection_column items[DETECTION_MOST_COLUMNS];
    size_t count;
};

/* "x1,y1,x2,y2,score,label". ERR_INVALID for other words, repeated ones, and words of whole outputs with others. */
int detection_columns_parse(const char *words, struct detection_columns *ret, struct error *err);
void detection_columns_to_text(const struct detection_columns *columns, struct string_builder *ret);
bool detection_columns_have(const struct detection_columns *columns, enum detection_column column);

/* Whether there is a box: two corners, a corner and a size, or a center and a size. */
bool detection_columns_have_box(const struct detection_columns *columns);

/* The column if it is the only one and of a whole output; else DETECTION_UNUSED. */
enum detection_column detection_columns_whole(const struct detection_columns *columns);

/* The dimensions of an output with `columns` columns. */
struct detection_layout {
    size_t images, rows; /* rows of each image */
    size_t width;        /* columns */
};

/* Whether the tensor has numbers and a shape for these columns. */
bool detection_layout_find(const struct tensor *tensor, const struct detection_columns *columns,
                           struct detection_layout *ret);

/* Finds the order of `width` columns of a table with boxes, from 4 to 7: the first known one that the values allow.
 * Labels and images are whole numbers from -1 on, scores 0 .. 1, and boxes do not have negative sizes. Without rows any
 * order is allowed. False: none is. */
bool detection_columns_derive(const struct tensor *tensor, size_t width, struct detection_columns *ret);

/* An output of a detector. */
struct detection_source {
    const struct tensor *tensor;
    struct detection_columns columns;
};

/* Greatest number of rows that are read. */
#define DETECTIONS_MOST_ROWS ((size_t)1 << 20)

/* Reads the detections of all sources, of which one has boxes. Rows behind the count of an image are left out, and so
 * is padding: a negative image or label, or an empty box without a score. With DETECTION_SELECTED only the selected
 * rows are read, whose corners may be any opposite ones; indices out of range give a detection that matches nothing.
 * ERR_INVALID if the numbers of rows differ, ERR_UNSUPPORTED for too many rows. The caller frees ret->items, also after
 * an error. */
int detections_read(const struct detection_source *sources, size_t count, struct detections *ret, struct error *err);

#endif
