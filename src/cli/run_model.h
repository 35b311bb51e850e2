/* cli/run_model.h: the model that `run` runs: the file as it is, or a copy in memory with other outputs. */
#ifndef CLI_RUN_MODEL_H
#define CLI_RUN_MODEL_H

#include "backend/backend.h"
#include "cli/command.h"

struct run_model {
    const struct command_context *context;
    bool loaded; /* what follows was made */
    char *bytes; /* the changed model; NULL: the file is run */
    size_t size;
    char *folder; /* where its external data lie */
};

void run_model_init(struct run_model *model, const struct command_context *context);
void run_model_release(struct run_model *model);

/* Fills in a request for ONNX Runtime: model and options. The first time, a model that the options change is loaded,
 * changed, and saved if --save-onnx asks for it. `data` is a struct run_model; the type is that of `prepare` in struct
 * runner. */
int run_model_prepare(void *data, struct backend_request *ret, struct error *err);

#endif
