/* backend/onnxrt/onnxrt.c: models run by ONNX Runtime. */
#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/assignment.h"
#include "backend/onnxrt/library.h"
#include "backend/onnxrt/optimizers.h"
#include "backend/onnxrt/placement.h"
#include "backend/onnxrt/providers.h"
#include "backend/onnxrt/settings.h"
#include "backend/onnxrt/unchecked_keys.h"
#include "backend/onnxrt/values.h"
#include "base/container/arena.h"
#include "base/container/name_map.h"
#include "base/crash.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "base/system.h"

struct onnxrt_session {
    struct backend_session base;
    const struct onnxrt *ort;
    struct ort_session *session;
    struct ort_run_options *run_options; /* NULL: as the session */
    struct arena arena;                  /* holds all names */
    const char *model;                   /* what messages call it */
    struct log *log;
    struct name_map output_index;
    struct backend_session *assigned; /* does all of it, where nodes are moved to the processor; else NULL */
};

/* --- open --- */

static int register_custom_ops(const struct onnxrt *ort, struct ort_session_options *options, const char *library,
                               struct error *err)
{
    char *path = file_real_path(library); /* with a slash in it: no search along the system's path */
    int rc;

    if (!path)
        return error_set_errno(err, ERR_MISSING, "library of custom operators '%s'", library);
    rc = onnxrt_check(ort, ort->api->register_custom_ops_library(options, path), err,
                      "ONNX Runtime cannot use the library of custom operators '%s'", library);
    free(path);
    return rc;
}

static struct ort_status *set_options(const struct ort_api *api, const struct backend_request *request,
                                      struct ort_session_options *options)
{
    const struct onnxrt_settings *settings = onnxrt_settings_of(request);
    int intra = settings->intra_threads > 0 ? settings->intra_threads : system_processors();
    int inter = settings->inter_threads > 0 ? settings->inter_threads : system_processors();
    struct ort_status *status;

    status = api->set_intra_op_threads(options, intra);
    if (!status)
        status = api->set_inter_op_threads(options, inter);
    if (!status)
        status = api->set_session_log_severity(
            options, settings->optimizers != NULL ? ORT_SEVERITY_INFO : onnxrt_severity_for(request->log));
    if (!status && request->frugal)
        status = api->disable_cpu_memory_arena(options);
    if (!status && settings->optimization_level >= 0)
        status = api->set_graph_optimization_level(options, settings->optimization_level);
    if (!status && settings->optimized_path != NULL)
        status = api->set_optimized_model_path(options, settings->optimized_path);
    if (!status && !request->model.path && request->model.external_folder)
        status = api->add_session_config(options, "session.model_external_initializers_file_folder_path",
                                         request->model.external_folder);
    return status;
}

static int add_session_config(const struct onnxrt *ort, const struct onnxrt_entries *config,
                              struct ort_session_options *options, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; i < config->count && rc == 0; i++)
        rc = onnxrt_check(ort, ort->api->add_session_config(options, config->items[i].key, config->items[i].value), err,
                          "ONNX Runtime does not take --session-config %s=%s", config->items[i].key,
                          config->items[i].value);
    return rc;
}

/* Where nodes go is to be known from then on. */
static int make_options(const struct onnxrt *ort, const struct backend_request *request,
                        struct ort_session_options **ret, struct onnxrt_placement *placement, struct error *err)
{
    const struct onnxrt_settings *settings = onnxrt_settings_of(request);
    struct onnxrt_providers providers = {0};
    struct ort_session_options *options = NULL;
    struct ort_status *status;
    char *names = NULL;
    int rc = onnxrt_providers_init(ort, &settings->execution, &providers, err);

