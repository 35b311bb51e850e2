/* backend/onnxrt/apart/backend.h: ONNX Runtime in a process of its own, for models that nobody has vouched for.
 *
 * A backend like the one that it stands for, with the same sessions, messages and log lines. The runtime is loaded, and
 * works, in a bounded copy of this program (base/process/bounded.h), which is forked off when the first session is
 * opened and serves all that follow with the same library (struct onnxrt_settings): each library has one. `bounds` of
 * the request says what it may have: `seconds` to load a model, ten times that to run one.
 *
 * That the copy has crashed, or had to be ended, is an error for which bounded_process_is_end() holds, never a refusal
 * like others: what is asked next has a new copy. Sessions that were open are lost then. A lack of memory that the
 * runtime itself reports is a refusal like others.
 *
 * Values that are shared (struct backend, share()) are in the copy because it is forked off after them: share() ends a
 * copy that is at work.
 *
 * The module backend/onnxrt/apart/ is this backend; request.h is its request as a message. It may use backend/onnxrt/
 * and backend/worker/.
 *
 * For programs that have not used the runtime themselves when a copy is forked off, nor have threads then but such as
 * take no lock that it needs: what draws a progress line, where a copy follows one that has crashed.
 */
#ifndef BACKEND_ONNXRT_APART_BACKEND_H
#define BACKEND_ONNXRT_APART_BACKEND_H

#include "backend/onnxrt/provider_devices.h"
#include "backend/onnxrt/settings.h"
#include "base/container/arena.h"

extern const struct backend onnxrt_apart_backend;

/* A runtime, and the providers that it was built with, which need not load. */
struct onnxrt_description {
    const char *version, *path;
    struct words providers; /* in its own order of priority */
};

/* Asks the runtime that `request` would have. Memory comes from `arena`. Errors are those of loading it. */
int onnxrt_apart_describe(const struct backend_request *request, struct arena *arena, struct onnxrt_description *ret,
                          struct error *err);

/* Registers a provider library with that runtime, and lists its devices. Memory comes from `arena`. Errors are those of
 * loading and registering it; ERR_INVALID, too, when none of its providers has a device here. */
int onnxrt_apart_list_devices(const struct backend_request *request, const struct onnxrt_entry *library,
                              struct arena *arena, struct provider_device_list *ret, struct error *err);

/* What is usual for a model of so many bytes, weights included. `wanted` bytes are what a user lets the model ask for;
 * 0: nothing was said. */
struct bounds onnxrt_apart_bounds(uint64_t model_size, uint64_t wanted);

#endif
