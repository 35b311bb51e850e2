/* cli/debug/reduce.c: reduce a failing ONNX model to the smallest subgraph that still fails. */
#include <string.h>

#include "base/file/identity.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/debug/check_data.h"
#include "cli/debug/decoder_record.h"
#include "cli/debug/golden.h"
#include "cli/debug/outputs.h"
#include "cli/debug/session.h"
#include "cli/model_file.h"
#include "cli/options/reduce.h"
#include "cli/run/steps.h"
#include "comparator/data/input_shape.h"
#include "comparator/reference/control_flow.h"
#include "debug/reduce/reduce.h"
#include "debug/simplify/soundness.h"
#include "onnx/edit/model.h"
#include "onnx/external/data.h"

/* The values of frozen branches depend on the input data. */
static int hash_input_data(const struct data_loader_settings *data, struct hash *hash, struct error *err)
{
    SCOPED_STRING(text);
    int rc = 0;

    string_add_format(&text, "%lld %lld", (long long)data->seed, (long long)data->iterations);
    if (data->has_integer_range)
        string_add_format(&text, " int:%lld:%lld", (long long)data->integer_minimum, (long long)data->integer_maximum);
    if (data->has_float_range)
        string_add_format(&text, " float:%a:%a", data->float_minimum, data->float_maximum);
    for (size_t i = 0; i < data->ranges.count; i++)
        string_add_format(&text, " %s:%a:%a", data->ranges.items[i].name, data->ranges.items[i].minimum,
                          data->ranges.items[i].maximum);
    if (data->files.count == 0)
        *hash = hash_combine(*hash, hash_bytes(text.data, text.size));
    for (size_t i = 0; rc == 0 && i < data->files.count; i++) {
        struct hash content;

        rc = file_content_hash(data->files.items[i], &content, err);
        if (rc == 0)
            *hash = hash_combine(*hash, content);
    }
    return rc;
}

/* Hashes what a replay is bound to: the bytes of the model and of its external data, and everything else that
 * determines the candidates. */
static int hash_reduction_session(const struct debug_reduce_settings *settings, struct model *model, struct hash *ret,
                                  struct error *err)
{
    const struct model_values *values = &settings->file.model;
    const struct reduce_settings *reduce = &settings->reduce;
    const struct shape_inference_values *inference = &settings->file.inference;
    struct hash hash;
    SCOPED_STRING(options);
    int rc = file_content_hash(values->path, &hash, err);

    if (rc < 0)
        return rc;
    if (!settings->file.load.ignore_external_data)
        rc = external_data_hash(model, &hash, err);
    if (rc == 0)
        rc = hash_input_data(&settings->file.data, &hash, err);
    string_add_format(&options, "%d %d %d %d %d", (int)reduce->mode, !reduce->reduce_inputs, !reduce->reduce_outputs,
                      inference->enabled, inference->force_fallback);
    for (size_t i = 0; i < values->shapes.count; i++) {
        string_add_format(&options, " %s:", values->shapes.items[i].name);
        shape_to_text(&values->shapes.items[i].shape, &options);
    }
    if (reduce->candidates.golden != NULL)
        string_add(&options, " golden trt");
    *ret = hash_combine(hash, hash_bytes(options.data, options.size));
    return rc;
}

/* Settings that do not follow from options of `debug reduce` alone. */
static struct reduce_settings settings_from_options(const struct command_context *context,
                                                    const struct debug_reduce_settings *settings,
                                                    struct data_loader *loader)
{
    const struct onnx_save_values *save = &settings->file.save;
    const struct shape_inference_values *inference = &settings->file.inference;
    const struct session_settings *session = &settings->debug.session;
    struct reduce_settings ret = settings->reduce;

    ret.output = save->path;
    ret.external = save->external;
    ret.keep_intermediate = session->keep_intermediate;
    ret.copy_weights = settings->debug.copy_weights;
    ret.ignore_external_data = settings->file.load.ignore_external_data;
    ret.force_fallback = inference->force_fallback;
    ret.candidates.backend = &onnxrt_backend;
    ret.candidates.request = model_file_request(context, &settings->file);
    ret.candidates.loader = loader;
    ret.candidates.static_inference = inference->enabled;
    ret.candidates.fixed_shapes = true;
    ret.candidates.random_data = settings->file.data.files.count == 0;
    ret.candidates.cuts_anywhere = ret.mode == REDUCE_MINIMAL;
    ret.candidates.iteration_inputs = session->check.files.items[CANDIDATE_INPUTS];
    ret.candidates.iteration_golden = session->check.files.items[CANDIDATE_GOLDEN];
    return ret;
}

