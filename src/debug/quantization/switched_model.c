/* debug/quantization/switched_model.c: see switched_model.h. */
#include "debug/quantization/switched_model.h"

#include <math.h>
#include <stdlib.h>

#include "backend/subgraph_session.h"
#include "base/memory.h"
#include "comparator/reference/value_store.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/model.h"
#include "onnx/edit/node.h"
#include "onnx/edit/rebuild.h"
#include "onnx/external/tensor.h"
#include "onnx/quantizer/bypass.h"
#include "onnx/quantizer/quantizer.h"
#include "tensor/quantization/levels.h"
#include "tensor/values/elements.h"

struct switched_quantizer {
    const char *why_not;
    uint32_t input;                     /* the input of its switch, a value of the copy; VALUE_NONE: a constant */
    struct tensor as_float, as_rounded; /* values of a constant */
};

struct switched_model {
    const struct quantization_subject *subject;
    struct model *copy;
    struct switched_quantizer *items;
    struct subgraph whole;
    struct subgraph_session session;
    struct value_store store; /* rounded constants */
    const char **outputs;     /* names of the model's outputs */
    struct arena arena;
};

/* ---- Constants ---- */

static int read_constant(struct model *model, uint32_t value, struct tensor *ret, struct error *err)
{
    return external_tensor_borrow(model, model->initializers.items[model->values.items[value].initializer].message, ret,
                                  err);
}

/* Computes QuantizeLinear and DequantizeLinear for a run of elements, from `first` on. */
static void round_run(const struct quantizer *quantizer, const struct scale_layout *layout, const struct levels *levels,
                      size_t first, size_t count, float *values)
{
    const float *scales = quantizer->scale.data;

    for (size_t i = 0; i < count; i++) {
        size_t scale = scale_layout_index(layout, first + i);
        int64_t zero_point = quantizer_zero_point(quantizer, scale);
        bool clipped;
        int64_t level = levels_find(levels, values[i] / scales[scale], zero_point, &clipped);

        values[i] = levels_value(levels, level, zero_point) * scales[scale];
    }
}

static int round_constant(struct switched_model *switched, size_t index, const struct scale_layout *layout,
                          struct error *err)
{
    const struct quantizer *quantizer = &switched->subject->quantizers.items[index];
    struct switched_quantizer *item = &switched->items[index];
    struct tensor rounded, stored = item->as_float;
    size_t total = tensor_elements(&item->as_float);
    struct levels levels;
    int rc = 0;

    if (!levels_init(&levels, quantizer->type)) {
        item->why_not = "its type is not a quantized type";
        return 0;
    }
    if (quantizer->form == QUANTIZER_STORED)
        rc = read_constant(switched->subject->model, quantizer->tensor, &stored, err);
    if (rc == 0)
        rc = tensor_allocate(DATA_FLOAT32, &item->as_float.shape, &rounded, err);
    if (rc < 0)
        return rc;
    for (size_t first = 0; first < total; first += ELEMENTS_RUN) {
        float *at = (float *)tensor_writable(&rounded) + first;
        size_t count = elements_in_run(total, first);

        if (quantizer->form == QUANTIZER_STORED) {
            quantizer_restore_run(quantizer, layout, &stored, first, count, at);
            continue;
        }
        elements_to_float32(&stored, first, count, at);
        round_run(quantizer, layout, &levels, first, count, at);
    }
    rc = value_store_add(&switched->store, &rounded, &item->as_rounded, err);
    tensor_release(&rounded);
    return rc;
}

static bool is_constant(const struct model *model, uint32_t value)
{
    return model->values.items[value].initializer != INITIALIZER_NONE;
}

static bool is_sparse(const struct model *model, uint32_t constant)
{
    return model->initializers.items[model->values.items[constant].initializer].sparse;
}

/* Fed constants are float32, as in quantized models. Sparse constants of the float model are no counterparts. */
static int prepare_constant(struct switched_model *switched, size_t index, struct error *err)
{
    const struct quantization_subject *subject = switched->subject;
    const struct quantizer *quantizer = &subject->quantizers.items[index];
    struct switched_quantizer *item = &switched->items[index];
    struct scale_layout layout;
    int rc;

    if (quantizer->overflows || is_sparse(subject->model, quantizer->tensor)) {
        item->why_not = quantizer->problem;
        return 0;
    }
    rc = quantizer->form == QUANTIZER_STORED
             ? read_constant(subject->float_model, quantization_twin(subject, index)->tensor, &item->as_float, err)
             : read_constant(subject->model, quantizer->tensor, &item->as_float, err);

    if (rc < 0)
        return rc;
    if (item->as_float.type != DATA_FLOAT32 || quantizer->scale_type != DATA_FLOAT32)
        item->why_not = "its constant is not in float32";
    else if (!scale_layout_of(quantizer, &item->as_float.shape, &layout))
        item->why_not = "its scales do not match the shape of the float constant";
    return item->why_not != NULL ? 0 : round_constant(switched, index, &layout, err);
}

