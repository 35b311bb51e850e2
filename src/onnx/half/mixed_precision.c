/* onnx/half/mixed_precision.c: see mixed_precision.h. */
#include "onnx/half/mixed_precision.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/rebuild.h"
#include "onnx/external/tensor.h"
#include "onnx/model/subgraph.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/value_info.h"
#include "onnx/proto/wire.h"
#include "onnx/edit/node.h"
#include "tensor/values/elements.h"
#include "onnx/half/half_operators.h"

/* Pages of a mapped file are released each time this many elements were read. */
#define FORGET_STEP ((size_t)1 << 20)

static uint16_t narrow_float(enum data_type half, float value)
{
    return half == DATA_BFLOAT16 ? float32_to_bfloat16(value) : float32_to_float16(value);
}

/* Finite values of at least this magnitude are masks, or bounds that nothing exceeds: only their size matters. */
#define LEAST_MASK 1e30F

/* Like narrow_float(), but such values become the largest finite ones instead of infinite. */
static uint16_t narrow_mask(enum data_type half, float value)
{
    uint16_t largest = half == DATA_BFLOAT16 ? 0x7f7f : 0x7bff;
    uint16_t ret = narrow_float(half, value);

    if (!isfinite(value) || fabsf(value) < LEAST_MASK || (ret & 0x7fff) != narrow_float(half, INFINITY))
        return ret;
    return (ret & 0x8000) | largest;
}

/* ---- The graph, rebuilt ---- */

/* The names of a tensor in float32 and in the narrow type. */
struct twin {
    struct text float32, half; /* size 0: not created yet */
    bool is_float;
};

struct rebuild {
    struct model *model;
    const struct bitset *low;
    enum data_type half;
    struct unused_names *names;
    struct log *log;
    struct twin *twins; /* by value */
    struct bitset outputs;
    struct value_list weights; /* constants that need a narrow copy */
    struct span_list fields;
    size_t vanished, vanished_tensors;
};

static void add_precision_cast(struct rebuild *rebuild, struct text from, struct text to, enum data_type type)
{
    *VECTOR_APPEND(&rebuild->fields) = cast_node_build(&rebuild->model->arena, rebuild->names, from, to, type);
}

static const char *half_suffix(const struct rebuild *rebuild)
{
    return rebuild->half == DATA_BFLOAT16 ? "_bfloat16" : "_float16";
}

/* The name of `value` in one of the types; the Cast is created at its first use. */
static struct text rename_value_as(struct rebuild *rebuild, uint32_t value, bool narrowed)
{
    struct twin *twin = &rebuild->twins[value];
    struct text name = rebuild->model->values.items[value].name;

    if (narrowed && twin->half.size == 0) {
        twin->half = unused_names_make(rebuild->names, name, half_suffix(rebuild));
        if (rebuild->model->values.items[value].initializer != INITIALIZER_NONE)
            value_list_add(&rebuild->weights, value);
        else
            add_precision_cast(rebuild, twin->float32, twin->half, rebuild->half);
    } else if (!narrowed && twin->float32.size == 0) {
        twin->float32 = unused_names_make(rebuild->names, name, "_float32");
        add_precision_cast(rebuild, twin->half, twin->float32, DATA_FLOAT32);
    }
    return narrowed ? twin->half : twin->float32;
}

static bool node_is_low(const struct rebuild *rebuild, uint32_t node)
{
    return bitset_has(rebuild->low, node);
}

/* Marks in `ret` the values that nodes or their bodies read in float32. */
static void find_float32_uses(const struct rebuild *rebuild, struct bitset *ret)
{
    const struct model *model = rebuild->model;

    for (uint32_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];

        for (size_t k = 0; k < node->inputs.count + node->captures.count; k++) {
            bool captured = k >= node->inputs.count;
            uint32_t value = node_read(model, node, k);

            if (value != VALUE_NONE && (captured || !node_is_low(rebuild, i) || !node_narrows_input(node, k)))
                bitset_add(ret, value);
        }
    }
    bitset_unite(ret, &rebuild->outputs);
}

