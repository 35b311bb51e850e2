/* onnx/quantizer/quantizers.c: see quantizers.h. */
#include "onnx/quantizer/quantizers.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/model/captures.h"
#include "onnx/model/model.h"
#include "onnx/model/subgraph.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/proto/wire.h"
#include "onnx/quantizer/integer_operators.h"
#include "onnx/quantizer/parameters.h"

/* Maximum number of nodes between a constant and the operator that uses it as a weight; real models have two. */
#define MOST_MOVES 16

/* Whether the output of a node has the unchanged elements of its first input. */
static bool node_moves_elements(const struct node *node)
{
    static const char *const operators[] = {"Transpose", "Reshape", "Identity", "Cast",
                                            "Squeeze",   "Flatten", "Unsqueeze"};

    for (size_t i = 0; i < ARRAY_LEN(operators); i++)
        if (node_is(node, operators[i]))
            return node->inputs.count > 0 && node->outputs.count == 1;
    return false;
}

static uint32_t value_constant_behind(const struct model *model, uint32_t value)
{
    for (size_t moves = 0; moves <= MOST_MOVES && value != VALUE_NONE; moves++) {
        const struct value *v = &model->values.items[value];

        if (v->producer == NODE_NONE)
            return v->initializer;
        if (!node_moves_elements(&model->nodes.items[v->producer]))
            break;
        value = model_edge(model, model->nodes.items[v->producer].inputs, 0);
    }
    return INITIALIZER_NONE;
}

/* ---- Consumers of the result ---- */

static bool input_is_bias(const struct node *node, size_t input)
{
    static const char *const operators[] = {"Conv",
                                            "ConvTranspose",
                                            "Gemm",
                                            "LayerNormalization",
                                            "InstanceNormalization",
                                            "GroupNormalization",
                                            "BatchNormalization"};

    for (size_t i = 0; input == 2 && i < ARRAY_LEN(operators); i++)
        if (node_is(node, operators[i]))
            return true;
    return false;
}

struct finder {
    struct model *model;
    const struct known_types *known;
    struct value_readers readers;
    struct bitset outputs; /* values */
    uint32_t *of_integers; /* by value: the last quantizer of these integers, plus one; 0: none */
    struct name_map names; /* of quantizers */
    struct quantizers *ret;
};

/* Whether the value is eventually a bias of a node. `*ret` is the first consumer that does more than move its
 * elements. */
static bool value_is_read_as_bias(const struct finder *finder, uint32_t value, struct value_read *ret)
{
    const struct model *model = finder->model;

    for (size_t moves = 0; moves <= MOST_MOVES && value_read_count(&finder->readers, value) > 0; moves++) {
        const struct node *node;

        *ret = value_read_at(&finder->readers, value, 0);
        node = &model->nodes.items[ret->node];
        if (input_is_bias(node, ret->input))
            return true;
        if (ret->input != 0 || !node_moves_elements(node) || model_edge(model, node->outputs, 0) == VALUE_NONE)
            return false;
        value = model_edge(model, node->outputs, 0);
    }
    return false;
}

/* Determines the role from the quantized tensor and the first consumer of the result. */
static void find_quantizer_role(const struct finder *finder, struct quantizer *quantizer)
{
    const struct model *model = finder->model;
    struct value_read read = {NODE_NONE, 0};
    bool is_constant = value_constant_behind(model, quantizer->tensor) != INITIALIZER_NONE;
    bool is_bias = false;

    for (size_t i = 0; i < quantizer->dequantize.count && !is_bias; i++) {
        uint32_t output = model_edge(model, model->nodes.items[quantizer->dequantize.items[i]].outputs, 0);
        struct value_read first = {NODE_NONE, 0};

        if (output == VALUE_NONE)
            continue;
        is_bias = is_constant && value_is_read_as_bias(finder, output, &first);
        if (!is_constant && value_read_count(&finder->readers, output) > 0)
            first = value_read_at(&finder->readers, output, 0);
        if (first.node != NODE_NONE && (is_bias || read.node == NODE_NONE))
            read = first;
    }
    quantizer->reader = read.node;
    quantizer->reader_input = read.input;
    if (is_constant)
        quantizer->role = is_bias ? QUANTIZER_BIAS : QUANTIZER_WEIGHT;
}

