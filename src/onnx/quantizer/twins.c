/* onnx/quantizer/twins.c: see twins.h. */
#include "onnx/quantizer/twins.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "onnx/external/tensor.h"
#include "onnx/model/model.h"
#include "onnx/model/subgraph.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/quantizer/faults.h"
#include "onnx/quantizer/integer_operators.h"
#include "onnx/quantizer/likeness.h"
#include "onnx/quantizer/parameters.h"
#include "onnx/quantizer/quantizer.h"
#include "tensor/values/elements.h"

enum {
    MOST_READERS = 64, /* consumers of a tensor in a forward step: all pairs are compared */
    MOST_ROUNDS = 64,  /* repetitions of forward and backward steps */
    SAMPLED_RUNS = 64, /* runs of a constant that are compared with its twin */
};

#define HALF_A_STEP 0.501F /* maximum rounding error, in scales */
#define LEAST_COSINE 0.5   /* minimum cosine similarity of twin constants: clipping half of the values leaves more */

/* One of the two models. */
struct side {
    struct model *model;
    uint32_t *as;      /* by value: the tensor before all quantizers and copies */
    uint32_t *partner; /* by value after `as`: its twin in the other model, or VALUE_NONE */
    uint32_t *node_partner;
    struct value_readers readers;
};

struct twin_matching {
    struct side quantized, plain;
    struct value_list pairs; /* values of the quantized model that have a partner, in the order of finding */
    const char **why_not;    /* by value of the quantized model; NULL: none known */
    struct bound {
        float least, largest;
    } * bounds; /* by value of the quantized model: see struct quantizer_twin */
    struct arena *arena;
};

static bool node_is_passed_through(const struct node *node)
{
    return node_quantizes(node) || node_dequantizes(node) || (node_is(node, "Identity") && node->inputs.count == 1);
}

/* One pass is enough if nodes are sorted. */
static void init_matching_side(struct side *side, struct model *model)
{
    *side = (struct side){.model = model};
    side->as = memory_alloc((model->values.count + 1) * sizeof(*side->as));
    side->partner = memory_alloc((model->values.count + 1) * sizeof(*side->partner));
    side->node_partner = memory_alloc((model->nodes.count + 1) * sizeof(*side->node_partner));
    for (uint32_t i = 0; i < model->values.count; i++) {
        side->as[i] = i;
        side->partner[i] = VALUE_NONE;
    }
    for (size_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];
        uint32_t from = node_input(model, node, 0), to = node_output(model, node, 0);

        side->node_partner[i] = NODE_NONE;
        if (node_is_passed_through(node) && from != VALUE_NONE && to != VALUE_NONE)
            side->as[to] = side->as[from];
    }
    value_readers_init(&side->readers, model, side->as);
}

static void release_matching_side(struct side *side)
{
    free(side->as);
    free(side->partner);
    free(side->node_partner);
    value_readers_release(&side->readers);
}

static uint32_t side_operand(const struct side *side, const struct node *node, size_t i)
{
    uint32_t value = node_operand(side->model, node, i);

    return value != VALUE_NONE ? side->as[value] : VALUE_NONE;
}

static uint32_t side_node_number(const struct side *side, const struct node *node)
{
    return (uint32_t)(node - side->model->nodes.items);
}

/* ---- Pairs ---- */

/* Shapes known in both models must be equal; the twin of a constant must be a constant. */
static const char *why_not_alike(const struct twin_matching *matching, uint32_t quantized, uint32_t plain)
{
    const struct model *a = matching->quantized.model, *b = matching->plain.model;
    bool a_is_constant = a->values.items[quantized].initializer != INITIALIZER_NONE;
    bool b_is_constant = b->values.items[plain].initializer != INITIALIZER_NONE;
    struct value_type of_a, of_b;

    if (a_is_constant != b_is_constant)
        return arena_printf(matching->arena, "it is %s here, and '" TEXT_FORMAT "' of the float model is %s",
                            a_is_constant ? "a constant" : "computed", TEXT_ARGS(b->values.items[plain].name),
                            b_is_constant ? "a constant" : "computed");
    quantizer_tensor_type(a, NULL, quantized, &of_a);
    quantizer_tensor_type(b, NULL, plain, &of_b);
    if (!of_a.has_shape || !of_b.has_shape)
        return NULL;
    for (size_t i = 0; i < of_a.shape.rank; i++)
        if (of_a.shape.rank != of_b.shape.rank ||
            (of_a.shape.dims[i] >= 0 && of_b.shape.dims[i] >= 0 && of_a.shape.dims[i] != of_b.shape.dims[i]))
            return arena_printf(matching->arena, "'" TEXT_FORMAT "' of the float model has another shape",
                                TEXT_ARGS(b->values.items[plain].name));
    return of_a.shape.rank == of_b.shape.rank ? NULL : "its twin in the float model has another rank";
}