/* Separates quantizers with a switch from those without. */
static int sort_out(struct switched_model *switched, struct error *err)
{
    const struct quantization_subject *subject = switched->subject;

    for (size_t i = 0; i < subject->quantizers.count; i++) {
        const struct quantizer *quantizer = &subject->quantizers.items[i];
        struct switched_quantizer *item = &switched->items[i];
        const struct quantizer_twin *twin = quantization_twin(subject, i);
        int rc = 0;

        item->input = VALUE_NONE;
        item->why_not = quantizer_why_it_stays(quantizer, twin);
        if (item->why_not != NULL)
            continue;
        if (quantizer->form == QUANTIZER_STORED || is_constant(subject->model, quantizer->tensor))
            rc = prepare_constant(switched, i, err);
        else
            item->input = 0; /* a switch, which is created with the nodes */
        if (rc < 0)
            return rc;
    }
    return value_store_commit(&switched->store, err);
}

/* ---- Nodes ---- */

struct switching {
    struct switched_model *switched;
    struct unused_names names;
    struct span_list fields;
    uint32_t *owners; /* for each node, the quantizer that it belongs to; UINT32_MAX: none */
};

static struct text value_name(const struct model *model, uint32_t value)
{
    return model->values.items[value].name;
}

static void add_node(struct switching *switching, const struct node_recipe *recipe)
{
    *VECTOR_APPEND(&switching->fields) = node_build(&switching->switched->copy->arena, recipe);
}

/* Adds a Cast of a tensor to float32 and returns the name of its output. */
static struct text add_cast(struct switching *switching, struct text from, struct text base, enum data_type type)
{
    struct text to = unused_names_make(&switching->names, base, "_cast");

    *VECTOR_APPEND(&switching->fields) =
        cast_node_build(&switching->switched->copy->arena, &switching->names, from, to, type);
    return to;
}

/* Adds a node that clips at a bound. */
static struct text add_bound(struct switching *switching, const char *op_type, struct text from, float limit)
{
    struct model *copy = switching->switched->copy;
    uint32_t constant = model_add_value(copy, unused_names_make(&switching->names, from, "_bound"));
    struct text to = unused_names_make(&switching->names, from, "_bounded");
    struct text inputs[] = {from, value_name(copy, constant)};
    const struct shape scalar = {0};
    struct tensor tensor;

    tensor_borrow(DATA_FLOAT32, &scalar, arena_copy(&copy->arena, &limit, sizeof(limit)), sizeof(limit), &tensor);
    if (model_set_tensor(copy, constant, &tensor, NULL) < 0)
        return from;
    add_node(switching, &(struct node_recipe){.op_type = text_of(op_type),
                                              .name = to,
                                              .inputs = inputs,
                                              .input_count = ARRAY_LEN(inputs),
                                              .outputs = &to,
                                              .output_count = 1});
    return to;
}

/* Restores the Relu or Clip that the quantizer replaces. */
static struct text restore_activation(struct switching *switching, struct text from, const struct quantizer_twin *twin)
{
    if (twin != NULL && isfinite(twin->least))
        from = add_bound(switching, "Max", from, twin->least);
    if (twin != NULL && isfinite(twin->largest))
        from = add_bound(switching, "Min", from, twin->largest);
    return from;
}

