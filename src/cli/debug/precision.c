/* cli/debug/precision.c: find the layers that need higher precision. */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file/identity.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/debug/decoder_record.h"
#include "cli/debug/engine_builds.h"
#include "cli/debug/precision_result.h"
#include "cli/debug/outputs.h"
#include "cli/debug/session.h"
#include "cli/debug/trt_builds.h"
#include "cli/model_file.h"
#include "cli/model_trial.h"
#include "cli/options/runners/precision_rules.h"
#include "cli/run/steps.h"
#include "debug/precision/lab.h"
#include "onnx/edit/model.h"
#include "onnx/edit/node.h"
#include "onnx/edit/rebuild.h"
#include "onnx/external/data.h"

#define ONNX_ARTIFACT "polygraphy_debug.onnx"

struct precision_command {
    const struct command_context *context;
    const struct debug_precision_settings *values;
    struct decoder_record steps; /* with --steps */
    struct debug_outputs outputs;
    const struct tensorrt_description *library; /* builder of engines; NULL: the built-in engine */
    struct trt_builds trt;                      /* its builds */
    enum precision_form form;
    struct engine_builds builds; /* determines the layers, and else builds engines */
    struct session_settings session_settings;
    struct hash hash; /* of the model and of everything else that determines the candidates */
    struct debug_session *session;
    struct precision_lab_settings lab_settings;
    struct precision_lab *lab;
};

/* ---- Settings ---- */

/* A missing lower or higher precision is implied, with a warning. */
static void imply_precisions(struct precision_command *command, enum precision precision, const char *option)
{
    bool *enabled = &command->builds.file.request.builder.precision.enabled[precision];

    if (*enabled)
        return;
    *enabled = true;
    log_message(command->context->log, LOG_WARNING, "%s is implied: --precision %s is the higher precision, and %s",
                option, data_type_name(command->values->high),
                command->values->high == DATA_FLOAT32 ? "no lower one was given (--fp16, --bf16, --int8)"
                : precision == PRECISION_FLOAT16      ? "has to be enabled"
                                                      : "its only lower one was not given");
}

static void choose_precisions(struct precision_command *command)
{
    const bool *enabled = command->builds.file.request.builder.precision.enabled;

    if (command->values->high == DATA_FLOAT16) {
        imply_precisions(command, PRECISION_FLOAT16, "--fp16");
        imply_precisions(command, PRECISION_INT8, "--int8");
    } else if (!enabled[PRECISION_FLOAT16] && !enabled[PRECISION_BFLOAT16] && !enabled[PRECISION_INT8] &&
               !enabled[PRECISION_TF32]) {
        imply_precisions(command, PRECISION_FLOAT16, "--fp16");
    }
}

/* The default name of candidates depends on --emit. */
static int refuse_model_as_artifact(const struct precision_command *command, struct error *err)
{
    const char *path = command->values->file.model.path;
    const char *artifact = command->session_settings.check.files.items[CANDIDATE_ARTIFACT];
    struct stat one, other;

    if (stat(path, &one) != 0 || stat(artifact, &other) != 0 || one.st_ino != other.st_ino ||
        one.st_dev != other.st_dev)
        return 0;
    return error_set(
        err, ERR_EXISTS,
        "'%s' is the input model, which candidates would overwrite: choose another path with --intermediate-artifact",
        artifact);
}

static int hash_inputs(const struct data_loader_settings *data, struct hash *hash, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < data->files.count; i++) {
        struct hash content;

        rc = file_content_hash(data->files.items[i], &content, err);
        if (rc == 0)
            *hash = hash_combine(*hash, content);
    }
    return rc;
}

static void add_overrides(struct string_builder *text, const struct precision_overrides *overrides)
{
    for (size_t i = 0; i < overrides->count; i++)
        string_add_format(text, " %s:%d", overrides->items[i].name, (int)overrides->items[i].type);
    string_add_char(text, ';');
}

/* Hashes what a replay is bound to, including the data: they determine the scores, and so the order of a minimal
 * search. */