static void pair_values(struct twin_matching *matching, uint32_t quantized, uint32_t plain)
{
    struct side *a = &matching->quantized, *b = &matching->plain;

    if (quantized == VALUE_NONE || plain == VALUE_NONE || a->partner[quantized] == plain)
        return;
    if (a->partner[quantized] != VALUE_NONE || b->partner[plain] != VALUE_NONE) {
        matching->why_not[quantized] = a->partner[quantized] != VALUE_NONE
                                           ? "several tensors of the float model correspond to it"
                                           : "its twin in the float model is also the twin of another tensor";
        return;
    }
    matching->why_not[quantized] = why_not_alike(matching, quantized, plain);
    if (matching->why_not[quantized] != NULL)
        return;
    a->partner[quantized] = plain;
    b->partner[plain] = quantized;
    *VECTOR_APPEND(&matching->pairs) = quantized;
}

static bool producers_are_alike(const struct twin_matching *matching, uint32_t quantized, uint32_t plain)
{
    const struct node *a = model_producer(matching->quantized.model, quantized);
    const struct node *b = model_producer(matching->plain.model, plain);

    if (a == NULL || b == NULL)
        return a == b;
    return nodes_are_alike(matching->quantized.model, a, matching->plain.model, b);
}

/* Whether the inputs of an Add or Mul are swapped. */
static bool operands_are_swapped(const struct twin_matching *matching, const struct node *quantized,
                                 const struct node *plain)
{
    uint32_t a = side_operand(&matching->quantized, quantized, 0), b = side_operand(&matching->quantized, quantized, 1);
    uint32_t c = side_operand(&matching->plain, plain, 0), d = side_operand(&matching->plain, plain, 1);
    struct text op_type = node_float_operator(quantized);

    if (!text_equal_string(op_type, "Add") && !text_equal_string(op_type, "Mul"))
        return false;
    return !(producers_are_alike(matching, a, c) && producers_are_alike(matching, b, d)) &&
           producers_are_alike(matching, a, d) && producers_are_alike(matching, b, c);
}

static void pair_nodes_only(struct twin_matching *matching, const struct node *quantized, const struct node *plain)
{
    uint32_t of_quantized = side_node_number(&matching->quantized, quantized);
    uint32_t of_plain = side_node_number(&matching->plain, plain);

    matching->quantized.node_partner[of_quantized] = of_plain;
    matching->plain.node_partner[of_plain] = of_quantized;
}

static void pair_operands(struct twin_matching *matching, const struct node *quantized, const struct node *plain)
{
    size_t count = node_operand_count(matching->quantized.model, quantized);
    size_t swap = count == 2 && operands_are_swapped(matching, quantized, plain);

    pair_nodes_only(matching, quantized, plain);
    for (size_t i = 0; i < count; i++)
        pair_values(matching, side_operand(&matching->quantized, quantized, i),
                    side_operand(&matching->plain, plain, i ^ swap));
}

static void pair_nodes(struct twin_matching *matching, const struct node *quantized, const struct node *plain)
{
    const struct model *a = matching->quantized.model, *b = matching->plain.model;

    pair_operands(matching, quantized, plain);
    for (size_t i = 0; i < quantized->outputs.count && i < plain->outputs.count; i++)
        pair_values(matching, model_edge(a, quantized->outputs, i), model_edge(b, plain->outputs, i));
}

static bool nodes_are_unpaired(const struct twin_matching *matching, const struct node *quantized,
                               const struct node *plain)
{
    return matching->quantized.node_partner[side_node_number(&matching->quantized, quantized)] == NODE_NONE &&
           matching->plain.node_partner[side_node_number(&matching->plain, plain)] == NODE_NONE;
}

