/* backend/exact/resize.c: Resize by nearest elements and by linear interpolation, axis by axis. */
#include <math.h>
#include <stdlib.h>

#include "backend/exact/kernels.h"
#include "base/memory.h"
#include "onnx/proto/node_attribute.h"

/* How near a coordinate may be to where the nearest element changes: kernels compute coordinates in float32. */
#define DOUBTFUL 1e-4

/* Where an element of the output is between two of the input. */
struct resized_place {
    size_t below, above;
    double share; /* of the one above */
};

struct resized_axis {
    int64_t from, to;
    double scale;
};

/* ---- Coordinates ---- */

/* Of element `at` of the output, in elements of the input. */
static double find_coordinate(const struct exact_call *call, const struct resized_axis *axis, size_t at)
{
    struct text mode = exact_text_attribute(call, "coordinate_transformation_mode", "half_pixel");
    double ret = ((double)at + 0.5) / axis->scale - 0.5;

    if (text_equal_string(mode, "asymmetric"))
        ret = (double)at / axis->scale;
    else if (text_equal_string(mode, "align_corners"))
        ret = axis->to == 1 ? 0 : (double)at * (double)(axis->from - 1) / (double)(axis->to - 1);
    else if (text_equal_string(mode, "pytorch_half_pixel") && axis->to == 1)
        ret = 0;
    return call->options->type == DATA_FLOAT64 ? ret : (double)(float)ret;
}