/* Determines the type that keeps each tensor's name. A constant that only nodes in `low` read is converted itself. */
static void settle_value_names(struct rebuild *rebuild)
{
    const struct model *model = rebuild->model;
    SCOPED_BITSET(float32_uses);

    bitset_init(&float32_uses, model->values.count);
    find_float32_uses(rebuild, &float32_uses);
    for (uint32_t i = 0; i < model->values.count; i++) {
        const struct value *value = &model->values.items[i];
        struct twin *twin = &rebuild->twins[i];
        bool made_low = value->producer != NODE_NONE && node_is_low(rebuild, value->producer);

        twin->is_float = value_element(model, i) == DATA_FLOAT32;
        if (!twin->is_float)
            continue;
        if (made_low && bitset_has(&rebuild->outputs, i)) {
            twin->float32 = value->name;
            twin->half = unused_names_make(rebuild->names, value->name, half_suffix(rebuild));
        } else if (made_low || (value->initializer != INITIALIZER_NONE && !bitset_has(&float32_uses, i))) {
            twin->half = value->name;
            if (!made_low)
                value_list_add(&rebuild->weights, i);
        } else {
            twin->float32 = value->name;
        }
    }
}

static void rename_value_if_other(struct rename_map *map, struct text from, struct text to)
{
    if (!text_equal(from, to))
        rename_map_add(map, from, to);
}

static void name_low_inputs(struct rebuild *rebuild, uint32_t index, struct rename_map *ret)
{
    struct model *model = rebuild->model;
    const struct node *node = &model->nodes.items[index];

    for (size_t k = 0; k < node->inputs.count + node->captures.count; k++) {
        bool captured = k >= node->inputs.count;
        uint32_t value = node_read(model, node, k);
        bool narrowed = !captured && node_is_low(rebuild, index) && node_narrows_input(node, k);

        if (value == VALUE_NONE || !rebuild->twins[value].is_float)
            continue;
        if (node_takes_any_type(node) && !captured)
            narrowed = rebuild->twins[value].half.size > 0;
        rename_value_if_other(ret, model->values.items[value].name, rename_value_as(rebuild, value, narrowed));
    }
}

static void name_low_outputs(struct rebuild *rebuild, uint32_t index, struct rename_map *ret)
{
    const struct model *model = rebuild->model;
    struct edge_range outputs = model->nodes.items[index].outputs;

    for (size_t k = 0; k < outputs.count && node_is_low(rebuild, index); k++) {
        uint32_t value = model_edge(model, outputs, k);

        if (value != VALUE_NONE && rebuild->twins[value].is_float)
            rename_value_if_other(ret, model->values.items[value].name, rebuild->twins[value].half);
    }
}

/* Adds Casts for outputs of the model that the node produces in the narrow type. */
static void cast_low_outputs(struct rebuild *rebuild, uint32_t index)
{
    const struct model *model = rebuild->model;
    struct edge_range outputs = model->nodes.items[index].outputs;

    for (size_t k = 0; k < outputs.count && node_is_low(rebuild, index); k++) {
        uint32_t value = model_edge(model, outputs, k);

        if (value != VALUE_NONE && rebuild->twins[value].is_float && bitset_has(&rebuild->outputs, value))
            add_precision_cast(rebuild, rebuild->twins[value].half, rebuild->twins[value].float32, DATA_FLOAT32);
    }
}

/* ---- Attributes with a type, or with values of one ---- */

/* Copies the node with another value of an attribute. */
static struct span replace_integer_attribute(struct arena *arena, struct span node,
                                             const struct node_attribute *attribute)
{
    struct node_recipe only = {.attributes = attribute, .attribute_count = 1};
    struct wire_reader reader = wire_reader_of(node), made = wire_reader_of(wire_content(node_build(arena, &only)));
    struct wire_field field;
    SCOPED_STRING(message);
    struct span added;

    while (wire_next(&reader, &field))
        if (field.number != NODE_ATTRIBUTE || field.type != WIRE_BYTES ||
            !text_equal(wire_find_text(field.bytes, ATTRIBUTE_NAME), attribute->name))
            string_add_bytes(&message, field.whole.data, field.whole.size);
    while (wire_next_bytes(&made, NODE_ATTRIBUTE, &added))
        wire_write_bytes(&message, NODE_ATTRIBUTE, added.data, added.size);
    return wire_make_field(arena, GRAPH_NODE, &message);
}

/* A Cast from float32 to float32 becomes an Identity: ONNX Runtime refuses models in which a Cast from float16 to
 * float16 is before others, which it merges. */
static struct span make_identity(struct arena *arena, struct span cast)
{
    struct text input = wire_find_text(cast, NODE_INPUT), output = wire_find_text(cast, NODE_OUTPUT);
    struct node_recipe recipe = {.op_type = TEXT("Identity"),
                                 .name = wire_find_text(cast, NODE_NAME),
                                 .inputs = &input,
                                 .input_count = 1,
                                 .outputs = &output,
                                 .output_count = 1};