/* ---- Backward: producers of a pair ---- */

/* A bound of a Clip, an attribute or a constant; `fallback` if it has none. */
static float read_clip_bound(struct model *model, const struct node *clip, size_t input, float fallback)
{
    uint32_t value = node_input(model, clip, input);
    uint32_t initializer = value != VALUE_NONE ? model->values.items[value].initializer : INITIALIZER_NONE;
    struct tensor tensor SCOPED(tensor_release) = {0};
    float bound = NAN;

    if (value == VALUE_NONE)
        return node_attribute_float(clip->message, input == 1 ? "min" : "max", fallback);
    if (initializer == INITIALIZER_NONE ||
        external_tensor_borrow(model, model->initializers.items[initializer].message, &tensor, NULL) < 0)
        return NAN;
    if (elements_arithmetic(tensor.type) == ARITHMETIC_FLOAT32 && tensor_elements(&tensor) == 1)
        elements_to_float32(&tensor, 0, 1, &bound);
    return bound;
}

/* If a Relu or Clip produces `*plain` and is the only consumer of its input, sets `*plain` to that input and `*ret` to
 * the bounds. */
static bool step_over_activation(struct twin_matching *matching, uint32_t *plain, struct bound *ret)
{
    struct side *side = &matching->plain;
    const struct node *node = model_producer(side->model, *plain);
    uint32_t before = node != NULL ? side_operand(side, node, 0) : VALUE_NONE;

    if (before == VALUE_NONE || value_read_count(&side->readers, before) != 1)
        return false;
    *ret = (struct bound){0, INFINITY};
    if (node_is(node, "Clip"))
        *ret = (struct bound){read_clip_bound(side->model, node, 1, -INFINITY),
                              read_clip_bound(side->model, node, 2, INFINITY)};
    else if (!node_is(node, "Relu"))
        return false;
    *plain = before;
    return !isnan(ret->least) && !isnan(ret->largest);
}

/* Handles a batch normalization that was folded into the preceding weights: pairs only the other operands of that
 * node. */
static bool pair_in_front_of_normalization(struct twin_matching *matching, const struct node *quantized, uint32_t plain)
{
    struct side *side = &matching->plain;
    const struct node *node = model_producer(side->model, plain), *before;
    uint32_t value = node != NULL && node_is(node, "BatchNormalization") ? side_operand(side, node, 0) : VALUE_NONE;

    before = model_producer(side->model, value);
    if (before == NULL || !text_equal(node_float_operator(quantized), before->op_type) ||
        !nodes_are_unpaired(matching, quantized, before))
        return false;
    pair_nodes_only(matching, quantized, before);
    pair_values(matching, side_operand(&matching->quantized, quantized, 0), side_operand(side, before, 0));
    for (size_t i = 1; i < 3; i++) {
        uint32_t weight = side_operand(&matching->quantized, quantized, i);

        if (weight != VALUE_NONE)
            matching->why_not[weight] = "a BatchNormalization of the float model was folded into it";
    }
    return true;
}

/* Handles a Gemm that replaced a MatMul and an Add: pairs its operands with theirs. */
static bool pair_product_and_sum(struct twin_matching *matching, const struct node *quantized, uint32_t plain)
{
    struct side *side = &matching->plain;
    const struct node *sum = model_producer(side->model, plain), *product = NULL;
    uint32_t addend = VALUE_NONE;

    if (!text_equal_string(node_float_operator(quantized), "Gemm") || sum == NULL || !node_is(sum, "Add") ||
        node_attribute_integer(quantized->message, "transA", 0) != 0)
        return false;
    for (size_t i = 0; i < 2 && product == NULL; i++) {
        uint32_t value = side_operand(side, sum, i);

        product = model_producer(side->model, value);
        if (product != NULL && !node_is(product, "MatMul"))
            product = NULL;
        addend = side_operand(side, sum, 1 - i);
    }
    if (product == NULL || !nodes_are_unpaired(matching, quantized, product))
        return false;
    pair_nodes_only(matching, quantized, product);
    for (size_t i = 0; i < 2; i++)
        pair_values(matching, side_operand(&matching->quantized, quantized, i), side_operand(side, product, i));
    pair_values(matching, side_operand(&matching->quantized, quantized, 2), addend);
    return true;
}

