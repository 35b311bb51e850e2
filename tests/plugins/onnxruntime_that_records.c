/* A shared library that says that it is ONNX Runtime, and computes nothing. It has every provider, and writes down
 * which function was called with what: lines "slot 172: trt_fp16_enable=1" at the end of the file that
 * ONNXRUNTIME_RECORD names. Its functions stand where the published interface has them, by number. ONNXRUNTIME_RELEASE
 * is the release that it says it is.
 *
 * An option called "refused" is refused. VitisAI does not load, and SNPE crashes. Of a session with a provider besides
 * the processor two nodes are the provider's, and three the processor's. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 430

typedef void (*any_function)(void);
typedef void log_function(void *data, int severity, const char *category, const char *log_id, const char *place,
                          const char *message);

struct api_base {
    const any_function *(*get_api)(uint32_t version);
    const char *(*get_version)(void);
};

struct status {
    char message[256];
};

struct options {
    char provider[64]; /* the first one that was added */
    int severity;
};

struct session {
    int nothing;
};

static const char *const providers[] = {
    "TensorrtExecutionProvider", "CUDAExecutionProvider", "MIGraphXExecutionProvider", "ROCMExecutionProvider",
    "OpenVINOExecutionProvider", "DnnlExecutionProvider", "CANNExecutionProvider",     "XnnpackExecutionProvider",
    "VitisAIExecutionProvider",  "SNPEExecutionProvider", "CPUExecutionProvider",
};

#define COUNT (sizeof(providers) / sizeof(providers[0]))

static log_function *logger;
static int something; /* what handles of things without a content point to */

const struct api_base *OrtGetApiBase(void);

static const char *version(void)
{
    const char *release = getenv("ONNXRUNTIME_RELEASE");

    return release != NULL ? release : "1.30.0";
}

static struct status *fail(const char *message)
{
    struct status *status = calloc(1, sizeof(*status));

    snprintf(status->message, sizeof(status->message), "%s", message);
    return status;
}

/* NULL, or the refusal of an option. */
static struct status *record(int slot, const char *what, const char *const *keys, const char *const *values,
                             size_t count)
{
    const char *path = getenv("ONNXRUNTIME_RECORD");
    FILE *file = path != NULL ? fopen(path, "a") : NULL;
    bool refused = false;

    if (file != NULL)
        fprintf(file, "slot %d:%s%s", slot, what[0] != '\0' ? " " : "", what);
    for (size_t i = 0; i < count; i++) {
        refused = refused || strcmp(keys[i], "refused") == 0;
        if (file != NULL)
            fprintf(file, " %s=%s", keys[i], values[i]);
    }
    if (file != NULL) {
        fprintf(file, "\n");
        fclose(file);
    }
    return refused ? fail("Unknown provider option: \"refused\".") : NULL;
}

/* "XNNPACK" begins "XnnpackExecutionProvider", whatever the case. */
static bool begins(const char *name, const char *provider)
{
    for (; *name != '\0'; name++, provider++)
        if ((*name | 32) != (*provider | 32))
            return false;
    return true;
}

static void add_provider(struct options *options, const char *name)
{
    for (size_t i = 0; i < COUNT && options->provider[0] == '\0'; i++)
        if (begins(name, providers[i]))
            snprintf(options->provider, sizeof(options->provider), "%s", providers[i]);
}

/* ---- Providers with a type of their own for their options ---- */

#define PROVIDER(name, full_name, append_slot, create_slot, update_slot, release_slot)                                 \
    static struct status *create_##name(void **ret)                                                                    \
    {                                                                                                                  \
        *ret = &something;                                                                                             \
        return record(create_slot, "", NULL, NULL, 0);                                                                 \
    }                                                                                                                  \
    static struct status *update_##name(void *own, const char *const *keys, const char *const *values, size_t count)   \
    {                                                                                                                  \
        return own == &something ? record(update_slot, "", keys, values, count) : fail("not my options");              \
    }                                                                                                                  \
    static struct status *append_##name(struct options *options, const void *own)                                      \
    {                                                                                                                  \
        add_provider(options, full_name);                                                                              \
        return own == &something ? record(append_slot, "", NULL, NULL, 0) : fail("not my options");                    \
    }                                                                                                                  \
    static void release_##name(void *own)                                                                              \
    {                                                                                                                  \
        free(record(release_slot, own == &something ? "" : "not my options", NULL, NULL, 0));                          \
    }