/* ---- Names ---- */

static void set_quantizer_name(struct finder *finder, struct quantizer *quantizer)
{
    struct arena *arena = &finder->ret->arena;
    uint32_t node = quantizer->quantize != NODE_NONE  ? quantizer->quantize
                    : quantizer->dequantize.count > 0 ? quantizer->dequantize.items[0]
                                                      : quantizer->reader;
    const char *tensor = arena_text(arena, finder->model->values.items[quantizer->tensor].name);
    uint32_t number = (uint32_t)finder->ret->count;

    quantizer->name = tensor;
    for (unsigned i = 1; name_map_add(&finder->names, text_of(quantizer->name), number) != number; i++) {
        const char *label = node != NODE_NONE ? model_node_label(finder->model, node) : "";

        quantizer->name = i == 1 ? arena_printf(arena, "%s -> %s", tensor, label)
                                 : arena_printf(arena, "%s -> %s (%u)", tensor, label, i);
    }
}

static void add_quantizer(struct finder *finder, struct quantizer *quantizer)
{
    set_quantizer_name(finder, quantizer);
    *VECTOR_APPEND(finder->ret) = *quantizer;
    if (quantizer->integers != VALUE_NONE)
        finder->of_integers[quantizer->integers] = (uint32_t)finder->ret->count;
}

static struct quantizer new_quantizer(enum quantizer_form form, uint32_t tensor, uint32_t integers)
{
    return (struct quantizer){
        .form = form, .tensor = tensor, .integers = integers, .quantize = NODE_NONE, .reader = NODE_NONE, .axis = -1};
}

static struct quantizer_parameters quantizer_parameter(const struct model *model, const struct node *node)
{
    return (struct quantizer_parameters){.scale = node_input(model, node, 1),
                                         .zero_point = node_input(model, node, 2),
                                         .axis = node_attribute_integer(node->message, "axis", 1),
                                         .block_size = node_attribute_integer(node->message, "block_size", 0),
                                         .has_axis = true};
}

/* ---- QuantizeLinear ---- */

/* How the parameters of a DequantizeLinear differ from those of its QuantizeLinear; NULL: not at all. Equal constants
 * with different names are equal. */
static const char *find_parameter_difference(const struct finder *finder, const struct quantizer *quantizer,
                                             uint32_t dequantize)
{
    const struct model *model = finder->model;
    const struct node *from = &model->nodes.items[quantizer->quantize], *to = &model->nodes.items[dequantize];
    struct quantizer_parameters a = quantizer_parameter(model, from), b = quantizer_parameter(model, to);
    struct quantizer other = *quantizer;

    if (a.scale == b.scale && a.zero_point == b.zero_point && (quantizer->axis < 0 || a.axis == b.axis) &&
        a.block_size == b.block_size)
        return NULL;
    other.problem = NULL;
    other.zero_point = (struct tensor){0};
    quantizer_read_parameters(finder->model, finder->known, &b, &finder->ret->arena, &other);
    if (other.problem != NULL)
        return other.problem;
    if (quantizer->dynamic || other.dynamic)
        return "its parameters for dequantization are computed separately from those for quantization";
    if (quantizer->axis != other.axis || quantizer->block_size != other.block_size ||
        quantizer->scale.size != other.scale.size ||
        memcmp(quantizer->scale.data, other.scale.data, other.scale.size) != 0)
        return "it is dequantized with a different scale";
    for (size_t i = 0; i < tensor_elements(&other.scale); i++)
        if (quantizer_zero_point(quantizer, i) != quantizer_zero_point(&other, i))
            return "it is dequantized with a different zero point";
    return NULL;
}

/* Finds the DequantizeLinear nodes of a QuantizeLinear. Returns why it cannot be bypassed, or NULL. */
static const char *find_dequantizers(const struct finder *finder, struct quantizer *quantizer)
{
    struct model *model = finder->model;
    const char *fixed_by = NULL;

    for (size_t i = 0; i < value_read_count(&finder->readers, quantizer->integers); i++) {
        struct value_read read = value_read_at(&finder->readers, quantizer->integers, i);

        if (read.input == 0 && node_dequantizes(&model->nodes.items[read.node]) &&
            model_edge(model, model->nodes.items[read.node].outputs, 0) != VALUE_NONE)
            *VECTOR_APPEND(&quantizer->dequantize) = read.node;
        else if (fixed_by == NULL)
            fixed_by = arena_printf(&finder->ret->arena, "node '%s' computes on its integers",
                                    model_node_label(model, read.node));
    }
    if (bitset_has(&finder->outputs, quantizer->integers))
        fixed_by = "its integers are an output of the model";
    if (fixed_by == NULL && quantizer->dequantize.count == 0)
        fixed_by = "nothing reads its integers";
    return fixed_by;
}