    return node_build(arena, &recipe);
}

/* Changes a Cast to float32 to the narrow type, and converts the value of a ConstantOfShape. */
static void convert_type_attributes(struct rebuild *rebuild, uint32_t index, struct span *field)
{
    const struct model *model = rebuild->model;
    const struct node *node = &model->nodes.items[index];
    struct arena *arena = &rebuild->model->arena;
    uint16_t half = 0;
    struct tensor value = {.type = DATA_UNDEFINED}, narrowed;
    float number = 0;

    if (node_is(node, "Cast") && node_attribute_integer(node->message, "to", DATA_UNDEFINED) == DATA_FLOAT32) {
        struct node_attribute to = {.name = TEXT("to"), .kind = ATTRIBUTE_KIND_INTEGER, .integer = rebuild->half};

        if (value_element(model, model_edge(model, node->inputs, 0)) == DATA_FLOAT32)
            *field = make_identity(arena, wire_content(*field));
        else
            *field = replace_integer_attribute(arena, wire_content(*field), &to);
    } else if (node_is(node, "ConstantOfShape") &&
               value_element(model, model_edge(model, node->outputs, 0)) == DATA_FLOAT32) {
        struct node_attribute attribute = {.name = TEXT("value"), .kind = ATTRIBUTE_KIND_TENSOR, .tensor = &narrowed};
        struct span tensor = node_attribute_tensor(node->message, "value");

        if (tensor.data != NULL && tensor_proto_decode(tensor, &value, NULL) == 0 && tensor_elements(&value) == 1 &&
            value.type == DATA_FLOAT32)
            elements_to_float32(&value, 0, 1, &number);
        half = narrow_mask(rebuild->half, number);
        tensor_borrow(rebuild->half, &(struct shape){.rank = 1, .dims = {1}}, &half, sizeof(half), &narrowed);
        *field = replace_integer_attribute(arena, wire_content(*field), &attribute);
        tensor_release(&value);
    }
}

static int rebuild_low_node(struct rebuild *rebuild, uint32_t index, struct error *err)
{
    struct span field = rebuild->model->nodes.items[index].field;
    struct rename_map inputs SCOPED(rename_map_release) = {0};
    struct rename_map outputs SCOPED(rename_map_release) = {0};
    int rc;

    name_low_inputs(rebuild, index, &inputs); /* adds Casts before the node */
    name_low_outputs(rebuild, index, &outputs);
    rc = node_rename(&rebuild->model->arena, field, &inputs, &outputs, &field, err);
    if (rc == 0) {
        if (node_is_low(rebuild, index))
            convert_type_attributes(rebuild, index, &field);
        *VECTOR_APPEND(&rebuild->fields) = field;
        cast_low_outputs(rebuild, index);
    }
    return rc;
}

/* ---- Weights ---- */

/* Counts values that the conversion will change, without converting them. */
static void survey_narrowed_weight(const struct model *model, const struct tensor *tensor, enum data_type half,
                                   struct narrowing *ret)
{
    uint16_t infinity = narrow_float(half, INFINITY);
    size_t count = tensor_elements(tensor);
    float run[ELEMENTS_RUN];
    const struct file_map *map = external_tensor_map(model, (struct span){tensor->data, tensor->size});

    *ret = (struct narrowing){.elements = count};
    for (size_t first = 0; first < count; first += ELEMENTS_RUN) {
        size_t length = elements_in_run(count, first);

        elements_to_float32(tensor, first, length, run);
        for (size_t i = 0; i < length; i++) {
            uint16_t magnitude = narrow_float(half, run[i]) & 0x7fff;

            if (magnitude == infinity && isfinite(run[i])) {
                ret->masks += fabsf(run[i]) >= LEAST_MASK;
                ret->infinite += fabsf(run[i]) < LEAST_MASK;
            }
            ret->vanished += magnitude == 0 && run[i] != 0;
        }
        if (map != NULL && first % FORGET_STEP == 0)
            file_map_forget(map, 0, map->size);
    }
}

