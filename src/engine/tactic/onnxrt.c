/* engine/tactic/onnxrt.c: ONNX Runtime's kernels. Every layer can be computed by a session for a model of its nodes
 * alone: so any model that ONNX Runtime can run can be built.
 *
 * Networks have hundreds of layers: their sessions share threads and memory (onnxrt_share_threads()), and refer to
 * constants instead of copying them.
 */
#include <stdlib.h>

#include "backend/backend.h"
#include "backend/onnxrt/library.h"
#include "backend/onnxrt/values.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "engine/tactic/tactic.h"
#include "onnx/model/function_call.h"
#include "onnx/model/subgraph.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/value_info.h"
#include "onnx/proto/wire.h"
#include "base/container/arena.h"

/* ---- Layers as models ---- */

/* A layer as a separate ONNX model, for ONNX Runtime. */

/* A model of the layer's nodes. Its inputs have the request's types and shapes; its initializers the request's
 * values. */
struct onnxrt_layer {
    struct string_builder model; /* a ModelProto */
    struct arena arena;          /* names, NUL-terminated */
    const char **input_names;    /* run-time inputs */
    size_t *input_positions;     /* index among the layer's inputs */
    size_t input_count;
    const char **constant_names; /* initializers whose data are passed separately from `model` */
    size_t *constant_positions;  /* index among the layer's inputs */
    size_t constant_count;
    const char **output_names;
    size_t *output_positions; /* index among the layer's outputs */
    size_t output_count;
};

/* Constants up to this size in bytes are written to the model, so that shape inference can use them. */
#define INLINE_LIMIT 1024

/* From this version on, initializers need not be inputs, and are then constants. */
#define IR_VERSION_OF_CONSTANTS 4

/* Creates a view of a constant's data in the request. */
static void make_layer_constant(const struct kernel_input *input, struct tensor *ret)
{
    size_t elements = shape_elements(&input->shape);
    size_t size = input->type == DATA_STRING ? elements * sizeof(struct text) : tensor_bytes(input->type, elements);

    tensor_borrow(input->type, &input->shape, input->constant, size, ret);
}

static const char *copy_value_name(struct arena *arena, struct text name)
{
    return arena_printf(arena, TEXT_FORMAT, TEXT_ARGS(name));
}

static void add_message_field(struct string_builder *out, uint32_t number, const struct string_builder *message)
{
    wire_write_bytes(out, number, message->data, message->size);
}

static void add_external_entry(struct string_builder *out, const char *key, const char *value)
{
    SCOPED_STRING(entry);

    wire_write_text(&entry, ENTRY_KEY, text_of(key));
    wire_write_text(&entry, ENTRY_VALUE, text_of(value));
    add_message_field(out, TENSOR_EXTERNAL_DATA, &entry);
}

static bool tensor_is_inline(const struct tensor *tensor)
{
    return tensor->type == DATA_STRING || tensor->size <= INLINE_LIMIT;
}

/* Adds a constant; a large one is declared as external, and its data are passed to the session separately. */
static void add_layer_constant(struct onnxrt_layer *layer, struct string_builder *graph, struct text name,
                               size_t position, const struct tensor *tensor)
{
    SCOPED_STRING(message);

    if (tensor_is_inline(tensor)) {
        tensor_proto_write(&message, name, tensor);
    } else {
        tensor_proto_write_header(&message, name, tensor);
        add_external_entry(&message, "location", "constants");
        wire_write_integer(&message, TENSOR_DATA_LOCATION, DATA_LOCATION_EXTERNAL);
        layer->constant_names[layer->constant_count] = copy_value_name(&layer->arena, name);
        layer->constant_positions[layer->constant_count++] = position;
    }
    add_message_field(graph, GRAPH_INITIALIZER, &message);
}

static void add_layer_input(struct onnxrt_layer *layer, struct string_builder *graph, struct text name, size_t position,
                            const struct kernel_input *input, bool has_shape)
{
    struct value_type type = {.element = input->type, .has_shape = has_shape, .shape = input->shape};
    struct span info = value_info_make(&layer->arena, name, &type);

    wire_write_bytes(graph, GRAPH_INPUT, info.data, info.size);
    layer->input_names[layer->input_count] = copy_value_name(&layer->arena, name);
    layer->input_positions[layer->input_count++] = position;
}

