/* backend/onnxrt/library.h: ONNX Runtime itself, each library loaded once per process and kept until its end.
 *
 * The module backend/onnxrt/ is ONNX Runtime as such a backend: found, loaded and called here and nowhere else, in this
 * process or in one of its own (apart/). Outputs: two structs of functions, onnxrt.c's and apart/backend.c's.
 *
 *   const struct onnxrt *ort;
 *   rc = onnxrt_load(NULL, &ort, err);
 *   rc = onnxrt_check(ort, ort->api->run(...), err, "ONNX Runtime cannot run '%s'", path);
 *
 * A child made by fork() can go on using it and open sessions of its own. A session that was open before is lost to the
 * child: its threads are missing there.
 */
#ifndef BACKEND_ONNXRT_LIBRARY_H
#define BACKEND_ONNXRT_LIBRARY_H

#include <sys/types.h>

#include "backend/onnxrt/abi.h"
#include "base/error.h"
#include "base/log.h"

struct onnxrt {
    const struct ort_api *api;
    const char *version; /* "1.30.0" */
    int release;         /* 30 */
    const char *path;    /* of the library, as the system's loader has it */
    struct ort_env *env;
    struct ort_allocator *allocator;    /* of memory that the runtime hands out and of tensors that it makes */
    struct ort_memory_info *cpu_memory; /* describes memory of ours */
    bool tells_shape;           /* api->has_shape() is there: an unknown shape and a scalar's can be told apart */
    struct onnxrt_arena *arena; /* of the environment */
    int shared_threads;         /* that many small sessions can share: see onnxrt_share_threads() */
    pid_t shared_threads_process;
};

/* Finds the library (see search.h) and makes its environment. Once that has worked, later calls that want the same give
 * the same; NULL gives the first one that was loaded, whatever was wanted then. ERR_MISSING, or ERR_UNSUPPORTED when it
 * is too old or no ONNX Runtime. */
int onnxrt_load(const char *wanted, const struct onnxrt **ret, struct error *err);

/* Frees `status`. When it is a failure, sets "<context>: <the runtime's first line>" and returns ERR_BACKEND. */
int onnxrt_check(const struct onnxrt *ort, struct ort_status *status, struct error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Messages that the runtime has while the calling thread is inside of it go to `log` (may be NULL) from now on:
 * errors as warnings, since the caller learns of a failure anyway; its warnings, which are many, only in a verbose
 * log; and its narration only in an extra verbose one. Messages of its own threads are dropped. */
void onnxrt_set_log(struct log *log);

/* Has `listener` called for every message that the runtime has while the calling thread is inside of it, whatever the
 * log wants to have; NULL: for none. */
typedef void onnxrt_listener(void *data, const char *message);
void onnxrt_set_listener(onnxrt_listener *listener, void *data);

/* Makes sessions that `options` are for use `threads` threads (0: one for each processor) without having them of their
 * own: those of the environment where there are as many; else their own, which sleep when there is nothing to do.
 * Memory comes from one pool for all. For processes that have hundreds of sessions. */
struct ort_status *onnxrt_share_threads(const struct onnxrt *ort, struct ort_session_options *options, int threads);

/* A session that is made between these two takes its memory from an arena that never holds more than memory_limit()
 * bytes: what a model asks for beyond that is a failure of its node, before any memory is taken. The arena ends with
 * its sessions. Sessions that are made at the same time share it, and all do once onnxrt_share_threads() was used. */
struct ort_status *onnxrt_bound_begin(const struct onnxrt *ort, struct ort_session_options *options);
void onnxrt_bound_end(const struct onnxrt *ort);

/* Makes of the message of a failure that came of the bound one that says how much was asked for, and what to do about
 * it. */
void onnxrt_explain_bound(struct error *err);

/* The least severe message that `log` wants to have, for a session to make no others. */
int onnxrt_severity_for(const struct log *log);

#endif