static void report_narrowed_weight(struct rebuild *rebuild, struct text name, const struct narrowing *narrowing)
{
    if (narrowing->infinite > 0)
        log_message(rebuild->log, LOG_WARNING,
                    "Weight '" TEXT_FORMAT "': %zu of %zu values exceed the range of %s (%s) and become infinite; pass "
                    "--keep-float32 for the nodes that use it",
                    TEXT_ARGS(name), narrowing->infinite, narrowing->elements, data_type_name(rebuild->half),
                    rebuild->half == DATA_BFLOAT16 ? "3.39e38" : "65504");
    if (narrowing->masks > 0)
        log_message(rebuild->log, LOG_INFO,
                    "Weight '" TEXT_FORMAT "': %zu of %zu values are beyond 1e30, as in masks, and are clamped to the "
                    "largest finite %s (%s)",
                    TEXT_ARGS(name), narrowing->masks, narrowing->elements, data_type_name(rebuild->half),
                    rebuild->half == DATA_BFLOAT16 ? "3.39e38" : "65504");
    rebuild->vanished += narrowing->vanished;
    rebuild->vanished_tensors += narrowing->vanished > 0;
}

/* A narrow constant of a weight with masks, which would become infinite if it was converted when it is written. */
static int add_clamped_weight(struct rebuild *rebuild, const struct tensor *from, struct text name, struct error *err)
{
    uint32_t value = model_add_value(rebuild->model, name);
    size_t count = tensor_elements(from);
    float run[ELEMENTS_RUN];
    uint16_t *data;
    void *bytes;
    int rc = model_new_tensor(rebuild->model, value, rebuild->half, &from->shape, &bytes, err);

    if (rc < 0)
        return rc;
    data = bytes;
    for (size_t first = 0; first < count; first += ELEMENTS_RUN) {
        size_t length = elements_in_run(count, first);

        elements_to_float32(from, first, length, run);
        for (size_t i = 0; i < length; i++)
            data[first + i] = narrow_mask(rebuild->half, run[i]);
    }
    return 0;
}

static int narrow_one_weight(struct rebuild *rebuild, uint32_t value, struct error *err)
{
    struct model *model = rebuild->model;
    struct text name = rebuild->twins[value].half;
    const struct initializer *initializer = &model->initializers.items[model->values.items[value].initializer];
    struct tensor tensor, described;
    SCOPED_STRING(header);
    struct narrowing narrowing;
    struct initializer *made;
    int rc = external_tensor_borrow(model, initializer->message, &tensor, err);

    if (rc < 0)
        return rc;
    survey_narrowed_weight(model, &tensor, rebuild->half, &narrowing);
    report_narrowed_weight(rebuild, model->values.items[value].name, &narrowing);
    if (narrowing.masks > 0)
        return add_clamped_weight(rebuild, &tensor, name, err);
    tensor_borrow(rebuild->half, &tensor.shape, tensor.data, tensor.size / 2, &described);
    tensor_proto_write_header(&header, name, &described);
    value = model_add_value(model, name);
    model_set_initializer(model, value, wire_keep(&model->arena, &header));
    made = &model->initializers.items[model->values.items[value].initializer];
    made->narrowed = (struct span){tensor.data, tensor.size};
    made->narrowed_type = rebuild->half;
    return 0;
}

static int narrow_low_weights(struct rebuild *rebuild, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < rebuild->weights.count; i++)
        rc = narrow_one_weight(rebuild, rebuild->weights.items[i], err);
    if (rebuild->vanished > 0)
        log_message(rebuild->log, LOG_INFO, "%zu values in %zu weights are too small for %s and become 0",
                    rebuild->vanished, rebuild->vanished_tensors, data_type_name(rebuild->half));
    return rc;
}

/* Adds the type of the tensor `name`: the shape of `like` with another element type. */
static void add_typed_description(struct model *model, struct text name, const struct value_type *like,
                                  enum data_type element)
{
    uint32_t value = name.size > 0 ? model_find_value(model, name) : VALUE_NONE;
    struct value_type type = *like;

    type.element = element;
    if (value != VALUE_NONE &&
        (model->values.items[value].initializer == INITIALIZER_NONE || model->values.items[value].info.size > 0))
        model_set_type(model, value, &type);
}

/* Sets the types of both names of each tensor; the original's types are read before they change. */
static void describe_twins(struct rebuild *rebuild, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct twin *twin = &rebuild->twins[i];
        struct value_type type;

        value_info_decode(rebuild->model->values.items[i].info, &type);
        if (!twin->is_float || twin->half.size == 0 || type.element != DATA_FLOAT32)
            continue;
        add_typed_description(rebuild->model, twin->half, &type, rebuild->half);
        add_typed_description(rebuild->model, twin->float32, &type, DATA_FLOAT32);
    }
}

