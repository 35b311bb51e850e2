/* engine/tactic/plugin.c: kernels from third-party shared libraries. Their results are validated; see
 * polygraphy/tactic_plugin.h. */
#include "engine/tactic/plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "base/file/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/system.h"
#include "engine/tactic/fused_rest.h"
#include "onnx/proto/value_info.h"

static const char symbol_name[] = "polygraphy_tactic_plugin";

/* Suffix of tactics for the layer's first node, whose fused operations are applied by this program. */
static const char rest[] = " + rest";

/* The initial size of version 1. */
#define SMALLEST_TABLE offsetof(struct polygraphy_plugin, takes_fused)

struct plugin_provider {
    struct tactic_provider base;
    char *path, *version;
    char *work; /* operation named in crash reports */
    void *library;
    struct polygraphy_plugin table; /* a copy of its known members */
    bool opened;                    /* the table is valid: close() must be called */
};

struct plugin_kernel {
    struct kernel base;
    const struct plugin_provider *provider;
    const char *name; /* of the layer; the network's */
    void *kernel;
    struct plugin_layer layer; /* with copies of constants */
    enum data_type *output_types;
    const void **inputs;
    void **outputs;
    size_t output_count;
    /* For a kernel of the first node: the layer with the fused operations, and their addends. */
    const struct layer *fused; /* NULL: the kernel computes all */
    struct fused_operand *operands;
    const float **constants; /* of each operand; NULL: provided at run time */
};

/* ---- Loading ---- */

static bool name_is_provider_name(const char *name)
{
    size_t size = strlen(name);

    return size > 0 && size < 64 && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == size;
}

/* The problem of the table, or NULL. */
static const char *find_table_fault(const struct polygraphy_plugin *table)
{
    if (!table->name || !name_is_provider_name(table->name))
        return "its name contains other characters than lower-case letters, digits, '_' and '-'";
    if (!table->tactic_name)
        return "its table lacks tactic_name()";
    if (!table->create)
        return "its table lacks create()";
    if (!table->run)
        return "its table lacks run()";
    if (!table->free_kernel)
        return "its table lacks free_kernel()";
    return NULL;
}

static int check_plugin_table(const struct polygraphy_plugin *table, const char *path, struct error *err)
{
    const char *fault;

    if (!table)
        return error_set(err, ERR_UNSUPPORTED, "plug-in '%s' does not work with version %u of the plug-in interface",
                         path, POLYGRAPHY_PLUGIN_VERSION);
    if (table->version < 1 || table->version > POLYGRAPHY_PLUGIN_VERSION)
        return error_set(err, ERR_UNSUPPORTED,
                         "plug-in '%s' uses version %u of the plug-in interface, but this program has version %u: "
                         "compile it with the header of this program",
                         path, table->version, POLYGRAPHY_PLUGIN_VERSION);
    if (table->struct_size < SMALLEST_TABLE)
        return error_set(err, ERR_INVALID,
                         "plug-in '%s' is not usable: its table has %u bytes, less than version %u has", path,
                         table->struct_size, table->version);
    fault = find_table_fault(table); /* checks members of all versions */
    if (fault)
        return error_set(err, ERR_INVALID, "plug-in '%s' is not usable: %s", path, fault);
    return 0;
}

static int open_plugin_library(struct plugin_provider *provider, struct error *err)
{
    const struct polygraphy_plugin *(*get_table)(uint32_t);
    const struct polygraphy_plugin *table;
    int rc = plugin_file_check(provider->path, err);

    if (rc < 0)
        return rc;
    crash_work_begins(provider->work);
    provider->library = dlopen(provider->path, RTLD_NOW | RTLD_LOCAL);
    crash_work_ends();
    if (!provider->library)
        return error_set(err, ERR_UNSUPPORTED, "plug-in '%s' cannot be loaded: %s", provider->path, dlerror());
    if (!system_find_function(provider->library, symbol_name, &get_table))
        return error_set(
            err, ERR_UNSUPPORTED,
            "'%s' is not a plug-in of the built-in engine: it has no symbol %s (plug-ins of TensorRT need TensorRT)",
            provider->path, symbol_name);
    crash_work_begins(provider->work);
    table = get_table(POLYGRAPHY_PLUGIN_VERSION);
    crash_work_ends();
    rc = check_plugin_table(table, provider->path, err);
    if (rc < 0)
        return rc;
    memcpy(&provider->table, table, table->struct_size < sizeof(*table) ? table->struct_size : sizeof(*table));
    provider->opened = true;
    return 0;
}

