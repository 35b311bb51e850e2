/* onnx/edit/upper_bounds.c: see upper_bounds.h. */
#include "onnx/edit/upper_bounds.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onnx/edit/rebuild.h"
#include "onnx/edit/unused_names.h"
#include "onnx/proto/value_info.h"
#include "onnx/write/node.h"

/* Min takes integers since this operator set. */
#define INTEGER_MIN_OPSET 12

/* Sizes are int64 by definition, but those of Range. */
static enum data_type element_of(const struct model *model, uint32_t value)
{
    struct value_type type;

    value_info_decode(model->values.items[value].info, &type);
    return type.element == DATA_UNDEFINED ? DATA_INT64 : type.element;
}

static int add_bound(struct model *model, const struct upper_bound *bound, struct text name, struct error *err)
{
    enum data_type element = element_of(model, bound->value);
    int32_t narrow = bound->bound > INT32_MAX ? INT32_MAX : (int32_t)bound->bound;
    struct shape scalar = {0};
    struct tensor tensor;

    if (element != DATA_INT64 && element != DATA_INT32)
        return error_set(err, ERR_UNSUPPORTED, "%s: '" TEXT_FORMAT "' is of type %s: only integers can be bounded",
                         model->display_name, TEXT_ARGS(model->values.items[bound->value].name),
                         data_type_name(element));
    if (element == DATA_INT64)
        tensor_borrow(element, &scalar, &bound->bound, sizeof(bound->bound), &tensor);
    else
        tensor_borrow(element, &scalar, &narrow, sizeof(narrow), &tensor);
    return model_set_tensor(model, model_add_value(model, name), &tensor, err);
}

/* Makes the Min, and lets the producer call what it makes otherwise. */
static int bound_value(struct model *model, const struct upper_bound *bound, struct unused_names *names,
                       struct span *ret_min, struct rename_map *outputs, struct error *err)
{
    struct text name = model->values.items[bound->value].name;
    struct text inputs[] = {unused_names_make(names, name, "_unbounded"), unused_names_make(names, name, "_bound")};
    struct node_recipe min = {.op_type = TEXT("Min"),
                              .name = unused_names_make(names, name, "_min"),
                              .inputs = inputs,
                              .input_count = ARRAY_LEN(inputs),
                              .outputs = &name,
                              .output_count = 1};

    rename_map_add(outputs, name, inputs[0]);
    *ret_min = node_build(&model->arena, &min);
    return add_bound(model, bound, inputs[1], err);
}

static int rebuild(struct model *model, const struct upper_bound *bounds, const struct span *mins, size_t count,
                   const struct rename_map *outputs, struct error *err)
{
    struct span_list fields = {0};
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < model->nodes.count; i++) {
        struct span field = model->nodes.items[i].field;

        rc = node_rename(&model->arena, field, NULL, outputs, &field, err);
        *VECTOR_APPEND(&fields) = field;
        for (size_t k = 0; rc == 0 && k < count; k++)
            if (model->values.items[bounds[k].value].producer == i)
                *VECTOR_APPEND(&fields) = mins[k];
    }
    if (rc == 0)
        rc = model_set_nodes(model, &fields, err);
    free(fields.items);
    return rc;
}

int upper_bounds_set(struct model *model, const struct upper_bound *bounds, size_t count, struct error *err)
{
    struct rename_map outputs;
    struct unused_names names;
    struct span *mins;
    int rc = 0;

    if (count == 0)
        return 0;
    if (model_opset(model) < INTEGER_MIN_OPSET)
        return error_set(
            err, ERR_UNSUPPORTED,
            "%s: sizes are bounded by a Min of integers, which the model's operator set %lld does not have "
            "(%d does)",
            model->display_name, (long long)model_opset(model), INTEGER_MIN_OPSET);
    mins = memory_alloc_zero(count, sizeof(*mins));
    rename_map_init(&outputs);
    unused_names_init(&names, model, &model->arena);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = bound_value(model, &bounds[i], &names, &mins[i], &outputs, err);
    if (rc == 0)
        rc = rebuild(model, bounds, mins, count, &outputs, err);
    unused_names_release(&names);
    rename_map_release(&outputs);
    free(mins);
    return rc;
}