/* The float types before and after may differ: since operator set 23 the types of scale and dequantized tensor are
 * independent of the input's. */
static const char *find_scale_cast(const struct finder *finder, const struct quantizer *quantizer)
{
    struct value_type type;

    quantizer_tensor_type(finder->model, finder->known, quantizer->tensor, &type);
    if (type.not_a_tensor != NULL || type.element == DATA_UNDEFINED)
        return NULL;
    for (size_t i = 0; i < quantizer->dequantize.count; i++) {
        const struct node *node = &finder->model->nodes.items[quantizer->dequantize.items[i]];
        enum data_type behind = quantizer_type_behind(quantizer, node);

        if (behind != DATA_UNDEFINED && behind != type.element)
            return arena_printf(&finder->ret->arena, "its input is %s and its output is %s",
                                data_type_name(type.element), data_type_name(behind));
    }
    return NULL;
}

static void add_quantizer_pair(struct finder *finder, uint32_t index)
{
    const struct model *model = finder->model;
    const struct node *node = &model->nodes.items[index];
    uint32_t tensor = model_edge(model, node->inputs, 0), integers = model_edge(model, node->outputs, 0);
    struct quantizer quantizer = new_quantizer(QUANTIZER_PAIR, tensor, integers);
    struct quantizer_parameters parameters = quantizer_parameter(model, node);

    if (tensor == VALUE_NONE || integers == VALUE_NONE)
        return;
    quantizer.quantize = index;
    quantizer.type = (enum data_type)node_attribute_integer(node->message, "output_dtype", DATA_UNDEFINED);
    if (quantizer.type == DATA_UNDEFINED && parameters.zero_point == VALUE_NONE)
        quantizer.type = DATA_UINT8;
    quantizer_read_parameters(finder->model, finder->known, &parameters, &finder->ret->arena, &quantizer);
    quantizer.overflows = data_type_is_float(quantizer.type) && data_type_bits(quantizer.type) == 8 &&
                          node_attribute_integer(node->message, "saturate", 1) == 0;
    if (quantizer.overflows && quantizer.problem == NULL)
        quantizer.problem = "values out of range are not clipped (saturate is 0), which is not simulated";
    quantizer.fixed_by = find_dequantizers(finder, &quantizer);
    if (quantizer.fixed_by == NULL)
        quantizer.fixed_by = find_scale_cast(finder, &quantizer);
    if (quantizer.fixed_by != NULL)
        quantizer.form = QUANTIZER_FIXED;
    for (size_t i = 0; i < quantizer.dequantize.count && quantizer.problem == NULL; i++)
        quantizer.problem = find_parameter_difference(finder, &quantizer, quantizer.dequantize.items[i]);
    find_quantizer_role(finder, &quantizer);
    add_quantizer(finder, &quantizer);
}

/* ---- DequantizeLinear ---- */

static bool value_is_dequantized_alike(const struct finder *finder, const struct quantizer *quantizer,
                                       const struct quantizer_parameters *parameters)
{
    const struct node *first = &finder->model->nodes.items[quantizer->dequantize.items[0]];
    struct quantizer_parameters others = quantizer_parameter(finder->model, first);

    return others.scale == parameters->scale && others.zero_point == parameters->zero_point &&
           others.axis == parameters->axis && others.block_size == parameters->block_size;
}

/* A stored constant may have several DequantizeLinear nodes: those with equal parameters are one quantizer. Integers
 * produced by other nodes are FIXED; those produced by QuantizeLinear are listed with it. */