/* Loads the model and prepares it for cutting. */
static int prepare_model(const struct command_context *context, const struct debug_reduce_settings *settings,
                         struct model **ret, size_t *ret_nodes, struct hash *ret_hash, struct error *err)
{
    struct model *model;
    int rc;

    if (settings->file.load.fp_to_fp16)
        return error_set(err, ERR_UNSUPPORTED,
                         "--fp-to-fp16: convert the model first (`polygraphy convert --fp-to-fp16 -o half.onnx`) and "
                         "reduce the result");
    rc = model_file_open(context, &settings->file, &model, err);
    if (rc < 0)
        return rc;
    *ret_nodes = model->nodes.count;
    rc = model_file_override_shapes(&settings->file, model, err);
    if (rc == 0)
        rc = model_lower_constants(model, err);
    if (rc == 0)
        rc = hash_reduction_session(settings, model, ret_hash, err);
    if (rc < 0)
        model_free(model);
    else
        *ret = model;
    return rc;
}

/* A single result may be saved at the candidates' path, because no candidate follows. */
static int refuse_results_as_artifact(const struct debug_reduce_settings *settings, struct error *err)
{
    const struct reduce_settings *reduce = &settings->reduce;
    const struct onnx_save_values *save = &settings->file.save;
    const struct session_settings *session = &settings->debug.session;

    if (!reduce->all || save->path == NULL || strcmp(save->path, session->check.files.items[CANDIDATE_ARTIFACT]) != 0)
        return 0;
    return error_set(err, ERR_INVALID,
                     "-o '%s': with --all, candidates would overwrite the first result; choose another path",
                     save->path);
}

struct reduction {
    const struct debug_reduce_settings *options;
    struct model *model;
    size_t original_nodes;
    const struct reduce_result *result;
};

static const struct result_column node_columns[] = {
    {"name", "node", RESULT_TEXT, false},
    {"op_type", "operator", RESULT_TEXT, false},
};

static const struct result_table node_table = {
    .key = "nodes", .title = "Nodes that fail", .columns = node_columns, .column_count = ARRAY_LEN(node_columns)};

/* The nodes of the smallest failing subgraph, and the page marks those of all subgraphs. */
static void add_nodes(const struct reduction *reduction, const struct culprit *culprit, struct result *result)
{
    struct model *model = reduction->model;
    SCOPED_STRING(op_type);

    result_begin_table(result, &node_table);
    for (size_t i = culprit != NULL ? bitset_next(&culprit->nodes, 0) : 0; culprit != NULL && i < culprit->nodes.size;
         i = bitset_next(&culprit->nodes, i + 1)) {
        string_clear(&op_type);
        string_add_text(&op_type, model->nodes.items[i].op_type);
        result_add_row(result, (const struct result_cell[]){{.text = model_node_label(model, (uint32_t)i)},
                                                            {.text = op_type.size > 0 ? op_type.data : ""}});
    }
    for (size_t i = 0; i < reduction->result->count; i++)
        for (size_t k = bitset_next(&reduction->result->items[i].nodes, 0); k < model->nodes.count;
             k = bitset_next(&reduction->result->items[i].nodes, k + 1))
            result_add_node(result, model_node_label(model, (uint32_t)k));
}

/* With --all there may be further subgraphs. */
static void add_more_culprits(const struct reduction *reduction, struct result *result)
{
    if (reduction->result->count < 2)
        return;
    result_begin_list(result, "more_culprits");
    for (size_t i = 1; i < reduction->result->count; i++) {
        const struct culprit *culprit = &reduction->result->items[i];

        result_begin_record(result, NULL);
        result_begin_list(result, "nodes");
        BITSET_EACH (k, &culprit->nodes) {
            SCOPED_STRING(op_type);

            string_add_text(&op_type, reduction->model->nodes.items[k].op_type);
            result_begin_record(result, NULL);
            result_add_text(result, "name", model_node_label(reduction->model, (uint32_t)k));
            result_add_text(result, "op_type", op_type.size > 0 ? op_type.data : "");
            result_end_record(result);
        }
        result_end_list(result);
        result_add_flag(result, "one_minimal", culprit->is_minimal);
        result_end_record(result);
    }
    result_end_list(result);
}

