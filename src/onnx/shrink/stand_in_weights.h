/* onnx/shrink/stand_in_weights.h: replaces trained weights by synthetic values, so that a model can be shared.
 *
 * A weight here is an initializer of a floating type with at least two different values. A constant with a single value
 * reveals nothing of the training and is usually an operator's parameter. Not replaced are integers (shapes, axes and
 * indices), and parameters whose values operators depend on (of Resize, Range, QuantizeLinear, ...).
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

/* Replacements of a weight, the simplest first. */
enum stand_in {
    STAND_IN_NONE, /* the weight itself */
    STAND_IN_ZEROS,
    STAND_IN_ONES,
    STAND_IN_NOISE, /* with the same mean and deviation, clipped to the range of the weight */
};

/* Appends the weights that nodes of `model` use, bodies included, in the order of its initializers. Reads their data,
 * also external ones; errors are those of external_tensor_read(). */
int weights_list(struct model *model, struct weight_list *ret, struct error *err);

/* The number of floating tensors with at least two elements in attributes, bodies and functions. They may be weights,
 * too, but cannot be replaced here. */
size_t weights_count_inside(const struct model *model);

/* Replaces the values of the weight by values that depend only on its name, shape and statistics. */
int weight_replace(struct model *model, const struct weight *weight, enum stand_in kind, struct error *err);

#endif