/* Tensors get their element type only; the runtime infers the shape. */
static void add_layer_output(struct onnxrt_layer *layer, struct string_builder *graph, const struct value *value,
                             size_t position)
{
    struct value_type type = {0};
    struct span info = value->info;

    value_info_decode(info, &type);
    if (!type.not_a_tensor) {
        type.has_shape = false;
        info = value_info_make(&layer->arena, value->name, type.element == DATA_UNDEFINED ? NULL : &type);
    }
    wire_write_bytes(graph, GRAPH_OUTPUT, info.data, info.size);
    layer->output_names[layer->output_count] = copy_value_name(&layer->arena, value->name);
    layer->output_positions[layer->output_count++] = position;
}

/* A tensor may occur several times among the inputs, but is a single input of the model. */
static bool value_occurs_before(const struct value_list *list, size_t position)
{
    for (size_t i = 0; i < position; i++)
        if (list->items[i] == list->items[position])
            return true;
    return false;
}

static bool layer_has_bodies(const struct kernel_request *request)
{
    const struct layer *layer = request->layer;

    for (size_t i = 0; i < layer->nodes.count; i++)
        if (request->network->model->nodes.items[layer->nodes.items[i]].has_subgraphs)
            return true;
    return false;
}

/* Adds constants of fused operations that are not inputs of the layer: the bounds of a Clip, the constants of a GELU.
 * They are small and not rounded, because they are part of the operation. */
static void add_fused_constants(const struct kernel_request *request, struct string_builder *graph)
{
    const struct model *model = request->network->model;
    const struct layer *layer = request->layer;
    struct value_list added SCOPED_ITEMS = {0};

    for (size_t i = 0; layer->fused.count > 0 && i < layer->nodes.count; i++) {
        struct edge_range inputs = model->nodes.items[layer->nodes.items[i]].inputs;

        for (size_t k = 0; k < inputs.count; k++) {
            uint32_t value = model_edge(model, inputs, k);
            const struct value *v = value != VALUE_NONE ? &model->values.items[value] : NULL;
            struct span message;

            if (!v || v->initializer == INITIALIZER_NONE || v->producer != NODE_NONE ||
                value_list_has(&layer->inputs, value) || value_list_has(&added, value))
                continue;
            message = model->initializers.items[v->initializer].message;
            wire_write_bytes(graph, GRAPH_INITIALIZER, message.data, message.size);
            value_list_add(&added, value);
        }
    }
}

/* The inactive branch of an If need not fit the actual shapes. ONNX Runtime infers the types of both branches when it
 * loads the layer, so shapes are omitted then. */
static void add_layer_graph(struct onnxrt_layer *layer, const struct kernel_request *request,
                            struct string_builder *graph)
{
    const struct model *model = request->network->model;
    const struct value_list *inputs = &request->layer->inputs, *outputs = &request->layer->outputs;
    bool shapes_are_said = !layer_has_bodies(request);

    wire_write_text(graph, GRAPH_NAME, text_of("layer"));
    for (size_t i = 0; i < request->layer->nodes.count; i++) {
        struct span field = model->nodes.items[request->layer->nodes.items[i]].field;

        string_add_bytes(graph, field.data, field.size);
    }
    for (size_t i = 0; i < inputs->count; i++) {
        const struct kernel_input *input = &request->inputs[i];
        struct tensor constant;
        struct text name;

        if (!input->present || inputs->items[i] == VALUE_NONE || value_occurs_before(inputs, i))
            continue;
        name = model->values.items[inputs->items[i]].name;
        if (input->constant) {
            make_layer_constant(input, &constant);
            add_layer_constant(layer, graph, name, i, &constant);
        } else {
            add_layer_input(layer, graph, name, i, input, shapes_are_said);
        }
    }
    add_fused_constants(request, graph);
    for (size_t i = 0; i < outputs->count; i++)
        if (outputs->items[i] != VALUE_NONE)
            add_layer_output(layer, graph, &model->values.items[outputs->items[i]], i);
}

