/* debug/models/differences.c: see differences.h. */
#include "debug/models/differences.h"

#include <stdlib.h>

#include "base/memory.h"
#include "tensor/statistics/range.h"
#include "tensor/values/element_text.h"
#include "tensor/values/elements.h"

const char *model_difference_kind_name(enum model_difference_kind kind)
{
    static const char *const names[] = {[DIFFERENT_WEIGHT] = "weight",
                                        [DIFFERENT_ATTRIBUTE] = "attribute",
                                        [DIFFERENT_INPUT] = "input",
                                        [DIFFERENT_OPERATOR] = "operator"};

    return names[kind];
}

void model_differences_release(struct model_differences *differences)
{
    free(differences->items);
    arena_release(&differences->arena);
}

void node_describe(const struct model *model, uint32_t node, struct string_builder *ret)
{
    string_add_char(ret, '\'');
    model_add_node_label(model, node, ret);
    string_add_format(ret, "' (" TEXT_FORMAT ")", TEXT_ARGS(model->nodes.items[node].op_type));
}

static struct text find_name_of(const struct model *model, uint32_t value)
{
    return model->values.items[value].name;
}

static bool is_constant_of(const struct paired_model *side, uint32_t value)
{
    return value != VALUE_NONE && side->constants[value].type != DATA_UNDEFINED;
}

/* ---- Sentences ---- */

/* A tensor of zeros or ones equals others by chance. */
static bool has_different_elements(const struct tensor *tensor)
{
    struct value_range range;

    if (elements_arithmetic(tensor->type) == ARITHMETIC_NONE)
        return tensor_elements(tensor) > 1;
    range_compute(tensor, &range);
    return range.minimum < range.maximum;
}

/* "'weight' of 'fc1' (Gemm) is transposed" */
static void describe_weight(const struct model_pairing *pairing, const struct model_difference *difference,
                            struct string_builder *ret)
{
    const struct paired_model *a = &pairing->a;
    const struct tensor *content = &pairing->b.constants[difference->value_b];

    string_add_format(ret, "'" TEXT_FORMAT "' of ", TEXT_ARGS(find_name_of(pairing->b.model, difference->value_b)));
    node_describe(pairing->b.model, difference->node_b, ret);
    string_add_char(ret, ' ');
    for (uint32_t i = 0; has_different_elements(content) && i < a->model->values.count; i++)
        if (i != difference->value_a && a->constants[i].type != DATA_UNDEFINED &&
            tensor_identical(&a->constants[i], content)) {
            string_add_format(ret, "is A's '" TEXT_FORMAT "', not '" TEXT_FORMAT "'",
                              TEXT_ARGS(find_name_of(a->model, i)),
                              TEXT_ARGS(find_name_of(a->model, difference->value_a)));
            return;
        }
    if (tensor_elements(content) == 1 && tensor_elements(&a->constants[difference->value_a]) == 1 &&
        difference->weight.kind != WEIGHT_IS_RESHAPED && difference->weight.kind != WEIGHT_IS_CONVERTED) {
        string_add(ret, "is ");
        element_to_text_alone(content, 0, ret);
        string_add(ret, ", not ");
        element_to_text_alone(&a->constants[difference->value_a], 0, ret);
        return;
    }
    weight_relation_describe(&difference->weight, ret);
}

/* A tensor of A in words of B: the name of its partner. */
static void describe_tensor_of_a(const struct model_pairing *pairing, uint32_t value_a, struct string_builder *ret)
{
    uint32_t partner = value_a != VALUE_NONE ? pairing->a.values[value_a] : VALUE_NONE;

    if (value_a == VALUE_NONE) {
        string_add(ret, "no tensor");
    } else if (partner != VALUE_NONE) {
        string_add_format(ret, "'" TEXT_FORMAT "'", TEXT_ARGS(find_name_of(pairing->b.model, partner)));
    } else {
        string_add_format(ret, "A's '" TEXT_FORMAT "'", TEXT_ARGS(find_name_of(pairing->a.model, value_a)));
        if (pairing->a.model->values.items[value_a].producer != NODE_NONE) {
            string_add(ret, ", the output of ");
            node_describe(pairing->a.model, pairing->a.model->values.items[value_a].producer, ret);
        }
    }
}

static void describe_input(const struct model_pairing *pairing, const struct model_difference *difference,
                           struct string_builder *ret)
{
    node_describe(pairing->b.model, difference->node_b, ret);
    if (difference->is_swapped) {
        string_add(ret, " has its two inputs exchanged");
        return;
    }
    if (difference->value_b == VALUE_NONE)
        string_add_format(ret, " has no input %zu; A reads ", difference->input_b);
    else
        string_add_format(ret, " reads '" TEXT_FORMAT "', not ",
                          TEXT_ARGS(find_name_of(pairing->b.model, difference->value_b)));
    describe_tensor_of_a(pairing, difference->value_a, ret);
}

static void add_difference(const struct model_pairing *pairing, struct model_difference difference,
                           struct model_differences *ret)
{
    SCOPED_STRING(sentence);

    switch (difference.kind) {
    case DIFFERENT_WEIGHT:
        describe_weight(pairing, &difference, &sentence);
        break;
    case DIFFERENT_ATTRIBUTE:
        attribute_difference_describe(&difference.attribute, &sentence);
        string_add(&sentence, ", in ");
        node_describe(pairing->b.model, difference.node_b, &sentence);
        break;
    case DIFFERENT_INPUT:
        describe_input(pairing, &difference, &sentence);
        break;
    case DIFFERENT_OPERATOR:
        string_add_format(&sentence, "'" TEXT_FORMAT "' is the output of ",
                          TEXT_ARGS(find_name_of(pairing->b.model, difference.value_b)));
        node_describe(pairing->b.model, difference.node_b, &sentence);
        string_add(&sentence, ", not of ");
        node_describe(pairing->a.model, difference.node_a, &sentence);
        break;
    }
    difference.sentence = arena_strdup(&ret->arena, sentence.data);
    *VECTOR_APPEND(ret) = difference;
}

