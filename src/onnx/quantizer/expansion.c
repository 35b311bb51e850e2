/* onnx/quantizer/expansion.c: see expansion.h. */
#include "onnx/quantizer/expansion.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/node.h"
#include "onnx/edit/rebuild.h"
#include "onnx/model/unused_names.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/node_attribute.h"

#define BLOCKS_OPSET 21 /* of DequantizeLinear */

struct expanding {
    struct model *model;
    struct expansion *ret;
    struct unused_names names;
};

static struct text value_name(const struct model *model, uint32_t value)
{
    return value != VALUE_NONE ? model->values.items[value].name : TEXT("");
}

static struct text input_name(const struct expanding *expanding, const struct node *node, size_t i)
{
    return value_name(expanding->model, node_input(expanding->model, node, i));
}

/* ---- Constants ---- */

static bool weights_are_equal(const struct packed_weight *a, const struct packed_weight *b)
{
    return a->data == b->data && a->scale == b->scale && a->zero_point == b->zero_point && a->groups == b->groups &&
           a->bits == b->bits && a->padded == b->padded && a->axis == b->axis && a->block_size == b->block_size &&
           a->is_turned == b->is_turned && shape_equal(&a->shape, &b->shape);
}

static const uint8_t *constant_bytes(const struct model *model, uint32_t value)
{
    return model->initializers.items[model->values.items[value].initializer].message.data;
}

static int add_unpacked_constant(struct expanding *expanding, struct text base, const char *suffix,
                                 const struct tensor *tensor, uint32_t *ret, struct error *err)
{
    *ret = VALUE_NONE;
    if (tensor->data == NULL)
        return 0;
    *ret = model_add_value(expanding->model, unused_names_make(&expanding->names, base, suffix));
    return model_set_tensor(expanding->model, *ret, tensor, err);
}

/* A new constant for each part of the weight. */
static int add_unpacked_weight(struct expanding *expanding, struct expanded_weight *weight, struct error *err)
{
    struct unpacked_weight unpacked SCOPED(unpacked_weight_release) = {0};
    const struct {
        const char *suffix;
        const struct tensor *tensor;
        uint32_t *ret;
    } parts[] = {
        {"_unpacked", &unpacked.integers, &weight->integers},
        {"_unpacked_scale", &unpacked.scale, &weight->scale},
        {"_unpacked_zero_point", &unpacked.zero_point, &weight->zero_point},
        {"_unpacked_groups", &unpacked.groups, &weight->groups},
    };
    int rc = packed_weight_unpack(expanding->model, &weight->packed, &unpacked, &weight->why_not, err);

    if (rc < 0 || weight->why_not != NULL)
        return rc;
    weight->axis = unpacked.axis;
    weight->block_size = unpacked.block_size;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        rc = add_unpacked_constant(expanding, value_name(expanding->model, weight->packed.data), parts[i].suffix,
                                   parts[i].tensor, parts[i].ret, err);
        if (rc < 0)
            return rc;
    }
    weight->scale_bytes = constant_bytes(expanding->model, weight->scale);
    return 0;
}

/* The entry of a node's weight; of several nodes with the same weight there is one. `*ret` is an index. */
static int find_weight(struct expanding *expanding, const struct node *node, size_t place, size_t *ret,
                       struct error *err)
{
    struct expansion *expansion = expanding->ret;
    struct expanded_weight weight = {
        .integers = VALUE_NONE, .scale = VALUE_NONE, .zero_point = VALUE_NONE, .groups = VALUE_NONE};
    int rc = 0;

    weight.why_not = packed_weight_find(expanding->model, node, place, &weight.packed);
    for (*ret = 0; *ret < expansion->weights.count; ++*ret)
        if (weights_are_equal(&expansion->weights.items[*ret].packed, &weight.packed))
            return 0;
    if (weight.why_not == NULL)
        rc = add_unpacked_weight(expanding, &weight, err);
    *VECTOR_APPEND(&expansion->weights) = weight;
    return rc;
}

/* ---- Nodes ---- */

static void add_expanded_node(struct expanding *expanding, const struct node_recipe *recipe)
{
    *VECTOR_APPEND(&expanding->ret->fields) = node_build(&expanding->model->arena, recipe);
}

/* Adds a node with this output, named after it unless the recipe has a name. */
static void add_node_with_output(struct expanding *expanding, struct node_recipe recipe, struct text output)
{
    recipe.outputs = &output;
    recipe.output_count = 1;
    if (recipe.name.size == 0)
        recipe.name = output;
    add_expanded_node(expanding, &recipe);
}