static void add_dequantized_constant(struct finder *finder, uint32_t index)
{
    const struct model *model = finder->model;
    const struct node *node = &model->nodes.items[index];
    uint32_t integers = model_edge(model, node->inputs, 0);
    uint32_t producer = integers != VALUE_NONE ? model->values.items[integers].producer : NODE_NONE;
    struct quantizer_parameters parameters = quantizer_parameter(model, node);
    struct quantizer quantizer = new_quantizer(QUANTIZER_FIXED, integers, integers);
    struct value_type type;

    if (integers == VALUE_NONE || model_edge(model, node->outputs, 0) == VALUE_NONE ||
        (producer != NODE_NONE && node_quantizes(&model->nodes.items[producer])))
        return;
    if (finder->of_integers[integers] != 0) {
        struct quantizer *other = &finder->ret->items[finder->of_integers[integers] - 1];

        if (other->form == QUANTIZER_FIXED || value_is_dequantized_alike(finder, other, &parameters)) {
            *VECTOR_APPEND(&other->dequantize) = index;
            return;
        }
    }
    quantizer_tensor_type(model, finder->known, integers, &type);
    quantizer.type = type.not_a_tensor == NULL ? type.element : DATA_UNDEFINED;
    if (producer == NODE_NONE && model->values.items[integers].initializer != INITIALIZER_NONE)
        quantizer.form = QUANTIZER_STORED;
    else
        quantizer.quantize = producer;
    if (producer != NODE_NONE)
        quantizer.fixed_by = arena_printf(&finder->ret->arena, "node '%s' produces its integers",
                                          model_node_label(finder->model, producer));
    else if (quantizer.form == QUANTIZER_FIXED)
        quantizer.fixed_by = "its integers are an input of the model";
    *VECTOR_APPEND(&quantizer.dequantize) = index;
    quantizer_read_parameters(finder->model, finder->known, &parameters, &finder->ret->arena, &quantizer);
    find_quantizer_role(finder, &quantizer);
    add_quantizer(finder, &quantizer);
}

/* ---- Operators on integers ---- */

/* Sets the type, and a problem if the packing of elements is unknown. */
static void set_packed_type(const struct node *node, const struct integer_operand *operand, struct quantizer *ret)
{
    int64_t bits = node_attribute_integer(node->message, operand->bits, 4);

    ret->type = bits == 8 ? DATA_UINT8 : bits == 4 ? DATA_UINT4 : DATA_UNDEFINED;
    ret->block_size = node_attribute_integer(node->message, operand->block_size, 0);
    ret->problem = "its integers are packed in an operator-specific order, which is not supported";
}

static void read_integer_operand(struct finder *finder, const struct node *node, const struct integer_operand *operand,
                                 struct quantizer *ret)
{
    const struct model *model = finder->model;
    struct quantizer_parameters parameters = {
        .scale = VALUE_NONE, .zero_point = VALUE_NONE, .axis = operand->axis, .has_axis = operand->has_axis};
    struct value_type type;

    if (operand->bits != NULL) {
        set_packed_type(node, operand, ret);
        return;
    }
    if (operand->scale != OPERAND_OMITTED)
        parameters.scale = node_input(model, node, (size_t)operand->scale);
    if (operand->zero_point != OPERAND_OMITTED)
        parameters.zero_point = node_input(model, node, (size_t)operand->zero_point);
    quantizer_tensor_type(model, finder->known, ret->tensor, &type);
    ret->type = type.not_a_tensor == NULL ? type.element : DATA_UNDEFINED;
    ret->dynamic = operand->computed;
    if (operand->is_bias)
        ret->role = QUANTIZER_BIAS;
    if (operand->scale == OPERAND_OMITTED) {
        ret->has_shape = type.not_a_tensor == NULL && type.has_shape;
        ret->shape = type.shape;
        ret->problem = operand->is_bias ? "its scale is the product of those of input and weight, which are unknown"
                                        : "its scale is unknown";
        return;
    }
    quantizer_read_parameters(finder->model, finder->known, &parameters, &finder->ret->arena, ret);
}

/* Lists the outputs of the node, and its inputs without a producer: integers between two nodes are listed with their
 * producer. */