/* Renames the dequantized tensor; the switch outputs a tensor with the original name. */
static int add_switch(struct switching *switching, uint32_t node, size_t index, struct error *err)
{
    struct switched_model *switched = switching->switched;
    struct model *copy = switched->copy;
    const struct quantizer *quantizer = &switched->subject->quantizers.items[index];
    struct text result = value_name(copy, model_edge(copy, copy->nodes.items[node].outputs, 0));
    struct text on = unused_names_make(&switching->names, result, "_dequantized");
    struct text off = value_name(copy, quantizer->tensor);
    struct text made = result, inputs[3];
    enum data_type type = quantizer_type_behind(quantizer, &copy->nodes.items[node]);
    bool casts = type != DATA_FLOAT32 && type != DATA_UNDEFINED;
    struct rename_map renames;
    struct span field;
    int rc;

    if (switched->items[index].input == 0)
        switched->items[index].input =
            model_add_value(copy, unused_names_make(&switching->names, result, "_is_quantized"));
    rename_map_init(&renames);
    rename_map_add(&renames, result, on);
    rc = node_rename(&copy->arena, copy->nodes.items[node].field, NULL, &renames, &field, err);
    rename_map_release(&renames);
    if (rc < 0)
        return rc;
    *VECTOR_APPEND(&switching->fields) = field;
    if (casts) {
        on = add_cast(switching, on, result, DATA_FLOAT32);
        off = add_cast(switching, off, result, DATA_FLOAT32);
        made = unused_names_make(&switching->names, result, "_switched");
    }
    off = restore_activation(switching, off, quantization_twin(switched->subject, index));
    inputs[0] = value_name(copy, switched->items[index].input);
    inputs[1] = on;
    inputs[2] = off;
    add_node(switching, &(struct node_recipe){.op_type = TEXT("Where"),
                                              .name = unused_names_make(&switching->names, result, "_switch"),
                                              .inputs = inputs,
                                              .input_count = ARRAY_LEN(inputs),
                                              .outputs = &made,
                                              .output_count = 1});
    if (casts)
        *VECTOR_APPEND(&switching->fields) = cast_node_build(&copy->arena, &switching->names, made, result, type);
    return 0;
}

/* For each node, the quantizer with a switch that it belongs to. */
static void find_owners(struct switching *switching)
{
    const struct quantizers *quantizers = &switching->switched->subject->quantizers;

    for (size_t i = 0; i < switching->switched->copy->nodes.count; i++)
        switching->owners[i] = UINT32_MAX;
    for (size_t i = 0; i < quantizers->count; i++)
        for (size_t k = 0; switching->switched->items[i].why_not == NULL && k < quantizers->items[i].dequantize.count;
             k++)
            switching->owners[quantizers->items[i].dequantize.items[k]] = (uint32_t)i;
}

static int make_nodes(struct switching *switching, struct error *err)
{
    struct switched_model *switched = switching->switched;
    struct model *copy = switched->copy;
    int rc = 0;

    find_owners(switching);
    for (size_t i = 0; rc == 0 && i < copy->nodes.count; i++) {
        uint32_t owner = switching->owners[i];

        if (owner == UINT32_MAX)
            *VECTOR_APPEND(&switching->fields) = copy->nodes.items[i].field;
        else if (switched->items[owner].input != VALUE_NONE)
            rc = add_switch(switching, (uint32_t)i, owner, err);
    }
    return rc < 0 ? rc : model_set_nodes(copy, &switching->fields, err);
}

/* ---- Inputs and outputs ---- */

static void add_input(struct switched_model *switched, uint32_t value, const struct value_type *type)
{
    model_set_type(switched->copy, value, type);
    value_list_add(&switched->whole.inputs, value);
}

static void declare_value(struct switched_model *switched)
{
    const struct value_type is_on = {.element = DATA_BOOL, .has_shape = true};
    const struct model *model = switched->subject->model; /* nodes of the copy have other numbers */

    subgraph_init_whole(&switched->whole, switched->copy);
    for (size_t i = 0; i < switched->subject->quantizers.count; i++) {
        const struct quantizer *quantizer = &switched->subject->quantizers.items[i];
        struct switched_quantizer *item = &switched->items[i];

        if (item->why_not != NULL)
            continue;
        if (item->input != VALUE_NONE) {
            add_input(switched, item->input, &is_on);
            if (switched->copy->values.items[quantizer->tensor].producer != NODE_NONE &&
                !value_list_has(&switched->whole.outputs, quantizer->tensor))
                value_list_add(&switched->whole.outputs, quantizer->tensor);
            continue;
        }
        for (size_t k = 0; k < quantizer->dequantize.count; k++)
            add_input(switched, model_edge(model, model->nodes.items[quantizer->dequantize.items[k]].outputs, 0),
                      &(struct value_type){.element = DATA_FLOAT32, .has_shape = true, .shape = item->as_float.shape});
    }
    subgraph_clean(&switched->whole, NULL, NULL, NULL);
}