/* The plug-in's version and a hash of the file, as developers often recompile without a new version. */
static int set_plugin_version(struct plugin_provider *provider, struct error *err)
{
    const char *said = provider->table.plugin_version;
    char digits[HASH_TEXT_SIZE];
    struct string_builder text;
    struct hash hash;
    int rc = hash_file(provider->path, &hash, err);

    if (rc < 0)
        return rc;
    hash_to_text(hash, digits);
    string_init(&text);
    string_add_format(&text, "%s-%.8s", said ? said : "", digits);
    provider->version = string_take(&text);
    return 0;
}

static void free_plugin_provider(struct tactic_provider *base)
{
    struct plugin_provider *provider = (struct plugin_provider *)base;

    if (provider->opened && provider->table.close)
        provider->table.close(provider->table.context);
    if (provider->library)
        dlclose(provider->library);
    free(provider->path);
    free(provider->version);
    free(provider->work);
    free(provider);
}

/* ---- Tactics ---- */

static bool tactic_name_is_listed(const struct tactic_list *list, size_t first, const char *name)
{
    for (size_t i = first; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0)
            return true;
    return false;
}

static const char *full_tactic_name(const struct plugin_provider *provider, const struct polygraphy_layer *layer,
                                    uint32_t i)
{
    const char *ret;

    crash_work_begins(provider->work);
    ret = provider->table.tactic_name(provider->table.context, layer, i);
    crash_work_ends();
    return ret;
}

static int list_plugin_names(struct plugin_provider *provider, const struct kernel_request *request,
                             const struct polygraphy_layer *layer, const char *suffix, struct tactic_list *ret,
                             struct error *err)
{
    size_t first = ret->count;
    char full[TACTIC_NAME_SIZE];
    const char *name;

    for (uint32_t i = 0; (name = full_tactic_name(provider, layer, i)) != NULL; i++) {
        size_t size = strnlen(name, POLYGRAPHY_MAX_TACTIC_NAME + 1);

        if (i == POLYGRAPHY_MAX_TACTICS)
            return error_set(err, ERR_INVALID, "plug-in '%s' has more than %u tactics for layer '%s'",
                             provider->base.name, POLYGRAPHY_MAX_TACTICS, layer->name);
        if (size == 0 || size > POLYGRAPHY_MAX_TACTIC_NAME)
            return error_set(err, ERR_INVALID, "plug-in '%s' has a tactic for layer '%s' whose name has %s %u bytes",
                             provider->base.name, layer->name, size == 0 ? "0 instead of 1 to" : "more than",
                             POLYGRAPHY_MAX_TACTIC_NAME);
        if (size + strlen(suffix) > POLYGRAPHY_MAX_TACTIC_NAME) /* no space for the suffix */
            continue;
        snprintf(full, sizeof(full), "%s%s", name, suffix);
        if (tactic_name_is_listed(ret, first, full))
            return error_set(err, ERR_INVALID, "plug-in '%s' has two tactics '%s' for layer '%s'", provider->base.name,
                             name, layer->name);
        tactic_list_add(ret, &provider->base, request->layer, text_of(name), text_of(full));
    }
    return 0;
}

static int list_layer_form(struct plugin_provider *provider, const struct kernel_request *request, bool with_fused,
                           struct tactic_list *ret, struct error *err)
{
    bool alone = !with_fused && request->layer->fused.count > 0;
    struct plugin_layer layer SCOPED(plugin_layer_release) = {0};
    struct error why;
    int rc = plugin_layer_init(&layer, request, with_fused, &why);