static void add_integer_operands(struct finder *finder, uint32_t index)
{
    const struct model *model = finder->model;
    const struct node *node = &model->nodes.items[index];
    struct integer_operand operand;

    for (size_t i = 0; integer_operand_of(node, i, &operand); i++) {
        struct edge_range range = operand.is_output ? node->outputs : node->inputs;
        uint32_t value = operand.place < range.count ? model_edge(model, range, operand.place) : VALUE_NONE;
        struct quantizer quantizer = new_quantizer(QUANTIZER_FIXED, value, value);
        bool is_float = operand.is_output && operand.scale != OPERAND_OMITTED &&
                        /* QGemm without an output scale */
                        node_input(model, node, (size_t)operand.scale) == VALUE_NONE;

        if (value == VALUE_NONE || is_float || finder->of_integers[value] != 0 ||
            (!operand.is_output && model->values.items[value].producer != NODE_NONE))
            continue;
        if (operand.is_output)
            quantizer.quantize = index;
        if (operand.computed)
            quantizer.tensor = model_edge(model, node->inputs, 0);
        if (quantizer.tensor == VALUE_NONE)
            continue;
        quantizer.fixed_by = arena_printf(&finder->ret->arena, "node '%s' computes on its integers",
                                          model_node_label(finder->model, index));
        quantizer.reader = operand.is_output ? NODE_NONE : index;
        quantizer.reader_input = operand.place;
        if (!operand.is_output && model->values.items[value].initializer != INITIALIZER_NONE)
            quantizer.role = QUANTIZER_WEIGHT;
        read_integer_operand(finder, node, &operand, &quantizer);
        add_quantizer(finder, &quantizer);
    }
}

/* ---- In bodies and functions ---- */

static size_t count_graph_quantizers(struct span graph, uint32_t node_field, unsigned depth);

/* Counts those in the bodies of a node, and the node itself unless it is in the main graph. */
static size_t count_node_quantizers(struct span node, unsigned depth)
{
    struct wire_reader reader = wire_reader_of(node), inner;
    struct wire_field field, part;
    size_t count = 0;

    while (wire_next(&reader, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == NODE_OP_TYPE && depth > 0)
            count += text_equal_string(span_text(field.bytes), "QuantizeLinear") ||
                     text_equal_string(span_text(field.bytes), "DequantizeLinear");
        if (field.number != NODE_ATTRIBUTE)
            continue;
        inner = wire_reader_of(field.bytes);
        while (wire_next(&inner, &part))
            if (part.type == WIRE_BYTES && (part.number == ATTRIBUTE_GRAPH || part.number == ATTRIBUTE_GRAPHS))
                count += count_graph_quantizers(part.bytes, GRAPH_NODE, depth + 1);
    }
    return count;
}

static size_t count_graph_quantizers(struct span graph, uint32_t node_field, unsigned depth)
{
    struct wire_reader reader = wire_reader_of(graph);
    struct span node;
    size_t count = 0;

    while (depth <= BODY_MAX_DEPTH && wire_next_bytes(&reader, node_field, &node))
        count += count_node_quantizers(node, depth);
    return count;
}

/* ---- All quantizers ---- */

void quantizers_find(struct model *model, const struct known_types *known, struct quantizers *ret)
{
    struct finder finder = {.model = model, .known = known, .ret = ret};
    struct span function;
    size_t place = 0;

    *ret = (struct quantizers){0};
    arena_init(&ret->arena);
    value_readers_init(&finder.readers, model, NULL);
    value_list_to_set(&model->outputs, model->values.count, &finder.outputs);
    finder.of_integers = memory_alloc_zero(model->values.count, sizeof(*finder.of_integers));
    name_map_init(&finder.names);
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];

        if (node_quantizes(node))
            add_quantizer_pair(&finder, i);
        else if (node_dequantizes(node))
            add_dequantized_constant(&finder, i);
        else if (node_is_on_integers(node))
            add_integer_operands(&finder, i);
        if (node->has_subgraphs)
            ret->inside += count_node_quantizers(node->message, 0);
    }
    while (model_next_function(model, &place, &function))
        ret->inside += count_graph_quantizers(function, FUNCTION_NODE, 1);
    name_map_release(&finder.names);
    free(finder.of_integers);
    bitset_release(&finder.outputs);
    value_readers_release(&finder.readers);
}

void quantizers_release(struct quantizers *quantizers)
{
    for (size_t i = 0; i < quantizers->count; i++)
        free(quantizers->items[i].dequantize.items);
    free(quantizers->items);
    arena_release(&quantizers->arena);
    *quantizers = (struct quantizers){0};
}