static void set_verdict(const struct reduction *reduction, struct result *ret)
{
    const struct reduce_result *result = reduction->result;
    size_t nodes = result->count > 0 ? bitset_count(&result->items[0].nodes) : 0;
    bool is_proven = nodes > 0 && result->items[0].is_minimal && result->ruled_out != RULED_OUT_BY_NOTHING;
    enum report_verdict kind = is_proven ? REPORT_CAUSE : REPORT_FAILED;

    if (result->outcome != REDUCE_FOUND)
        result_set_verdict(ret, REPORT_UNKNOWN, "%s",
                           result->outcome == REDUCE_DOES_NOT_FAIL ? "The original model does not fail the check"
                                                                   : "No model failed the check");
    else if (nodes == 1 && result->items[0].is_minimal)
        result_set_verdict(ret, kind, "'%s' fails alone: 1 node of %zu",
                           model_node_label(reduction->model, (uint32_t)bitset_next(&result->items[0].nodes, 0)),
                           reduction->original_nodes);
    else
        result_set_verdict(ret, kind, "%zu nodes of %zu fail%s", nodes, reduction->original_nodes,
                           result->items[0].is_minimal ? "; removing any single one of them makes the check pass" : "");
}

/* With --steps. */
static void add_step(const struct debug_reduce_settings *options, const struct reduce_result *result,
                     struct result *ret)
{
    if (options->steps.count == 0)
        return;
    if (result->step == SIZE_MAX) {
        result_add_null(ret, "step");
    } else {
        result_add_count(ret, "step", result->step);
        result_add_line(
            ret, RESULT_EVIDENCE,
            "step %zu of the decoder is the first that fails; candidates have the values of this step, with "
            "the caches of ONNX Runtime",
            result->step);
        result_add_line(ret, RESULT_NOT_TESTED, "the steps after step %zu", result->step);
    }
    result_add_line(ret, RESULT_NOT_TESTED,
                    "differences that accumulate in a runner's own caches: every step had those of ONNX Runtime");
}

static void fill_result(const struct reduction *reduction, struct result *ret)
{
    static const char *const outcomes[] = {[REDUCE_FOUND] = "reduced",
                                           [REDUCE_DOES_NOT_FAIL] = "original does not fail",
                                           [REDUCE_NOTHING_FAILED] = "nothing failed"};
    static const char *const by[] = {[RULED_OUT_BY_CANDIDATE] = "candidate", [RULED_OUT_BY_CONTROL] = "control"};
    const struct reduce_result *result = reduction->result;
    const struct culprit *first = result->count > 0 ? &result->items[0] : NULL;

    set_verdict(reduction, ret);
    if (first != NULL && bitset_count(&first->nodes) > 0 && result->ruled_out == RULED_OUT_BY_NOTHING)
        result_add_line(ret, RESULT_NOT_TESTED, "whether the check fails on every model: it never passed");
    result_add_text(ret, "outcome", outcomes[result->outcome]);
    add_step(reduction->options, result, ret);
    result_add_count(ret, "original_nodes", reduction->original_nodes);
    result_add_flag(ret, "one_minimal", first != NULL && first->is_minimal);
    result_add_text(ret, "always_failing_ruled_out_by", by[result->ruled_out]);
    add_more_culprits(reduction, ret);
    add_nodes(reduction, first, ret);
}

/* A missing output model is an error, so that scripts do not continue with an older file. */
static int refuse_missing_result(const struct debug_reduce_settings *settings, const struct reduce_result *result,
                                 struct error *err)
{
    const char *reason = result->outcome == REDUCE_DOES_NOT_FAIL ? "the original model does not fail the check"
                                                                 : "no model failed the check";
    const struct reduce_settings *reduce = &settings->reduce;
    const struct onnx_save_values *save = &settings->file.save;

