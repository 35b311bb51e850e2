/* backend/command/command.c: see command.h. */
#include "backend/command/command.h"

#include <stdlib.h>

#include "backend/command/ending.h"
#include "backend/command/files.h"
#include "backend/command/outputs.h"
#include "backend/command/resident.h"
#include "backend/model_io.h"
#include "base/file/file.h"
#include "base/file/identity.h"
#include "base/memory.h"
#include "base/process/process.h"
#include "onnx/external/data.h"

/* A file of the user's that the command is to read only. */
struct lent_file {
    char *path;
    struct file_stamp stamp;
};

struct command_session {
    struct backend_session base;
    const struct runner_command *command;
    struct log *log;
    char *folder; /* has all files but the model, where that is the user's */
    char *paths[COMMAND_FILES];
    enum command_format formats[COMMAND_FILES];
    VECTOR(struct lent_file) lent;     /* the model and its external data, where the command is given the user's */
    struct command_resident *resident; /* that runs the model, where the command stays; else NULL */
};

/* ---- Running it ---- */

static void add_variables(const struct command_session *session, struct string_builder texts[COMMAND_FILES],
                          const char *ret[COMMAND_FILES + 1])
{
    static const char *const names[COMMAND_FILES] = {COMMAND_MODEL_VARIABLE, COMMAND_INPUTS_VARIABLE,
                                                     COMMAND_OUTPUTS_VARIABLE, COMMAND_ENGINE_VARIABLE};
    size_t count = 0;

    for (size_t i = 0; i < COMMAND_FILES; i++) {
        string_init(&texts[i]);
        string_add_format(&texts[i], "%s=%s", names[i] != NULL ? names[i] : "",
                          session->paths[i] != NULL ? session->paths[i] : "");
        if (session->paths[i] != NULL && names[i] != NULL)
            ret[count++] = texts[i].data;
    }
    ret[count] = NULL;
}

/* Runs a line of the shell to its end. ERR_BACKEND and others as in command.h; the message ends with the last line that
 * it wrote. */
static int run_line(const struct command_session *session, const char *line, struct process_result *ret,
                    struct error *err)
{
    char *command = command_line_for(line, (const char *const *)session->paths);
    const char *environment[COMMAND_FILES + 1];
    struct string_builder texts[COMMAND_FILES];
    int rc;

    add_variables(session, texts, environment);
    log_message(session->log, LOG_VERBOSE, "%s | Running: %s", session->command->name, command);
    rc = process_run(&(struct process_request){.arguments = (const char *const[]){"sh", "-c", command, NULL},
                                               .program = "/bin/sh",
                                               .environment = environment,
                                               .timeout = session->command->timeout,
                                               .without_input = true},
                     ret, err);
    for (size_t i = 0; i < COMMAND_FILES; i++)
        string_release(&texts[i]);
    free(command);
    if (rc < 0 || (ret->end == PROCESS_EXITED && ret->code == 0))
        return rc;
    return command_describe_end(session->command, ret, err);
}

/* Shows the command's output if requested, and in any case if the command or its outputs are wrong. */
static void show_output(const struct command_session *session, struct process_result *result, bool failed)
{
    command_show_stream(session->command, session->log, "standard output", &result->out, failed);
    command_show_stream(session->command, session->log, "standard error", &result->error_out, failed);
    process_result_release(result);
}

/* ---- Files of the user's ---- */

static struct lent_file lend_file(const char *path)
{
    return (struct lent_file){.path = memory_strdup(path), .stamp = file_stamp_take(path)};
}

static int refuse_written(const struct command_session *session, const struct lent_file *file, const char *placeholder,
                          struct error *err)
{
    if (!file->stamp.present || (file_exists(file->path) && !file_stamp_differs(&file->stamp, file->path)))
        return 0;
    return error_set(err, ERR_IO,
                     "the runner '%s' has written to '%s', which is the user's: repair that file, and let the command "
                     "only read %s, or work on a copy",
                     session->command->name, file->path, placeholder);
}

static int refuse_written_model(const struct command_session *session, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < session->lent.count; i++)
        rc = refuse_written(session, &session->lent.items[i], "{model}", err);
    return rc;
}

/* ---- The model ---- */

static int write_command_model(struct command_session *session, const struct backend_model *source, struct model *model,
                               struct error *err)
{
    struct path_list made SCOPED(path_list_release) = {0};
    struct subgraph whole SCOPED(subgraph_release) = {0};
    int rc;