static int hash_precision_session(struct precision_command *command, struct model *model, struct error *err)
{
    const struct debug_precision_settings *values = command->values;
    const struct precision_settings *precision = &command->builds.file.request.builder.precision;
    const struct data_loader_settings *data = &command->values->file.data;
    SCOPED_STRING(text);
    int rc = file_content_hash(command->values->file.model.path, &command->hash, err);

    if (rc == 0)
        rc = external_data_hash(model, &command->hash, err);
    if (rc == 0)
        rc = hash_inputs(data, &command->hash, err);
    string_add_format(&text, "%d %d %d %d %d %lld", (int)values->mode, values->reverse, (int)values->high,
                      (int)values->emit, (int)precision->constraints, (long long)data->seed);
    for (size_t i = 0; i < PRECISION_COUNT; i++)
        string_add_format(&text, " %d", precision->enabled[i]);
    if (command->library != NULL)
        string_add(&text, command->library->name);
    add_overrides(&text, &precision->layers);
    add_overrides(&text, &precision->tensors);
    command->hash = hash_combine(command->hash, hash_bytes(text.data, text.size));
    return rc < 0 ? rc
                  : debug_hash_builder_options(command->context, &engine_config_precision_options, &command->hash, err);
}

/* select_step() rewrites the data of the check. */
static void leave_steps_unwatched(struct precision_command *command)
{
    const char **paths = arena_alloc_zero(parse_arena((struct parse *)command->context->parse), 2, sizeof(*paths));

    paths[0] = command->values->step_inputs;
    paths[1] = command->values->step_golden;
    command->session_settings.data = (struct words){0};
    command->session_settings.written = (struct words){.items = paths, .count = 2};
}

static void set_artifact(struct precision_command *command)
{
    command->session_settings =
        debug_session_settings(command->context, &command->values->debug, &command->values->file);
    if (command->values->steps.count > 0)
        leave_steps_unwatched(command);
    if (command->values->emit == PRECISION_EMIT_ONNX && !parse_given(command->context->parse, "--iter-artifact"))
        command->session_settings.check.files.items[CANDIDATE_ARTIFACT] = ONNX_ARTIFACT;
}

/* ---- TensorRT ---- */

/* From TensorRT 11 on, and in TensorRT-RTX, layers have the types of the model. */
static bool has_layer_precisions(const struct tensorrt_description *library)
{
    return !library->is_rtx && library->major < 11;
}

static int choose_typed_models(struct precision_command *command, struct error *err)
{
    const bool *enabled = command->builds.file.request.builder.precision.enabled;
    int rc = 0;

    command->form = PRECISION_TYPED_ENGINES;
    if (command->values->high != DATA_FLOAT32 || enabled[PRECISION_INT8] ||
        (enabled[PRECISION_FLOAT16] && enabled[PRECISION_BFLOAT16]))
        rc = error_set(
            err, ERR_UNSUPPORTED,
            "%s sets precisions by the types of the model, not by layer: the lower one is float16 or bfloat16, the "
            "higher one float32. Leave out --int8, --precision float16, and one of --fp16 and --bf16",
            command->library->name);
    else
        log_message(command->context->log, LOG_INFO,
                    "%s sets precisions by the types of the model, not by layer: each engine is built from a model in "
                    "which Casts select %s",
                    command->library->name, enabled[PRECISION_BFLOAT16] ? "bfloat16" : "float16");
    return rc;
}

/* The model of the layers; each of its nodes has a unique name. */
static int name_nodes(const struct network *network, struct model **ret, struct error *err)
{
    struct model *model = model_copy(network->model);
    struct span_list fields SCOPED_ITEMS = {0};
    int rc;

    for (size_t i = 0; i < model->nodes.count; i++)
        *VECTOR_APPEND(&fields) = model->nodes.items[i].field;
    VECTOR_EACH (const struct layer, layer, network->layers) {
        uint32_t node = layer->nodes.items[0];

        if (layer->nodes.count == 1 && !text_equal_string(model->nodes.items[node].name, layer->name))
            fields.items[node] = node_set_name(&model->arena, fields.items[node], text_of(layer->name));
    }
    rc = model_set_nodes(model, &fields, err);
    if (rc < 0)
        model_free(model);
    else
        *ret = model;
    return rc;
}

