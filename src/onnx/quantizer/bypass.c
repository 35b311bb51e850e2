/* onnx/quantizer/bypass.c: see bypass.h. */
#include "onnx/quantizer/bypass.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/node.h"
#include "onnx/edit/rebuild.h"
#include "onnx/external/tensor.h"
#include "onnx/model/subgraph.h"
#include "onnx/proto/tensor_proto.h"

#define CLIP_INPUTS_OPSET 11 /* before, its bounds are attributes */

static bool quantizer_has_activation(const struct quantizer_twin *twin)
{
    return twin != NULL && twin->tensor != VALUE_NONE && (isfinite(twin->least) || isfinite(twin->largest));
}

const char *quantizer_why_it_stays(const struct quantizer *quantizer, const struct quantizer_twin *twin)
{
    if (quantizer->form != QUANTIZER_STORED)
        return quantizer->fixed_by;
    if (twin == NULL)
        return "its constant is stored as integers, and the original values are only in a float model";
    return twin->tensor == VALUE_NONE ? twin->why_not : NULL;
}

struct bypass {
    struct model *model;
    const struct quantizers *quantizers;
    const struct quantizer_twins *twins;
    struct unused_names names;
    struct bitset outputs;  /* values */
    struct bitset removed;  /* nodes */
    uint32_t *read_instead; /* by value: the value that its consumers read instead; VALUE_NONE: unchanged */
    /* by value: the output of the model whose name it gets; VALUE_NONE: its name is unchanged */
    uint32_t *made_as;
    uint32_t *behind; /* by node: the quantizer that it is replaced for, plus one */
    struct span_list fields;
};

static const struct quantizer_twin *float_twin_of(const struct bypass *bypass, size_t i)
{
    return bypass->twins != NULL ? &bypass->twins->items[i] : NULL;
}

static uint32_t node_single_output(const struct model *model, uint32_t node)
{
    return model_edge(model, model->nodes.items[node].outputs, 0);
}

/* ---- Replacement of values ---- */

/* The float tensor that replaces a value; with several bypassed quantizers in a row, the first one. */
static int resolve_float_value(const struct bypass *bypass, uint32_t value, uint32_t *ret, struct error *err)
{
    size_t steps = 0;

    for (; bypass->read_instead[value] != VALUE_NONE; value = bypass->read_instead[value])
        if (steps++ == bypass->model->values.count)
            return error_set(err, ERR_CORRUPT, "%s: tensor '" TEXT_FORMAT "' is computed from itself",
                             bypass->model->display_name, TEXT_ARGS(bypass->model->values.items[value].name));
    *ret = value;
    return 0;
}

/* Sets the constant of the float model: borrowed bytes, or a copy of external data. */
static int set_float_constant(struct bypass *bypass, uint32_t value, const struct quantizer_twin *twin,
                              struct error *err)
{
    struct model *from = bypass->twins->float_model;
    const struct value *source = &from->values.items[twin->tensor];
    struct span message = from->initializers.items[source->initializer].message;
    struct tensor_header header;
    struct tensor tensor;
    int rc = tensor_proto_read(message, &header, err);

    if (rc == 0 && !header.external) {
        model_set_initializer(bypass->model, value, message);
        return 0;
    }
    if (rc == 0)
        rc = external_tensor_borrow(from, message, &tensor, err);
    if (rc < 0)
        return error_context(err, "%s", from->display_name);
    return model_set_tensor(bypass->model, value, &tensor, err);
}

/* Marks the quantizer's nodes as removed and determines the replacement of each output: its input, or the first output,
 * which a constant or another node produces from now on. */
static int leave_out_quantizers(struct bypass *bypass, size_t number, struct error *err)
{
    const struct quantizer *quantizer = &bypass->quantizers->items[number];
    const struct quantizer_twin *twin = float_twin_of(bypass, number);
    const char *why = quantizer_why_it_stays(quantizer, twin);
    uint32_t first;

    if (why != NULL)
        return error_set(err, ERR_UNSUPPORTED, "%s: the quantizer '%s' (%s, %s) cannot be bypassed: %s",
                         bypass->model->display_name, quantizer->name, quantizer_form_name(quantizer->form),
                         quantizer_role_name(quantizer->role), why);
    first = node_single_output(bypass->model, quantizer->dequantize.items[0]);
    for (size_t i = 0; i < quantizer->dequantize.count; i++) {
        bitset_add(&bypass->removed, quantizer->dequantize.items[i]);
        bypass->read_instead[node_single_output(bypass->model, quantizer->dequantize.items[i])] = first;
    }
    bypass->read_instead[first] = VALUE_NONE;
    if (quantizer->form == QUANTIZER_STORED)
        return set_float_constant(bypass, first, twin, err);
    bitset_add(&bypass->removed, quantizer->quantize);
    if (quantizer_has_activation(twin))
        bypass->behind[quantizer->quantize] = (uint32_t)number + 1;
    else
        bypass->read_instead[first] = quantizer->tensor;
    return 0;
}