    session->paths[COMMAND_MODEL] = file_join(session->folder, "model.onnx");
    rc = file_write(session->paths[COMMAND_MODEL], source->data, source->size, FILE_INTERMEDIATE, err);
    if (rc < 0 || source->external_folder == NULL)
        return rc;
    subgraph_init_whole(&whole, model);
    return external_data_provide(&whole, session->folder, EXTERNAL_LINK, &made, err);
}

static void lend_model(struct command_session *session, const char *path, struct model *model)
{
    struct text_list locations SCOPED_ITEMS = {0};
    struct subgraph whole SCOPED(subgraph_release) = {0};

    session->paths[COMMAND_MODEL] = memory_strdup(path);
    *VECTOR_APPEND(&session->lent) = lend_file(path);
    subgraph_init_whole(&whole, model);
    if (external_data_locations(&whole, &locations, NULL) == 0)
        for (size_t i = 0; i < locations.count; i++) {
            char *data SCOPED_FREE = NULL;

            if (external_data_path(model, locations.items[i], &data, NULL) == 0)
                *VECTOR_APPEND(&session->lent) = lend_file(data);
        }
}

static int open_command_model(struct command_session *session, const struct backend_model *source, struct error *err)
{
    struct model *model = NULL;
    int rc = model_io_open(source, &model, err);

    if (rc < 0)
        return rc;
    session->base.inputs = model_io_new(model, NULL, &model->inputs);
    session->base.input_count = model->inputs.count;
    session->base.outputs = model_io_new(model, NULL, &model->outputs);
    session->base.output_count = model->outputs.count;
    if (source->path != NULL)
        lend_model(session, source->path, model);
    else
        rc = write_command_model(session, source, model, err);
    model_free(model);
    return rc;
}

/* ---- The engine ---- */

static int build_engine(struct command_session *session, struct error *err)
{
    const char *line = session->command->build_line;
    struct process_result result = {0};
    int rc;

    if (command_line_stays(session->command->line))
        return command_resident_open(session->command, session->log, session->paths[COMMAND_MODEL], &session->resident,
                                     err);
    if (line == NULL)
        return 0;
    session->paths[COMMAND_ENGINE] = file_join(session->folder, "engine");
    log_message(session->log, LOG_START, "%s | Building: %s", session->command->name, line);
    rc = run_line(session, line, &result, err);
    if (rc < 0 && err->code == ERR_INTERRUPTED)
        return rc;
    if (rc == 0 && !file_exists(session->paths[COMMAND_ENGINE])) {
        rc = error_set(err, ERR_BACKEND, "it left nothing at {engine}");
        err->foreign_code = COMMAND_LEFT_NOTHING;
    }
    show_output(session, &result, rc < 0);
    if (refuse_written_model(session, err) < 0)
        return err->code;
    return rc < 0 ? command_blame(session->command, true, err) : 0;
}

/* ---- A session ---- */

static void command_close(struct backend_session *base)
{
    struct command_session *session = (struct command_session *)base;

    if (session == NULL)
        return;
    command_resident_close(session->resident);
    model_io_free(session->base.inputs, session->base.input_count);
    model_io_free(session->base.outputs, session->base.output_count);
    for (size_t i = 0; i < COMMAND_FILES; i++)
        free(session->paths[i]);
    for (size_t i = 0; i < session->lent.count; i++)
        free(session->lent.items[i].path);
    free(session->lent.items);
    if (session->folder != NULL)
        file_remove_tree(session->folder, NULL);
    free(session->folder);
    free(session);
}

static char *exchange_path(const struct command_session *session, enum command_file file, const char *name)
{
    struct string_builder path;

    string_init(&path);
    string_add_format(&path, "%s/%s%s", session->folder, name, command_format_extension(session->formats[file]));
    return string_take(&path);
}

static int command_open(const struct backend_request *request, struct backend_session **ret, struct error *err)
{
    struct command_session *session = memory_alloc_zero(1, sizeof(*session));
    int rc;

    session->command = request->settings;
    session->log = request->log;
    rc = command_line_formats(session->command->line, session->formats, err);
    if (rc < 0)
        goto done;
    rc = file_make_temporary_folder("runner", &session->folder, err);
    if (rc < 0)
        goto done;
    rc = open_command_model(session, &request->model, err);
    if (rc < 0)
        goto done;
    rc = build_engine(session, err);
    if (rc < 0)
        goto done;
    session->paths[COMMAND_INPUTS] = exchange_path(session, COMMAND_INPUTS, "inputs");
    session->paths[COMMAND_OUTPUTS] = exchange_path(session, COMMAND_OUTPUTS, "outputs");
done:
    if (rc < 0)
        command_close(&session->base);
    else
        *ret = &session->base;
    return rc;
}

/* ---- A run ---- */

