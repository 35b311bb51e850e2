/* backend/onnxrt/library.c: see library.h. */
#include "backend/onnxrt/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/onnxrt/search.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "base/memory_limit.h"
#include "base/system.h"
#include "base/text/string_builder.h"

static _Thread_local struct log *current_log;
static _Thread_local onnxrt_listener *current_listener;
static _Thread_local void *listener_data;

void onnxrt_set_log(struct log *log)
{
    current_log = log;
}

void onnxrt_set_listener(onnxrt_listener *listener, void *data)
{
    current_listener = listener;
    listener_data = data;
}

int onnxrt_severity_for(const struct log *log)
{
    if (log_shows(log, LOG_EXTRA_VERBOSE))
        return ORT_SEVERITY_INFO;
    return log_shows(log, LOG_VERBOSE) ? ORT_SEVERITY_WARNING : ORT_SEVERITY_ERROR;
}

/* ---- Memory ---- */

/* An environment can have one arena for all sessions that want it; each of these keeps it alive. */
struct onnxrt_arena {
    bool is_registered, stays;
    size_t users; /* sessions that are being made */
};

static pthread_mutex_t arena_mutex = PTHREAD_MUTEX_INITIALIZER;

/* With `arena_mutex` held. Without an arena every session has memory of its own, which nothing bounds. */
static void register_arena(const struct onnxrt *ort)
{
    const struct ort_api *api = ort->api;
    size_t most = memory_limit();
    struct ort_arena_config *config = NULL;
    struct ort_status *status;

    /* All settings but the bound are the runtime's defaults. */
    status = api->create_arena_config(most < SIZE_MAX ? most : 0, -1, -1, -1, &config);
    if (!status)
        status = api->create_and_register_allocator(ort->env, ort->cpu_memory, config);
    if (config)
        api->release_arena_config(config);
    ort->arena->is_registered = !status;
    if (status)
        api->release_status(status);
}

static struct ort_status *use_arena(const struct onnxrt *ort, struct ort_session_options *options)
{
    return ort->arena->is_registered ? ort->api->add_session_config(options, "session.use_env_allocators", "1") : NULL;
}

/* `stays`: until the process ends; otherwise it has one more user. */
static struct ort_status *share_arena(const struct onnxrt *ort, struct ort_session_options *options, bool stays)
{
    struct ort_status *status;

    pthread_mutex_lock(&arena_mutex);
    if (!ort->arena->is_registered)
        register_arena(ort);
    ort->arena->users += !stays;
    ort->arena->stays |= stays;
    status = use_arena(ort, options);
    pthread_mutex_unlock(&arena_mutex);
    return status;
}

struct ort_status *onnxrt_bound_begin(const struct onnxrt *ort, struct ort_session_options *options)
{
    return share_arena(ort, options, false);
}

void onnxrt_bound_end(const struct onnxrt *ort)
{
    pthread_mutex_lock(&arena_mutex);
    if (--ort->arena->users == 0 && ort->arena->is_registered && !ort->arena->stays) {
        struct ort_status *status = ort->api->unregister_allocator(ort->env, ort->cpu_memory);

        ort->arena->is_registered = status != NULL;
        if (status)
            ort->api->release_status(status);
    }
    pthread_mutex_unlock(&arena_mutex);
}

/* "...: Non-zero status code returned while running Expand node. Name:'grow' Status Message: ... Available memory of 1
 * is smaller than requested bytes of 2": what stands in front of the runtime's place in its source is kept, which has
 * the operator and the node. */
static bool read_refusal(const char *message, size_t *ret_kept, unsigned long long *ret_left,
                         unsigned long long *ret_size)
{
    const char *numbers = strstr(message, "Available memory of "), *place = strstr(message, " Status Message:");

    if (numbers == NULL ||
        sscanf(numbers, "Available memory of %llu is smaller than requested bytes of %llu", ret_left, ret_size) != 2)
        return false;
    *ret_kept = (size_t)((place != NULL && place < numbers ? place : numbers) - message);
    return true;
}