/* Opens builds of the layers' model, or of typed models. */
static int open_trt(struct precision_command *command, struct error *err)
{
    struct tensorrt_settings *settings = &command->trt.trt.request.settings;
    static const struct precision_settings as_typed = {.enabled = {[PRECISION_FLOAT32] = true}};
    struct model *model;
    int rc = trt_builds_init(&command->trt, command->context, &command->values->engine, &command->values->file, err);

    if (rc < 0)
        return rc;
    if (command->form == PRECISION_TYPED_ENGINES) {
        trt_request_set_precision(&command->trt.trt, &as_typed);
        settings->strongly_typed = true;
        return 0;
    }
    trt_request_set_precision(&command->trt.trt, &command->builds.file.request.builder.precision);
    rc = trt_calibration_init(&command->trt.trt.calibration, command->context, &command->values->engine,
                              &command->values->file, settings, err); /* int8 may follow from --precision */
    if (rc < 0)
        return rc;
    rc = name_nodes(command->builds.network, &model, err);
    if (rc < 0)
        return rc;
    rc = trt_builds_set_model(&command->trt, model, err);
    model_free(model);
    return rc;
}

/* ---- The command ---- */

/* In an ONNX model, each node has its own precision. */
static int open_network(struct precision_command *command, struct error *err)
{
    struct model *model;
    int rc;

    if (command->values->file.model.type == MODEL_ENGINE)
        return error_set(err, ERR_INVALID,
                         "'%s' is an engine, whose precisions are fixed: pass the ONNX model that it was built from",
                         command->values->file.model.path);
    rc = model_file_load(command->context, &command->values->file, &model, err);
    if (rc < 0)
        return rc;
    rc = hash_precision_session(command, model, err);
    if (rc < 0) {
        model_free(model);
        return rc;
    }
    command->builds.file.request.network.keep_nodes_apart = command->form != PRECISION_ENGINES || command->library;
    return network_build(model, &command->builds.file.request.network, &command->builds.network, err);
}

static int takes_precision(const void *data, const struct subgraph *subgraph, bool *ret, struct error *err)
{
    const struct precision_command *command = data;

    return model_trial_takes(command->context, &command->values->file, subgraph, ret, err);
}

static int open_lab(struct precision_command *command, struct error *err)
{
    const struct debug_values *debug = &command->values->debug;

    if (command->form != PRECISION_ENGINES) /* engines are only used for scores, so their times do not matter */
        command->builds.file.request.builder.deterministic = true;
    command->lab_settings = (struct precision_lab_settings){
        .network = command->builds.network,
        .maker = command->library != NULL ? trt_builds_maker(&command->trt) : engine_builds_maker(&command->builds),
        .engine = &command->builds.file.request,
        .high = command->values->high,
        .form = command->form,
        .names_all = command->library != NULL && command->values->high == DATA_FLOAT32,
        .artifact = session_state(command->session).artifact,
        .keep_artifact = command->session_settings.keep_intermediate,
        .copy_weights = debug->copy_weights,
        .take_over = session_state(command->session).takes_over,
        .takes = takes_precision,
        .takes_data = command,
        .runtime = model_file_request(command->context, &command->values->file),
        .log = command->context->log,
    };
    return precision_lab_new(&command->lab_settings, &command->lab, err);
}

/* Leaves `ret_measured` false, with a warning, if errors cannot be measured: the answer is valid without them. */
static int measure_errors(struct precision_command *command, const struct bitset *answer, struct precision_errors *ret,
                          bool *ret_measured, struct error *err)
{
    struct error why = {0};
    int rc = precision_lab_errors(command->lab, answer, ret, &why);

    *ret_measured = rc == 0;
    if (rc == ERR_INTERRUPTED)
        return error_set(err, ERR_INTERRUPTED, "%s", why.message);
    if (rc < 0)
        log_message(command->context->log, LOG_WARNING, "The errors of the outputs were not measured: %s", why.message);
    return 0;
}

/* ---- Steps of a decoder ---- */

/* With --steps: the data of all steps are the input data. */
static int record_steps(struct precision_command *command, struct debug_precision_settings *values, struct error *err)
{
    const char **file = arena_alloc_zero(parse_arena((struct parse *)command->context->parse), 1, sizeof(*file));
    int rc;

    if (values->steps.count == 0)
        return 0;
    rc = decoder_record_make(command->context, values->step_inputs, values->step_golden, &command->steps, err);
    *file = values->step_inputs;
    values->file.data.files = (struct words){.items = file, .count = 1};
    return rc;
}

static int select_step(void *data, size_t step, struct error *err)
{
    return decoder_record_select(data, step, err);
}

