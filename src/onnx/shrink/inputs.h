/* onnx/shrink/inputs.h: a model whose inputs are smaller.
 *
 * Only inputs are changed. Whether what is inside still fits is for the runtime to say, which then works the other
 * shapes out anew.
 */
#ifndef ONNX_SHRINK_INPUTS_H
#define ONNX_SHRINK_INPUTS_H

#include "onnx/model/model.h"

/* Dimensions that are changed together: all of one size, or a single one. */
struct input_size {
    int64_t size;
    bool all;
    uint32_t input; /* position among the model's inputs, and */
    uint32_t axis;  /* of the dimension; for a single one */
};

struct input_size_list {
    struct input_size *items;
    size_t count, capacity;
};

/* Appends the sizes above 1 that inputs of `model` have, each once; then those of which there are several, one by
 * one. */
void input_sizes_list(const struct model *model, struct input_size_list *ret);

/* What a size becomes by a choice: itself for 0, 1 for 1; then, the smallest first, those among a sixteenth, an eighth,
 * a quarter and half of it that are above 1. */
unsigned input_size_choices(int64_t size); /* how many there are beside 0 */
int64_t input_size_after(int64_t size, unsigned choice);

/* Gives the inputs the sizes of these choices, one for each item of the list. A single dimension's choice goes before
 * that of its size. Shapes inside the model are forgotten. */
void inputs_shrink(struct model *model, const struct input_size_list *list, const uint8_t *choices);

#endif