    if (save->path != NULL && result->outcome != REDUCE_FOUND)
        return error_set(err, ERR_INVALID, "'%s' is not written: %s", save->path, reason);
    if (save->path == NULL && reduce->min_good != NULL && !result->has_good)
        return error_set(err, ERR_INVALID, "'%s' is not written: %s", reduce->min_good,
                         result->outcome == REDUCE_FOUND ? "no candidate passed" : reason);
    return 0;
}

/* With --simplify. Comes before anything that makes threads. */
static int start_sandbox(const struct command_context *context, const struct debug_reduce_settings *settings,
                         struct data_loader *loader, struct sandbox **ret, struct error *err)
{
    const struct backend_request request = model_file_request(context, &settings->file);

    if (!parse_given(context->parse, "--simplify"))
        return 0;
    return sandbox_start(&onnxrt_backend, &request, loader, ret, err);
}

/* Fixes derived sizes in the model, so that values that are frozen and data of checks fit each other in all parts. */
static int fix_sizes(const struct command_context *context, struct model *model, const struct data_loader *loader,
                     struct error *err)
{
    const struct derived_inputs *derived = data_loader_derived(loader);
    const struct text no_symbols[TENSOR_MAX_RANK] = {{0}};
    SCOPED_STRING(option);

    for (size_t i = 0; data_loader_derives(loader) && i < derived->count; i++) {
        const struct derived_input *item = &derived->items[i];
        int rc = 0;

        if (!item->is_open)
            continue;
        string_add(&option, " '");
        input_shape_to_option(item->name, &item->shape, &option);
        string_add_char(&option, '\'');
        rc = model_override_input(model, text_of(item->name), &item->shape, no_symbols, err);
        if (rc < 0)
            return rc;
    }
    if (option.size == 0)
        return 0;
    model_forget_shapes(model);
    log_message(context->log, LOG_WARNING,
                "Dynamic dimensions are fixed in all candidates: --model-input-shapes%s%s%s\n"
                "Pass that option, with the shapes of real data if you know them.",
                option.data, derived->defaults_fit ? "" : ", as ", derived->defaults_fit ? "" : derived->refusal);
    return 0;
}

/* With the bodies of If, Loop and Scan as the input data run through them; in a separate process, because the model may
 * be one that crashes. NULL where there are none, or the model does not run. */
static int inline_bodies(const struct command_context *context, const struct debug_reduce_settings *options,
                         const struct model *model, struct data_loader *loader, struct model **ret, struct error *err)
{
    struct model_file_settings apart = options->file;
    struct backend_request request;
    struct model *inlined;
    struct error why = {0};
    size_t count = 0;
    int rc;

    if (!model_has_control_flow(model) || options->reduce.simplify.kinds[SIMPLIFY_BODIES])
        return 0; /* or bodies are simplified in their places */
    apart.bounds.apart = true;
    inlined = model_copy(model);
    request = model_file_request_for(context, &apart, inlined);
    rc = control_flow_inline(inlined, &(struct sample_run){model_file_runtime(&apart), &request, loader, context->log},
                             &count, &why);
    if (rc == 0 && count > 0) {
        *ret = inlined;
        return 0;
    }
    model_free(inlined);
    if (rc == ERR_INTERRUPTED)
        return error_set(err, ERR_INTERRUPTED, "%s", why.message);
    if (rc < 0)
        log_message(context->log, LOG_INFO, "Bodies of If, Loop and Scan are not inlined: the model does not run: %s",
                    why.message);
    return 0;
}

/* With --steps: records the inputs of all steps, which become the input data. */
static int record_steps(const struct command_context *context, struct debug_reduce_settings *options,
                        struct decoder_record *ret, struct error *err)
{
    const char **file = arena_alloc_zero(parse_arena((struct parse *)context->parse), 1, sizeof(*file));
    int rc = options->steps.count > 0 ? decoder_record_make(context, NULL, NULL, ret, err) : 0;

    if (rc < 0 || options->steps.count == 0)
        return rc;
    *file = ret->inputs;
    options->file.data.files = (struct words){.items = file, .count = 1};
    options->reduce.steps = &ret->feeds;
    return 0;
}

/* The inputs of the step that fails, with --save-step-inputs. */
static int save_step(const struct command_context *context, const struct debug_reduce_settings *options, size_t step,
                     struct error *err)
{
    const char *path = options->steps.save_inputs;

