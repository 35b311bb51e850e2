/* debug/simplify/soundness.c: see soundness.h. */
#include "debug/simplify/soundness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/model_io.h"
#include "backend/onnxrt/preload.h"
#include "backend/onnxrt/settings.h"
#include "backend/subgraph_session.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/process/fork_server.h"
#include "base/process/process.h"
#include "base/system.h"
#include "onnx/write/model.h"
#include "tensor/compare/validate.h"

#define LONGEST_TRIAL 60 /* seconds */

/* Exit codes of a trial begin here, plus the result. Others are the system's. */
#define FIRST_CODE 64

/* Argument for the forked process about the data. */
#define OWN_DATA "own"
#define GIVEN_DATA "given"

struct sandbox {
    const struct backend *backend;
    struct backend_request request;
    struct data_loader *loader;
    struct fork_server *server; /* or NULL */
    char *path;                 /* path of the tried model */
};

/* ---- A trial ---- */

static enum soundness soundness_of(const struct tensor_list *outputs, struct error *ret_why)
{
    enum soundness ret = SOUND_TO_NUMBERS;

    for (size_t i = 0; i < outputs->count; i++) {
        struct validation validation;

        tensor_validate(&outputs->items[i].tensor, &validation);
        if (validation.nans > 0)
            ret = SOUND_TO_RUN;
        else if (validation.infinities > 0 && ret > SOUND_TO_INFINITY)
            ret = SOUND_TO_INFINITY;
    }
    if (ret < SOUND_TO_NUMBERS)
        error_set(ret_why, ERR_BACKEND, "its outputs contain %s", ret == SOUND_TO_RUN ? "NaN" : "infinities");
    return ret;
}

static enum soundness run_in_child(const struct subgraph_session *session, const struct subgraph *subgraph,
                                   struct data_loader *loader, struct error *ret_why)
{
    struct backend_io *inputs = model_io_new(subgraph->model, subgraph->known, &subgraph->inputs);
    struct tensor_list feed SCOPED(tensor_list_release) = {0};
    struct tensor_list outputs SCOPED(tensor_list_release) = {0};
    enum soundness ret = SOUND_TO_LOAD;
    int rc = data_loader_feed(loader, inputs, subgraph->inputs.count, 0, &feed, ret_why);

    if (rc == 0)
        rc = subgraph_session_run(session, &feed, &outputs, ret_why);
    if (rc == 0)
        ret = soundness_of(&outputs, ret_why);
    model_io_free(inputs, subgraph->inputs.count);
    return ret;
}

static enum soundness try_model(const struct sandbox *sandbox, const struct subgraph *subgraph, bool own_data,
                                struct error *ret_why)
{
    static const struct data_loader_settings settings = {.seed = 1, .iterations = 1};
    struct subgraph_session session = {0};
    enum soundness ret = SOUND_NOT_AT_ALL;
    struct data_loader *own = NULL;
    int rc = subgraph_session_open(&session, subgraph, sandbox->backend, &sandbox->request, ret_why);

    if (rc == 0 && own_data)
        rc = data_loader_new(&settings, NULL, &own, ret_why);
    if (rc == 0)
        ret = run_in_child(&session, subgraph, own_data ? own : sandbox->loader, ret_why);
    data_loader_free(own);
    subgraph_session_close(&session);
    return ret;
}

/* ---- The copy ---- */

/* The sandbox in a forked process. Set in that process only. */
static const struct sandbox *inherited;

static void prepare_feed(void *data)
{
    inherited = data;
    if (onnxrt_settings_of(&inherited->request)->library == NULL)
        onnxrt_preload(NULL);
}