/* The model's inputs, in its order. */
static int write_inputs(const struct command_session *session, const struct tensor_list *feed,
                        const char **ret_original, struct error *err)
{
    struct tensor_list inputs = {0};
    int rc = 0;

    for (size_t i = 0; i < session->base.input_count && rc == 0; i++) {
        const struct named_tensor *given = tensor_list_find(feed, text_of(session->base.inputs[i].name));
        struct tensor lent;

        if (given == NULL) {
            rc = error_set(err, ERR_MISSING, "input '%s' is not fed", session->base.inputs[i].name);
            continue;
        }
        tensor_borrow(given->tensor.type, &given->tensor.shape, given->tensor.data, given->tensor.size, &lent);
        tensor_list_add(&inputs, text_of(given->name), &lent);
    }
    if (rc == 0)
        rc = command_inputs_write(&inputs, session->formats[COMMAND_INPUTS], session->paths[COMMAND_INPUTS],
                                  ret_original, err);
    tensor_list_release(&inputs);
    return rc < 0 ? error_context(err, "the inputs of '%s'", session->command->name) : 0;
}

static int read_outputs(const struct command_session *session, const struct words *wanted, struct tensor_list *ret,
                        struct error *err)
{
    const struct command_outputs outputs = {session->base.outputs, session->base.output_count};
    const char *path = session->paths[COMMAND_OUTPUTS];
    struct tensor_list come = {0};
    int rc;

    if (!file_exists(path)) {
        error_set(err, ERR_BACKEND, "it ended well, but left nothing at {outputs}");
        err->foreign_code = COMMAND_LEFT_NOTHING;
        return ERR_BACKEND;
    }
    rc = command_outputs_read(session->formats[COMMAND_OUTPUTS], path, &come, err);
    if (rc < 0) { /* whatever is wrong with the file, it was the command that wrote it */
        struct error why = *err;

        error_set(err, ERR_BACKEND, "what it left cannot be read: %s", why.message);
        err->foreign_code = COMMAND_LEFT_UNREADABLE;
        rc = ERR_BACKEND;
    } else {
        rc = command_outputs_take(&outputs, wanted, &come, session->log, ret, err);
    }
    tensor_list_release(&come);
    return rc;
}

static int run_and_read(struct command_session *session, const struct words *wanted, struct tensor_list *ret,
                        double *seconds, struct error *err)
{
    struct process_result result = {0};
    int rc;

    if (session->resident != NULL)
        rc = command_resident_infer(session->resident, session->paths[COMMAND_INPUTS], session->paths[COMMAND_OUTPUTS],
                                    &result, err);
    else
        rc = run_line(session, session->command->line, &result, err);
    if (rc == ERR_INTERRUPTED)
        return rc;
    if (rc == 0) {
        if (seconds != NULL)
            *seconds = result.seconds;
        rc = read_outputs(session, wanted, ret, err);
    }
    show_output(session, &result, rc < 0);
    return rc < 0 ? command_blame(session->command, false, err) : 0;
}

static int command_run(struct backend_session *base, const struct tensor_list *feed, const struct words *wanted,
                       struct tensor_list *ret, double *seconds, struct error *err)
{
    struct command_session *session = (struct command_session *)base;
    const char **names = memory_alloc_zero(session->base.output_count, sizeof(*names));
    const struct words all = {names, session->base.output_count};
    const char *original = NULL;
    struct lent_file inputs = {0}; /* a link to a file of the user's leads there when it is written to */
    struct tensor_list outputs = {0};
    int rc;

    for (size_t i = 0; i < session->base.output_count; i++)
        names[i] = session->base.outputs[i].name;
    rc = write_inputs(session, feed, &original, err);
    if (rc < 0)
        goto done;
    if (original != NULL)
        inputs = lend_file(original);
    rc = run_and_read(session, wanted != NULL ? wanted : &all, &outputs, seconds, err);
    if (rc != ERR_INTERRUPTED &&
        (refuse_written(session, &inputs, "{inputs}", err) < 0 || refuse_written_model(session, err) < 0))
        rc = err->code;
    if (rc < 0)
        goto done;
    *ret = outputs;
    outputs = (struct tensor_list){0};
done:
    /* Tensors keep what is mapped; no file of this run may be treated as one of the next run. */
    file_remove_tree(session->paths[COMMAND_INPUTS], NULL);
    file_remove_tree(session->paths[COMMAND_OUTPUTS], NULL);
    tensor_list_release(&outputs);
    free(inputs.path);
    free(names);
    return rc;
}

const struct backend command_backend = {
    .name = "runner",
    .runner_prefix = "command-runner",
    .wants_shapes = true,
    .open = command_open,
    .close = command_close,
    .run = command_run,
};
