/* backend/tensorrt/interfaces.h: the interfaces of TensorRT's that this program implements: what the library reports
 * (messages, errors, progress, times of layers), asks for (device memory of outputs) and gives out (debug tensors).
 *
 * Each is an object whose vtable has the slots of the loaded release: they begin with their own methods up to TensorRT
 * 9, and with IVersionedInterface's from 10 on (ILogger and IProfiler: from 11 on).
 */
#ifndef BACKEND_TENSORRT_INTERFACES_H
#define BACKEND_TENSORRT_INTERFACES_H

#include "backend/tensorrt/library.h"
#include "base/log.h"

/* What TensorRT sees of an object. */
struct tensorrt_interface {
    tensorrt_function *const *vtable;
    const char *kind; /* the class, for getInterfaceInfo() */
};

/* IVersionedInterface's methods and the destructors, which nobody calls. */
int32_t tensorrt_api_language(void *self);
struct tensorrt_interface_info {
    const char *kind;
    int32_t major, minor;
} tensorrt_interface_info(void *self);
void tensorrt_destroy_nothing(void *self);

/* The beginning of a vtable that has IVersionedInterface, and the destructors of one that does not. */
#define TENSORRT_FUNCTION(name) ((tensorrt_function *)(name))
#define TENSORRT_DESTRUCTORS TENSORRT_FUNCTION(tensorrt_destroy_nothing), TENSORRT_FUNCTION(tensorrt_destroy_nothing)
#define TENSORRT_VERSIONED                                                                                             \
    TENSORRT_FUNCTION(tensorrt_api_language), TENSORRT_FUNCTION(tensorrt_interface_info), TENSORRT_DESTRUCTORS

/* ---- Messages and errors ---- */

/* ILogger: messages go to `log`, which may be NULL, until this is called again. */
void *tensorrt_logger(struct log *log);

/* IErrorRecorder: keeps the first errors that are reported. */
void *tensorrt_error_recorder(void);

/* Forgets errors that were recorded or logged. Before an operation. */
void tensorrt_errors_clear(void);

/* Fills `err` after a failed operation: `what` and the first error, with TensorRT's ErrorCode as foreign_code.
 * ERR_BACKEND, or ERR_DEVICE_MEMORY when the device ran out of memory, also where other errors followed. */
int tensorrt_failure(struct error *err, const char *what);

/* ---- Progress ---- */

/* IProgressMonitor of one build: each phase is logged as it begins, and its steps are reported to the process that
 * asks; when that is interrupted, the build is cancelled. */
void *tensorrt_progress_monitor(void);

/* ---- Times of layers ---- */

struct tensorrt_layer_time {
    char *name;
    double milliseconds;
};

struct tensorrt_layer_times {
    struct tensorrt_layer_time *items;
    size_t count, capacity;
};

void tensorrt_layer_times_release(struct tensorrt_layer_times *times);

/* IProfiler: adds to `times`. */
void *tensorrt_profiler(struct tensorrt_layer_times *times);

/* ---- Device memory of an output ---- */

/* IOutputAllocator of one output, which is asked for memory as soon as the size is known. */
struct tensorrt_output_memory {
    struct tensorrt_interface interface;
    void *memory; /* device; owned */
    size_t size;
    struct shape shape; /* of the last inference */
    bool has_shape;
    struct error failure; /* why there is no memory; code 0: there is */
};

void tensorrt_output_memory_init(struct tensorrt_output_memory *output);
void tensorrt_output_memory_release(struct tensorrt_output_memory *output);

/* Makes room for `size` bytes; what was there is lost. */
int tensorrt_output_memory_reserve(struct tensorrt_output_memory *output, size_t size, struct error *err);

/* ---- Tensors inside of an engine ---- */

/* IDebugListener of an inference in `stream`: copies each tensor to host memory and adds it to `tensors`; `failure` is
 * filled when that fails. */
void *tensorrt_debug_listener(struct tensor_list *tensors, void *stream, struct error *failure);

#endif