/* ---- Replacing nodes ---- */

/* Adds a bound of a Clip: a scalar of the tensor's type. */
static int add_clip_bound(struct bypass *bypass, const struct quantizer *quantizer, float bound, struct text *ret,
                          struct error *err)
{
    struct model *model = bypass->model;
    struct text tensor = model->values.items[quantizer->tensor].name;
    struct shape scalar = {0};
    struct tensor constant;
    uint16_t half = quantizer->scale_type == DATA_FLOAT16 ? float32_to_float16(bound) : float32_to_bfloat16(bound);
    uint32_t value;

    *ret = (struct text){"", 0};
    if (!isfinite(bound))
        return 0;
    *ret = unused_names_make(&bypass->names, tensor, "_bound");
    value = model_add_value(model, *ret);
    if (quantizer->scale_type == DATA_FLOAT16 || quantizer->scale_type == DATA_BFLOAT16)
        tensor_borrow(quantizer->scale_type, &scalar, &half, sizeof(half), &constant);
    else
        tensor_borrow(DATA_FLOAT32, &scalar, &bound, sizeof(bound), &constant);
    return model_set_tensor(model, value, &constant, err);
}

/* Adds the Relu or Clip that the quantizer's range replaced. */
static int add_replacing_activation(struct bypass *bypass, size_t number, struct error *err)
{
    const struct quantizer *quantizer = &bypass->quantizers->items[number];
    const struct quantizer_twin *twin = float_twin_of(bypass, number);
    struct model *model = bypass->model;
    bool is_relu = twin->least == 0 && twin->largest == INFINITY; /* NOLINT: -0 counts, too */
    bool has_inputs = model_opset(model) >= CLIP_INPUTS_OPSET;
    struct text inputs[3], output = model->values.items[node_single_output(model, quantizer->dequantize.items[0])].name;
    struct node_attribute bounds[] = {
        {.name = TEXT("min"), .kind = ATTRIBUTE_KIND_FLOAT, .number = fmaxf(twin->least, -3.402823466e+38F)},
        {.name = TEXT("max"), .kind = ATTRIBUTE_KIND_FLOAT, .number = fminf(twin->largest, 3.402823466e+38F)}};
    struct node_recipe recipe = {.op_type = is_relu ? TEXT("Relu") : TEXT("Clip"),
                                 .inputs = inputs,
                                 .input_count = 1,
                                 .outputs = &output,
                                 .output_count = 1,
                                 .attributes = bounds};
    uint32_t from;
    int rc = resolve_float_value(bypass, quantizer->tensor, &from, err);

    if (rc < 0)
        return rc;
    inputs[0] = model->values.items[from].name;
    recipe.name = unused_names_make(&bypass->names, inputs[0], is_relu ? "_Relu" : "_Clip");
    if (!is_relu && has_inputs) {
        recipe.input_count = 3;
        rc = add_clip_bound(bypass, quantizer, twin->least, &inputs[1], err);
        if (rc == 0)
            rc = add_clip_bound(bypass, quantizer, twin->largest, &inputs[2], err);
    } else if (!is_relu) {
        recipe.attribute_count = 2;
    }
    if (rc == 0)
        *VECTOR_APPEND(&bypass->fields) = node_build(&model->arena, &recipe);
    return rc;
}

/* Dequantized outputs of the model keep their names: the producer of the float tensor gets the name, unless the float
 * tensor is an input or output itself. */
static int name_float_outputs(struct bypass *bypass, struct error *err)
{
    const struct model *model = bypass->model;

    for (size_t i = 0; i < model->outputs.count; i++) {
        uint32_t output = model->outputs.items[i], from;
        uint32_t producer;
        int rc;

        if (bypass->read_instead[output] == VALUE_NONE)
            continue;
        rc = resolve_float_value(bypass, output, &from, err);
        if (rc < 0)
            return rc;
        producer = model->values.items[from].producer;
        if (producer == NODE_NONE || bitset_has(&bypass->removed, producer) || bitset_has(&bypass->outputs, from))
            continue;
        bypass->made_as[from] = output;
        bypass->read_instead[from] = output;
        bypass->read_instead[output] = VALUE_NONE;
    }
    return 0;
}