    if (rc == ERR_UNSUPPORTED) { /* a plug-in cannot compute a node with missing attributes */
        provider->base.obstacle = "has an attribute that the interface does not support";
        return 0;
    }
    if (rc < 0)
        return error_set(err, (enum error_code)rc, "%s", why.message);
    return list_plugin_names(provider, request, &layer.layer, alone ? rest : "", ret, err);
}

/* Lists tactics for the layer with its fused operations; if there are none, for its first node. */
static int list_plugin_tactics(struct tactic_provider *base, const struct kernel_request *request,
                               struct tactic_list *ret, struct error *err)
{
    struct plugin_provider *provider = (struct plugin_provider *)base;
    bool is_fused = request->layer->fused.count > 0;
    int rc = 0;

    base->obstacle = plugin_layer_obstacle(request);
    if (base->obstacle)
        return 0;
    if (is_fused && provider->table.takes_fused)
        rc = list_layer_form(provider, request, true, ret, err);
    if (rc == 0)
        rc = list_layer_form(provider, request, false, ret, err);
    return rc;
}

/* ---- Kernels ---- */

static void free_plugin_kernel(struct kernel *base)
{
    struct plugin_kernel *kernel = (struct plugin_kernel *)base;

    if (kernel->kernel)
        kernel->provider->table.free_kernel(kernel->kernel);
    plugin_layer_release(&kernel->layer);
    free(kernel->base.output_shapes);
    free(kernel->output_types);
    free(kernel->inputs);
    free(kernel->outputs);
    free(kernel->operands);
    free(kernel->constants);
    free(kernel);
}

/* Allocates outputs that the caller has not allocated. */
static int make_plugin_outputs(const struct plugin_kernel *kernel, struct tensor *outputs, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < kernel->output_count; i++)
        rc = tensor_allocate(kernel->output_types[i], &kernel->base.output_shapes[i], &outputs[i], err);
    for (size_t i = 0; rc < 0 && i < kernel->output_count; i++)
        tensor_release(&outputs[i]);
    return rc;
}

static void run_fused_rest(struct plugin_kernel *kernel, const struct tensor *inputs, float *values)
{
    size_t next = 0;

    VECTOR_EACH (const struct fused_operation, operation, kernel->fused->fused) {
        if (operation->kind != FUSED_ADD)
            continue;
        kernel->operands[next].data =
            kernel->constants[next] ? kernel->constants[next] : (const float *)inputs[operation->operand].data;
        next++;
    }
    fused_rest_apply(kernel->fused, kernel->operands, &kernel->base.output_shapes[0], values);
}

static int run_plugin_kernel(struct kernel *base, const struct tensor *inputs, struct tensor *outputs,
                             struct error *err)
{
    struct plugin_kernel *kernel = (struct plugin_kernel *)base;
    const struct polygraphy_layer *layer = &kernel->layer.layer;
    const char *message = NULL;
    int rc;

    if (!base->outputs_known) {
        rc = make_plugin_outputs(kernel, outputs, err);
        if (rc < 0)
            return rc;
    }
    for (size_t i = 0; i < layer->input_count; i++)
        kernel->inputs[i] = layer->inputs[i].present && !layer->inputs[i].constant ? inputs[i].data : NULL;
    for (size_t i = 0; i < kernel->output_count; i++)
        kernel->outputs[i] = (void *)outputs[i].data;
    crash_work_begins(kernel->provider->work);
    rc = kernel->provider->table.run(kernel->kernel, kernel->inputs, kernel->outputs, &message);
    crash_work_ends();
    if (rc == 0) {
        if (kernel->fused && outputs[0].data)
            run_fused_rest(kernel, inputs, (float *)(uintptr_t)outputs[0].data);
        return 0;
    }
    for (size_t i = 0; !base->outputs_known && i < kernel->output_count; i++)
        tensor_release(&outputs[i]);
    return error_set(err, ERR_BACKEND, "plug-in '%s' cannot run layer '%s': %s", kernel->provider->base.name,
                     kernel->name, message ? message : "no reason given");
}