static bool is_known_mode(const struct exact_call *call)
{
    static const char *const modes[] = {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"};
    struct text mode = exact_text_attribute(call, "coordinate_transformation_mode", "half_pixel");

    return text_is_one_of(mode, modes, ARRAY_LEN(modes));
}

/* The nearest element; false where rounding of the coordinate decides which one that is. */
static bool find_nearest(const struct exact_call *call, double coordinate, struct resized_place *ret)
{
    struct text mode = exact_text_attribute(call, "nearest_mode", "round_prefer_floor");
    double nearest = ceil(coordinate - 0.5), boundary = 0.5;

    if (text_equal_string(mode, "floor"))
        nearest = floor(coordinate);
    else if (text_equal_string(mode, "ceil"))
        nearest = ceil(coordinate);
    else if (text_equal_string(mode, "round_prefer_ceil"))
        nearest = floor(coordinate + 0.5);
    if (text_equal_string(mode, "floor") || text_equal_string(mode, "ceil"))
        boundary = 0;
    ret->below = ret->above = nearest > 0 ? (size_t)nearest : 0;
    coordinate -= boundary;
    /* exact multiples are the same in any precision */
    return coordinate == round(coordinate) || fabs(coordinate - round(coordinate)) > DOUBTFUL;
}

static bool find_place(const struct exact_call *call, const struct resized_axis *axis, bool is_linear, size_t at,
                       struct resized_place *ret)
{
    double coordinate = find_coordinate(call, axis, at);
    size_t last = (size_t)axis->from - 1;

    *ret = (struct resized_place){0};
    if (is_linear) {
        coordinate = fmin(fmax(coordinate, 0), (double)last);
        ret->below = (size_t)floor(coordinate);
        ret->above = ret->below + 1;
        ret->share = coordinate - floor(coordinate);
    } else if (!find_nearest(call, coordinate, ret)) {
        return false;
    }
    ret->below = ret->below > last ? last : ret->below;
    ret->above = ret->above > last ? last : ret->above;
    return true;
}

/* ---- One axis after the other ---- */

/* Resizes `from` along one axis into `to`; `shape` is that of `from`. False where coordinates are doubtful. */
static bool resize_axis(const struct exact_call *call, const struct resized_axis *axis, const struct shape *shape,
                        size_t number, const double *from, double *to)
{
    bool is_linear = text_equal_string(exact_text_attribute(call, "mode", "nearest"), "linear");
    size_t outer = shape_extent(shape, 0, number), inner = shape_extent(shape, number + 1, shape->rank);

    for (size_t k = 0; k < (size_t)axis->to; k++) {
        struct resized_place place;

        if (!find_place(call, axis, is_linear, k, &place))
            return false;
        for (size_t i = 0; i < outer * inner; i++) {
            const double *row = &from[i / inner * (size_t)axis->from * inner + i % inner];
            double below = row[place.below * inner], above = row[place.above * inner];

            to[(i / inner * (size_t)axis->to + k) * inner + i % inner] =
                place.share == 0 ? below
                                 : exact_round_sum(call->options, below * (1 - place.share) + above * place.share);
        }
    }
    return true;
}

/* Reads how each axis changes: by `scales`, or by `sizes`. */
static bool read_resized_axes(const struct exact_call *call, struct resized_axis *axes)
{
    const struct exact_value *scales = exact_input(call, 2), *sizes = exact_input(call, 3);
    const struct shape *shape = exact_shape(call->inputs[0]);

    if (scales != NULL && exact_count(scales) == 0)
        scales = NULL;
    if ((scales == NULL) == (sizes == NULL) || exact_count(scales != NULL ? scales : sizes) != shape->rank)
        return false;
    for (size_t i = 0; i < shape->rank; i++) {
        double given = exact_items(scales != NULL ? scales : sizes)[i];

        if (!(given > 0 && given < 0x1p31) || shape->dims[i] < 1)
            return false;
        axes[i].from = shape->dims[i];
        axes[i].scale = scales != NULL ? given : given / (double)shape->dims[i];
        axes[i].to = scales != NULL ? (int64_t)floor((double)shape->dims[i] * given) : (int64_t)given;
        if (axes[i].to < 1)
            return false;
    }
    return true;
}

static bool has_plain_attributes(const struct exact_call *call)
{
    struct text mode = exact_text_attribute(call, "mode", "nearest");
    struct span axes;

    return (text_equal_string(mode, "nearest") || text_equal_string(mode, "linear")) && is_known_mode(call) &&
           node_attribute_integer(call->node->message, "antialias", 0) == 0 &&
           node_attribute_integer(call->node->message, "exclude_outside", 0) == 0 &&
           !node_attribute_find(call->node->message, "axes", &axes) &&
           text_equal_string(exact_text_attribute(call, "keep_aspect_ratio_policy", "stretch"), "stretch");
}

static int resize_all_axes(struct exact_call *call, const struct resized_axis *axes, struct error *err)
{
    const struct exact_value *input = call->inputs[0];
    struct shape shape = *exact_shape(input), next = shape;
    double *from SCOPED_FREE = NULL, *ret;
    int rc = 0;

    for (size_t i = 0; i < shape.rank; i++) {
        double *to;
        bool is_sure;

        next.dims[i] = axes[i].to;
        if (shape_elements(&next) > EXACT_MOST_PRODUCTS / 64)
            return exact_refuse(call, err, "it is too large to be computed in float64");
        to = memory_alloc_zero(shape_elements(&next) + 1, sizeof(*to));
        is_sure = resize_axis(call, &axes[i], &shape, i, from != NULL ? from : exact_items(input), to);
        free(from);
        from = to;
        if (!is_sure)
            return exact_refuse(call, err, "rounding of coordinates decides which element is the nearest one");
        shape = next;
    }
    rc = exact_allocate(call, 0, input->type, &shape, &ret, err);
    for (size_t i = 0; rc == 0 && i < shape_elements(&shape); i++)
        ret[i] = exact_round(call->options, from != NULL ? from[i] : exact_items(input)[i]);
    return rc;
}

static int compute_resize(struct exact_call *call, struct error *err)
{
    struct resized_axis axes[TENSOR_MAX_RANK];

    if (!has_plain_attributes(call))
        return exact_refuse(call, err, "its mode is not computed in float64");
    if (!read_resized_axes(call, axes))
        return exact_refuse_shapes(call, err);
    return resize_all_axes(call, axes, err);
}

const struct exact_operator exact_resize_operators[] = {{"Resize", 1, false, compute_resize, NULL}, {0}};