/* Adds the step that fails to the answer, and saves its inputs with --save-step-inputs. */
static int report_step(const struct precision_command *command, const struct precision_result *result,
                       struct error *err)
{
    const char *path = command->values->steps.save_inputs;
    const struct tensor_list *feed = result->step != SIZE_MAX ? &command->steps.feeds.items[result->step] : NULL;
    struct result *answer = command->outputs.result;

    if (command->values->steps.count == 0)
        return 0;
    if (feed == NULL) {
        result_add_null(answer, "step");
    } else {
        result_add_count(answer, "step", result->step);
        result_add_line(answer, RESULT_EVIDENCE,
                        "with all layers in lower precision, step %zu of the decoder is the first that fails",
                        result->step);
    }
    result_add_line(answer, RESULT_NOT_TESTED,
                    "differences that accumulate in a candidate's own caches: every step had those of ONNX Runtime");
    return path != NULL ? step_inputs_save(path, feed, result->step, command->context->log, err) : 0;
}

static int report_precision(struct precision_command *command, const struct precision_result *result, struct error *err)
{
    const bool *enabled = command->builds.file.request.builder.precision.enabled;
    struct session_state state = session_state(command->session);
    struct precision_report report = {.result = result,
                                      .network = command->builds.network,
                                      .values = command->values,
                                      .by_casts = command->form == PRECISION_TYPED_ENGINES,
                                      .half = enabled[PRECISION_FLOAT16] ? DATA_FLOAT16 : DATA_BFLOAT16,
                                      .iterations = state.passed + state.failed,
                                      .skipped = state.skipped};
    const char *output = command->values->output_onnx;
    struct precision_costs costs, before;
    struct precision_errors errors = {0};
    SCOPED_BITSET(answer);
    bool measured = false;
    int rc = 0;

    bitset_init_copy(&answer, &result->chosen);
    bitset_unite(&answer, &result->added);
    if (command->form != PRECISION_ENGINES && result->outcome == PRECISION_FOUND) {
        precision_lab_costs(command->lab, &answer, &costs);
        precision_lab_costs(command->lab, &result->chosen, &before);
        report.costs = &costs;
        report.without_added = &before;
        rc = measure_errors(command, &answer, &errors, &measured, err);
        report.errors = measured ? &errors : NULL;
    }
    precision_result_fill(&report, command->outputs.result);
    if (command->form == PRECISION_ENGINES)
        trt_add_not_tested(command->library, command->outputs.result);
    if (rc == 0 && output != NULL && result->outcome == PRECISION_FOUND)
        rc = precision_lab_save_onnx(command->lab, &answer, output, err);
    precision_errors_release(&errors);
    return rc < 0 ? rc : report_step(command, result, err);
}

static int search_layers(struct precision_command *command, struct error *err)
{
    const struct debug_precision_settings *values = command->values;
    struct precision_run_settings settings = {
        .mode = values->mode,
        .reverse = values->reverse,
        .verify = !values->no_verify,
        .steps = {.count = command->steps.feeds.count, .select = select_step, .data = &command->steps}};
    struct precision_target target = precision_lab_target(command->lab);
    struct precision_result result = {0};
    int rc = precision_run(&target, &settings, command->session, command->context->log, &result, err);

    if (rc == 0)
        rc = report_precision(command, &result, err);
    debug_outputs_add_model(&command->outputs, command->builds.network->model);
    rc = debug_outputs_finish(&command->outputs, command->session, rc, result.outcome == PRECISION_FOUND, err);
    if (rc == 0 && values->debug.exit_code && result.none_needed)
        rc = EXIT_STATUS_NOT_REPRODUCED;
    precision_result_release(&result);
    return rc;
}

static int debug_precision_run(const struct command_context *context, const struct debug_precision_settings *given,
                               struct error *err)
{
    struct debug_precision_settings own = *given, *const settings = &own;
    struct precision_command command = {.context = context, .values = settings};
    int rc = record_steps(&command, &own, err);