/* Other outputs are copies of an input, a constant, or another output. */
static int add_copies_to_outputs(struct bypass *bypass, uint32_t node, struct error *err)
{
    struct model *model = bypass->model;
    uint32_t value = node_single_output(model, node), from;
    struct node_recipe recipe = {.op_type = TEXT("Identity"), .input_count = 1, .output_count = 1};
    int rc;

    if (bypass->read_instead[value] == VALUE_NONE || !bitset_has(&bypass->outputs, value))
        return 0;
    rc = resolve_float_value(bypass, value, &from, err);
    if (rc < 0)
        return rc;
    recipe.inputs = &model->values.items[from].name;
    recipe.outputs = &model->values.items[value].name;
    recipe.name = unused_names_make(&bypass->names, *recipe.outputs, "_Identity");
    *VECTOR_APPEND(&bypass->fields) = node_build(&model->arena, &recipe);
    return 0;
}

/* ---- The other nodes ---- */

static int add_rewired_node(struct bypass *bypass, uint32_t index, struct error *err)
{
    const struct model *model = bypass->model;
    const struct node *node = &model->nodes.items[index];
    struct rename_map inputs SCOPED(rename_map_release) = {0};
    struct rename_map outputs SCOPED(rename_map_release) = {0};
    struct span field = node->field;
    bool any = false;
    int rc = 0;

    for (size_t i = 0; i < node_read_count(node); i++) {
        uint32_t value = node_read(model, node, i), from;

        if (value == VALUE_NONE || bypass->read_instead[value] == VALUE_NONE)
            continue;
        rc = resolve_float_value(bypass, value, &from, err);
        if (rc < 0)
            return rc;
        rename_map_add(&inputs, model->values.items[value].name, model->values.items[from].name);
        any = true;
    }
    for (size_t i = 0; i < node->outputs.count; i++) {
        uint32_t value = model_edge(model, node->outputs, i);

        if (value == VALUE_NONE || bypass->made_as[value] == VALUE_NONE)
            continue;
        rename_map_add(&outputs, model->values.items[value].name, model->values.items[bypass->made_as[value]].name);
        any = true;
    }
    if (any)
        rc = node_rename(&bypass->model->arena, node->field, &inputs, &outputs, &field, err);
    if (rc == 0)
        *VECTOR_APPEND(&bypass->fields) = field;
    return rc;
}

static int add_remaining_nodes(struct bypass *bypass, struct error *err)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < bypass->model->nodes.count; i++) {
        if (!bitset_has(&bypass->removed, i))
            rc = add_rewired_node(bypass, i, err);
        else if (node_dequantizes(&bypass->model->nodes.items[i]))
            rc = add_copies_to_outputs(bypass, i, err);
        else if (bypass->behind[i] != 0)
            rc = add_replacing_activation(bypass, bypass->behind[i] - 1, err);
    }
    return rc;
}

int quantizers_bypass(struct model *model, const struct quantizers *quantizers, const struct bitset *off,
                      const struct quantizer_twins *twins, struct error *err)
{
    struct bypass bypass = {.model = model, .quantizers = quantizers, .twins = twins};
    bool computes_scales = false;
    int rc = 0;

    unused_names_init(&bypass.names, model, &model->arena);
    value_list_to_set(&model->outputs, model->values.count, &bypass.outputs);
    bitset_init(&bypass.removed, model->nodes.count);
    bypass.behind = memory_alloc_zero(model->nodes.count + 1, sizeof(*bypass.behind));
    bypass.read_instead = memory_alloc((model->values.count + 1) * sizeof(*bypass.read_instead));
    bypass.made_as = memory_alloc((model->values.count + 1) * sizeof(*bypass.made_as));
    for (size_t i = 0; i < model->values.count; i++)
        bypass.read_instead[i] = bypass.made_as[i] = VALUE_NONE;
    for (size_t i = bitset_next(off, 0); rc == 0 && i < off->size; i = bitset_next(off, i + 1)) {
        rc = leave_out_quantizers(&bypass, i, err);
        computes_scales |= quantizers->items[i].dynamic || quantizers->items[i].groups != NULL;
    }
    if (rc < 0)
        goto done;
    rc = name_float_outputs(&bypass, err);
    if (rc < 0)
        goto done;
    rc = add_remaining_nodes(&bypass, err);
    if (rc < 0)
        goto done;
    rc = model_set_nodes(model, &bypass.fields, err);
    if (rc == 0 && computes_scales)
        rc = model_remove_unneeded_nodes(model, err);
done:
    free(bypass.fields.items);
    free(bypass.read_instead);
    free(bypass.made_as);
    free(bypass.behind);
    bitset_release(&bypass.removed);
    bitset_release(&bypass.outputs);
    unused_names_release(&bypass.names);
    return rc;
}