static void note_difference(struct twin_matching *matching, const struct node *quantized, const struct node *plain)
{
    size_t count = node_operand_count(matching->quantized.model, quantized);
    const char *why = NULL;

    for (size_t i = 0; i < count; i++) {
        uint32_t value = side_operand(&matching->quantized, quantized, i);

        if (value == VALUE_NONE || matching->why_not[value] != NULL)
            continue;
        if (why == NULL)
            why = arena_printf(
                matching->arena,
                "its consumer is node '%s' (" TEXT_FORMAT "), where the float model has %s" TEXT_FORMAT,
                model_node_label(matching->quantized.model, side_node_number(&matching->quantized, quantized)),
                TEXT_ARGS(quantized->op_type), plain != NULL ? "another one, " : "no node",
                plain != NULL ? (int)plain->op_type.size : 0, plain != NULL ? plain->op_type.data : "");
        matching->why_not[value] = why;
    }
}

static void pair_backward(struct twin_matching *matching, uint32_t quantized)
{
    uint32_t plain = matching->quantized.partner[quantized], before = plain;
    const struct node *a = model_producer(matching->quantized.model, quantized),
                      *b = model_producer(matching->plain.model, plain);
    struct bound bound;

    if (a == NULL || (b != NULL && !nodes_are_unpaired(matching, a, b)))
        return;
    if (b != NULL && nodes_are_alike(matching->quantized.model, a, matching->plain.model, b)) {
        pair_nodes(matching, a, b);
        return;
    }
    if (step_over_activation(matching, &before, &bound)) {
        const struct node *c = model_producer(matching->plain.model, before);

        if (c != NULL && nodes_are_unpaired(matching, a, c) &&
            nodes_are_alike(matching->quantized.model, a, matching->plain.model, c)) {
            matching->bounds[quantized] = bound;
            pair_operands(matching, a, c);
            return;
        }
    } else {
        before = plain;
    }
    if (pair_in_front_of_normalization(matching, a, before) || pair_product_and_sum(matching, a, before)) {
        if (before != plain)
            matching->bounds[quantized] = bound;
        return;
    }
    note_difference(matching, a, b);
}

/* ---- Forward: consumers of a pair ---- */

static bool node_is_candidate(const struct twin_matching *matching, struct value_read quantized,
                              struct value_read plain)
{
    const struct node *a = &matching->quantized.model->nodes.items[quantized.node];
    const struct node *b = &matching->plain.model->nodes.items[plain.node];

    return quantized.input < a->inputs.count && plain.input < b->inputs.count && !node_is_passed_through(a) &&
           !node_is_passed_through(b) && nodes_are_unpaired(matching, a, b) &&
           (quantized.input == plain.input || node_is_on_integers(a)) &&
           nodes_are_alike(matching->quantized.model, a, matching->plain.model, b);
}

static bool node_names_agree(const struct twin_matching *matching, struct value_read quantized, struct value_read plain)
{
    const struct node *a = &matching->quantized.model->nodes.items[quantized.node];
    const struct node *b = &matching->plain.model->nodes.items[plain.node];

    return a->name.size > 0 && text_equal(a->name, b->name);
}

/* The only matching consumer in the float model, if it matches no other consumer in the quantized model; of several,
 * the one with the same name. NODE_NONE if it is ambiguous or there is none. */
static uint32_t find_matching_reader(const struct twin_matching *matching, uint32_t value, struct value_read read)
{
    const struct side *a = &matching->quantized, *b = &matching->plain;
    uint32_t plain = a->partner[value];
    size_t fitting = 0, named = 0, rivals = 0;
    struct value_read found = {NODE_NONE, 0}, found_by_name = {NODE_NONE, 0};

    for (size_t i = 0; i < value_read_count(&b->readers, plain); i++) {
        struct value_read other = value_read_at(&b->readers, plain, i);

        if (!node_is_candidate(matching, read, other))
            continue;
        fitting++;
        found = other;
        if (node_names_agree(matching, read, other)) {
            named++;
            found_by_name = other;
        }
    }
    for (size_t i = 0; fitting == 1 && i < value_read_count(&a->readers, value); i++)
        rivals += node_is_candidate(matching, value_read_at(&a->readers, value, i), found);
    if (fitting == 1 && rivals == 1)
        return found.node;
    return named == 1 ? found_by_name.node : NODE_NONE;
}