static struct node_attribute integer_attribute(struct text name, int64_t value)
{
    return (struct node_attribute){.name = name, .kind = ATTRIBUTE_KIND_INTEGER, .integer = value};
}

/* Adds a Gather of a parameter for each slice of the weight. */
static struct text add_gathered(struct expanding *expanding, uint32_t parameter, struct text groups)
{
    struct text inputs[] = {value_name(expanding->model, parameter), groups}, output;
    struct node_attribute axis = integer_attribute(TEXT("axis"), 0);

    if (parameter == VALUE_NONE)
        return TEXT("");
    output = unused_names_make(&expanding->names, inputs[0], "_gathered");
    add_node_with_output(expanding,
                         (struct node_recipe){.op_type = TEXT("Gather"),
                                              .inputs = inputs,
                                              .input_count = ARRAY_LEN(inputs),
                                              .attributes = &axis,
                                              .attribute_count = 1},
                         output);
    return output;
}

/* Returns the name of the dequantized tensor. */
static struct text add_dequantizer(struct expanding *expanding, const struct expanded_weight *weight)
{
    const struct model *model = expanding->model;
    bool has_groups = weight->groups != VALUE_NONE;
    struct text groups = value_name(model, weight->groups), inputs[3];
    struct text output = unused_names_make(&expanding->names, value_name(model, weight->packed.data), "_dequantized");
    const struct node_attribute attributes[] = {
        integer_attribute(TEXT("axis"), weight->axis),
        integer_attribute(TEXT("block_size"), has_groups ? 1 : weight->block_size)};

    inputs[0] = value_name(model, weight->integers);
    inputs[1] = has_groups ? add_gathered(expanding, weight->scale, groups) : value_name(model, weight->scale);
    inputs[2] =
        has_groups ? add_gathered(expanding, weight->zero_point, groups) : value_name(model, weight->zero_point);
    add_node_with_output(expanding,
                         (struct node_recipe){.op_type = TEXT("DequantizeLinear"),
                                              .inputs = inputs,
                                              .input_count = inputs[2].size > 0 ? 3 : 2,
                                              .attributes = attributes,
                                              .attribute_count = ARRAY_LEN(attributes)},
                         output);
    return output;
}

static void expand_product(struct expanding *expanding, const struct node *node, const struct text *weights)
{
    struct text inputs[] = {input_name(expanding, node, 0), weights[0]}, bias = input_name(expanding, node, 5);
    struct text output = value_name(expanding->model, node_output(expanding->model, node, 0));
    struct text product = bias.size > 0 ? unused_names_make(&expanding->names, output, "_product") : output;
    struct text terms[] = {product, bias};

    add_node_with_output(
        expanding,
        (struct node_recipe){
            .op_type = TEXT("MatMul"), .name = node->name, .inputs = inputs, .input_count = ARRAY_LEN(inputs)},
        product);
    if (bias.size > 0)
        add_node_with_output(
            expanding, (struct node_recipe){.op_type = TEXT("Add"), .inputs = terms, .input_count = ARRAY_LEN(terms)},
            output);
}

static void expand_embedding(struct expanding *expanding, const struct node *node, const struct text *weights)
{
    struct text inputs[] = {weights[0], input_name(expanding, node, 1)};
    struct text output = value_name(expanding->model, node_output(expanding->model, node, 0));
    struct node_attribute axis =
        integer_attribute(TEXT("axis"), node_attribute_integer(node->message, "gather_axis", 0));

    add_node_with_output(expanding,
                         (struct node_recipe){.op_type = TEXT("Gather"),
                                              .name = node->name,
                                              .inputs = inputs,
                                              .input_count = ARRAY_LEN(inputs),
                                              .attributes = &axis,
                                              .attribute_count = 1},
                         output);
}

#define MOST_ATTRIBUTES 16 /* of a MoE; it has 9 */
#define MOST_WEIGHTS 3