static void add_span_bytes(struct string_builder *out, const struct span_list *spans)
{
    for (size_t i = 0; i < spans->count; i++)
        string_add_bytes(out, spans->items[i].data, spans->items[i].size);
}

static void write_layer_model(struct onnxrt_layer *layer, const struct kernel_request *request)
{
    const struct model *model = request->network->model;
    size_t inputs = request->layer->inputs.count, outputs = request->layer->outputs.count;
    SCOPED_STRING(graph);

    *layer = (struct onnxrt_layer){0};
    arena_init(&layer->arena);
    string_init(&layer->model);
    layer->input_names = memory_alloc_zero(inputs, sizeof(*layer->input_names));
    layer->input_positions = memory_alloc_zero(inputs, sizeof(*layer->input_positions));
    layer->constant_names = memory_alloc_zero(inputs, sizeof(*layer->constant_names));
    layer->constant_positions = memory_alloc_zero(inputs, sizeof(*layer->constant_positions));
    layer->output_names = memory_alloc_zero(outputs, sizeof(*layer->output_names));
    layer->output_positions = memory_alloc_zero(outputs, sizeof(*layer->output_positions));
    add_layer_graph(layer, request, &graph);

    /* Operator sets, functions and other fields of the whole model are kept. */
    add_span_bytes(&layer->model, &model->fields_before_graph);
    add_message_field(&layer->model, MODEL_GRAPH, &graph);
    add_span_bytes(&layer->model, &model->fields_after_graph);
    if (model->ir_version < IR_VERSION_OF_CONSTANTS) /* the last occurrence counts */
        wire_write_integer(&layer->model, MODEL_IR_VERSION, IR_VERSION_OF_CONSTANTS);
}

static void release_layer_model(struct onnxrt_layer *layer)
{
    string_release(&layer->model);
    arena_release(&layer->arena);
    free(layer->input_names);
    free(layer->input_positions);
    free(layer->constant_names);
    free(layer->constant_positions);
    free(layer->output_names);
    free(layer->output_positions);
    *layer = (struct onnxrt_layer){0};
}

/* ---- Kernels ---- */

/* Alignment in bytes for the widest element type. The runtime does not accept constants that it would have to copy. */
#define CONSTANT_ALIGNMENT 8

enum { OPTIMIZE_NOTHING = 0, OPTIMIZE_ALL = 99 };

struct onnxrt_provider {
    struct tactic_provider base;
    const struct onnxrt *ort;
    struct ort_session_options *options; /* shared by all sessions */
    struct log *log;
};

struct onnxrt_kernel {
    struct kernel base;
    const struct onnxrt *ort;
    const char *name; /* of the layer, for messages; the network's */
    struct log *log;
    struct ort_session *session;
    struct onnxrt_layer layer;    /* its model is released once the session exists */
    struct ort_value **constants; /* layer.constant_count: views of the request's data, */
    struct tensor *copies;        /* or of aligned copies */
    struct ort_value **inputs;    /* layer.input_count: of the current run */
    struct ort_value **outputs;   /* layer.output_count: of the current run */
    /* An output may be a constant or an inner tensor of the session, which must not outlive it. */
    bool copies_outputs;
};

/* ---- Tactics ---- */

static bool layer_is_convolution(const struct kernel_request *request)
{
    return request->layer->kind == LAYER_CONVOLUTION && request->layer->inputs.count > 0 &&
           request->inputs[0].type == DATA_FLOAT32 && request->inputs[0].shape.rank == 4;
}

static void add_onnxrt_tactic(struct tactic_provider *provider, const struct kernel_request *request, const char *name,
                              struct tactic_list *ret)
{
    const struct model *model = request->network->model;
    SCOPED_STRING(algorithm);

    for (size_t i = 0; i < request->layer->nodes.count; i++)
        string_add_format(&algorithm, TEXT_FORMAT " ",
                          TEXT_ARGS(model->nodes.items[request->layer->nodes.items[i]].op_type));
    string_add(&algorithm, name);
    tactic_list_add(ret, provider, request->layer, (struct text){algorithm.data, algorithm.size}, text_of(name));
}

