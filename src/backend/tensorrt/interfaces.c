/* backend/tensorrt/interfaces.c: see interfaces.h. */
#include "backend/tensorrt/interfaces.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/tensorrt/cuda.h"
#include "backend/worker/worker.h"
#include "base/memory.h"
#include "base/system.h"

/* ---- IVersionedInterface ---- */

int32_t tensorrt_api_language(void *self)
{
    (void)self;
    return 0; /* C++ */
}

struct tensorrt_interface_info tensorrt_interface_info(void *self)
{
    return (struct tensorrt_interface_info){((const struct tensorrt_interface *)self)->kind, 1, 0};
}

void tensorrt_destroy_nothing(void *self)
{
    (void)self;
}

/* Whether interfaces of the loaded release begin with IVersionedInterface's methods. */
static bool is_versioned(void)
{
    return !tensorrt_is_before(10);
}

/* ---- Errors ---- */

#define LONGEST_ERROR 1000
#define MOST_ERRORS 16
#define CODE_FAILED_ALLOCATION 5 /* nvinfer1::ErrorCode::kFAILED_ALLOCATION */

static struct {
    pthread_mutex_t mutex; /* builders have threads */
    struct {
        int32_t code; /* 0: it was only logged */
        char text[LONGEST_ERROR];
    } items[MOST_ERRORS];
    size_t count, recorded;
} errors = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void note_error(int32_t code, const char *text)
{
    pthread_mutex_lock(&errors.mutex);
    errors.recorded += code != 0;
    if (errors.count < MOST_ERRORS) {
        struct text line = {text, strcspn(text, "\r\n")};

        errors.items[errors.count].code = code;
        snprintf(errors.items[errors.count].text, LONGEST_ERROR, TEXT_FORMAT, TEXT_ARGS(line));
        errors.count++;
    }
    pthread_mutex_unlock(&errors.mutex);
}

void tensorrt_errors_clear(void)
{
    pthread_mutex_lock(&errors.mutex);
    errors.count = errors.recorded = 0;
    pthread_mutex_unlock(&errors.mutex);
}

/* CUDA's error within TensorRT has a code for errors of CUDA only, "Error Code 1: Cuda Runtime (out of memory)". */
static bool is_out_of_memory(size_t index)
{
    const char *text = errors.items[index].text;

    return errors.items[index].code == CODE_FAILED_ALLOCATION || strstr(text, "OutOfMemory") != NULL ||
           strstr(text, "out of memory") != NULL;
}

/* The error to report: that the device is out of memory, of which others may be consequences; else the first recorded
 * one, which has a code; else the first that was logged. At least one error was noted. */
static size_t choose_error(bool *ret_out_of_memory)
{
    size_t index = 0;

    for (size_t i = 0; i < errors.count; i++)
        if (is_out_of_memory(i)) {
            *ret_out_of_memory = true;
            return i;
        }
    *ret_out_of_memory = false;
    while (errors.recorded > 0 && index + 1 < errors.count && errors.items[index].code == 0)
        index++;
    return index;
}

int tensorrt_failure(struct error *err, const char *what)
{
    bool out_of_memory = false;
    size_t index;
    int rc = ERR_BACKEND;

    pthread_mutex_lock(&errors.mutex);
    index = errors.count > 0 ? choose_error(&out_of_memory) : 0;
    if (errors.count == 0)
        error_set(err, ERR_BACKEND, "%s: TensorRT does not say why", what);
    else if (out_of_memory)
        rc = error_set(err, ERR_DEVICE_MEMORY,
                       "%s: the GPU is out of memory: free some, or pass --pool-limit workspace:SIZE: %s", what,
                       errors.items[index].text);
    else
        error_set(err, ERR_BACKEND, "%s: %s", what, errors.items[index].text);
    if (err != NULL && errors.count > 0)
        err->foreign_code = errors.items[index].code;
    pthread_mutex_unlock(&errors.mutex);
    return rc;
}

static int32_t count_errors(void *self)
{
    (void)self;
    return (int32_t)errors.count;
}

