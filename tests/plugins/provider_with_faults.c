/* A plug-in execution provider for ONNX Runtime 1.23 and later that computes some operators on the processor, in
 * float32, and wrongly if it is asked to. Its name is FaultyExecutionProvider. Options:
 *
 *   fault=NAME    one of `faults` below
 *   node=NAME     the fault is in this node only; else in all of its operator
 *   refuse=NAME   nodes of this operator, or the node of this name, are claimed, and cannot be compiled;
 *                 "defaults": models with inputs that have default values
 *   unused=VALUE  is ignored, with a warning of the session's log
 *
 * FAULTY_PROVIDER=no_device: it can use no device; FAULTY_PROVIDER=no_factory: the library does not start.
 * FAULTY_PROVIDER_RECORD=FILE: "created" and "released" are appended to the file with the provider's factory. */
#include "faulty_operators.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NAME 256
#define PROVIDER "FaultyExecutionProvider"

static const any_function *api, *provider_api;

/* A call of `slot` with a function type. */
#define CALL(slot, result, ...) ((result(*) __VA_ARGS__)api[slot])

struct provider {
    struct provider_calls calls;
    char fault[MOST_NAME], node[MOST_NAME], refused[MOST_NAME];
    bool has_default; /* the model has an input with a default value */
};

static struct status *fail(const char *format, const char *name)
{
    char message[MOST_NAME + 128];

    snprintf(message, sizeof(message), format, name);
    return CALL(CREATE_STATUS, struct status *, (int, const char *))(1, message);
}

/* Whether the call has failed, where that is no error. */
static bool has_failed(struct status *status)
{
    if (status != NULL)
        CALL(RELEASE_STATUS, void, (struct status *))(status);
    return status != NULL;
}