static void pair_forward(struct twin_matching *matching, uint32_t quantized)
{
    const struct side *a = &matching->quantized, *b = &matching->plain;
    size_t count = value_read_count(&a->readers, quantized);

    if (count > MOST_READERS || value_read_count(&b->readers, a->partner[quantized]) > MOST_READERS)
        return;
    for (size_t i = 0; i < count; i++) {
        struct value_read read = value_read_at(&a->readers, quantized, i);
        uint32_t found = find_matching_reader(matching, quantized, read);

        if (found != NODE_NONE)
            pair_nodes(matching, &a->model->nodes.items[read.node], &b->model->nodes.items[found]);
    }
}

/* ---- Matching, from inputs and outputs inwards ---- */

static void pair_graph_interface(struct twin_matching *matching, const struct value_list *quantized,
                                 const struct value_list *plain)
{
    const struct model *a = matching->quantized.model, *b = matching->plain.model;

    for (size_t i = 0; i < quantized->count; i++) {
        uint32_t value = quantized->items[i];
        uint32_t other = model_find_tensor(b, a->values.items[value].name);

        if ((other == VALUE_NONE || !value_list_has(plain, other)) && quantized->count == plain->count)
            other = plain->items[i];
        if (other != VALUE_NONE)
            pair_values(matching, matching->quantized.as[value], matching->plain.as[other]);
    }
}

static void pair_all_nodes(struct twin_matching *matching)
{
    struct model *a = matching->quantized.model, *b = matching->plain.model;
    size_t seen = 0, before;

    pair_graph_interface(matching, &a->outputs, &b->outputs);
    pair_graph_interface(matching, &a->inputs, &b->inputs);
    for (int round = 0; round < MOST_ROUNDS; round++) {
        before = matching->pairs.count;
        for (; seen < matching->pairs.count; seen++)
            pair_backward(matching, matching->pairs.items[seen]);
        for (size_t i = 0; i < matching->pairs.count; i++)
            pair_forward(matching, matching->pairs.items[i]);
        if (matching->pairs.count == before)
            break;
    }
}

/* ---- Results ---- */

/* Why the values of a constant differ from its twin's in a sample; NULL: they do not. */
static const char *why_values_differ(const struct quantizer *quantizer, const struct tensor *stored,
                                     const struct tensor *plain)
{
    struct scale_layout layout;
    size_t count = tensor_elements(stored);
    size_t step = count / SAMPLED_RUNS > ELEMENTS_RUN ? count / SAMPLED_RUNS : ELEMENTS_RUN;
    double products = 0, squares = 0, other_squares = 0;
    size_t near = 0, seen = 0;

    if (!shape_equal(&stored->shape, &plain->shape))
        return "its twin in the float model has another shape";
    if (quantizer->problem != NULL || !scale_layout_of(quantizer, &stored->shape, &layout))
        return NULL;
    for (size_t first = 0; first < count; first += step) {
        float restored[ELEMENTS_RUN], values[ELEMENTS_RUN];
        size_t size = elements_in_run(count, first);

        quantizer_restore_run(quantizer, &layout, stored, first, size, restored);
        elements_to_float32(plain, first, size, values);
        seen += size;
        for (size_t i = 0; i < size; i++) {
            float width = ((const float *)quantizer->scale.data)[scale_layout_index(&layout, first + i)];

            near += fabsf(restored[i] - values[i]) <= width * HALF_A_STEP;
            products += (double)restored[i] * values[i];
            squares += (double)restored[i] * restored[i];
            other_squares += (double)values[i] * values[i];
        }
    }
    if (near * 2 >= seen) /* coarse scales leave few distinct values */
        return NULL;
    return products * products < LEAST_COSINE * LEAST_COSINE * squares * other_squares || products < 0
               ? "the corresponding constant of the float model has different values"
               : NULL;
}