/* With its optimizer the runtime fuses nodes differently, and uses blocked layouts for convolutions. */
static int list_onnxrt_tactics(struct tactic_provider *provider, const struct kernel_request *request,
                               struct tactic_list *ret, struct error *err)
{
    (void)err;
    if (request->layer->nodes.count > 1) {
        add_onnxrt_tactic(provider, request, "default", ret);
        add_onnxrt_tactic(provider, request, "unfused", ret);
    } else {
        add_onnxrt_tactic(provider, request, "kernel", ret);
        if (layer_is_convolution(request))
            add_onnxrt_tactic(provider, request, "nchwc", ret);
    }
    return 0;
}

static int read_tactic_optimization(const struct tactic *tactic, int *ret, struct error *err)
{
    struct text name = text_of(tactic->name);

    if (text_equal_string(name, "kernel") || text_equal_string(name, "unfused"))
        *ret = OPTIMIZE_NOTHING;
    else if (text_equal_string(name, "default") || text_equal_string(name, "nchwc"))
        *ret = OPTIMIZE_ALL;
    else
        return error_set(err, ERR_UNSUPPORTED, "ONNX Runtime has no tactic '%s'", tactic->name);
    return 0;
}

/* ---- Sessions ---- */

/* Bodies, functions and tensors in attributes may have external data, in the folder of the model's. */
static bool layer_may_refer_to_files(const struct kernel_request *request)
{
    for (size_t i = 0; i < request->layer->nodes.count; i++) {
        const struct model *model = request->network->model;
        const uint32_t index = request->layer->nodes.items[i];
        const struct node *node = &model->nodes.items[index];
        struct span function;

        if (node->has_subgraphs || node->has_tensors || function_call_find(model, index, &function))
            return true;
    }
    return false;
}

static int make_session_options(const struct onnxrt_provider *provider, const struct kernel_request *request,
                                int optimization, struct ort_session_options **ret, struct error *err)
{
    const struct ort_api *api = provider->ort->api;
    const char *folder = request->network->model->folder;
    struct ort_session_options *options = NULL;
    struct ort_status *status;
    int rc;

    status = api->clone_session_options(provider->options, &options);
    if (!status)
        status = onnxrt_share_threads(provider->ort, options, request->threads);
    if (!status)
        status = api->set_graph_optimization_level(options, optimization);
    if (!status && folder && layer_may_refer_to_files(request))
        status = api->add_session_config(options, "session.model_external_initializers_file_folder_path", folder);
    rc = onnxrt_check(provider->ort, status, err, "ONNX Runtime does not take an option");
    if (rc == 0)
        *ret = options;
    else if (options)
        api->release_session_options(options);
    return rc;
}

static int add_session_constants(struct onnxrt_kernel *kernel, const struct kernel_request *request,
                                 struct ort_session_options *options, struct error *err)
{
    const struct onnxrt_layer *layer = &kernel->layer;
    struct ort_status *status;

    for (size_t i = 0; i < layer->constant_count; i++) {
        struct tensor tensor;
        int rc;

        make_layer_constant(&request->inputs[layer->constant_positions[i]], &tensor);
        if ((uintptr_t)tensor.data % CONSTANT_ALIGNMENT != 0) {
            rc = tensor_copy(&tensor, &kernel->copies[i], err);
            if (rc < 0)
                return rc;
            tensor = kernel->copies[i]; /* owns the data */
        }
        rc = onnxrt_value_new(kernel->ort, &tensor, &kernel->constants[i], err);
        if (rc < 0)
            return rc;
    }
    if (layer->constant_count == 0)
        return 0;
    status = kernel->ort->api->add_external_initializers(
        options, layer->constant_names, (const struct ort_value *const *)kernel->constants, layer->constant_count);
    return onnxrt_check(kernel->ort, status, err, "ONNX Runtime does not take the constants");
}

static int open_layer_session(struct onnxrt_kernel *kernel, const struct onnxrt_provider *provider,
                              const struct kernel_request *request, int optimization, struct error *err)
{
    struct ort_session_options *options = NULL;
    int rc = make_session_options(provider, request, optimization, &options, err);

    if (rc < 0)
        return rc;
    rc = add_session_constants(kernel, request, options, err);
    if (rc == 0) {
        const struct string_builder *model = &kernel->layer.model;

        onnxrt_set_log(provider->log);
        rc = onnxrt_check(provider->ort,
                          provider->ort->api->create_session_from_array(provider->ort->env, model->data, model->size,
                                                                        options, &kernel->session),
                          err, "ONNX Runtime cannot load layer '%s'", kernel->name);
        onnxrt_set_log(NULL);
    }
    provider->ort->api->release_session_options(options);
    return rc;
}