    if (rc < 0)
        goto released;
    set_artifact(&command);
    rc = refuse_model_as_artifact(&command, err);
    if (rc == 0)
        rc = debug_outputs_open(&command.outputs, context, &settings->debug, "debug precision", err);
    if (rc < 0)
        goto released;
    command.form = command.values->emit == PRECISION_EMIT_ONNX ? PRECISION_MODELS : PRECISION_ENGINES;
    if (command.form == PRECISION_ENGINES)
        rc = trt_choose(context->log, NULL, TRT_BUILDS, &command.library, err);
    if (rc < 0)
        goto done;
    rc = command.library != NULL
             ? engine_file_init_aside(&command.builds.file, context, &settings->engine, &settings->file, err)
             : engine_file_init(&command.builds.file, context, &settings->engine, &settings->file, err);
    if (rc < 0)
        goto done;
    command.builds.seed = command.builds.file.request.builder.seed;
    command.builds.times_are_kept = true;
    choose_precisions(&command);
    if (command.library != NULL && !has_layer_precisions(command.library))
        rc = choose_typed_models(&command, err);
    if (rc < 0)
        goto done;
    rc = open_network(&command, err);
    if (rc < 0)
        goto done;
    debug_outputs_watch(&command.outputs, "layers", &command.session_settings);
    rc = session_new(&command.session_settings, &command.hash, context->log, &command.session, err);
    if (rc < 0)
        goto done;
    debug_session_watch_data(command.session, command.builds.network->model);
    if (command.library != NULL)
        rc = open_trt(&command, err);
    if (rc < 0)
        goto done;
    rc = open_lab(&command, err);
    if (rc == 0 && settings->output_onnx != NULL && precision_lab_check_onnx(command.lab, err) < 0)
        rc = error_context(err, "--output-onnx");
    if (rc < 0)
        goto done;
    rc = search_layers(&command, err);
done:
    precision_lab_free(command.lab);
    session_free(command.session);
    trt_builds_release(&command.trt);
    engine_builds_release(&command.builds);
    debug_outputs_close(&command.outputs);
released:
    decoder_record_release(&command.steps);
    return rc;
}

DEFINE_COMMAND_RUN(debug_precision_run, struct debug_precision_settings)

static const struct command_group groups[] = {
    DEBUG_SEARCH_GROUPS(struct debug_precision_settings, check_options, intermediate_engine_options),
    DEBUG_ENGINE_GROUPS(struct debug_precision_settings, engine_config_precision_options),
    {&precision_options, 0},
    COMMAND_GROUP(struct debug_precision_settings, steps, step_options),
    DEBUG_RESULT_GROUPS(struct debug_precision_settings),
};

const struct command cmd_debug_precision = {
    .name = "precision",
    .summary = "find the layers that need higher precision",
    .description =
        "Builds the model with some layers in higher precision and the others in the lowest enabled one; the check "
        "decides whether that is accurate enough. All layers in higher and all layers in lower precision are checked "
        "first.\n\n"
        "bisect and linear find how many layers from one end of the network need higher precision. minimal ranks "
        "layers by their error in lower precision and finds a 1-minimal set of layers anywhere in the network: the "
        "check fails if any single one is left out, which is tested.\n\n"
        "The answer names layers and ONNX nodes, and is printed as values for --layer-precisions. --output-onnx writes "
        "it into the model as Cast nodes, which any runtime supports. With --emit onnx every candidate is such a "
        "model, so the check can use any runtime. If the check still passes, layers whose Casts cost more than lower "
        "precision saves are kept in higher precision, too; the answer lists them separately.\n\n"
        "With --steps the model is a decoder: ONNX Runtime runs it once in steps, and writes the inputs and outputs of "
        "all "
        "of them to --step-inputs and --step-golden, which the check compares: a candidate passes if all steps do. The "
        "answer names the first step that fails with all layers in lower precision.\n\n"
        "Each verdict is saved. After Ctrl-C or a crash, resume with the same command and --load-debug-replay.",
    .example = "polygraphy debug precision model.onnx --fp16 --mode minimal \\\n"
               "    --check polygraphy run polygraphy_debug.engine --trt --load-outputs golden.json --atol 1e-2\n"
               "# the same for another runtime\n"
               "polygraphy debug precision model.onnx --mode minimal --emit onnx --output-onnx mixed.onnx \\\n"
               "    --check polygraphy run polygraphy_debug.onnx --onnxrt --load-outputs golden.json --atol 1e-2\n"
               "# checks in parallel\n"
               "polygraphy debug precision model.onnx --mode minimal --emit onnx -j 4 --check ./check.sh {artifact}",
    COMMAND_GROUPS(groups),
    .essential =
        "--check --fp16 --int8 --mode --emit --output-onnx --load-inputs --fail-regex --flaky " DEBUG_SEARCH_ESSENTIAL,
    .exact_names = true,
    .framed = true,
    COMMAND_RUN(debug_precision_run),
};
