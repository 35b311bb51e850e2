/* onnx/inputs/pass.c: see pass.h. */
#include "onnx/inputs/pass.h"

#include "base/memory.h"
#include "onnx/inputs/operators.h"
#include "onnx/proto/node_attribute.h"

void pass_add_initializers(struct pass *pass)
{
    VECTOR_EACH (const struct initializer, initializer, pass->model->initializers)
        if (!initializer->sparse)
            pass_read_tensor(pass, initializer->message, &pass->facts[initializer->value]);
}

static void add_constant_node(struct pass *pass, const struct node *node)
{
    struct span tensor = node_attribute_tensor(node->message, "value");
    uint32_t output = node_output(pass->model, node, 0);
    int64_t integers[FACT_MOST_NUMBERS];
    struct tensor numbers;
    struct shape shape = {0};
    struct span found;
    size_t count = 1;

    if (output == VALUE_NONE)
        return;
    if (tensor.data != NULL) {
        pass_read_tensor(pass, tensor, &pass->facts[output]);
        return;
    }
    if (node_attribute_find(node->message, "value_int", &found)) {
        integers[0] = node_attribute_integer(node->message, "value_int", 0);
    } else if (node_attribute_find(node->message, "value_ints", &found)) {
        count = node_attribute_integers(node->message, "value_ints", integers, FACT_MOST_NUMBERS);
        shape = (struct shape){.rank = 1, .dims = {(int64_t)count}};
    } else {
        if (node_attribute_find(node->message, "value_float", &found))
            pass_set_constant(pass, &pass->facts[output], &shape, NULL);
        return;
    }
    if (count > FACT_MOST_NUMBERS) {
        pass_set_constant(pass, &pass->facts[output], &shape, NULL);
        return;
    }
    tensor_borrow(DATA_INT64, &shape, integers, count * sizeof(integers[0]), &numbers);
    pass_set_constant(pass, &pass->facts[output], &shape, &numbers);
}

/* ---- The walk ---- */

static operator_facts find_in_table(const struct known_operator *table, struct text op_type)
{
    for (size_t i = 0; table[i].op_type != NULL; i++)
        if (text_equal_string(op_type, table[i].op_type))
            return table[i].function;
    return NULL;
}

static operator_facts find_operator(const struct node *node)
{
    static const struct known_operator *const standard[] = {elementwise_operators, shape_operators, moving_operators,
                                                            index_operators, layer_operators};
    static const struct known_operator *const others[] = {attention_operators, quantized_index_operators};
    operator_facts ret = NULL;

    if (domain_is_standard(node->domain))
        for (size_t i = 0; i < ARRAY_LEN(standard) && ret == NULL; i++)
            ret = find_in_table(standard[i], node->op_type);
    for (size_t i = 0; i < ARRAY_LEN(others) && ret == NULL; i++)
        ret = find_in_table(others[i], node->op_type);
    return ret;
}

/* What the model itself says of an output of which nothing is known. */
static void add_stated_shape(struct pass *pass, uint32_t value)
{
    struct fact *fact = &pass->facts[value];
    struct value_type type;

    value_info_decode(pass->model->values.items[value].info, &type);
    if (type.not_a_tensor != NULL || !type.has_shape || (fact->has_shape && fact->rank != type.shape.rank))
        return;
    if (!fact->has_shape) {
        fact->has_shape = true;
        fact->rank = type.shape.rank;
        fact->dims = pass_copy(pass, NULL, fact->rank);
    }
    for (size_t i = 0; i < fact->rank; i++)
        if (!fact->dims[i].known && type.shape.dims[i] >= 0)
            fact->dims[i] = dimension_constant(type.shape.dims[i]);
}

/* A size of which nothing is known is a variable of its own: what is computed of it can be compared. */
static void name_unknown_sizes(struct pass *pass, uint32_t value)
{
    struct fact *fact = &pass->facts[value];

    for (size_t i = 0; pass->proves && i < fact->rank; i++)
        if (!fact->dims[i].known)
            fact->dims[i] = dimension_variable(dimension_system_add(pass->system));
}

static bool has_known_outputs(const struct pass *pass, const struct node *node)
{
    for (size_t i = 0; i < node->outputs.count; i++) {
        uint32_t value = model_edge(pass->model, node->outputs, i);
        const struct fact *fact = value != VALUE_NONE ? &pass->facts[value] : NULL;

        if (fact != NULL && !fact->has_shape)
            return false;
        for (size_t k = 0; fact != NULL && k < fact->rank; k++)
            if (!fact->dims[k].known)
                return false;
    }
    return true;
}

void pass_run(struct pass *pass)
{
    const struct model *model = pass->model;

    pass->unknown = 0;
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];
        operator_facts function = find_operator(node);

        pass->node = i;
        if (node_is(node, "Constant"))
            add_constant_node(pass, node);
        else if (function != NULL)
            function(pass, node);
        for (size_t k = 0; k < node->outputs.count; k++) {
            uint32_t value = model_edge(model, node->outputs, k);

            if (value == VALUE_NONE)
                continue;
            add_stated_shape(pass, value);
            name_unknown_sizes(pass, value);
        }
        pass->unknown += !has_known_outputs(pass, node);
    }
}