/* The attributes that MoE shares with QMoE: numbers and strings. */
static size_t list_expert_attributes(const struct node *node, struct node_attribute *ret)
{
    static const char *const of_weights[] = {"expert_weight_bits", "block_size", "quant_type"};
    struct wire_reader reader = wire_reader_of(node->message);
    struct wire_field field;
    size_t count = 0;

    while (count < MOST_ATTRIBUTES && wire_next(&reader, &field)) {
        struct attribute attribute;

        if (field.number != NODE_ATTRIBUTE || field.type != WIRE_BYTES)
            continue;
        attribute_read(field.bytes, &attribute);
        if (text_is_one_of(attribute.name, of_weights, ARRAY_LEN(of_weights)))
            continue;
        ret[count] = (struct node_attribute){.name = attribute.name, .kind = (enum attribute_kind)attribute.type};
        if (attribute.type == ATTRIBUTE_ONE_FLOAT)
            ret[count++].number = attribute.number;
        else if (attribute.type == ATTRIBUTE_ONE_INTEGER)
            ret[count++].integer = attribute.integer;
        else if (attribute.type == ATTRIBUTE_ONE_STRING)
            ret[count++].string = span_text(attribute.bytes);
    }
    return count;
}

/* Inputs of both: data, router's scores; then for each weight of QMoE weight, scale, bias, of MoE weight, bias. */
static void expand_experts(struct expanding *expanding, const struct node *node, const struct text *weights)
{
    struct node_attribute attributes[MOST_ATTRIBUTES];
    struct text output = value_name(expanding->model, node_output(expanding->model, node, 0)), inputs[8];
    struct node_recipe recipe = {.op_type = TEXT("MoE"),
                                 .name = node->name,
                                 .domain = TEXT("com.microsoft"),
                                 .inputs = inputs,
                                 .outputs = &output,
                                 .output_count = 1,
                                 .attributes = attributes,
                                 .attribute_count = list_expert_attributes(node, attributes)};

    inputs[0] = input_name(expanding, node, 0);
    inputs[1] = input_name(expanding, node, 1);
    for (size_t i = 0; i < MOST_WEIGHTS; i++) {
        inputs[2 + 2 * i] = weights[i];
        inputs[3 + 2 * i] = input_name(expanding, node, 4 + 3 * i);
    }
    for (recipe.input_count = ARRAY_LEN(inputs); inputs[recipe.input_count - 1].size == 0; recipe.input_count--)
        continue;
    add_expanded_node(expanding, &recipe);
}

static const struct expandable {
    const char *op_type;
    size_t places[MOST_WEIGHTS], count; /* inputs with packed weights */
    bool needs_blocks;                  /* some of its weights may stay quantized in the expanded form */
    void (*expand)(struct expanding *expanding, const struct node *node, const struct text *weights);
} expandables[] = {
    {"MatMulNBits", {1}, 1, false, expand_product},
    {"GatherBlockQuantized", {0}, 1, false, expand_embedding},
    {"QMoE", {2, 5, 8}, 3, true, expand_experts},
};

static const struct expandable *find_expandable(const struct node *node)
{
    for (size_t i = 0; i < ARRAY_LEN(expandables); i++)
        if (text_equal_string(node->domain, "com.microsoft") &&
            text_equal_string(node->op_type, expandables[i].op_type))
            return &expandables[i];
    return NULL;
}

/* Adds the nodes in place of a node, or the node itself if one of its weights cannot be unpacked. */
static int expand_node(struct expanding *expanding, const struct expandable *expandable, const struct node *node,
                       struct error *err)
{
    struct expansion *expansion = expanding->ret;
    struct expanded_node expanded = {.field = node->field, .first = expansion->fields.count};
    struct text weights[MOST_WEIGHTS] = {TEXT(""), TEXT(""), TEXT("")};
    bool is_expandable = node_output(expanding->model, node, 0) != VALUE_NONE;

    for (size_t i = 0; i < expandable->count; i++) {
        size_t *entry = &expanded.weights[expanded.weight_count];
        int rc;

        if (node_input(expanding->model, node, expandable->places[i]) == VALUE_NONE)
            continue;
        rc = find_weight(expanding, node, expandable->places[i], entry, err);
        if (rc < 0)
            return rc;
        if (expandable->needs_blocks && model_opset(expanding->model) < BLOCKS_OPSET)
            expansion->weights.items[*entry].why_not = "its operator is only expanded from operator set 21 on";
        is_expandable &= expansion->weights.items[*entry].why_not == NULL;
        expanded.weight_count++;
    }
    if (!is_expandable)
        return 0;
    for (size_t i = 0, used = 0; i < expandable->count; i++)
        if (node_input(expanding->model, node, expandable->places[i]) != VALUE_NONE)
            weights[i] = add_dequantizer(expanding, &expansion->weights.items[expanded.weights[used++]]);
    expandable->expand(expanding, node, weights);
    expanded.count = expansion->fields.count - expanded.first;
    *VECTOR_APPEND(&expansion->nodes) = expanded;
    return 0;
}