/* ---- Kernels ---- */

static void release_ort_values(const struct onnxrt *ort, struct ort_value **values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (values[i])
            ort->api->release_value(values[i]);
        values[i] = NULL;
    }
}

static bool output_lies_in_inputs(const struct onnxrt_kernel *kernel, const struct tensor *inputs, const void *data)
{
    for (size_t i = 0; i < kernel->layer.input_count; i++) {
        const struct tensor *input = &inputs[kernel->layer.input_positions[i]];

        if ((uintptr_t)data - (uintptr_t)input->data < input->size)
            return true;
    }
    return false;
}

/* Moves outputs from the runtime; data in foreign memory are copied. */
static int take_session_outputs(struct onnxrt_kernel *kernel, const struct tensor *inputs, struct tensor *outputs,
                                struct error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < kernel->layer.output_count; i++) {
        struct tensor *output = &outputs[kernel->layer.output_positions[i]], tensor = {0};
        struct ort_value *value = kernel->outputs[i];

        kernel->outputs[i] = NULL;
        rc = onnxrt_value_take(kernel->ort, value, &tensor, err);
        if (rc < 0)
            return error_context(err, "output '%s' of layer '%s'", kernel->layer.output_names[i], kernel->name);
        if (kernel->copies_outputs || output_lies_in_inputs(kernel, inputs, tensor.data)) {
            rc = tensor_copy(&tensor, output, err);
            tensor_release(&tensor);
        } else {
            *output = tensor;
        }
    }
    return rc;
}

static int run_onnxrt_kernel(struct kernel *base, const struct tensor *inputs, struct tensor *outputs,
                             struct error *err)
{
    struct onnxrt_kernel *kernel = (struct onnxrt_kernel *)base;
    const struct onnxrt_layer *layer = &kernel->layer;
    int rc = 0;

    for (size_t i = 0; i < layer->input_count; i++) {
        rc = onnxrt_value_new(kernel->ort, &inputs[layer->input_positions[i]], &kernel->inputs[i], err);
        if (rc < 0)
            goto done;
    }
    onnxrt_set_log(kernel->log);
    rc = onnxrt_check(kernel->ort,
                      kernel->ort->api->run(kernel->session, NULL, layer->input_names,
                                            (const struct ort_value *const *)kernel->inputs, layer->input_count,
                                            layer->output_names, layer->output_count, kernel->outputs),
                      err, "ONNX Runtime cannot run layer '%s'", kernel->name);
    onnxrt_set_log(NULL);
    if (rc < 0) {
        onnxrt_explain_bound(err);
        goto done;
    }
    rc = take_session_outputs(kernel, inputs, outputs, err);
done:
    for (size_t i = 0; rc < 0 && i < layer->output_count; i++)
        tensor_release(&outputs[layer->output_positions[i]]);
    release_ort_values(kernel->ort, kernel->inputs, layer->input_count);
    release_ort_values(kernel->ort, kernel->outputs, layer->output_count);
    return rc;
}

static void free_onnxrt_kernel(struct kernel *base)
{
    struct onnxrt_kernel *kernel = (struct onnxrt_kernel *)base;

    if (kernel->session)
        kernel->ort->api->release_session(kernel->session);
    release_ort_values(kernel->ort, kernel->constants, kernel->layer.constant_count);
    for (size_t i = 0; i < kernel->layer.constant_count; i++)
        tensor_release(&kernel->copies[i]);
    free(kernel->constants);
    free(kernel->copies);
    free(kernel->inputs);
    free(kernel->outputs);
    free(kernel->base.output_shapes);
    release_layer_model(&kernel->layer);
    free(kernel);
}

static const struct kernel_functions onnxrt_kernel_functions = {.run = run_onnxrt_kernel, .free = free_onnxrt_kernel};