/* The operator in which a fault is. */
static const char *const faults[][2] = {
    {"one_element", "Add"},     {"swapped_operands", "Sub"},
    {"wrong_broadcast", "Mul"}, {"bfloat16_result", "Mul"},
    {"negative_slope", "Relu"}, {"nan_when_large", "Relu"},
    {"float16_sums", "MatMul"}, {"wrong_axis", "Softmax"},
    {"edge_padding", "Conv"},   {"last_block_left_out", "MatMul"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Nodes ---- */

struct node {
    const char *name;
    const struct operator_type *type; /* NULL: of another provider */
    const void *inputs[MOST_INPUTS];
    size_t input_count;
};

static bool is_float32(const void *value)
{
    const void *type = NULL, *info = NULL;
    int element = 0;
    size_t rank = 0;

    if (has_failed(CALL(VALUE_TYPE, struct status *, (const void *, const void **))(value, &type)) ||
        has_failed(CALL(TYPE_TENSOR_INFO, struct status *, (const void *, const void **))(type, &info)) || info == NULL)
        return false;
    return !has_failed(CALL(ELEMENT_TYPE, struct status *, (const void *, int *))(info, &element)) &&
           !has_failed(CALL(RANK, struct status *, (const void *, size_t *))(info, &rank)) && element == FLOAT32 &&
           rank <= MOST_RANK;
}

static bool read_inputs(const void *from, struct node *node)
{
    size_t count = 0;

    if (has_failed(CALL(NODE_INPUT_COUNT, struct status *, (const void *, size_t *))(from, &count)) ||
        count > node->type->most_inputs ||
        has_failed(
            CALL(NODE_INPUTS, struct status *, (const void *, const void **, size_t))(from, node->inputs, count)))
        return false;
    node->input_count = count;
    for (size_t i = 0; i < count; i++)
        if (node->inputs[i] == NULL || !is_float32(node->inputs[i]))
            return false;
    return true;
}

enum { INTEGER = 1, INTEGERS = 2, STRING = 5 }; /* types of attributes */

/* The bytes of an attribute that are read; 0 where there is none. */
static size_t read_attribute(const void *node, const char *name, int type, void *ret, size_t most)
{
    const void *attribute = NULL;
    size_t size = 0;

    if (has_failed(CALL(NODE_ATTRIBUTE, struct status *, (const void *, const char *, const void **))(node, name,
                                                                                                      &attribute)) ||
        attribute == NULL ||
        has_failed(CALL(READ_ATTRIBUTE, struct status *,
                        (const void *, int, void *, size_t, size_t *))(attribute, type, ret, most, &size)))
        return 0;
    return size;
}

static bool read_convolution(const void *node, struct kernel *ret)
{
    int64_t group = 1, dilations[2] = {1, 1}, window[2];
    char padding[16] = "NOTSET";

    ret->strides[0] = ret->strides[1] = 1;
    memset(ret->pads, 0, sizeof(ret->pads));
    read_attribute(node, "group", INTEGER, &group, sizeof(group));
    read_attribute(node, "dilations", INTEGERS, dilations, sizeof(dilations));
    read_attribute(node, "strides", INTEGERS, ret->strides, sizeof(ret->strides));
    read_attribute(node, "pads", INTEGERS, ret->pads, sizeof(ret->pads));
    read_attribute(node, "auto_pad", STRING, padding, sizeof(padding) - 1);
    return group == 1 && dilations[0] == 1 && dilations[1] == 1 && strcmp(padding, "NOTSET") == 0 &&
           read_attribute(node, "kernel_shape", INTEGERS, window, sizeof(window)) != sizeof(window[0]);
}

/* What it computes; the type is NULL for a node that it does not. */
static void read_node(const void *from, struct node *ret, struct kernel *kernel)
{
    const char *type = "", *domain = "";
    int64_t axis = -1;

    *ret = (struct node){.name = ""};
    if (has_failed(CALL(NODE_NAME, struct status *, (const void *, const char **))(from, &ret->name)) ||
        has_failed(CALL(NODE_TYPE, struct status *, (const void *, const char **))(from, &type)) ||
        has_failed(CALL(NODE_DOMAIN, struct status *, (const void *, const char **))(from, &domain)) ||
        (domain[0] != '\0' && strcmp(domain, "ai.onnx") != 0))
        return;
    for (size_t i = 0; i < COUNT(operators); i++)
        if (strcmp(operators[i].name, type) == 0)
            ret->type = &operators[i];
    if (ret->type == NULL)
        return;
    read_attribute(from, "axis", INTEGER, &axis, sizeof(axis));
    kernel->axis = axis;
    if (!read_inputs(from, ret) || (strcmp(type, "Conv") == 0 && !read_convolution(from, kernel)))
        ret->type = NULL;
}

static const void **list_nodes(const void *graph, size_t *ret_count)
{
    const void **nodes;

    *ret_count = 0;
    if (has_failed(CALL(NODE_COUNT, struct status *, (const void *, size_t *))(graph, ret_count)))
        return NULL;
    nodes = calloc(*ret_count + 1, sizeof(*nodes));
    if (has_failed(CALL(GET_NODES, struct status *, (const void *, const void **, size_t))(graph, nodes, *ret_count)))
        *ret_count = 0;
    return nodes;
}

/* ---- The provider ---- */

static const char *get_provider_name(const struct provider *provider)
{
    (void)provider;
    return PROVIDER;
}

/* Whether an input of the node is an input of the model, and an initializer at the same time. */
static bool reads_default(const struct node *node)
{
    bool ret = false;

    for (size_t i = 0; i < node->input_count && !ret; i++)
        if (has_failed(CALL(VALUE_IS_OPTIONAL_INPUT, struct status *, (const void *, bool *))(node->inputs[i], &ret)))
            ret = false;
    return ret;
}

static struct status *get_capability(struct provider *provider, const void *graph, void *support)
{
    size_t count;
    const void **nodes = list_nodes(graph, &count);
    struct status *status = NULL;

    for (size_t i = 0; i < count && status == NULL; i++) {
        struct kernel kernel;
        struct node node;

        read_node(nodes[i], &node, &kernel);
        provider->has_default = provider->has_default || (node.type != NULL && reads_default(&node));
        if (node.type != NULL)
            status = ((struct status * (*)(void *, const void *const *, size_t, const void *))
                          provider_api[FUSE_NODES])(support, &nodes[i], 1, NULL);
    }
    free(nodes);
    return status;
}

static struct status *create_state(struct kernel *kernel, void *context, void **state)
{
    (void)context;
    *state = kernel;
    return NULL;
}

static void release_state(struct kernel *kernel, void *state)
{
    (void)kernel, (void)state;
}

static struct status *read_tensor(const void *value, struct tensor *ret)
{
    void *info = NULL;
    struct status *status = CALL(VALUE_TENSOR_INFO, struct status *, (const void *, void **))(value, &info);

    if (status == NULL)
        status = CALL(RANK, struct status *, (const void *, size_t *))(info, &ret->rank);
    if (status == NULL && ret->rank <= MOST_RANK)
        status = CALL(DIMENSIONS, struct status *, (const void *, int64_t *, size_t))(info, ret->dims, ret->rank);
    if (status == NULL)
        status = CALL(TENSOR_DATA, struct status *, (const void *, void **))(value, (void **)&ret->data);
    if (info != NULL)
        CALL(RELEASE_TENSOR_INFO, void, (void *))(info);
    return status;
}

static struct status *compute(struct kernel *kernel, void *state, void *context)
{
    struct tensor in[MOST_INPUTS] = {{.data = NULL}}, out = {.data = NULL};
    struct status *status = NULL;
    const void *value;
    void *output = NULL;

    (void)state;
    for (size_t i = 0; i < kernel->input_count && status == NULL; i++) {
        status = CALL(CONTEXT_INPUT, struct status *, (const void *, size_t, const void **))(context, kernel->inputs[i],
                                                                                             &value);
        if (status == NULL)
            status = read_tensor(value, &in[i]);
    }
    if (status == NULL && !kernel->type->shape(kernel, in, &out))
        status = fail("shapes of the inputs of %s do not fit", kernel->type->name);
    if (status == NULL)
        status = CALL(CONTEXT_OUTPUT, struct status *,
                      (void *, size_t, const int64_t *, size_t, void **))(context, 0, out.dims, out.rank, &output);
    if (status == NULL)
        status = CALL(TENSOR_DATA, struct status *, (const void *, void **))(output, (void **)&out.data);
    if (status == NULL)
        kernel->type->compute(kernel, in, &out);
    return status;
}

static const char *name_of(const void *value)
{
    const char *name = "";

    return has_failed(CALL(VALUE_NAME, struct status *, (const void *, const char **))(value, &name)) ? "" : name;
}

/* The compiled node may have the inputs in another order, and each of them once. */
static struct status *find_inputs(const void *fused, const struct node *node, struct kernel *ret)
{
    const void *inputs[MOST_INPUTS] = {NULL};
    size_t count = 0;
    struct status *status = CALL(NODE_INPUT_COUNT, struct status *, (const void *, size_t *))(fused, &count);

    if (status == NULL && count <= MOST_INPUTS)
        status = CALL(NODE_INPUTS, struct status *, (const void *, const void **, size_t))(fused, inputs, count);
    ret->input_count = node->input_count;
    for (size_t i = 0; i < node->input_count && status == NULL; i++) {
        size_t place = 0;

        while (place < count && strcmp(name_of(inputs[place]), name_of(node->inputs[i])) != 0)
            place++;
        ret->inputs[i] = place;
        if (place == count)
            status = fail("an input of '%s' is missing", node->name);
    }
    return status;
}

static bool is_wrong(const struct provider *provider, const struct node *node)
{
    for (size_t i = 0; i < COUNT(faults); i++)
        if (strcmp(faults[i][0], provider->fault) == 0 && strcmp(faults[i][1], node->type->name) == 0)
            return provider->node[0] == '\0' || strcmp(provider->node, node->name) == 0;
    return false;
}

static bool is_refused(const struct provider *provider, const struct node *node)
{
    return provider->refused[0] != '\0' &&
           (strcmp(provider->refused, node->name) == 0 || strcmp(provider->refused, node->type->name) == 0);
}

static struct status *compile_node(const struct provider *provider, const void *graph, const void *fused,
                                   struct kernel **ret)
{
    size_t count;
    const void **nodes = list_nodes(graph, &count);
    struct kernel *kernel = calloc(1, sizeof(*kernel));
    struct node node = {.type = NULL};

    if (count == 1)
        read_node(nodes[0], &node, kernel);
    free(nodes);
    *ret = kernel;
    if (node.type == NULL)
        return fail("%s got what it did not ask for", PROVIDER);
    if (is_refused(provider, &node) || (provider->has_default && strcmp(provider->refused, "defaults") == 0))
        return fail("the compiler has no code for '%s'", node.name);
    kernel->calls = (struct kernel_calls){API_VERSION, create_state, compute, release_state};
    kernel->type = node.type;
    kernel->fault = is_wrong(provider, &node) ? provider->fault : "";
    return find_inputs(fused, &node, kernel);
}

static struct status *compile(struct provider *provider, const void **graphs, const void **fused, size_t count,
                              struct kernel **kernels, void **context_nodes)
{
    struct status *status = NULL;

    (void)context_nodes;
    for (size_t i = 0; i < count && status == NULL; i++)
        status = compile_node(provider, graphs[i], fused[i], &kernels[i]);
    return status;
}

static void release_kernels(struct provider *provider, struct kernel **kernels, size_t count)
{
    (void)provider;
    for (size_t i = 0; i < count; i++)
        free(kernels[i]);
}

/* ---- The factory ---- */

static void record(const char *what)
{
    const char *path = getenv("FAULTY_PROVIDER_RECORD");
    FILE *file = path != NULL ? fopen(path, "a") : NULL;

    if (file != NULL) {
        fprintf(file, "%s\n", what);
        fclose(file);
    }
}

static bool is_told(const char *what)
{
    const char *told = getenv("FAULTY_PROVIDER");

    return told != NULL && strcmp(told, what) == 0;
}

static const char *get_factory_name(const struct factory *factory)
{
    (void)factory;
    return PROVIDER;
}

static const char *get_vendor(const struct factory *factory)
{
    (void)factory;
    return "Tests";
}

static uint32_t get_vendor_id(const struct factory *factory)
{
    (void)factory;
    return 0;
}

static const char *get_version(const struct factory *factory)
{
    (void)factory;
    return "1.2.3";
}

/* Processors. */
static struct status *get_devices(struct factory *factory, const void *const *hardware, size_t hardware_count,
                                  void **devices, size_t most, size_t *count)
{
    struct status *status = NULL;

    *count = 0;
    for (size_t i = 0; i < hardware_count && *count < most && status == NULL && !is_told("no_device"); i++)
        if (CALL(HARDWARE_TYPE, int, (const void *))(hardware[i]) == 0) {
            status = ((struct status * (*)(struct factory *, const void *, const void *, const void *, void **))
                          provider_api[CREATE_DEVICE])(factory, hardware[i], NULL, NULL, &devices[*count]);
            *count += status == NULL;
        }
    return status;
}

/* Options are entries "ep.faultyexecutionprovider.NAME" of the session's configuration. */
static void read_option(const void *options, const char *name, char *ret)
{
    char key[MOST_NAME];
    int is_there = 0;
    size_t size = MOST_NAME;

    snprintf(key, sizeof(key), "ep.faultyexecutionprovider.%s", name);
    ret[0] = '\0';
    if (has_failed(
            CALL(HAS_SESSION_CONFIG, struct status *, (const void *, const char *, int *))(options, key, &is_there)) ||
        !is_there ||
        has_failed(CALL(GET_SESSION_CONFIG, struct status *,
                        (const void *, const char *, char *, size_t *))(options, key, ret, &size)))
        ret[0] = '\0';
}

static struct status *create_provider(struct factory *factory, const void *const *hardware, const void *const *metadata,
                                      size_t count, const void *options, const void *logger, struct provider **ret)
{
    struct provider *provider = calloc(1, sizeof(*provider));
    char unused[MOST_NAME];

    (void)factory, (void)hardware, (void)metadata, (void)count;
    provider->calls = (struct provider_calls){.version = API_VERSION,
                                              .get_name = get_provider_name,
                                              .get_capability = get_capability,
                                              .compile = compile,
                                              .release_kernels = release_kernels};
    read_option(options, "fault", provider->fault);
    read_option(options, "node", provider->node);
    read_option(options, "refuse", provider->refused);
    read_option(options, "unused", unused);
    if (unused[0] != '\0')
        has_failed(
            CALL(LOG_MESSAGE, struct status *, (const void *, int, const char *, const char *, int, const char *))(
                logger, 2, "Provider option unused is ignored.", __FILE__, __LINE__, __func__));
    *ret = provider;
    return NULL;
}

static void release_provider(struct factory *factory, struct provider *provider)
{
    (void)factory;
    free(provider);
}

static struct status *create_allocator(struct factory *factory, const void *info, const void *options, void **ret)
{
    (void)factory, (void)info, (void)options;
    *ret = NULL;
    return NULL;
}

static void release_allocator(struct factory *factory, void *allocator)
{
    (void)factory, (void)allocator;
}

static struct status *create_transfer(struct factory *factory, void **ret)
{
    (void)factory;
    *ret = NULL;
    return NULL;
}

static bool is_stream_aware(const struct factory *factory)
{
    (void)factory;
    return false;
}

struct status *CreateEpFactories(const char *name, const struct api_base *base, const void *logger,
                                 struct factory **factories, size_t most, size_t *count);
struct status *ReleaseEpFactory(struct factory *factory);

struct status *CreateEpFactories(const char *name, const struct api_base *base, const void *logger,
                                 struct factory **factories, size_t most, size_t *count)
{
    static struct factory factory = {
        API_VERSION,       get_factory_name, get_vendor,      get_devices, create_provider,
        release_provider,  get_vendor_id,    get_version,     NULL,        create_allocator,
        release_allocator, create_transfer,  is_stream_aware, NULL};

    (void)name, (void)logger;
    api = base->get_api(API_VERSION);
    if (api == NULL)
        return ((struct status * (*)(int, const char *))
                    base->get_api(1)[CREATE_STATUS])(1, "the provider needs ONNX Runtime 1.23");
    if (most == 0 || is_told("no_factory"))
        return fail("%s does not start", PROVIDER);
    provider_api = CALL(GET_EP_API, const any_function *, (void))();
    factories[0] = &factory;
    *count = 1;
    record("created");
    return NULL;
}

struct status *ReleaseEpFactory(struct factory *factory)
{
    (void)factory;
    record("released");
    return NULL;
}
