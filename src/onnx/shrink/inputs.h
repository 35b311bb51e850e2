/* onnx/shrink/inputs.h: reduces the sizes of a model's inputs.
 *
 * Only inputs are changed. Whether the inner nodes accept the sizes is decided by the runtime, which infers the other
 * shapes again.
 */
#ifndef ONNX_SHRINK_INPUTS_H
#define ONNX_SHRINK_INPUTS_H

#include "onnx/model/model.h"

/* Dimensions that are changed together: all dimensions of one size, or a single dimension. */
struct input_size {
    int64_t size;
    bool all;
    uint32_t input; /* for a single dimension: index among the model's inputs */
    uint32_t axis;  /* for a single dimension */
};

struct input_size_list {
    struct input_size *items;
    size_t count, capacity;
};

/* Appends the sizes above 1 of the model's inputs, each once; then the single dimensions of sizes that occur several
 * times. */
void input_sizes_list(const struct model *model, struct input_size_list *ret);

/* The size after a choice: unchanged for 0, 1 for 1; then, in ascending order, those of a sixteenth, an eighth, a
 * quarter and a half of it that are above 1. */
unsigned input_size_choices(int64_t size); /* number of choices besides 0 */
int64_t input_size_after(int64_t size, unsigned choice);

/* Applies these choices, one for each item of the list. The choice of a single dimension overrides that of its size.
 * Shapes inside the model are dropped. */
void inputs_shrink(struct model *model, const struct input_size_list *list, const uint8_t *choices);

#endif