static int32_t get_error_code(void *self, int32_t index)
{
    (void)self;
    return index >= 0 && (size_t)index < errors.count ? errors.items[index].code : 0;
}

static const char *get_error_text(void *self, int32_t index)
{
    (void)self;
    return index >= 0 && (size_t)index < errors.count ? errors.items[index].text : "";
}

static bool has_overflowed(void *self)
{
    (void)self;
    return errors.count == MOST_ERRORS;
}

static void clear_errors(void *self)
{
    (void)self;
    tensorrt_errors_clear();
}

/* False: TensorRT goes on. */
static bool report_error(void *self, int32_t code, const char *text)
{
    (void)self;
    note_error(code, text);
    return false;
}

static int32_t count_references(void *self)
{
    (void)self;
    return 1;
}

#define RECORDER_METHODS                                                                                               \
    TENSORRT_FUNCTION(count_errors), TENSORRT_FUNCTION(get_error_code), TENSORRT_FUNCTION(get_error_text),             \
        TENSORRT_FUNCTION(has_overflowed), TENSORRT_FUNCTION(clear_errors), TENSORRT_FUNCTION(report_error),           \
        TENSORRT_FUNCTION(count_references), TENSORRT_FUNCTION(count_references)

void *tensorrt_error_recorder(void)
{
    static tensorrt_function *const plain[] = {TENSORRT_DESTRUCTORS, RECORDER_METHODS};
    static tensorrt_function *const versioned[] = {TENSORRT_VERSIONED, RECORDER_METHODS};
    static struct tensorrt_interface recorder = {.kind = "IErrorRecorder"};

    recorder.vtable = is_versioned() ? versioned : plain;
    return &recorder;
}

/* ---- Messages ---- */

static struct log *log_of_messages;

enum severity { SEVERITY_INTERNAL_ERROR, SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_INFO, SEVERITY_VERBOSE };

static void log_severity(void *self, int32_t severity, const char *text)
{
    static const enum log_level levels[] = {LOG_ERROR, LOG_ERROR, LOG_WARNING, LOG_VERBOSE, LOG_ULTRA_VERBOSE};
    enum log_level level = severity >= 0 && (size_t)severity < ARRAY_LEN(levels) ? levels[severity] : LOG_ULTRA_VERBOSE;
    SCOPED_STRING(line);

    (void)self;
    if (severity == SEVERITY_INTERNAL_ERROR || severity == SEVERITY_ERROR)
        note_error(0, text);
    if (!log_shows(log_of_messages, level))
        return;
    string_add(&line, "TensorRT: ");
    string_add_visible(&line, text_of(text));
    log_text(log_of_messages, level, (struct text){line.data, line.size});
}

void *tensorrt_logger(struct log *log)
{
    static tensorrt_function *const plain[] = {TENSORRT_FUNCTION(log_severity), TENSORRT_DESTRUCTORS};
    static tensorrt_function *const versioned[] = {TENSORRT_VERSIONED, TENSORRT_FUNCTION(log_severity)};
    static struct tensorrt_interface logger = {.kind = "ILogger"};

    log_of_messages = log;
    logger.vtable = tensorrt_is_before(11) ? plain : versioned;
    return &logger;
}

/* ---- Progress ---- */

#define MOST_PHASES 16             /* at a time; further ones are not reported */
#define SECONDS_BETWEEN_STEPS 0.05 /* that are reported */

/* Phases are nested, and each counts its own steps. */
static struct {
    pthread_mutex_t mutex; /* builders have threads */
    struct {
        char name[128];
        int32_t steps;
    } phases[MOST_PHASES];
    size_t count;
    double reported; /* stopwatch_now() */
} build = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* The latest of this name; MOST_PHASES: none is. */
static size_t find_phase(const char *name)
{
    for (size_t i = build.count; i-- > 0;)
        if (strncmp(build.phases[i].name, name, sizeof(build.phases[i].name) - 1) == 0)
            return i;
    return MOST_PHASES;
}