int mixed_precision_apply(struct model *model, const struct bitset *low, enum data_type half,
                          struct unused_names *names, struct log *log, struct error *err)
{
    struct rebuild rebuild = {.model = model, .low = low, .half = half, .names = names, .log = log};
    size_t count = model->values.count;
    int rc;

    rebuild.twins = memory_alloc_zero(model->values.count + 1, sizeof(*rebuild.twins));
    value_list_to_set(&model->outputs, model->values.count, &rebuild.outputs);
    settle_value_names(&rebuild);
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        rc = rebuild_low_node(&rebuild, i, err);
        if (rc < 0)
            goto done;
    }
    rc = narrow_low_weights(&rebuild, err);
    if (rc < 0)
        goto done;
    rc = model_set_nodes(model, &rebuild.fields, err);
    if (rc < 0)
        goto done;
    describe_twins(&rebuild, count);
done:
    free(rebuild.twins);
    free(rebuild.weights.items);
    free(rebuild.fields.items);
    bitset_release(&rebuild.outputs);
    return rc;
}

/* ---- Costs ---- */

#define WIDE 4   /* bytes of an element in float32 */
#define NARROW 2 /* bytes of an element in float16 and bfloat16 */

/* The types in which a value is read. */
struct type_uses {
    bool wide, narrow;
};

void mixed_precision_elements(const struct model *model, uint64_t *ret)
{
    for (uint32_t i = 0; i < model->values.count; i++) {
        const struct value *value = &model->values.items[i];
        struct tensor_header header;

        if (value_element(model, i) != DATA_FLOAT32)
            ret[i] = 0;
        else if (value->initializer == INITIALIZER_NONE)
            ret[i] = value_info_bytes(value->info) / WIDE;
        else if (tensor_proto_read(model->initializers.items[value->initializer].message, &header, NULL) == 0)
            ret[i] = (uint64_t)shape_elements(&header.shape);
        else
            ret[i] = 0;
    }
}

static bool value_is_wide(const struct model *model, uint32_t value)
{
    return value != VALUE_NONE && value_element(model, value) == DATA_FLOAT32;
}

/* Adds the bytes that the node reads and writes. Shape and Size read no elements. */
static void add_node_costs(const struct model *model, const struct bitset *low, uint32_t index,
                           const uint64_t *elements, struct type_uses *uses, struct mixed_precision_costs *ret)
{
    const struct node *node = &model->nodes.items[index];
    bool is_low = bitset_has(low, index);

    for (size_t k = 0; k < node_read_count(node); k++) {
        uint32_t value = node_read(model, node, k);
        bool captured = k >= node->inputs.count, narrow = is_low && !captured && node_narrows_input(node, k);

        if (!value_is_wide(model, value) || (!captured && node_takes_any_type(node)))
            continue;
        *(narrow ? &uses[value].narrow : &uses[value].wide) = true;
        if (!captured)
            ret->node_bytes += elements[value] * (narrow ? NARROW : WIDE);
    }
    for (size_t k = 0; k < node->outputs.count; k++) {
        uint32_t value = model_edge(model, node->outputs, k);

        if (value_is_wide(model, value))
            ret->node_bytes += elements[value] * (is_low ? NARROW : WIDE);
    }
}

void mixed_precision_costs(const struct model *model, const struct bitset *low, const uint64_t *elements,
                           struct mixed_precision_costs *ret)
{
    struct type_uses *uses SCOPED_FREE = memory_alloc_zero(model->values.count, sizeof(*uses));

    *ret = (struct mixed_precision_costs){0};
    for (uint32_t i = 0; i < model->nodes.count; i++)
        add_node_costs(model, low, i, elements, uses, ret);
    for (size_t i = 0; i < model->outputs.count; i++)
        if (value_is_wide(model, model->outputs.items[i]))
            uses[model->outputs.items[i]].wide = true;
    for (uint32_t i = 0; i < model->values.count; i++) {
        const struct value *value = &model->values.items[i];
        bool made_low = value->producer != NODE_NONE && bitset_has(low, value->producer);

        if (!value_is_wide(model, i) || (!uses[i].wide && !uses[i].narrow))
            continue;
        ret->unknown += elements[i] == 0;
        if (value->initializer == INITIALIZER_NONE && (made_low ? uses[i].wide : uses[i].narrow)) {
            ret->casts++;
            ret->cast_bytes += elements[i] * (WIDE + NARROW);
        }
    }
}