/* Whether the constant can replace the dequantized tensor. */
static bool quantizer_has_type_behind(const struct model *model, const struct quantizer *quantizer, enum data_type type)
{
    for (size_t i = 0; i < quantizer->dequantize.count; i++)
        if (quantizer_type_behind(quantizer, &model->nodes.items[quantizer->dequantize.items[i]]) != type)
            return false;
    return true;
}

/* Values that differ because of a known fault show that the constants correspond, too. */
static bool has_named_fault(const struct quantizer *quantizer, const struct tensor *stored, const struct tensor *values)
{
    struct stored_fault fault;

    return stored_fault_find(quantizer, stored, values, &fault) && stored_fault_is_named(&fault);
}

static const char *check_constant_twin(struct twin_matching *matching, const struct quantizer *quantizer,
                                       uint32_t plain)
{
    struct model *a = matching->quantized.model, *b = matching->plain.model;
    const struct initializer *of_a = &a->initializers.items[a->values.items[quantizer->integers].initializer];
    const struct initializer *of_b = &b->initializers.items[b->values.items[plain].initializer];
    struct tensor stored SCOPED(tensor_release) = {0};
    struct tensor values SCOPED(tensor_release) = {0};
    const char *why_not = NULL;

    if (of_a->sparse || of_b->sparse)
        return "one of the constants is sparse";
    if (external_tensor_borrow(a, of_a->message, &stored, NULL) < 0 ||
        external_tensor_borrow(b, of_b->message, &values, NULL) < 0)
        why_not = "the values of the constant cannot be read";
    else if (stored.type == DATA_STRING || values.type == DATA_STRING)
        why_not = "it, or its twin in the float model, is a string tensor";
    else if (elements_arithmetic(values.type) != ARITHMETIC_FLOAT32 ||
             !quantizer_has_type_behind(a, quantizer, values.type))
        why_not = "its twin in the float model has a different type than its dequantized values";
    else if (!has_named_fault(quantizer, &stored, &values))
        why_not = why_values_differ(quantizer, &stored, &values);
    return why_not;
}

static struct quantizer_twin twin_of_quantizer(struct twin_matching *matching, const struct quantizer *quantizer)
{
    uint32_t value = matching->quantized.as[quantizer->tensor];
    uint32_t plain = matching->quantized.partner[value];
    struct quantizer_twin twin = {plain, matching->why_not[value], -INFINITY, INFINITY};

    if (plain != VALUE_NONE && twin.why_not == NULL && quantizer->form == QUANTIZER_STORED)
        twin.why_not = check_constant_twin(matching, quantizer, plain);
    if (plain == VALUE_NONE && twin.why_not == NULL)
        twin.why_not = "no matching neighbour was found in the float model";
    if (twin.why_not != NULL) {
        twin.tensor = VALUE_NONE;
    } else {
        twin.least = matching->bounds[value].least;
        twin.largest = matching->bounds[value].largest;
    }
    return twin;
}

void quantizers_match(const struct quantizers *quantizers, struct model *model, struct model *float_model,
                      struct quantizer_twins *ret)
{
    struct twin_matching matching = {.arena = &ret->arena};

    *ret = (struct quantizer_twins){.float_model = float_model, .count = quantizers->count};
    arena_init(&ret->arena);
    ret->items = memory_alloc_zero(quantizers->count + 1, sizeof(*ret->items));
    init_matching_side(&matching.quantized, model);
    init_matching_side(&matching.plain, float_model);
    matching.why_not = memory_alloc_zero(model->values.count + 1, sizeof(*matching.why_not));
    matching.bounds = memory_alloc((model->values.count + 1) * sizeof(*matching.bounds));
    for (size_t i = 0; i < model->values.count; i++)
        matching.bounds[i] = (struct bound){-INFINITY, INFINITY};
    pair_all_nodes(&matching);
    for (size_t i = 0; i < quantizers->count; i++)
        ret->items[i] = twin_of_quantizer(&matching, &quantizers->items[i]);
    free(matching.why_not);
    free(matching.bounds);
    free(matching.pairs.items);
    release_matching_side(&matching.quantized);
    release_matching_side(&matching.plain);
}

void quantizer_twins_release(struct quantizer_twins *twins)
{
    free(twins->items);
    arena_release(&twins->arena);
    *twins = (struct quantizer_twins){0};
}
