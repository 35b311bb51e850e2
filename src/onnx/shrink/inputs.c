/* onnx/shrink/inputs.c: see inputs.h. */
#include "onnx/shrink/inputs.h"

#include "base/memory.h"
#include "onnx/edit/model.h"

static bool value_has_shape(const struct model *model, size_t input, struct value_type *ret)
{
    value_info_decode(model->values.items[model->inputs.items[input]].info, ret);
    return ret->not_a_tensor == NULL && ret->has_shape;
}

static size_t count_dimensions(const struct model *model, int64_t size)
{
    struct value_type type;
    size_t count = 0;

    for (size_t i = 0; i < model->inputs.count; i++)
        for (size_t axis = 0; value_has_shape(model, i, &type) && axis < type.shape.rank; axis++)
            count += type.shape.dims[axis] == size;
    return count;
}

static bool input_size_is_listed(const struct input_size_list *list, int64_t size)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].size == size)
            return true;
    return false;
}

void input_sizes_list(const struct model *model, struct input_size_list *ret)
{
    struct value_type type;
    size_t sizes;

    for (size_t i = 0; i < model->inputs.count; i++)
        for (size_t axis = 0; value_has_shape(model, i, &type) && axis < type.shape.rank; axis++)
            if (type.shape.dims[axis] > 1 && !input_size_is_listed(ret, type.shape.dims[axis]))
                *VECTOR_APPEND(ret) = (struct input_size){.size = type.shape.dims[axis], .all = true};
    sizes = ret->count;
    for (size_t k = 0; k < sizes; k++) {
        int64_t size = ret->items[k].size;

        if (count_dimensions(model, size) < 2)
            continue;
        for (size_t i = 0; i < model->inputs.count; i++)
            for (size_t axis = 0; value_has_shape(model, i, &type) && axis < type.shape.rank; axis++)
                if (type.shape.dims[axis] == size)
                    *VECTOR_APPEND(ret) =
                        (struct input_size){.size = size, .input = (uint32_t)i, .axis = (uint32_t)axis};
    }
}

#define MOST_HALVINGS 4

unsigned input_size_choices(int64_t size)
{
    unsigned halvings = 0;

    while (halvings < MOST_HALVINGS && size >> (halvings + 1) > 1)
        halvings++;
    return size > 1 ? halvings + 1 : 0;
}

int64_t input_size_after(int64_t size, unsigned choice)
{
    unsigned choices = input_size_choices(size);

    if (choice == 0 || choices == 0)
        return size;
    return choice == 1 ? 1 : size >> (choice < choices ? choices - choice + 1 : 1);
}

/* The size of one dimension after these choices. */
static int64_t find_resulting_size(const struct input_size_list *list, const uint8_t *choices, size_t input,
                                   size_t axis, int64_t size)
{
    int64_t result = size;

    for (size_t i = 0; i < list->count; i++) {
        const struct input_size *item = &list->items[i];

        if (choices[i] == 0 || item->size != size || (!item->all && (item->input != input || item->axis != axis)))
            continue;
        result = input_size_after(size, choices[i]);
    }
    return result;
}

void inputs_shrink(struct model *model, const struct input_size_list *list, const uint8_t *choices)
{
    for (size_t i = 0; i < model->inputs.count; i++) {
        struct value_type type;
        bool changed = false;

        if (!value_has_shape(model, i, &type))
            continue;
        for (size_t axis = 0; axis < type.shape.rank; axis++) {
            int64_t size = find_resulting_size(list, choices, i, axis, type.shape.dims[axis]);

            changed |= size != type.shape.dims[axis];
            type.shape.dims[axis] = size;
        }
        if (changed)
            model_set_type(model, model->inputs.items[i], &type);
    }
    model_forget_shapes(model);
}