    if (rc < 0)
        goto done;
    names = onnxrt_providers_to_text(&providers);
    log_message(request->log, LOG_INFO, "Creating ONNX-Runtime Inference Session with providers: %s", names);
    status = ort->api->create_session_options(&options);
    if (!status)
        status = set_options(ort->api, request, options);
    rc = onnxrt_check(ort, status, err, "ONNX Runtime does not take an option");
    if (rc < 0)
        goto done;
    rc = add_session_config(ort, &settings->execution.session_config, options, err);
    if (rc < 0)
        goto done;
    rc = onnxrt_providers_append(&providers, options, err);
    if (rc < 0)
        goto done;
    onnxrt_providers_report_plugins(&providers, request->log);
    onnxrt_unchecked_keys_warn(&providers, request->log);
    for (const char *const *library = settings->custom_op_libraries; library && *library; library++) {
        rc = register_custom_ops(ort, options, *library, err);
        if (rc < 0)
            goto done;
    }
    rc = onnxrt_placement_begin(placement, &providers, options, err);
    if (rc < 0)
        goto done;
    *ret = options;
    options = NULL;
done:
    if (options)
        ort->api->release_session_options(options);
    free(names);
    onnxrt_providers_release(&providers);
    return rc;
}

/* What the runtime has said is of another kind. */
static int change_code(struct error *err, enum error_code code)
{
    if (err != NULL)
        err->code = code;
    return code;
}

/* The runtime says which file of weights is not there, but not what to do. With a model that was read from a file, that
 * is about files; with a part of one, it is a refusal like others. */
static int explain_missing_data(bool is_file, struct error *err)
{
    struct error said;

    if (err == NULL || strstr(err->message, "xternal data") == NULL || strstr(err->message, "does not exist") == NULL)
        return ERR_BACKEND;
    said = *err;
    error_set(err, is_file ? ERR_MISSING : ERR_BACKEND, "%s (--external-data-dir says where the data are)",
              said.message);
    err->foreign_code = said.foreign_code;
    return err->code;
}

/* Any file may be read as a message without fields that are known, and an empty one is: it has no graph then. */
static bool is_readable_model(const struct ort_api *api, const struct ort_status *status)
{
    return status == NULL || (api->get_error_code(status) != ORT_INVALID_PROTOBUF &&
                              strstr(api->get_error_message(status), "does not have a graph") == NULL);
}

/* A session that had to tell everything would go on doing so. */
static struct ort_status *make_runs_quiet(struct onnxrt_session *session, const struct log *log)
{
    const struct ort_api *api = session->ort->api;
    struct ort_status *status = api->create_run_options(&session->run_options);

    return status != NULL ? status : api->set_run_log_severity(session->run_options, onnxrt_severity_for(log));
}

/* Who wants to know what a session says while it is made. */
struct listeners {
    struct onnxrt_placement *placement;
    struct onnxrt_optimizers *optimizers;
    const struct onnxrt_entries *options; /* of providers */
    struct log *log;
};

/* Some providers say at least in a warning that they ignore an option; a verbose log has it anyway. */
static void report_ignored_options(const struct listeners *listeners, const char *message)
{
    if (log_shows(listeners->log, LOG_VERBOSE) || strstr(message, "ignored") == NULL)
        return;
    for (size_t i = 0; i < listeners->options->count; i++)
        if (strstr(message, listeners->options->items[i].key) != NULL) {
            log_once(listeners->log, LOG_WARNING, "ONNX-Runtime: %s", message);
            return;
        }
}

static void pass_message(void *data, const char *message)
{
    const struct listeners *listeners = data;

    if (listeners->placement->wanted != NULL)
        onnxrt_placement_read(listeners->placement, message);
    if (listeners->optimizers != NULL)
        onnxrt_optimizers_read(listeners->optimizers, message);
    report_ignored_options(listeners, message);
}