PROVIDER(tensorrt, "TensorrtExecutionProvider", 170, 171, 172, 174)
PROVIDER(cuda, "CUDAExecutionProvider", 204, 205, 206, 208)
PROVIDER(cann, "CANNExecutionProvider", 220, 221, 222, 224)
PROVIDER(dnnl, "DnnlExecutionProvider", 239, 240, 241, 243)
PROVIDER(rocm, "ROCMExecutionProvider", 153, 255, 256, 258)

/* ---- The others ---- */

static struct status *append_openvino(struct options *options, const char *const *keys, const char *const *values,
                                      size_t count)
{
    add_provider(options, "OpenVINOExecutionProvider");
    return record(275, "", keys, values, count);
}

static struct status *append_provider(struct options *options, const char *name, const char *const *keys,
                                      const char *const *values, size_t count)
{
    if (strcmp(name, "SNPE") == 0)
        abort();
    if (strcmp(name, "VitisAI") == 0) {
        logger(
            NULL, 3, "onnxruntime", "", "here",
            "/src/provider_bridge_ort.cc:1988 onnxruntime::Provider& Get() [ONNXRuntimeError] : 1 : FAIL : Failed to "
            "load library libvitisai.so: no such file");
        return fail("VitisAI: Failed to load shared library");
    }
    add_provider(options, name);
    return record(216, name, keys, values, count);
}

static struct status *get_available_providers(char ***ret, int *count)
{
    static char names[COUNT][64];
    static char *pointers[COUNT];

    for (size_t i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof(names[i]), "%s", providers[i]);
        pointers[i] = names[i];
    }
    *ret = pointers;
    *count = COUNT;
    return NULL;
}

static struct status *release_available_providers(char **names, int count)
{
    (void)names, (void)count;
    return NULL;
}

/* ---- Sessions, which have neither inputs nor outputs ---- */

static struct status *create_options(struct options **ret)
{
    *ret = calloc(1, sizeof(**ret));
    return NULL;
}

static void release_options(struct options *options)
{
    free(options);
}

static struct status *set_severity(struct options *options, int severity)
{
    options->severity = severity;
    return NULL;
}

static struct status *set_number(struct options *options, int number)
{
    (void)options, (void)number;
    return NULL;
}

static struct status *set_nothing(struct options *options)
{
    (void)options;
    return NULL;
}

static struct status *add_config(struct options *options, const char *key, const char *value)
{
    (void)options;
    return record(130, "", &key, &value, 1);
}

static void say(const struct options *options, int severity, const char *message)
{
    if (severity >= options->severity)
        logger(NULL, severity, "onnxruntime", "", "session_state.cc:1383 VerifyEachNodeIsAssignedToAnEp", message);
}

/* As real releases say it. */
static void tell_placements(const struct options *options)
{
    char line[128];

    say(options, 0, "Node placements");
    if (options->provider[0] == '\0') {
        say(options, 0, " All nodes placed on [CPUExecutionProvider]. Number of nodes: 5");
        return;
    }
    say(options, 0, " Node(s) placed on [CPUExecutionProvider]. Number of nodes: 3");
    say(options, 0, "  RandomNormalLike (random)");
    say(options, 0, "  Loop (loop)");
    say(options, 0, "  Identity ()");
    snprintf(line, sizeof(line), " Node(s) placed on [%s]. Number of nodes: 4", options->provider);
    say(options, 0, line);
    say(options, 0, "  Neg (neg)");
    say(options, 0, "  Split (All nodes placed on [x]. Number of nodes: 7)");
    say(options, 0, "  MemcpyFromHost (Memcpy)");
    say(options, 0, "  MemcpyToHost (Memcpy_token_0)");
}

static struct status *make_session(const struct options *options, struct session **ret)
{
    struct session *session = calloc(1, sizeof(*session));

    tell_placements(options);
    *ret = session;
    return record(7, options->provider, NULL, NULL, 0);
}

static struct status *create_session(const void *env, const char *path, const struct options *options,
                                     struct session **ret)
{
    (void)env, (void)path;
    return make_session(options, ret);
}

static struct status *create_session_from_array(const void *env, const void *data, size_t size,
                                                const struct options *options, struct session **ret)
{
    (void)env, (void)data, (void)size;
    return make_session(options, ret);
}