/* ---- The differences of two nodes ---- */

static void compare_node_inputs(const struct model_pairing *pairing, uint32_t node_b, size_t input, same_tensor *same,
                                void *data, struct model_differences *ret)
{
    uint32_t node_a = pairing->b.nodes[node_b];
    const struct node *a = &pairing->a.model->nodes.items[node_a], *b = &pairing->b.model->nodes.items[node_b];
    struct model_difference difference = {.kind = DIFFERENT_INPUT,
                                          .node_a = node_a,
                                          .node_b = node_b,
                                          .input_a = model_pairing_input(pairing, node_b, input),
                                          .input_b = input};
    uint32_t value_a = node_input(pairing->a.model, a, difference.input_a);
    uint32_t value_b = node_input(pairing->b.model, b, input);

    difference.value_a = value_a;
    difference.value_b = value_b;
    if (value_a == VALUE_NONE && value_b == VALUE_NONE)
        return;
    if (is_constant_of(&pairing->a, value_a) && is_constant_of(&pairing->b, value_b)) {
        weight_relate(&pairing->a.constants[value_a], &pairing->b.constants[value_b], &difference.weight);
        if (difference.weight.kind == WEIGHT_IS_EQUAL)
            return;
        difference.kind = DIFFERENT_WEIGHT;
        difference.is_harmless = weight_relation_is_harmless(&difference.weight);
    } else if (value_a != VALUE_NONE && value_b != VALUE_NONE &&
               (same != NULL ? same(data, value_a, value_b) : pairing->b.values[value_b] == value_a)) {
        return;
    }
    add_difference(pairing, difference, ret);
}

static bool are_same_inputs(const struct model_pairing *pairing, uint32_t value_a, uint32_t value_b, same_tensor *same,
                            void *data)
{
    if (is_constant_of(&pairing->a, value_a) || is_constant_of(&pairing->b, value_b))
        return is_constant_of(&pairing->a, value_a) && is_constant_of(&pairing->b, value_b) &&
               tensor_identical(&pairing->a.constants[value_a], &pairing->b.constants[value_b]);
    return same != NULL ? same(data, value_a, value_b) : pairing->b.values[value_b] == value_a;
}

/* Whether both inputs of a node are those of its partner, in the other order. */
static bool are_inputs_exchanged(const struct model_pairing *pairing, uint32_t node_b, same_tensor *same, void *data)
{
    const struct node *b = &pairing->b.model->nodes.items[node_b];
    const struct node *a = &pairing->a.model->nodes.items[pairing->b.nodes[node_b]];
    bool straight = true, crosswise = true;

    if (a->inputs.count != 2 || b->inputs.count != 2 || model_pairing_input(pairing, node_b, 0) != 0)
        return false;
    for (size_t i = 0; i < 2; i++) {
        uint32_t value = node_input(pairing->b.model, b, i);
        uint32_t here = node_input(pairing->a.model, a, i), there = node_input(pairing->a.model, a, 1 - i);

        if (value == VALUE_NONE || here == VALUE_NONE || there == VALUE_NONE)
            return false;
        straight = straight && are_same_inputs(pairing, here, value, same, data);
        crosswise = crosswise && are_same_inputs(pairing, there, value, same, data);
    }
    return crosswise && !straight;
}

void model_differences_of_node(const struct model_pairing *pairing, uint32_t node_b, same_tensor *same, void *data,
                               struct model_differences *ret)
{
    uint32_t node_a = pairing->b.nodes[node_b];
    const struct node *a = &pairing->a.model->nodes.items[node_a], *b = &pairing->b.model->nodes.items[node_b];
    struct attribute_differences attributes SCOPED_ITEMS = {0};

    attributes_compare(a->message, b->message, &attributes);
    for (size_t i = 0; i < attributes.count; i++)
        add_difference(pairing,
                       (struct model_difference){.kind = DIFFERENT_ATTRIBUTE,
                                                 .node_a = node_a,
                                                 .node_b = node_b,
                                                 .value_a = VALUE_NONE,
                                                 .value_b = VALUE_NONE,
                                                 .attribute = attributes.items[i]},
                       ret);
    if (are_inputs_exchanged(pairing, node_b, same, data)) {
        add_difference(pairing,
                       (struct model_difference){.kind = DIFFERENT_INPUT,
                                                 .node_a = node_a,
                                                 .node_b = node_b,
                                                 .value_a = node_input(pairing->a.model, a, 0),
                                                 .value_b = node_input(pairing->b.model, b, 0),
                                                 .is_swapped = true},
                       ret);
        return;
    }
    for (size_t i = 0; i < b->inputs.count || i < a->inputs.count; i++)
        compare_node_inputs(pairing, node_b, i, same, data, ret);
}

void model_differences_find(const struct model_pairing *pairing, struct model_differences *ret)
{
    for (uint32_t i = 0; i < pairing->b.model->nodes.count; i++)
        if (pairing->b.nodes[i] != NODE_NONE)
            model_differences_of_node(pairing, i, NULL, NULL, ret);
}

void model_differences_add_operator(const struct model_pairing *pairing, uint32_t value_a, uint32_t value_b,
                                    struct model_differences *ret)
{
    add_difference(pairing,
                   (struct model_difference){.kind = DIFFERENT_OPERATOR,
                                             .node_a = pairing->a.model->values.items[value_a].producer,
                                             .node_b = pairing->b.model->values.items[value_b].producer,
                                             .value_a = value_a,
                                             .value_b = value_b},
                   ret);
}