/* Arguments: a name, the model, the folder of its external data, the data. Prints the reason on standard output. */
static int try_in_copy(int count, char **arguments)
{
    int code = FIRST_CODE + SOUND_NOT_AT_ALL;
    struct model *model = NULL;
    struct subgraph whole;
    struct error why = {0};

    if (count == 4 && model_open(arguments[1], arguments[2], &model, &why) == 0) {
        subgraph_init_whole(&whole, model);
        code = FIRST_CODE + (int)try_model(inherited, &whole, strcmp(arguments[3], OWN_DATA) == 0, &why);
    }
    dprintf(STDOUT_FILENO, "%s", why.message);
    return code; /* the process exits without releasing memory */
}

/* ---- Here ---- */

int sandbox_start(const struct backend *backend, const struct backend_request *request, struct data_loader *loader,
                  struct sandbox **ret, struct error *err)
{
    struct sandbox *sandbox = memory_alloc_zero(1, sizeof(*sandbox));
    int fd;

    *sandbox = (struct sandbox){.backend = backend, .request = *request, .loader = loader};
    sandbox->request.log = NULL;
    sandbox->path = file_join(system_temporary_folder(), "polygraphy_trial_XXXXXX");
    fd = mkstemp(sandbox->path);
    if (fd < 0) {
        error_set_errno(err, ERR_IO, "cannot create the temporary file '%s'", sandbox->path);
        free(sandbox->path);
        free(sandbox);
        return ERR_IO;
    }
    close(fd);
    interrupt_remove_at_exit(sandbox->path);
    sandbox->server = fork_server_start(try_in_copy, prepare_feed, sandbox);
    *ret = sandbox;
    return 0;
}

void sandbox_stop(struct sandbox *sandbox)
{
    if (sandbox == NULL)
        return;
    fork_server_stop(sandbox->server);
    unlink(sandbox->path);
    interrupt_keep(sandbox->path);
    free(sandbox->path);
    free(sandbox);
}

static void read_result(const struct process_result *result, enum soundness *ret, struct error *ret_why)
{
    int found = result->code - FIRST_CODE;

    *ret = SOUND_NOT_AT_ALL;
    if (result->end == PROCESS_TIMED_OUT) {
        error_set(ret_why, ERR_BACKEND, "timed out after %d s", LONGEST_TRIAL);
    } else if (result->end == PROCESS_SIGNALED) {
        error_set(ret_why, ERR_BACKEND, "killed by signal %d (%s)", result->code, strsignal(result->code));
    } else if (found < SOUND_NOT_AT_ALL || found > SOUND_TO_NUMBERS) {
        error_set(ret_why, ERR_BACKEND, "its process exited with code %d", result->code);
    } else {
        *ret = (enum soundness)found;
        if (found < SOUND_TO_NUMBERS)
            error_set(ret_why, ERR_BACKEND, "%.*s", (int)(result->out.size < 1000 ? result->out.size : 1000),
                      result->out.data);
    }
}

/* Writes the model and tries it in a forked process. */
static int run_trial(const struct sandbox *sandbox, const struct subgraph *subgraph, const char *data,
                     struct process_result *ret, struct error *err)
{
    const char *words[] = {"soundness", sandbox->path, subgraph->model->folder, data, NULL};
    struct process_request request = {.arguments = (const char *const[]){"false", NULL},
                                      .server = sandbox->server,
                                      .server_arguments = words,
                                      .timeout = LONGEST_TRIAL,
                                      .without_input = true};
    int rc = model_write(subgraph, sandbox->path, NULL, FILE_INTERMEDIATE, NULL, err);

    return rc == 0 ? process_run(&request, ret, err) : rc;
}

int model_soundness(const struct sandbox *sandbox, const struct subgraph *subgraph, bool own_data, enum soundness *ret,
                    struct error *ret_why, struct error *err)
{
    struct process_result result;
    int rc;

    if (sandbox->server == NULL) {
        *ret = try_model(sandbox, subgraph, own_data, ret_why);
        return 0;
    }
    rc = run_trial(sandbox, subgraph, own_data ? OWN_DATA : GIVEN_DATA, &result, err);
    if (rc < 0)
        return rc;
    read_result(&result, ret, ret_why);
    process_result_release(&result);
    return 0;
}