static int load_model(struct onnxrt_session *session, const struct backend_request *request, struct error *err)
{
    const struct ort_api *api = session->ort->api;
    struct ort_session_options *options = NULL;
    struct onnxrt_placement placement = {0};
    const struct onnxrt_settings *settings = onnxrt_settings_of(request);
    struct listeners listeners = {&placement, settings->optimizers, &settings->execution.provider_options,
                                  request->log};
    struct ort_status *status;
    bool is_file = request->model.path != NULL, is_model;
    int rc = make_options(session->ort, request, &options, &placement, err);

    if (rc < 0)
        onnxrt_placement_end(&placement, NULL);
    if (rc == ERR_BACKEND) /* it did not see the model yet */
        return change_code(err, ERR_INVALID);
    if (rc < 0)
        return rc;
    status = request->frugal ? NULL : onnxrt_bound_begin(session->ort, options);
    crash_work_begins("ONNX Runtime loaded a model");
    onnxrt_set_listener(pass_message, &listeners);
    if (status == NULL && is_file)
        status = api->create_session(session->ort->env, request->model.path, options, &session->session);
    else if (status == NULL)
        status = api->create_session_from_array(session->ort->env, request->model.data, request->model.size, options,
                                                &session->session);
    onnxrt_set_listener(NULL, NULL);
    crash_work_ends();
    if (!request->frugal)
        onnxrt_bound_end(session->ort);
    if (status == NULL && placement.wanted != NULL)
        status = make_runs_quiet(session, request->log);
    onnxrt_placement_end(&placement, status == NULL ? request->log : NULL);
    api->release_session_options(options);
    is_model = is_readable_model(api, status);
    rc = onnxrt_check(session->ort, status, err, "ONNX Runtime cannot load %s", session->model);
    if (is_file && !is_model)
        return change_code(err, ERR_CORRUPT);
    if (rc < 0)
        onnxrt_explain_bound(err);
    return rc < 0 ? explain_missing_data(is_file, err) : 0;
}

/* --- what a session says of its inputs and outputs --- */

enum side { INPUTS, OUTPUTS };

static const char *find_kind_name(int kind)
{
    switch (kind) {
    case ORT_KIND_SEQUENCE:
        return "sequence";
    case ORT_KIND_MAP:
        return "map";
    case ORT_KIND_OPAQUE:
        return "opaque";
    case ORT_KIND_SPARSE_TENSOR:
        return "sparse tensor";
    case ORT_KIND_OPTIONAL:
        return "optional";
    default:
        return "value of an unknown kind";
    }
}

static int describe_name(struct onnxrt_session *session, enum side side, size_t index, struct backend_io *ret,
                         struct error *err)
{
    const struct onnxrt *ort = session->ort;
    const struct ort_api *api = ort->api;
    char *name = NULL;
    int rc = onnxrt_check(ort,
                          side == INPUTS ? api->session_input_name(session->session, index, ort->allocator, &name)
                                         : api->session_output_name(session->session, index, ort->allocator, &name),
                          err, "ONNX Runtime does not tell the name of its %s %zu", side == INPUTS ? "input" : "output",
                          index);

    if (rc < 0)
        return rc;
    ret->name = arena_strdup(&session->arena, name);
    return onnxrt_check(ort, api->allocator_free(ort->allocator, name), err, "ONNX Runtime");
}

/* Releases before 1.24 show a tensor of unknown rank as a scalar. There, neither has a shape for us: an unknown shape
 * costs a check of the feed, a wrong one would refuse data that fit. */
static int describe_tensor(const struct onnxrt *ort, const struct ort_tensor_info *info, struct arena *arena,
                           struct backend_io *ret, struct error *err)
{
    const char *symbols[TENSOR_MAX_RANK];
    int rc = onnxrt_read_shape(ort, info, &ret->type, &ret->shape, err);

    if (rc < 0)
        return rc;
    if (ret->type == DATA_UNDEFINED)
        ret->not_a_tensor = "tensor of an unknown element type";
    ret->has_shape = ort->tells_shape ? ort->api->has_shape(info) : ret->shape.rank > 0;
    rc = onnxrt_check(ort, ort->api->symbolic_dimensions(info, symbols, ret->shape.rank), err,
                      "ONNX Runtime does not tell its dimensions");
    if (rc < 0)
        return rc;
    ret->symbols = arena_alloc_zero(arena, ret->shape.rank, sizeof(*ret->symbols));
    for (size_t i = 0; i < ret->shape.rank; i++)
        if (ret->shape.dims[i] < 0 && symbols[i] && *symbols[i])
            ret->symbols[i] = arena_strdup(arena, symbols[i]);
    return 0;
}