static int expand_nodes(struct expanding *expanding, struct span_list *fields, struct error *err)
{
    const struct model *model = expanding->model;
    struct expansion *expansion = expanding->ret;

    for (size_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];
        const struct expandable *expandable = find_expandable(node);
        size_t before = expansion->nodes.count;
        int rc = expandable != NULL ? expand_node(expanding, expandable, node, err) : 0;

        if (rc < 0)
            return rc;
        if (expansion->nodes.count == before) {
            *VECTOR_APPEND(fields) = model->nodes.items[i].field;
            continue;
        }
        for (size_t k = expansion->nodes.items[before].first; k < expansion->fields.count; k++)
            *VECTOR_APPEND(fields) = expansion->fields.items[k];
    }
    return 0;
}

int expansion_make(struct model *model, struct expansion *ret, struct error *err)
{
    struct expanding expanding = {.model = model, .ret = ret};
    struct span_list fields = {0};
    int rc;

    *ret = (struct expansion){0};
    unused_names_init(&expanding.names, model, &model->arena);
    rc = expand_nodes(&expanding, &fields, err);
    if (rc == 0 && ret->nodes.count > 0)
        rc = model_set_nodes(model, &fields, err);
    free(fields.items);
    unused_names_release(&expanding.names);
    return rc;
}

void expansion_release(struct expansion *expansion)
{
    free(expansion->weights.items);
    free(expansion->nodes.items);
    free(expansion->fields.items);
    *expansion = (struct expansion){0};
}

/* ---- Quantizers ---- */

static bool name_is_taken(const struct quantizers *quantizers, const char *name)
{
    VECTOR_EACH (const struct quantizer, quantizer, *quantizers)
        if (strcmp(quantizer->name, name) == 0)
            return true;
    return false;
}

void expansion_name_quantizers(const struct expansion *expansion, const struct model *model,
                               struct quantizers *quantizers)
{
    VECTOR_EACH (const struct expanded_weight, weight, expansion->weights)
        VECTOR_EACH (struct quantizer, quantizer, *quantizers) {
            const char *name;

            if (weight->why_not != NULL && quantizer->integers == weight->packed.data)
                quantizer->problem = quantizer->problem_kind = weight->why_not;
            if (weight->why_not != NULL || quantizer->integers != weight->integers)
                continue;
            name = arena_text(&quantizers->arena, value_name(model, weight->packed.data));
            if (!name_is_taken(quantizers, name))
                quantizer->name = name;
        }
}

/* ---- Restoring the operators ---- */

/* Whether the nodes from `place` on are those of an expanded node, with the same scales. */
static bool nodes_are_expanded(const struct expansion *expansion, const struct expanded_node *expanded,
                               const struct model *model, size_t place)
{
    if (expanded->count > model->nodes.count - place)
        return false;
    for (size_t i = 0; i < expanded->count; i++)
        if (model->nodes.items[place + i].field.data != expansion->fields.items[expanded->first + i].data)
            return false;
    for (size_t i = 0; i < expanded->weight_count; i++) {
        const struct expanded_weight *weight = &expansion->weights.items[expanded->weights[i]];

        if (constant_bytes(model, weight->scale) != weight->scale_bytes)
            return false;
    }
    return true;
}

int expansion_undo(const struct expansion *expansion, struct model *model, struct error *err)
{
    struct span_list fields = {0};
    size_t next = 0, restored = 0;
    int rc = 0;

    for (size_t i = 0; i < model->nodes.count;) {
        size_t found = next;

        while (found < expansion->nodes.count &&
               !nodes_are_expanded(expansion, &expansion->nodes.items[found], model, i))
            found++;
        if (found == expansion->nodes.count) {
            *VECTOR_APPEND(&fields) = model->nodes.items[i++].field;
            continue;
        }
        *VECTOR_APPEND(&fields) = expansion->nodes.items[found].field;
        i += expansion->nodes.items[found].count;
        next = found + 1;
        restored++;
    }
    if (restored > 0)
        rc = model_set_nodes(model, &fields, err);
    free(fields.items);
    return rc;
}