static void start_phase(void *self, const char *phase, const char *parent, int32_t steps)
{
    (void)self;
    log_message(log_of_messages, LOG_EXTRA_VERBOSE, "TensorRT: %s%s%s", parent != NULL ? parent : "",
                parent != NULL ? ": " : "", phase);
    pthread_mutex_lock(&build.mutex);
    if (build.count < MOST_PHASES) {
        snprintf(build.phases[build.count].name, sizeof(build.phases[0].name), "%s", phase);
        build.phases[build.count++].steps = steps;
    }
    pthread_mutex_unlock(&build.mutex);
    if (steps > 0)
        worker_report_progress(phase, 0, (uint64_t)steps);
}

/* True: continue; false: cancel the build. */
static bool complete_step(void *self, const char *phase, int32_t step)
{
    double now = stopwatch_now();
    int32_t steps = 0;
    size_t place;

    (void)self;
    pthread_mutex_lock(&build.mutex);
    place = find_phase(phase);
    if (place < MOST_PHASES && now - build.reported >= SECONDS_BETWEEN_STEPS) {
        steps = build.phases[place].steps;
        build.reported = now;
    }
    pthread_mutex_unlock(&build.mutex);
    if (step >= 0 && step + 1 < steps)
        worker_report_progress(phase, (uint64_t)step + 1, (uint64_t)steps);
    return !worker_is_cancelled();
}

static void finish_phase(void *self, const char *phase)
{
    size_t place;

    (void)self;
    pthread_mutex_lock(&build.mutex);
    place = find_phase(phase);
    if (place < MOST_PHASES) {
        build.count--;
        memmove(&build.phases[place], &build.phases[place + 1], (build.count - place) * sizeof(build.phases[0]));
    }
    pthread_mutex_unlock(&build.mutex);
}

#define MONITOR_METHODS                                                                                                \
    TENSORRT_FUNCTION(start_phase), TENSORRT_FUNCTION(complete_step), TENSORRT_FUNCTION(finish_phase)

void *tensorrt_progress_monitor(void)
{
    static tensorrt_function *const plain[] = {TENSORRT_DESTRUCTORS, MONITOR_METHODS};
    static tensorrt_function *const versioned[] = {TENSORRT_VERSIONED, MONITOR_METHODS};
    static struct tensorrt_interface monitor = {.kind = "IProgressMonitor"};

    build.count = 0;
    build.reported = 0;
    monitor.vtable = is_versioned() ? versioned : plain;
    return &monitor;
}

/* ---- Times of layers ---- */

static struct tensorrt_layer_times *times_of_layers;

static void report_layer_time(void *self, const char *layer, float milliseconds)
{
    (void)self;
    *VECTOR_APPEND(times_of_layers) = (struct tensorrt_layer_time){memory_strdup(layer), (double)milliseconds};
}

void *tensorrt_profiler(struct tensorrt_layer_times *times)
{
    static tensorrt_function *const plain[] = {TENSORRT_FUNCTION(report_layer_time), TENSORRT_DESTRUCTORS};
    static tensorrt_function *const versioned[] = {TENSORRT_VERSIONED, TENSORRT_FUNCTION(report_layer_time)};
    static struct tensorrt_interface profiler = {.kind = "IProfiler"};

    times_of_layers = times;
    profiler.vtable = tensorrt_is_before(11) ? plain : versioned;
    return &profiler;
}

void tensorrt_layer_times_release(struct tensorrt_layer_times *times)
{
    for (size_t i = 0; i < times->count; i++)
        free(times->items[i].name);
    free(times->items);
    *times = (struct tensorrt_layer_times){0};
}

/* ---- Device memory of an output ---- */

int tensorrt_output_memory_reserve(struct tensorrt_output_memory *output, size_t size, struct error *err)
{
    int rc;

    if (output->memory != NULL && output->size >= size)
        return 0;
    cuda_free(output->memory);
    output->memory = NULL;
    output->size = 0;
    rc = cuda_allocate(size, &output->memory, err);
    if (rc == 0)
        output->size = size;
    return rc;
}

static int32_t get_interface_version(void *self)
{
    (void)self;
    return 1;
}