static int describe_type(struct onnxrt_session *session, enum side side, size_t index, struct backend_io *ret,
                         struct error *err)
{
    const struct onnxrt *ort = session->ort;
    const struct ort_api *api = ort->api;
    const struct ort_tensor_info *info;
    struct ort_type_info *type = NULL;
    struct ort_status *status;
    int kind = ORT_KIND_UNKNOWN;
    int rc;

    status = side == INPUTS ? api->session_input_type(session->session, index, &type)
                            : api->session_output_type(session->session, index, &type);
    if (!status)
        status = api->type_kind(type, &kind);
    if (!status)
        status = api->type_tensor_info(type, &info); /* gives NULL when it is none */
    rc = onnxrt_check(ort, status, err, "ONNX Runtime does not tell its type");
    if (rc == 0 && kind == ORT_KIND_TENSOR)
        rc = describe_tensor(ort, info, &session->arena, ret, err);
    else if (rc == 0)
        ret->not_a_tensor = find_kind_name(kind);
    if (type)
        api->release_type_info(type);
    return rc;
}

/* Describes all inputs or all outputs in order. Inputs that have a default value (an initializer of the same name) are
 * not among them. */
static int describe_side(struct onnxrt_session *session, enum side side, struct backend_io **ret, size_t *ret_count,
                         struct error *err)
{
    const struct onnxrt *ort = session->ort;
    const char *what = side == INPUTS ? "input" : "output";
    struct backend_io *items;
    size_t count = 0;
    int rc = onnxrt_check(ort,
                          side == INPUTS ? ort->api->session_input_count(session->session, &count)
                                         : ort->api->session_output_count(session->session, &count),
                          err, "ONNX Runtime does not tell its number of %ss", what);

    if (rc < 0)
        return rc;
    items = arena_alloc_zero(&session->arena, count, sizeof(*items));
    for (size_t i = 0; i < count && rc == 0; i++) {
        rc = describe_name(session, side, i, &items[i], err);
        if (rc < 0)
            break;
        rc = describe_type(session, side, i, &items[i], err);
        if (rc < 0)
            error_context(err, "%s '%s'", what, items[i].name);
    }
    if (rc < 0)
        return rc;
    *ret = items;
    *ret_count = count;
    return 0;
}

static int describe_model(struct onnxrt_session *session, struct error *err)
{
    int rc = describe_side(session, INPUTS, &session->base.inputs, &session->base.input_count, err);

    if (rc == 0)
        rc = describe_side(session, OUTPUTS, &session->base.outputs, &session->base.output_count, err);
    if (rc < 0)
        return error_context(err, "%s", session->model);
    for (size_t i = 0; i < session->base.output_count; i++)
        name_map_add(&session->output_index, text_of(session->base.outputs[i].name), (uint32_t)i);
    return 0;
}

static void onnxrt_close(struct backend_session *base)
{
    struct onnxrt_session *session = (struct onnxrt_session *)base;

    if (!session)
        return;
    if (session->assigned)
        assigned_session_close(session->assigned);
    if (session->run_options)
        session->ort->api->release_run_options(session->run_options);
    if (session->session)
        session->ort->api->release_session(session->session);
    name_map_release(&session->output_index);
    arena_release(&session->arena);
    free(session);
}

static int open_assigned(struct onnxrt_session *session, const struct backend_request *request, struct error *err)
{
    int rc = assigned_session_open(request, &session->assigned, err);

    if (rc == 0)
        session->base = *session->assigned;
    return rc;
}

