/* onnx/shrink/stand_in_weights.h: other values in place of what a model has learnt, so that it can be passed on.
 *
 * A weight here is an initializer of a floating type with at least two different values. A constant that holds one
 * value throughout says nothing about what was learnt, and mostly is an operator's parameter. Integers are shapes, axes
 * and indices; and factors, borders and scales that operators insist on (of Resize, Range, QuantizeLinear, ...) stay,
 * too.
 */
#ifndef ONNX_SHRINK_STAND_IN_WEIGHTS_H
#define ONNX_SHRINK_STAND_IN_WEIGHTS_H

#include "onnx/model/model.h"

struct weight {
    uint32_t value;
    size_t bytes; /* of data */
    double mean, deviation, minimum, maximum;
};

struct weight_list {
    struct weight *items;
    size_t count, capacity;
};

/* What takes a weight's place, the simplest first. */
enum stand_in {
    STAND_IN_NONE, /* the weight itself */
    STAND_IN_ZEROS,
    STAND_IN_ONES,
    STAND_IN_NOISE, /* with the same mean and spread, never beyond the smallest and the largest value */
};

/* Appends the weights that nodes of `model` use, bodies included, in the order of its initializers. Reads their data,
 * also external ones; errors are those of external_tensor_read(). */
int weights_list(struct model *model, struct weight_list *ret, struct error *err);

/* How many floating tensors of two elements and more there are besides: in attributes, bodies and functions. They may
 * be weights, too, and cannot be replaced here. */
size_t weights_count_inside(const struct model *model);

/* Gives the weight other values, which depend on its name, shape and statistics alone. */
int weight_replace(struct model *model, const struct weight *weight, enum stand_in kind, struct error *err);

#endif