static const struct kernel_functions plugin_kernel_functions = {.run = run_plugin_kernel, .free = free_plugin_kernel};

/* Validates output `i` from create(). If the model has no type for it, the caller cannot allocate it. */
static int take_plugin_output(struct plugin_kernel *kernel, const struct kernel_request *request, size_t i,
                              const struct polygraphy_output *output, struct error *err)
{
    uint32_t value = request->layer->outputs.items[i];
    struct shape *shape = &kernel->base.output_shapes[i];
    struct value_type type = {0};

    if (output->rank > POLYGRAPHY_MAX_RANK || output->data_type <= DATA_UNDEFINED ||
        output->data_type >= DATA_TYPE_COUNT || output->data_type == DATA_STRING)
        return error_set(err, ERR_INVALID,
                         "plug-in '%s' describes output %zu of layer '%s' with %u dimensions of type %d",
                         kernel->provider->base.name, i, kernel->name, output->rank, output->data_type);
    shape->rank = output->rank;
    memcpy(shape->dims, output->dims, output->rank * sizeof(*output->dims));
    kernel->output_types[i] = (enum data_type)output->data_type;
    if (tensor_bytes(kernel->output_types[i], shape_elements(shape)) == SIZE_MAX)
        return error_set(err, ERR_INVALID, "plug-in '%s' describes output %zu of layer '%s' with impossible dimensions",
                         kernel->provider->base.name, i, kernel->name);
    if (value == VALUE_NONE)
        return 0;
    value_info_decode(request->network->model->values.items[value].info, &type);
    if (type.element == DATA_UNDEFINED)
        kernel->base.outputs_known = false;
    else if (type.element != kernel->output_types[i])
        return error_set(err, ERR_INVALID, "plug-in '%s' makes %s for output %zu of layer '%s', which is %s",
                         kernel->provider->base.name, data_type_name(kernel->output_types[i]), i, kernel->name,
                         data_type_name(type.element));
    return 0;
}

static int call_plugin_create(struct plugin_kernel *kernel, const struct kernel_request *request, const char *tactic,
                              struct polygraphy_output *outputs, struct error *err)
{
    const struct polygraphy_plugin *table = &kernel->provider->table;
    const char *message = NULL;
    int rc = 0;

    crash_work_begins(kernel->provider->work);
    kernel->kernel = table->create(table->context, &kernel->layer.layer, tactic, outputs, &message);
    crash_work_ends();
    if (!kernel->kernel)
        return error_set(err, ERR_UNSUPPORTED, "plug-in '%s' cannot compute layer '%s' with tactic '%s': %s",
                         kernel->provider->base.name, kernel->name, tactic, message ? message : "no reason given");
    kernel->base.outputs_known = true;
    for (size_t i = 0; rc == 0 && i < kernel->output_count; i++)
        rc = take_plugin_output(kernel, request, i, &outputs[i], err);
    return rc;
}

/* Prepares the fused operands that the program applies after a kernel for the first node; they must fit its output. */
static int take_fused_rest(struct plugin_kernel *kernel, const struct kernel_request *request, struct error *err)
{
    const struct shape *shape = &kernel->base.output_shapes[0];
    const struct layer *layer = request->layer;
    size_t next = 0;

    kernel->operands = memory_alloc_zero(layer->fused.count, sizeof(*kernel->operands));
    kernel->constants = memory_alloc_zero(layer->fused.count, sizeof(*kernel->constants));
    for (size_t i = 0; i < layer->fused.count; i++) {
        const struct kernel_input *input;

        if (layer->fused.items[i].kind != FUSED_ADD)
            continue;
        input = &request->inputs[layer->fused.items[i].operand];
        if (input->type != DATA_FLOAT32 || !fused_rest_fits(&input->shape, shape))
            return error_set(err, ERR_UNSUPPORTED,
                             "plug-in '%s': the output shape of layer '%s' does not fit its fused operations",
                             kernel->provider->base.name, kernel->name);
        kernel->operands[next].shape = input->shape;
        kernel->constants[next++] = input->constant;
    }
    if (kernel->output_types[0] != DATA_FLOAT32)
        return error_set(err, ERR_UNSUPPORTED, "plug-in '%s' does not produce float32 for layer '%s'",
                         kernel->provider->base.name, kernel->name);
    kernel->fused = layer;
    return 0;
}