int switched_model_new(const struct quantization_subject *subject, struct switched_model **ret, struct error *err)
{
    struct switched_model *switched = memory_alloc_zero(1, sizeof(*switched));
    struct switching switching = {.switched = switched};
    int rc;

    switched->subject = subject;
    switched->items = memory_alloc_zero(subject->quantizers.count + 1, sizeof(*switched->items));
    switched->copy = model_copy(subject->model);
    arena_init(&switched->arena);
    switched->outputs = arena_alloc_zero(&switched->arena, subject->model->outputs.count + 1, sizeof(char *));
    for (size_t i = 0; i < subject->model->outputs.count; i++)
        switched->outputs[i] =
            arena_text(&switched->arena, value_name(subject->model, subject->model->outputs.items[i]));
    rc = sort_out(switched, err);
    if (rc < 0)
        goto failed;
    switching.owners = memory_alloc_zero(switched->copy->nodes.count + 1, sizeof(*switching.owners));
    unused_names_init(&switching.names, switched->copy, &switched->copy->arena);
    rc = make_nodes(&switching, err);
    if (rc == 0)
        rc = expansion_undo(&subject->expansion, switched->copy, err);
    unused_names_release(&switching.names);
    free(switching.fields.items);
    free(switching.owners);
    if (rc < 0)
        goto failed;
    declare_value(switched);
    *ret = switched;
    return 0;
failed:
    switched_model_free(switched);
    return rc;
}

int switched_model_open(struct switched_model *switched, const struct backend *backend,
                        const struct backend_request *request, struct error *err)
{
    subgraph_session_close(&switched->session);
    return subgraph_session_open(&switched->session, &switched->whole, backend, request, err);
}

void switched_model_free(struct switched_model *switched)
{
    if (switched == NULL)
        return;
    subgraph_session_close(&switched->session);
    if (switched->whole.model != NULL)
        subgraph_release(&switched->whole);
    for (size_t i = 0; i < switched->subject->quantizers.count; i++) {
        tensor_release(&switched->items[i].as_float);
        tensor_release(&switched->items[i].as_rounded);
    }
    value_store_release(&switched->store);
    model_free(switched->copy);
    arena_release(&switched->arena);
    free(switched->items);
    free(switched);
}

/* ---- Use ---- */

const char *switched_model_why_not(const struct switched_model *switched, size_t quantizer)
{
    return switched->items[quantizer].why_not;
}

const struct tensor *switched_model_constant(const struct switched_model *switched, size_t quantizer)
{
    const struct switched_quantizer *item = &switched->items[quantizer];

    return item->why_not == NULL && item->input == VALUE_NONE ? &item->as_float : NULL;
}

static void add_value(const struct tensor *tensor, struct text_list *ret)
{
    if (tensor->size > 0)
        *VECTOR_APPEND(ret) = (struct text){tensor->data, tensor->size};
}

void switched_model_add_values(const struct switched_model *switched, struct text_list *ret)
{
    for (size_t i = 0; i < switched->subject->quantizers.count; i++) {
        add_value(&switched->items[i].as_float, ret);
        add_value(&switched->items[i].as_rounded, ret);
    }
}

static void feed_borrowed(struct tensor_list *feed, struct text name, const struct tensor *from)
{
    struct tensor tensor;

    tensor_borrow(from->type, &from->shape, from->data, from->size, &tensor);
    tensor_list_add(feed, name, &tensor);
}

static void feed_quantizer(const struct switched_model *switched, size_t index, bool on, struct tensor_list *feed)
{
    static const bool states[] = {false, true};
    const struct model *model = switched->subject->model;
    const struct quantizer *quantizer = &switched->subject->quantizers.items[index];
    const struct switched_quantizer *item = &switched->items[index];
    const struct shape scalar = {0};
    struct tensor state;

    if (item->why_not != NULL)
        return;
    if (item->input != VALUE_NONE) {
        tensor_borrow(DATA_BOOL, &scalar, &states[on], sizeof(states[on]), &state);
        tensor_list_add(feed, value_name(switched->copy, item->input), &state);
        return;
    }
    for (size_t k = 0; k < quantizer->dequantize.count; k++)
        feed_borrowed(
            feed, value_name(model, model_edge(model, model->nodes.items[quantizer->dequantize.items[k]].outputs, 0)),
            on ? &item->as_rounded : &item->as_float);
}

int switched_model_run(struct switched_model *switched, const struct tensor_list *inputs, const struct bitset *on,
                       const struct words *wanted, struct tensor_list *ret, struct error *err)
{
    const struct model *model = switched->subject->model;
    struct tensor_list feed SCOPED(tensor_list_release) = {0};
    const struct words own = {.items = switched->outputs, .count = model->outputs.count};

    for (size_t i = 0; i < inputs->count; i++)
        feed_borrowed(&feed, text_of(inputs->items[i].name), &inputs->items[i].tensor);
    for (size_t i = 0; i < switched->subject->quantizers.count; i++)
        feed_quantizer(switched, i, bitset_has(on, i), &feed);
    return switched->session.backend->run(switched->session.session, &feed, wanted != NULL ? wanted : &own, ret, NULL,
                                          err);
}