void onnxrt_explain_bound(struct error *err)
{
    unsigned long long left, size;
    struct error said, why;
    size_t kept;

    if (err == NULL)
        return;
    said = *err;
    if (read_refusal(said.message, &kept, &left, &size)) {
        char what[96] = "its result";

        if (size <= memory_limit())
            snprintf(what, sizeof(what), "it asks for %.1f MiB where %.1f MiB are left: with what is in use the model",
                     (double)size / 0x1p20, (double)left / 0x1p20);
        memory_limit_refuse(size <= memory_limit() ? memory_limit() - left + size : size, what, &why);
        error_set(err, (enum error_code)said.code, "%.*s: %s", (int)kept, said.message, why.message);
    } else if (strstr(said.message, "Failed to allocate memory") != NULL || strstr(said.message, "bad_alloc") != NULL) {
        error_set(err, (enum error_code)said.code, "%s: there is no more memory, or --max-memory allows no more",
                  said.message);
    }
    err->foreign_code = said.foreign_code;
}

/* ---- Threads ---- */

/* A process that was forked off has none of the environment's threads. */
struct ort_status *onnxrt_share_threads(const struct onnxrt *ort, struct ort_session_options *options, int threads)
{
    const struct ort_api *api = ort->api;
    int wanted = threads > 0 ? threads : system_processors();
    struct ort_status *status = api->set_inter_op_threads(options, 1);

    if (!status && wanted > 1 && wanted == ort->shared_threads && getpid() == ort->shared_threads_process)
        status = api->disable_per_session_threads(options);
    else if (!status)
        status = api->set_intra_op_threads(options, wanted);
    if (!status)
        status = api->add_session_config(options, "session.intra_op.allow_spinning", "0");
    return status ? status : share_arena(ort, options, true);
}

/* The first line of `message` that holds anything, without blanks around it and without a full stop. */
static struct text first_line(const char *message)
{
    const char *start = message + strspn(message, " \t\r\n");
    struct text line = {start, strcspn(start, "\r\n")};

    while (line.size > 0 && strchr(" \t.", line.data[line.size - 1]))
        line.size--;
    return line;
}

static void forward_message(void *data, int severity, const char *category, const char *log_id,
                            const char *code_location, const char *message)
{
    struct text line = first_line(message);

    (void)data;
    (void)category;
    (void)log_id;
    (void)code_location;
    if (current_listener != NULL)
        current_listener(listener_data, message);
    if (severity >= onnxrt_severity_for(current_log))
        log_message(current_log, severity >= ORT_SEVERITY_WARNING ? LOG_WARNING : LOG_EXTRA_VERBOSE,
                    "ONNX-Runtime: " TEXT_FORMAT, TEXT_ARGS(line));
}

int onnxrt_check(const struct onnxrt *ort, struct ort_status *status, struct error *err, const char *format, ...)
{
    static const char load_prefix[] = "Load model from ", load_prefix_end[] = " failed:";
    SCOPED_STRING(context);
    const char *message;
    va_list args;

    if (!status)
        return 0;
    va_start(args, format);
    string_add_format_list(&context, format, args);
    va_end(args);

    /* The context names the model already. */
    message = ort->api->get_error_message(status);
    if (strncmp(message, load_prefix, strlen(load_prefix)) == 0 && strstr(message, load_prefix_end))
        message = strstr(message, load_prefix_end) + strlen(load_prefix_end);

    struct text line = first_line(message);
    error_set(err, ERR_BACKEND, "%s: " TEXT_FORMAT, context.data, TEXT_ARGS(line));
    if (err != NULL)
        err->foreign_code = (int)ort->api->get_error_code(status);
    ort->api->release_status(status);
    return ERR_BACKEND;
}

/* Gets the table of functions out of the loaded library. Release 1.N brings version N of the table; asking a release
 * for a newer version makes it print to stderr, so its number is looked at first. */
static int find_api(void *handle, const char *path, struct onnxrt *ret, struct error *err)
{
    const struct ort_api_base *(*get_base)(void);
    void *symbol = dlsym(handle, "OrtGetApiBase");
    const struct ort_api_base *base;
    int major = 0, minor = 0;

    if (!symbol)
        return error_set(err, ERR_UNSUPPORTED, "'%s' is not ONNX Runtime: it has no symbol OrtGetApiBase", path);
    memcpy(&get_base, &symbol, sizeof(get_base)); /* ISO C has no conversion from a pointer to data */
    base = get_base();
    ret->version = base->get_version();
    sscanf(ret->version, "%d.%d", &major, &minor);
    if (major == 1 && minor >= ORT_API_VERSION)
        ret->api = base->get_api(minor >= ORT_API_VERSION_HAS_SHAPE ? ORT_API_VERSION_HAS_SHAPE : ORT_API_VERSION);
    if (!ret->api)
        return error_set(
            err, ERR_UNSUPPORTED,
            "'%s' is ONNX Runtime %s, but a release of 1.%d or later is needed; install one, or name it with "
            "--onnxrt-library",
            path, base->get_version(), ORT_API_VERSION);
    ret->release = minor;
    ret->path = system_library_of(symbol);
    ret->tells_shape = minor >= ORT_API_VERSION_HAS_SHAPE;
    return 0;
}