    return path != NULL ? step_inputs_save(path, step != SIZE_MAX ? &options->reduce.steps->items[step] : NULL, step,
                                           context->log, err)
                        : 0;
}

/* Fills the answer and writes it; `rc` is what the search has returned. */
static int report_reduction(const struct reduction *reduction, struct debug_outputs *outputs,
                            struct debug_session *session, int rc, struct error *err)
{
    const struct debug_reduce_settings *options = reduction->options;

    if (rc == 0) {
        fill_result(reduction, outputs->result);
        rc = save_step(outputs->context, options, reduction->result->step, err);
    }
    debug_outputs_add_model(outputs, reduction->model);
    rc = debug_outputs_finish(outputs, session, rc, reduction->result->outcome == REDUCE_FOUND, err);
    return rc == 0 && !options->debug.exit_code ? refuse_missing_result(options, reduction->result, err) : rc;
}

static int debug_reduce_run(const struct command_context *context, const struct debug_reduce_settings *given,
                            struct error *err)
{
    struct debug_reduce_settings own = *given, *const options = &own;
    struct session_settings session_settings = debug_session_settings(context, &given->debug, &given->file);
    struct decoder_record record = {0};
    struct reduce_settings settings;
    struct golden_engine golden = {0};
    struct data_loader *loader = NULL;
    struct sandbox *sandbox = NULL;
    struct model *model = NULL, *inlined = NULL;
    struct debug_session *session = NULL;
    struct hash hash;
    size_t nodes = 0;
    bool keep_inputs = false;
    struct reduce_result result = {.outcome = REDUCE_NOTHING_FAILED};
    struct debug_outputs outputs;
    int rc = refuse_results_as_artifact(options, err);

    if (rc < 0)
        return rc;
    rc = debug_outputs_open(&outputs, context, &options->debug, "debug reduce", err);
    if (rc < 0)
        return rc;
    outputs.has_polygraphy_log = true;
    debug_outputs_watch(&outputs, "nodes", &session_settings);
    rc = record_steps(context, &own, &record, err);
    if (rc < 0)
        goto done;
    rc = prepare_model(context, options, &model, &nodes, &hash, err);
    if (rc < 0)
        goto done;
    if (options->reduce.candidates.golden != NULL)
        rc = golden_engine_choose(&golden, context->log, &hash, err);
    if (rc < 0)
        goto done;
    rc = data_loader_from_options(context, &options->file, model, &loader, err);
    if (rc < 0)
        goto done;
    rc = check_data_look(context, options, model, &keep_inputs, err);
    if (rc < 0)
        goto done;
    rc = start_sandbox(context, options, loader, &sandbox, err);
    if (rc < 0)
        goto done;
    rc = fix_sizes(context, model, loader, err);
    if (rc < 0)
        goto done;
    rc = inline_bodies(context, options, model, loader, &inlined, err);
    if (rc < 0)
        goto done;
    rc = session_new(&session_settings, &hash, context->log, &session, err);
    if (rc < 0)
        goto done;
    debug_session_watch_data(session, model);
    settings = settings_from_options(context, options, loader);
    settings.simplify.sandbox = sandbox;
    settings.original_nodes = nodes;
    settings.inlined = inlined;
    settings.reduce_inputs &= !keep_inputs;
    if (settings.candidates.golden != NULL)
        rc = golden_engine_init(&golden, context, &options->file, model, loader, err);
    if (rc < 0)
        goto done;
    settings.candidates.golden = golden.backend;
    settings.candidates.golden_request = (struct backend_request){.settings = golden.settings, .log = context->log};
    rc = reduce_run(model, &settings, session, context->log, &result, err);
    rc = report_reduction(&(struct reduction){options, result.is_inlined ? inlined : model,
                                              result.is_inlined ? inlined->nodes.count : nodes, &result},
                          &outputs, session, rc, err);
done:
    reduce_result_release(&result);
    session_free(session);
    sandbox_stop(sandbox);
    golden_engine_release(&golden);
    data_loader_free(loader);
    decoder_record_release(&record);
    model_free(inlined);
    model_free(model);
    debug_outputs_close(&outputs);
    return rc;
}

DEFINE_COMMAND_RUN(debug_reduce_run, struct debug_reduce_settings)