static void *reallocate_output(void *self, const char *tensor, void *current, uint64_t size, uint64_t alignment)
{
    struct tensorrt_output_memory *output = self;

    (void)tensor;
    (void)current;
    (void)alignment; /* CUDA's is 256 */
    return tensorrt_output_memory_reserve(output, (size_t)size, &output->failure) == 0 ? output->memory : NULL;
}

static void *reallocate_output_async(void *self, const char *tensor, void *current, uint64_t size, uint64_t alignment,
                                     void *stream)
{
    (void)stream;
    return reallocate_output(self, tensor, current, size, alignment);
}

static void notify_shape(void *self, const char *tensor, const union tensorrt_dims *dims)
{
    struct tensorrt_output_memory *output = self;

    (void)tensor;
    output->has_shape = tensorrt_dims_get(dims, &output->shape);
}

void tensorrt_output_memory_init(struct tensorrt_output_memory *output)
{
    static tensorrt_function *const plain[] = {TENSORRT_FUNCTION(get_interface_version),
                                               TENSORRT_FUNCTION(reallocate_output), TENSORRT_FUNCTION(notify_shape),
                                               TENSORRT_DESTRUCTORS};
    static tensorrt_function *const versioned[] = {TENSORRT_VERSIONED, TENSORRT_FUNCTION(reallocate_output),
                                                   TENSORRT_FUNCTION(reallocate_output_async),
                                                   TENSORRT_FUNCTION(notify_shape)};

    *output = (struct tensorrt_output_memory){
        .interface = {.vtable = is_versioned() ? versioned : plain, .kind = "IOutputAllocator"}};
}

void tensorrt_output_memory_release(struct tensorrt_output_memory *output)
{
    cuda_free(output->memory);
    output->memory = NULL;
}

/* ---- Tensors inside of an engine ---- */

static struct {
    struct tensorrt_interface interface;
    struct tensor_list *tensors;
    void *stream; /* of the inference */
    struct error *failure;
} listener = {.interface.kind = "IDebugListener"};

/* A tensor that comes again, as in a loop, takes the place of the one before. */
static void keep_debug_tensor(const char *name, struct tensor *tensor)
{
    struct named_tensor *found = tensor_list_find(listener.tensors, text_of(name));

    if (found == NULL) {
        tensor_list_add(listener.tensors, text_of(name), tensor);
        return;
    }
    tensor_release(&found->tensor);
    found->tensor = *tensor;
}

static int copy_debug_tensor(const void *address, int32_t location, struct tensor *ret)
{
    int rc;

    if (location == TENSORRT_ON_HOST) {
        memcpy(tensor_writable(ret), address, ret->size);
        return 0;
    }
    rc = cuda_copy(tensor_writable(ret), address, ret->size, CUDA_TO_HOST, listener.stream, listener.failure);
    return rc == 0 ? cuda_wait(listener.stream, listener.failure) : rc;
}

/* A seventh argument, the stream, is that of the inference. */
static bool process_debug_tensor(void *self, const void *address, int32_t location, int32_t type,
                                 const union tensorrt_dims *dims, const char *name)
{
    struct tensor tensor = {0};
    struct shape shape;
    int rc;

    (void)self;
    if (!tensorrt_dims_get(dims, &shape) || tensorrt_type_from(type) == DATA_UNDEFINED)
        return true;
    rc = tensor_allocate(tensorrt_type_from(type), &shape, &tensor, listener.failure);
    if (rc < 0)
        return false;
    rc = copy_debug_tensor(address, location, &tensor);
    if (rc == 0)
        keep_debug_tensor(name, &tensor);
    else
        tensor_release(&tensor);
    return rc == 0;
}

void *tensorrt_debug_listener(struct tensor_list *tensors, void *stream, struct error *failure)
{
    static tensorrt_function *const versioned[] = {TENSORRT_VERSIONED, TENSORRT_FUNCTION(process_debug_tensor)};

    listener.interface.vtable = versioned;
    listener.tensors = tensors;
    listener.stream = stream;
    listener.failure = failure;
    return &listener;
}