/* Splits a tactic's name: the plug-in's name of it, and whether the program applies the fused operations. */
static bool split_tactic_name(const char *name, char *ret)
{
    size_t size = strlen(name);
    bool has_rest = size > strlen(rest) && strcmp(name + size - strlen(rest), rest) == 0;

    snprintf(ret, TACTIC_NAME_SIZE, "%.*s", (int)(has_rest ? size - strlen(rest) : size), name);
    return has_rest;
}

static int create_plugin_kernel(struct tactic_provider *base, const struct kernel_request *request,
                                const struct tactic *tactic, struct kernel **ret, struct error *err)
{
    size_t count = request->layer->outputs.count;
    struct polygraphy_output *outputs SCOPED_FREE = NULL;
    struct plugin_kernel *kernel;
    char own_name[TACTIC_NAME_SIZE];
    bool alone;
    int rc;

    if (plugin_layer_obstacle(request))
        return error_set(err, ERR_UNSUPPORTED, "layer '%s' is not one that plug-ins can compute: it %s",
                         request->layer->name, plugin_layer_obstacle(request));
    alone = request->layer->fused.count > 0 && split_tactic_name(tactic->name, own_name);
    kernel = memory_alloc_zero(1, sizeof(*kernel));
    rc = plugin_layer_init(&kernel->layer, request, request->layer->fused.count > 0 && !alone, err);
    if (rc < 0) {
        free(kernel);
        return rc;
    }
    outputs = memory_alloc_zero(count, sizeof(*outputs));
    kernel->base.functions = &plugin_kernel_functions;
    kernel->base.output_shapes = memory_alloc_zero(count, sizeof(*kernel->base.output_shapes));
    kernel->provider = (const struct plugin_provider *)base;
    kernel->name = request->layer->name;
    kernel->output_count = count;
    kernel->output_types = memory_alloc_zero(count, sizeof(*kernel->output_types));
    kernel->inputs = memory_alloc_zero(request->layer->inputs.count, sizeof(*kernel->inputs));
    kernel->outputs = memory_alloc_zero(count, sizeof(*kernel->outputs));
    rc = call_plugin_create(kernel, request, alone ? own_name : tactic->name, outputs, err);
    if (rc == 0 && alone)
        rc = take_fused_rest(kernel, request, err);
    if (rc == 0)
        *ret = &kernel->base;
    else
        free_plugin_kernel(&kernel->base);
    return rc;
}

int plugin_provider_load(const char *path, struct tactic_provider **ret, struct error *err)
{
    struct plugin_provider *provider;
    struct string_builder work;
    char *real = file_real_path(path); /* with a slash in it: no search along the system's path */
    int rc;

    if (!real)
        return error_set_errno(err, ERR_MISSING, "plug-in '%s'", path);
    provider = memory_alloc_zero(1, sizeof(*provider));
    provider->path = real;
    string_init(&work);
    string_add_format(&work, "plug-in '%s' was called", path);
    provider->work = string_take(&work);
    rc = open_plugin_library(provider, err);
    if (rc == 0)
        rc = set_plugin_version(provider, err);
    if (rc == 0) {
        provider->base = (struct tactic_provider){.name = provider->table.name,
                                                  .version = provider->version,
                                                  .list = list_plugin_tactics,
                                                  .create = create_plugin_kernel,
                                                  .free = free_plugin_provider};
        *ret = &provider->base;
    } else {
        free_plugin_provider(&provider->base);
    }
    return rc;
}