static int onnxrt_open(const struct backend_request *request, struct backend_session **ret, struct error *err)
{
    const struct onnxrt_settings *settings = onnxrt_settings_of(request);
    bool is_assigned = settings->on_processor.count > 0 && onnxrt_settings_want_provider(settings);
    struct onnxrt_session *session;
    int rc;

    if (request->model.path && !file_exists(request->model.path))
        return error_set(err, ERR_MISSING, "model '%s' does not exist", request->model.path);
    session = memory_alloc_zero(1, sizeof(*session));
    arena_init(&session->arena);
    name_map_init(&session->output_index);
    session->log = request->log;
    session->model =
        request->model.path ? arena_printf(&session->arena, "'%s'", request->model.path) : "the model in memory";
    onnxrt_set_log(request->log);
    crash_work_begins("ONNX Runtime started");
    rc = is_assigned ? 0 : onnxrt_load(settings->library, &session->ort, err);
    crash_work_ends();
    if (rc == 0)
        rc = is_assigned ? open_assigned(session, request, err) : load_model(session, request, err);
    onnxrt_set_log(NULL);
    if (rc == 0 && !is_assigned)
        rc = describe_model(session, err);
    if (rc < 0)
        onnxrt_close(&session->base);
    else
        *ret = &session->base;
    return rc;
}

/* --- run --- */

static int refuse_input(const struct onnxrt_session *session, const struct backend_io *input,
                        const struct tensor *given, struct error *err)
{
    SCOPED_STRING(text);

    string_add_format(&text, "input '%s' of %s takes %s", input->name, session->model, data_type_name(input->type));
    if (input->has_shape) {
        string_add_char(&text, ' ');
        shape_to_text(&input->shape, &text);
    }
    string_add_format(&text, ", but is fed %s ", data_type_name(given->type));
    shape_to_text(&given->shape, &text);
    return error_set(err, ERR_INVALID, "%s", text.data);
}

/* The runtime's own message about a wrong feed is long and does not name the model. */
static int feed_input(const struct onnxrt_session *session, const struct backend_io *input,
                      const struct tensor_list *feed, struct ort_value **ret, struct error *err)
{
    const struct named_tensor *given;
    int rc;

    if (input->not_a_tensor)
        return error_set(err, ERR_UNSUPPORTED, "input '%s' of %s is no tensor but a %s, which cannot be fed",
                         input->name, session->model, input->not_a_tensor);
    given = tensor_list_find(feed, text_of(input->name));
    if (!given)
        return error_set(err, ERR_MISSING, "input '%s' of %s is not fed", input->name, session->model);
    if (given->tensor.type != input->type || (input->has_shape && !shape_fits(&given->tensor.shape, &input->shape)))
        return refuse_input(session, input, &given->tensor, err);
    rc = onnxrt_value_new(session->ort, &given->tensor, ret, err);
    return rc < 0 ? error_context(err, "input '%s' of %s", input->name, session->model) : 0;
}

static int check_output(const struct onnxrt_session *session, const char *name, struct error *err)
{
    uint32_t index = name_map_find(&session->output_index, text_of(name));

    if (index == NAME_MAP_NONE)
        return error_set(err, ERR_INVALID, "%s has no output '%s'", session->model, name);
    if (session->base.outputs[index].not_a_tensor)
        return error_set(err, ERR_UNSUPPORTED, "output '%s' of %s is no tensor but a %s, which cannot be read", name,
                         session->model, session->base.outputs[index].not_a_tensor);
    return 0;
}

/* What one run hands to the runtime, and gets from it. */
struct onnxrt_call {
    size_t input_count, output_count;
    const char **input_names, **output_names;
    struct ort_value **inputs, **outputs; /* NULL where there is none (any more) */
};

static int prepare_call(struct onnxrt_call *call, const struct onnxrt_session *session, const struct tensor_list *feed,
                        const struct words *wanted, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; i < call->input_count && rc == 0; i++) {
        call->input_names[i] = session->base.inputs[i].name;
        rc = feed_input(session, &session->base.inputs[i], feed, &call->inputs[i], err);
    }
    for (size_t i = 0; i < call->output_count && rc == 0; i++) {
        call->output_names[i] = wanted ? wanted->items[i] : session->base.outputs[i].name;
        rc = check_output(session, call->output_names[i], err);
    }
    return rc;
}

