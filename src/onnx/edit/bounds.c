/* onnx/edit/bounds.c: see bounds.h. */
#include "onnx/edit/bounds.h"

#include "base/memory.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/node.h"
#include "onnx/edit/rebuild.h"
#include "onnx/model/unused_names.h"
#include "onnx/proto/value_info.h"

/* ---- Unbounded sizes ---- */

/* Operators and the index of their input with sizes. */
static const struct {
    const char *op_type;
    uint32_t input;
} operators[] = {{"Range", 1}, {"Pad", 1}, {"Tile", 1}, {"Expand", 1}, {"Resize", 3}};

static bool value_is_constant(const struct model *model, uint32_t value)
{
    const struct value *v = &model->values.items[value];

    return v->initializer != INITIALIZER_NONE ||
           (v->producer != NODE_NONE && text_equal_string(model->nodes.items[v->producer].op_type, "Constant"));
}

/* Whether a node's output is bounded by a constant. */
static bool node_is_bounding(const struct model *model, const struct node *node)
{
    if (!text_equal_string(node->op_type, "Min"))
        return false;
    for (size_t i = 0; i < node->inputs.count; i++)
        if (model_edge(model, node->inputs, i) != VALUE_NONE &&
            value_is_constant(model, model_edge(model, node->inputs, i)))
            return true;
    return false;
}

/* The tensor from which `node` reads sizes, if it is computed and not bounded; else VALUE_NONE. */
static uint32_t find_size_inputs(const struct model *model, const struct node *node)
{
    for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
        const struct node *producer;
        uint32_t value;

        if (!text_equal_string(node->op_type, operators[i].op_type) || node->inputs.count <= operators[i].input)
            continue;
        value = model_edge(model, node->inputs, operators[i].input);
        producer = model_producer(model, value);
        if (producer == NULL || value_is_constant(model, value) || node_is_bounding(model, producer))
            return VALUE_NONE;
        return value;
    }
    return VALUE_NONE;
}

static bool dimension_has_symbol(const struct value_type *type, struct text symbol)
{
    for (size_t i = 0; type->has_shape && i < type->shape.rank; i++)
        if (type->shape.dims[i] < 0 && text_equal(type->symbols[i], symbol))
            return true;
    return false;
}

static bool input_has_symbol(const struct model *model, const struct node *node, struct text symbol)
{
    for (size_t i = 0; i < node->inputs.count; i++) {
        uint32_t value = model_edge(model, node->inputs, i);
        struct value_type type;

        if (value == VALUE_NONE)
            continue;
        value_info_decode(model->values.items[value].info, &type);
        if (dimension_has_symbol(&type, symbol))
            return true;
    }
    return false;
}

/* Whether the result has an unknown dimension, or a symbolic one that no input has. */
static bool makes_dimension(const struct model *model, const struct node *node)
{
    uint32_t output = node_output(model, node, 0);
    struct value_type type;

    if (output == VALUE_NONE)
        return false;
    value_info_decode(model->values.items[output].info, &type);
    for (size_t i = 0; type.has_shape && i < type.shape.rank; i++)
        if (type.shape.dims[i] < 0 && (type.symbols[i].size == 0 || !input_has_symbol(model, node, type.symbols[i])))
            return true;
    return !type.has_shape;
}

void unbounded_shapes_find(const struct model *model, struct value_list *ret)
{
    struct bitset listed SCOPED(bitset_release) = {0};

    value_list_to_set(ret, model->values.count, &listed);
    VECTOR_EACH (const struct node, node, model->nodes) {
        uint32_t value = find_size_inputs(model, node);

        if (value == VALUE_NONE || bitset_has(&listed, value) || !makes_dimension(model, node))
            continue;
        bitset_add(&listed, value);
        value_list_add(ret, value);
    }
}

/* ---- Bounds ---- */

/* Min supports integers since this operator set. */
#define INTEGER_MIN_OPSET 12

/* Sizes are int64 by definition, except those of Range. */
static enum data_type size_element_type(const struct model *model, uint32_t value)
{
    struct value_type type;

    value_info_decode(model->values.items[value].info, &type);
    return type.element == DATA_UNDEFINED ? DATA_INT64 : type.element;
}

static int add_size_bound(struct model *model, const struct upper_bound *bound, struct text name, struct error *err)
{
    enum data_type element = size_element_type(model, bound->value);
    int32_t narrow = bound->bound > INT32_MAX ? INT32_MAX : (int32_t)bound->bound;
    struct shape scalar = {0};
    struct tensor tensor;

    if (element != DATA_INT64 && element != DATA_INT32)
        return error_set(
            err, ERR_UNSUPPORTED, "%s: cannot bound '" TEXT_FORMAT "' of type %s: only integers can be bounded",
            model->display_name, TEXT_ARGS(model->values.items[bound->value].name), data_type_name(element));
    if (element == DATA_INT64)
        tensor_borrow(element, &scalar, &bound->bound, sizeof(bound->bound), &tensor);
    else
        tensor_borrow(element, &scalar, &narrow, sizeof(narrow), &tensor);
    return model_set_tensor(model, model_add_value(model, name), &tensor, err);
}

/* Creates the Min and renames the producer's output. */
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
    return add_size_bound(model, bound, inputs[1], err);
}

int upper_bounds_set(struct model *model, const struct upper_bound *bounds, size_t count, struct error *err)
{
    struct span_list fields SCOPED_ITEMS = {0};
    struct rename_map outputs SCOPED(rename_map_release) = {0};
    struct unused_names names SCOPED(unused_names_release) = {0};
    struct span *mins SCOPED_FREE = NULL;
    int rc;

    if (count == 0)
        return 0;
    if (model_opset(model) < INTEGER_MIN_OPSET)
        return error_set(
            err, ERR_UNSUPPORTED,
            "%s: bounding sizes requires a Min for integers: the model uses operator set %lld, at least %d is needed",
            model->display_name, (long long)model_opset(model), INTEGER_MIN_OPSET);
    mins = memory_alloc_zero(count, sizeof(*mins));
    unused_names_init(&names, model, &model->arena);
    for (size_t i = 0; i < count; i++) {
        rc = bound_value(model, &bounds[i], &names, &mins[i], &outputs, err);
        if (rc < 0)
            return rc;
    }
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        struct span field;

        rc = node_rename(&model->arena, model->nodes.items[i].field, NULL, &outputs, &field, err);
        if (rc < 0)
            return rc;
        *VECTOR_APPEND(&fields) = field;
        for (size_t k = 0; k < count; k++)
            if (model->values.items[bounds[k].value].producer == i)
                *VECTOR_APPEND(&fields) = mins[k];
    }
    return model_set_nodes(model, &fields, err);
}
