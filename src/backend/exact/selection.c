/* backend/exact/selection.c: TopK, and elements by indices along one axis. */
#include <stdlib.h>
#include <string.h>

#include "backend/exact/kernels.h"
#include "base/memory.h"
#include "onnx/proto/node_attribute.h"

/* A tensor as rows along one axis. */
struct axis_rows {
    size_t outer, size, inner; /* elements before the axis, on it, behind it */
};

static struct axis_rows split_rows(const struct shape *shape, size_t axis)
{
    return (struct axis_rows){shape_extent(shape, 0, axis), (size_t)shape->dims[axis],
                              shape_extent(shape, axis + 1, shape->rank)};
}

/* ---- TopK ---- */

struct ranked {
    double key; /* the greater, the earlier */
    double value;
    size_t index;
};

/* Of equal elements the one of the lower index comes first. */
static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

static int compute_topk(struct exact_call *call, struct error *err)
{
    int64_t axis = node_attribute_integer(call->node->message, "axis", -1), count = 0;
    double sign = node_attribute_integer(call->node->message, "largest", 1) != 0 ? 1 : -1;
    double *values, *indices;
    struct ranked *row SCOPED_FREE = NULL;
    struct shape shape = *exact_shape(call->inputs[0]);
    struct axis_rows rows;
    int rc;

    if (!exact_normalize_axis(&axis, shape.rank) || exact_read_integers(call->inputs[1], &count) != 1 || count < 0 ||
        count > shape.dims[axis] || call->output_count != 2)
        return exact_refuse_shapes(call, err);
    rows = split_rows(&shape, (size_t)axis);
    shape.dims[axis] = count;
    rc = exact_allocate(call, 0, call->inputs[0]->type, &shape, &values, err);
    if (rc < 0)
        return rc;
    rc = exact_allocate(call, 1, DATA_INT64, &shape, &indices, err);
    if (rc < 0 || shape_elements(&shape) == 0)
        return rc;
    row = memory_alloc_zero(rows.size + 1, sizeof(*row));
    for (size_t at = 0; at < rows.outer * rows.inner; at++) {
        size_t from = at / rows.inner * rows.size * rows.inner + at % rows.inner;
        size_t to = at / rows.inner * (size_t)count * rows.inner + at % rows.inner;

        for (size_t i = 0; i < rows.size; i++) {
            double value = exact_items(call->inputs[0])[from + i * rows.inner];

            row[i] = (struct ranked){sign * value, value, i};
        }
        qsort(row, rows.size, sizeof(*row), compare_ranked);
        for (size_t i = 0; i < (size_t)count; i++) {
            values[to + i * rows.inner] = row[i].value;
            indices[to + i * rows.inner] = (double)row[i].index;
        }
    }
    return 0;
}

/* ---- Indices ---- */

/* Element `at` of `indices` names an element of `data`: its offset, or SIZE_MAX where it is out of range. */
static size_t find_element(const struct shape *data, const struct exact_value *indices, size_t axis, size_t at)
{
    const struct shape *shape = exact_shape(indices);
    double index = exact_items(indices)[at];
    size_t ret = 0, stride = 1;

    index += index < 0 ? (double)data->dims[axis] : 0;
    if (!(index >= 0 && index < (double)data->dims[axis]))
        return SIZE_MAX;
    for (size_t i = data->rank; i-- > 0;) {
        size_t place = i == axis ? (size_t)index : at % (size_t)shape->dims[i];

        if (place >= (size_t)data->dims[i])
            return SIZE_MAX;
        ret += place * stride;
        stride *= (size_t)data->dims[i];
        at /= (size_t)shape->dims[i];
    }
    return ret;
}

static int gather_elements(struct exact_call *call, size_t axis, struct error *err)
{
    const struct exact_value *data = call->inputs[0], *indices = call->inputs[1];
    double *ret;
    int rc = exact_allocate(call, 0, data->type, exact_shape(indices), &ret, err);

    for (size_t i = 0; rc == 0 && i < exact_count(indices); i++) {
        size_t at = find_element(exact_shape(data), indices, axis, i);

        if (at == SIZE_MAX)
            return exact_refuse_shapes(call, err);
        ret[i] = exact_items(data)[at];
    }
    return rc;
}

static int scatter_elements(struct exact_call *call, size_t axis, struct error *err)
{
    const struct exact_value *data = call->inputs[0], *indices = call->inputs[1], *updates = exact_input(call, 2);
    double *ret;
    int rc;

    if (!text_equal_string(exact_text_attribute(call, "reduction", "none"), "none"))
        return exact_refuse(call, err, "its reduction is not computed in float64");
    if (updates == NULL || !shape_equal(exact_shape(updates), exact_shape(indices)))
        return exact_refuse_shapes(call, err);
    rc = exact_allocate(call, 0, data->type, exact_shape(data), &ret, err);
    if (rc < 0)
        return rc;
    memcpy(ret, exact_items(data), exact_count(data) * sizeof(*ret));
    for (size_t i = 0; i < exact_count(indices); i++) {
        size_t at = find_element(exact_shape(data), indices, axis, i);

        if (at == SIZE_MAX)
            return exact_refuse_shapes(call, err);
        ret[at] = exact_items(updates)[i];
    }
    return 0;
}

static int select_elements(struct exact_call *call, struct error *err)
{
    int64_t axis = node_attribute_integer(call->node->message, "axis", 0);

    if (!exact_normalize_axis(&axis, exact_shape(call->inputs[0])->rank) ||
        exact_shape(call->inputs[0])->rank != exact_shape(call->inputs[1])->rank)
        return exact_refuse_shapes(call, err);
    return node_is(call->node, "GatherElements") ? gather_elements(call, (size_t)axis, err)
                                                 : scatter_elements(call, (size_t)axis, err);
}

const struct exact_operator exact_selection_operators[] = {
    {"TopK", 2, false, compute_topk, NULL},
    {"GatherElements", 2, false, select_elements, NULL},
    {"ScatterElements", 2, false, select_elements, NULL},
    {0},
};
