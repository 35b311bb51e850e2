/* report/graphviz.h: where boxes and the lines between them go, which Graphviz finds out. */
#ifndef REPORT_GRAPHVIZ_H
#define REPORT_GRAPHVIZ_H

#include <stdint.h>

#include "base/error.h"
#include "base/text/text.h"

#define CLUSTER_NONE UINT32_MAX

/* Lengths are points, from the upper left corner of the picture to the right and down. */
struct drawing_point {
    double x, y;
};

struct drawing_box {
    double width, height;
    uint32_t cluster;            /* boxes with the same number stand together, with room around them; CLUSTER_NONE */
    struct drawing_point center; /* found out */
};

struct drawing_line {
    uint32_t from, to; /* boxes, which differ */
    /* found out: a Bezier curve, its first point, then three for each piece; owned by the drawing */
    struct drawing_point *points;
    size_t point_count;
};

/* What is to be drawn, and when it has been laid out, where. */
struct drawing {
    struct {
        struct drawing_box *items;
        size_t count, capacity;
    } boxes;
    struct {
        struct drawing_line *items; /* sorted by `from`, then `to`; no two are equal */
        size_t count, capacity;
    } lines;
    double width, height; /* found out */
};

void drawing_release(struct drawing *drawing); /* harmless on a zeroed struct */

/* Has the program `dot` lay out the drawing. It is given numbers and sizes, no names. ERR_MISSING when there is no such
 * program, ERR_BACKEND when it failed or took too long, ERR_CORRUPT when its answer makes no sense, ERR_INTERRUPTED. */
int graphviz_lay_out(struct drawing *drawing, struct error *err);

/* Reads its answer, in Graphviz's format "plain": one line for the picture, each box and each line between boxes,
 * lengths in inches from the lower left corner. ERR_CORRUPT when the answer does not place every box and every line of
 * the drawing once. */
int graphviz_read_plain(struct text answer, struct drawing *drawing, struct error *err);

#endif