/* Published builds from 1.30 on report how they are used to their maker, unless a variable forbids it while the
 * environment is made. A debugger does not do that with its user's models; also, the reporter's thread makes exit()
 * wait for ever in a forked child. A user who has set the variable has decided. */
static struct ort_status *create_env(const struct ort_api *api, const struct ort_threading_options *threads,
                                     struct ort_env **ret)
{
    static const char variable[] = "ORT_DISABLE_TELEMETRY";
    bool undecided = !getenv(variable);
    struct ort_status *status;

    if (undecided)
        setenv(variable, "1", 1);
    status = api->create_env_with_custom_logger_and_threads(forward_message, NULL, ORT_SEVERITY_WARNING, "polygraphy",
                                                            threads, ret);
    if (undecided)
        unsetenv(variable);
    return status;
}

/* The environment's own threads can only be asked for here, before anybody knows whether they will be used; asleep,
 * they cost next to nothing. */
static struct ort_status *create_environment(struct onnxrt *ort)
{
    const struct ort_api *api = ort->api;
    struct ort_threading_options *threads = NULL;
    struct ort_status *status;

    ort->shared_threads = system_processors();
    ort->shared_threads_process = getpid();
    status = api->create_threading_options(&threads);
    if (!status)
        status = api->set_global_intra_op_threads(threads, ort->shared_threads);
    if (!status)
        status = api->set_global_inter_op_threads(threads, 1);
    if (!status)
        status = api->set_global_spin_control(threads, 0);
    if (!status)
        status = create_env(api, threads, &ort->env);
    if (threads)
        api->release_threading_options(threads);
    if (!status)
        status = api->default_allocator(&ort->allocator);
    if (!status)
        status = api->create_cpu_memory_info(ORT_ALLOCATOR_ARENA, ORT_MEMORY_DEFAULT, &ort->cpu_memory);
    return status;
}

static int load_library(const char *wanted, struct onnxrt *ret, struct error *err)
{
    struct onnxrt ort = {0};
    void *handle = NULL;
    char *path = NULL;
    int rc = onnxrt_search(wanted, &handle, &path, err);

    if (rc < 0)
        goto done;
    rc = find_api(handle, path, &ort, err);
    if (rc < 0)
        goto done;
    rc = onnxrt_check(&ort, create_environment(&ort), err, "ONNX Runtime ('%s') does not start", path);
    if (rc == 0)
        *ret = ort;
done:
    if (rc < 0 && ort.env)
        ort.api->release_env(ort.env);
    if (rc < 0 && handle && !ort.api)
        dlclose(handle); /* once its environment was made the library has to stay */
    free(path);
    return rc;
}

/* A library that was loaded, by what was wanted. */
struct loaded_library {
    char *wanted; /* NULL: the one that is found */
    struct onnxrt ort;
    struct loaded_library *next; /* loaded later */
};

/* `path`: of the wanted file, without links; NULL: it is no file. */
static bool is_wanted(const struct loaded_library *library, const char *wanted, const char *path)
{
    return wanted == NULL || (library->wanted != NULL && strcmp(library->wanted, wanted) == 0) ||
           (path != NULL && library->ort.path != NULL && strcmp(library->ort.path, path) == 0);
}

int onnxrt_load(const char *wanted, const struct onnxrt **ret, struct error *err)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static struct loaded_library *libraries;
    char *path SCOPED_FREE = wanted != NULL ? file_real_path(wanted) : NULL;
    struct loaded_library *found, **end = &libraries;
    struct onnxrt ort;
    int rc = 0;

    pthread_mutex_lock(&mutex);
    for (; *end != NULL && !is_wanted(*end, wanted, path);)
        end = &(*end)->next;
    found = *end;
    if (found == NULL)
        rc = load_library(wanted, &ort, err);
    if (found == NULL && rc == 0) {
        ort.arena = memory_alloc_zero(1, sizeof(*ort.arena));
        found = memory_alloc_zero(1, sizeof(*found));
        *found = (struct loaded_library){wanted != NULL ? memory_strdup(wanted) : NULL, ort, NULL};
        *end = found;
    }
    if (rc == 0)
        *ret = &found->ort;
    pthread_mutex_unlock(&mutex);
    return rc;
}