static int run_call(struct onnxrt_call *call, const struct onnxrt_session *session, double *seconds, struct error *err)
{
    struct ort_status *status;
    double start, elapsed;
    int rc;

    onnxrt_set_log(session->log);
    crash_work_begins("ONNX Runtime ran a model");
    start = stopwatch_now();
    status = session->ort->api->run(session->session, session->run_options, call->input_names,
                                    (const struct ort_value *const *)call->inputs, call->input_count,
                                    call->output_names, call->output_count, call->outputs);
    elapsed = stopwatch_now() - start;
    crash_work_ends();
    onnxrt_set_log(NULL);
    rc = onnxrt_check(session->ort, status, err, "ONNX Runtime cannot run %s", session->model);
    if (rc < 0)
        onnxrt_explain_bound(err);
    if (rc == 0 && seconds)
        *seconds = elapsed;
    return rc;
}

static bool lies_in_feed(const struct tensor *tensor, const struct tensor_list *feed)
{
    uintptr_t data = (uintptr_t)tensor->data;

    for (size_t i = 0; i < feed->count; i++) {
        uintptr_t start = (uintptr_t)feed->items[i].tensor.data;

        if (data >= start && data - start < feed->items[i].tensor.size)
            return true;
    }
    return false;
}

/* An output that is an input at the same time comes back as the very data that were fed: these get a copy, because
 * outputs live longer than the feed. */
static int take_output(const struct onnxrt *ort, struct ort_value *value, const struct tensor_list *feed,
                       struct tensor *ret, struct error *err)
{
    struct tensor tensor = {0};
    int rc = onnxrt_value_take(ort, value, &tensor, err);

    if (rc < 0)
        return rc;
    if (!lies_in_feed(&tensor, feed)) {
        *ret = tensor;
        return 0;
    }
    rc = tensor_copy(&tensor, ret, err);
    tensor_release(&tensor);
    return rc;
}

static int collect_outputs(struct onnxrt_call *call, const struct onnxrt_session *session,
                           const struct tensor_list *feed, struct tensor_list *ret, struct error *err)
{
    struct tensor_list outputs = {0};

    for (size_t i = 0; i < call->output_count; i++) {
        struct ort_value *value = call->outputs[i];
        struct tensor tensor = {0};

        call->outputs[i] = NULL;
        if (take_output(session->ort, value, feed, &tensor, err) < 0) {
            tensor_list_release(&outputs);
            return error_context(err, "output '%s' of %s", call->output_names[i], session->model);
        }
        tensor_list_add(&outputs, text_of(call->output_names[i]), &tensor);
    }
    *ret = outputs;
    return 0;
}

static int onnxrt_run(struct backend_session *base, const struct tensor_list *feed, const struct words *wanted,
                      struct tensor_list *ret, double *seconds, struct error *err)
{
    struct onnxrt_session *session = (struct onnxrt_session *)base;
    struct onnxrt_call call = {.input_count = session->base.input_count,
                               .output_count = wanted ? wanted->count : session->base.output_count};
    int rc;

    if (session->assigned)
        return assigned_session_run(session->assigned, feed, wanted, ret, seconds, err);
    call.input_names = memory_alloc_zero(call.input_count, sizeof(*call.input_names));
    call.inputs = memory_alloc_zero(call.input_count, sizeof(*call.inputs));
    call.output_names = memory_alloc_zero(call.output_count, sizeof(*call.output_names));
    call.outputs = memory_alloc_zero(call.output_count, sizeof(*call.outputs));
    rc = prepare_call(&call, session, feed, wanted, err);
    if (rc == 0)
        rc = run_call(&call, session, seconds, err);
    if (rc == 0)
        rc = collect_outputs(&call, session, feed, ret, err);

    for (size_t i = 0; i < call.input_count; i++)
        if (call.inputs[i])
            session->ort->api->release_value(call.inputs[i]);
    for (size_t i = 0; i < call.output_count; i++)
        if (call.outputs[i])
            session->ort->api->release_value(call.outputs[i]);
    free(call.input_names);
    free(call.inputs);
    free(call.output_names);
    free(call.outputs);
    return rc;
}

const struct backend onnxrt_backend = {
    .name = "onnxrt",
    .runner_prefix = "onnxrt-runner",
    .open = onnxrt_open,
    .close = onnxrt_close,
    .run = onnxrt_run,
};
