/* backend/backend.h: something that runs a model. Each implementation is one constant struct of functions.
 *
 * The module backend/ holds what runs models, as a table of functions, and what is asked of it: types, values of
 * constants, which nodes it takes. Inputs: models as files or as pieces. Outputs: tensors and types. It may use models,
 * tensors and files, but no commands.
 *
 *   struct backend_request request = {.model.path = "model.onnx"};
 *   struct backend_session *session;
 *   onnxrt_backend.open(&request, &session, err);
 *   onnxrt_backend.run(session, feed, &outputs, &seconds, err);
 *   onnxrt_backend.close(session);
 */
#ifndef BACKEND_BACKEND_H
#define BACKEND_BACKEND_H

#include "base/error.h"
#include "base/log.h"
#include "base/process/bounded.h"
#include "tensor/values/tensor.h"

/* One input or output of a loaded model. */
struct backend_io {
    char *name;
    enum data_type type;      /* DATA_UNDEFINED when it is no tensor */
    const char *not_a_tensor; /* "sequence", "map", "optional", "sparse tensor", "opaque"; NULL for a tensor */
    bool has_shape;
    struct shape shape; /* -1: not known before run time */
    char **symbols;     /* shape.rank names of symbolic dimensions, NULL where there is none */
};

/* A model to load: a file, or bytes in memory, which have to outlive the session. */
struct backend_model {
    const char *path; /* NULL: bytes */
    const void *data;
    size_t size;
    const char *external_folder; /* where external data of a model in memory lie; NULL: none */
};

/* How to open a session. */
struct backend_request {
    struct backend_model model;
    /* Outputs of which nobody wants the values: they are there to keep a compiler from working across them. */
    struct words hidden_outputs;
    bool frugal;          /* memory that is free goes back to the system at once, at some cost of time */
    struct bounds bounds; /* of a backend in a process of its own (backend/onnxrt/apart/backend.h); zeros: none */
    /* Of the backend, which knows the type: struct onnxrt_settings, struct engine_settings, struct runner_command,
     * struct tensorrt_request. NULL: its defaults. */
    const void *settings;
    struct log *log; /* warnings of the runtime go here; may be NULL */
};

/* What the session of each backend begins with: the model's inputs and outputs in order. They belong to the session. */
struct backend_session {
    struct backend_io *inputs, *outputs;
    size_t input_count, output_count;
};

struct backend {
    const char *name;          /* as in the option: "onnxrt" */
    const char *runner_prefix; /* of runner names: "onnxrt-runner" */
    bool wants_shapes;         /* may take no model whose inputs have no shapes; else these are better left open */
    int (*open)(const struct backend_request *request, struct backend_session **ret, struct error *err);
    void (*close)(struct backend_session *session); /* NULL is fine */

    /* Runs once. `feed` holds at least the model's inputs by name, with the right types and shapes. `wanted` names the
     * outputs to compute, in this order; NULL for all. `ret` is empty on entry; its tensors belong to the caller and
     * may outlive the session. `seconds` (may be NULL) is the time of the run alone. */
    int (*run)(struct backend_session *session, const struct tensor_list *feed, const struct words *wanted,
               struct tensor_list *ret, double *seconds, struct error *err);

    /* For a backend that runs in another process, NULL for others: these values need not be passed to it in each run.
     * They stay as they are until this is called again, with none of them at the end. No session is open. */
    void (*share)(const struct text *values, size_t count);
};

extern const struct backend onnxrt_backend;

#endif