static struct status *run(struct session *session, const void *run_options, const char *const *input_names,
                          const void *const *inputs, size_t input_count, const char *const *output_names,
                          size_t output_count, void **outputs)
{
    (void)session, (void)run_options, (void)input_names, (void)inputs, (void)output_names, (void)outputs;
    return input_count == 0 && output_count == 0 ? NULL : fail("there is nothing to compute");
}

static void release_session(struct session *session)
{
    free(session);
}

static struct status *count_nothing(const struct session *session, size_t *ret)
{
    (void)session;
    *ret = 0;
    return NULL;
}

static struct status *create_run_options(void **ret)
{
    *ret = &something;
    return NULL;
}

static struct status *set_run_severity(void *run_options, int severity)
{
    char text[32];

    snprintf(text, sizeof(text), "%d", severity);
    return run_options == &something ? record(41, text, NULL, NULL, 0) : fail("not my options");
}

/* ---- The environment ---- */

static int get_error_code(const struct status *status)
{
    (void)status;
    return 1;
}

static const char *get_error_message(const struct status *status)
{
    return status->message;
}

static void release_status(struct status *status)
{
    free(status);
}

static struct status *create_env(log_function *function, void *data, int severity, const char *log_id,
                                 const void *threads, void **ret)
{
    (void)data, (void)severity, (void)log_id, (void)threads;
    logger = function;
    *ret = &something;
    return NULL;
}

static struct status *create_thing(void **ret)
{
    *ret = &something;
    return NULL;
}

static void release_thing(void *thing)
{
    (void)thing;
}

static struct status *create_memory_info(int allocator, int memory, void **ret)
{
    (void)allocator, (void)memory;
    return create_thing(ret);
}

static struct status *create_arena_config(size_t most, int strategy, int chunk, int dead, void **ret)
{
    (void)most, (void)strategy, (void)chunk, (void)dead;
    return create_thing(ret);
}

static struct status *register_allocator(void *env, const void *memory, const void *config)
{
    (void)env, (void)memory, (void)config;
    return NULL;
}

static struct status *unregister_allocator(void *env, const void *memory)
{
    (void)env, (void)memory;
    return NULL;
}

#define OF(name, append_slot, create_slot, update_slot, release_slot)                                                  \
    [append_slot] = (any_function)append_##name, [create_slot] = (any_function)create_##name,                          \
    [update_slot] = (any_function)update_##name, [release_slot] = (any_function)release_##name

static const any_function table[SLOTS] = {
    [1] = (any_function)get_error_code,
    [2] = (any_function)get_error_message,
    [7] = (any_function)create_session,
    [8] = (any_function)create_session_from_array,
    [9] = (any_function)run,
    [10] = (any_function)create_options,
    [19] = (any_function)set_nothing,
    [22] = (any_function)set_severity,
    [23] = (any_function)set_number,
    [24] = (any_function)set_number,
    [25] = (any_function)set_number,
    [30] = (any_function)count_nothing,
    [31] = (any_function)count_nothing,
    [39] = (any_function)create_run_options,
    [41] = (any_function)set_run_severity,
    [69] = (any_function)create_memory_info,
    [78] = (any_function)create_thing,
    [92] = (any_function)release_thing,
    [93] = (any_function)release_status,
    [94] = (any_function)release_thing,
    [95] = (any_function)release_session,
    [97] = (any_function)release_thing,
    [100] = (any_function)release_options,
    [121] = (any_function)create_thing,
    [122] = (any_function)release_thing,
    [125] = (any_function)get_available_providers,
    [126] = (any_function)release_available_providers,
    [130] = (any_function)add_config,
    [144] = (any_function)register_allocator,
    [147] = (any_function)set_number,
    [148] = (any_function)set_number,
    [149] = (any_function)set_number,
    [151] = (any_function)create_env,
    [156] = (any_function)create_arena_config,
    [157] = (any_function)release_thing,
    [177] = (any_function)unregister_allocator,
    [216] = (any_function)append_provider,
    [275] = (any_function)append_openvino,
    OF(tensorrt, 170, 171, 172, 174),
    OF(cuda, 204, 205, 206, 208),
    OF(cann, 220, 221, 222, 224),
    OF(dnnl, 239, 240, 241, 243),
    OF(rocm, 153, 255, 256, 258),
};

static const any_function *get_api(uint32_t wanted)
{
    const char *minor = strchr(version(), '.');

    if (minor == NULL || wanted > strtoul(minor + 1, NULL, 10))
        return NULL;
    return table;
}

const struct api_base *OrtGetApiBase(void)
{
    static const struct api_base base = {get_api, version};

    return &base;
}