static bool layer_has_subgraphs(const struct kernel_request *request)
{
    for (size_t i = 0; i < request->layer->nodes.count; i++)
        if (request->network->model->nodes.items[request->layer->nodes.items[i]].has_subgraphs)
            return true;
    return false;
}

static int create_onnxrt_kernel(struct tactic_provider *base, const struct kernel_request *request,
                                const struct tactic *tactic, struct kernel **ret, struct error *err)
{
    const struct onnxrt_provider *provider = (const struct onnxrt_provider *)base;
    struct onnxrt_kernel *kernel;
    int optimization = OPTIMIZE_NOTHING, rc;

    rc = read_tactic_optimization(tactic, &optimization, err);
    if (rc < 0)
        return rc;
    kernel = memory_alloc_zero(1, sizeof(*kernel));
    kernel->base.functions = &onnxrt_kernel_functions;
    kernel->base.output_shapes = memory_alloc_zero(request->layer->outputs.count, sizeof(*kernel->base.output_shapes));
    kernel->ort = provider->ort;
    kernel->log = provider->log;
    kernel->name = request->layer->name;
    write_layer_model(&kernel->layer, request);
    kernel->constants = memory_alloc_zero(kernel->layer.constant_count, sizeof(struct ort_value *));
    kernel->copies = memory_alloc_zero(kernel->layer.constant_count, sizeof(*kernel->copies));
    kernel->inputs = memory_alloc_zero(kernel->layer.input_count, sizeof(struct ort_value *));
    kernel->outputs = memory_alloc_zero(kernel->layer.output_count, sizeof(struct ort_value *));
    kernel->copies_outputs = kernel->layer.input_count == 0 || layer_has_subgraphs(request);
    rc = open_layer_session(kernel, provider, request, optimization, err);
    string_release(&kernel->layer.model);
    if (rc == 0)
        *ret = &kernel->base;
    else
        free_onnxrt_kernel(&kernel->base);
    return rc;
}

/* ---- The provider ---- */

static void free_onnxrt_provider(struct tactic_provider *base)
{
    struct onnxrt_provider *provider = (struct onnxrt_provider *)base;

    if (provider->options)
        provider->ort->api->release_session_options(provider->options);
    free((char *)provider->base.version);
    free(provider);
}

static int register_custom_operators(struct onnxrt_provider *provider, const char *const *libraries, struct error *err)
{
    int rc = 0;

    for (; rc == 0 && libraries && *libraries; libraries++) {
        char *path = file_real_path(*libraries); /* contains a slash, so the loader does not search for it */

        if (!path)
            return error_set_errno(err, ERR_MISSING, "library of custom operators '%s'", *libraries);
        rc = onnxrt_check(provider->ort, provider->ort->api->register_custom_ops_library(provider->options, path), err,
                          "ONNX Runtime cannot use the library of custom operators '%s'", *libraries);
        free(path);
    }
    return rc;
}

int onnxrt_provider_new(const struct provider_settings *settings, struct tactic_provider **ret, struct error *err)
{
    struct onnxrt_provider *provider = memory_alloc_zero(1, sizeof(*provider));
    const struct onnxrt_settings *runtime = settings->runtime;
    struct ort_status *status;
    int rc;

    provider->base = (struct tactic_provider){
        .name = "onnxrt", .list = list_onnxrt_tactics, .create = create_onnxrt_kernel, .free = free_onnxrt_provider};
    provider->log = settings->log;
    onnxrt_set_log(settings->log);
    rc = onnxrt_load(runtime != NULL ? runtime->library : NULL, &provider->ort, err);
    onnxrt_set_log(NULL);
    if (rc < 0)
        goto done;
    provider->base.version = memory_strdup(provider->ort->version);
    status = provider->ort->api->create_session_options(&provider->options);
    if (!status)
        status = provider->ort->api->set_session_log_severity(provider->options, onnxrt_severity_for(settings->log));
    rc = onnxrt_check(provider->ort, status, err, "ONNX Runtime does not take an option");
    if (rc < 0)
        goto done;
    if (runtime != NULL)
        rc = register_custom_operators(provider, runtime->custom_op_libraries, err);
done:
    if (rc == 0)
        *ret = &provider->base;
    else
        free_onnxrt_provider(&provider->base);
    return rc;
}