static const struct command_group groups[] = {
    DEBUG_SEARCH_GROUPS(struct debug_reduce_settings, check_options, intermediate_onnx_options),
    COMMAND_GROUP(struct debug_reduce_settings, file.model, reduce_model_options),
    COMMAND_GROUP(struct debug_reduce_settings, file.save, onnx_save_options),
    COMMAND_GROUP(struct debug_reduce_settings, file.inference, shape_inference_default_options),
    COMMAND_GROUP(struct debug_reduce_settings, file.load, onnx_load_options),
    COMMAND_GROUP(struct debug_reduce_settings, file.data, data_loader_options),
    COMMAND_GROUP(struct debug_reduce_settings, steps, step_options),
    COMMAND_GROUP(struct debug_reduce_settings, file.onnxrt, onnxrt_reference_options),
    {&reduce_options, 0},
    DEBUG_RESULT_GROUPS(struct debug_reduce_settings),
};

const struct command cmd_debug_reduce = {
    .name = "reduce",
    .summary = "reduce a failing ONNX model to the smallest subgraph that still fails",
    .description =
        "Finds the smallest subgraph of the model that still fails the check. "
        "First the outputs are moved towards the inputs as long as the check fails, then the inputs towards the "
        "outputs. "
        "In every iteration the candidate is written to polygraphy_debug.onnx and the check decides: exit status 0 is "
        "a pass.\n\n"
        "The original model is checked first: if it does not fail, the tool reports that and stops. "
        "The model that is written at the end has failed the check.\n\n"
        "Cutting inputs can leave other branches without a source; they are frozen to the values that they have for "
        "the input data, so pass real data with --load-inputs if the failure depends on them.\n\n"
        "With --mode minimal any set of nodes is a candidate: tensors that are cut become inputs (integers, which are "
        "mostly shapes and indices, become constants). "
        "The result is 1-minimal: removing any single one of its nodes makes the check pass, which is tested. "
        "An error that accumulates over a chain of nodes needs that chain, so such a result can be long. "
        "--iter-inputs and --iter-golden write the values of a candidate's inputs and outputs in the original model, "
        "computed by ONNX Runtime (or by the runner that --golden names), so that the check needs no other "
        "files.\n\n"
        "With --steps the model is a decoder: ONNX Runtime runs it once in steps, and the original is checked with the "
        "inputs of each, in order. The search is about the first step that fails; --iter-inputs and --iter-golden have "
        "the values of this step. Needs --mode minimal and --iter-inputs.\n\n"
        "With --all the search then continues in the rest of the model until that no longer fails.\n\n"
        "--simplify continues with the result: weights become zeros, ones or noise, so that the model can be shared, "
        "attributes get their defaults, inputs become smaller, subgraphs and functions lose nodes, as long as the "
        "check fails. "
        "This changes what the model computes, so use it with checks that compare backends with each other or look "
        "for infinities.\n\n"
        "-j runs checks in parallel, for the candidates that will probably be needed next; the result is the same as "
        "without it. "
        "Each candidate then has a separate file, which {artifact} in the check stands for. "
        "--launcher and --work-dir run the checks on a cluster.\n\n"
        "Each verdict is saved. After Ctrl-C or a crash, resume with the same command and --load-debug-replay.",
    .example =
        "polygraphy debug reduce model.onnx -o reduced.onnx --check polygraphy run polygraphy_debug.onnx --onnxrt "
        "--validate\n"
        "polygraphy debug reduce model.onnx -o minimal.onnx --mode minimal --iter-inputs in.json --iter-golden "
        "golden.json \\\n"
        "    --check polygraphy run polygraphy_debug.onnx --onnxrt --load-inputs in.json --load-outputs golden.json\n"
        "polygraphy debug reduce model.onnx -o minimal.onnx --mode minimal --all -j 8 --check ./check.sh {artifact}\n"
        "polygraphy debug reduce model.onnx -o reduced.onnx --mode linear --min-good passes.onnx --check ./check.sh",
    COMMAND_GROUPS(groups),
    .essential = "--check -o --mode --load-inputs --fail-regex --check-timeout --flaky --min-good --iter-inputs "
                 "--iter-golden --simplify " DEBUG_SEARCH_ESSENTIAL,
    .exact_names = true,
    .framed = true,
    COMMAND_RUN(debug_reduce_run),
};
