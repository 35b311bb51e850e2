/* cli/debug/models.c: two models that should be equal. */
#include <math.h>

#include "backend/onnxrt/settings.h"
#include "base/memory.h"
#include "base/system.h"
#include "base/text/number.h"
#include "cli/commands.h"
#include "cli/debug/model_pair.h"
#include "cli/debug/outputs.h"
#include "cli/debug/session.h"
#include "cli/frame.h"
#include "cli/model_file.h"
#include "cli/options/groups.h"
#include "cli/debug/models_recorded.h"
#include "debug/models/study.h"
#include "format/polygraphy/run_results.h"
#include "onnx/edit/rebuild.h"
#include "onnx/model/operators.h"

#define MOST_LISTED_PAIRS 3

struct debug_models_settings {
    struct debug_values debug;       /* of its session there is none */
    struct model_file_settings file; /* A, and where the repaired B is saved */
    const char *other;               /* its own: B, or NULL: */
    const char *recorded;            /* the results of another program */
    double tolerance;                /* 0: derived */
};

#define ROW(member, ...) OPTION_ROW(struct debug_models_settings, member, __VA_ARGS__)

static const struct option models_rows[] = {
    ROW(other, .names = {"other_model"}, .kind = OPTION_MAYBE, .file = OPTION_READS_MODEL, .extensions = "onnx",
        .help = "the model that should compute the same, B; the first one is the reference, A"),
    ROW(recorded, .names = {"--load-outputs"}, .kind = OPTION_ONE, .value_name = "FILE", .file = OPTION_READS,
        .help = "in place of B: the tensors that another program has computed from the data of --load-inputs, with any "
                "names; as many inner ones as it can give"),
    ROW(tolerance, .names = {"--norm-tolerance"}, .kind = OPTION_ONE, .type = OPTION_FLOAT, .value_name = "X",
        .help = "largest difference between equal tensors, relative to the largest magnitude of A's. Default: derived "
                "from the lowest precision in the models and their depth"),
};

static int finish_models_options(struct parse *parse, void *given, struct error *err)
{
    const struct debug_models_settings *values = given;

    if (parse_given(parse, "--norm-tolerance") != NULL && !(values->tolerance > 0 && values->tolerance <= 1))
        return error_set(err, ERR_INVALID, "--norm-tolerance: %g is not in 0 .. 1", values->tolerance);
    if ((values->other == NULL) == (values->recorded == NULL))
        return error_set(err, ERR_INVALID,
                         "B is either a second model, or the tensors of --load-outputs: name one of the two");
    if (values->recorded != NULL && parse_given(parse, "--load-inputs") == NULL)
        return error_set(err, ERR_INVALID,
                         "--load-outputs: the inputs that these were computed from are needed: --load-inputs");
    if (values->recorded != NULL && values->file.save.path != NULL)
        return error_set(err, ERR_INVALID, "-o: with --load-outputs there is no model B to be saved");
    return 0;
}

static const struct option_group models_options = {
    .title = "Models",
    OPTION_ROWS(models_rows),
    .finish = finish_models_options,
};

struct models_command {
    const struct command_context *context;
    const struct debug_models_settings *settings;
    struct model *a, *b;
    struct model_pairing pairing;
    struct model_differences differences; /* without a run */
    struct data_loader *loader;
    struct onnxrt_settings onnxrt;
    struct backend_request request;
    struct model_study study;
    struct run_results results; /* of --load-outputs */
    struct recorded_study recorded;
    double start;
};

/* ---- The answer ---- */

static void set_models_verdict(const struct models_command *command, struct result *result)
{
    const struct model_study *study = &command->study;
    char error[NUMBER_TEXT_SIZE], tolerance[NUMBER_TEXT_SIZE];
    SCOPED_STRING(causes);

    for (size_t i = 0; i < study->causes.count; i++)
        string_add_format(&causes, "%s%s", i > 0 ? "; " : "", study->causes.items[i].sentence);
    switch (study->outcome) {
    case MODELS_AGREE:
        result_set_verdict(
            result, REPORT_PASSED, "The outputs agree: largest difference %s of the largest magnitude (tolerance %s)",
            number_to_text_short(study->error, error), number_to_text_short(study->tolerance, tolerance));
        break;
    case MODELS_HAVE_CAUSE:
        result_set_verdict(result, REPORT_CAUSE, "%s: %s", study->causes.count > 1 ? "Causes" : "Cause", causes.data);
        break;
    case MODELS_DIFFER:
        if (command->pairing.paired_nodes == 0)
            result_set_verdict(result, REPORT_FAILED, "The outputs differ, and no nodes could be paired");
        else if (study->causes.count > 0)
            result_set_verdict(result, REPORT_FAILED,
                               "No cause found: with A's part%s some tensors of B equal A's, but the outputs still "
                               "differ: %s",
                               study->causes.count > 1 ? "s" : "", causes.data);
        else
            result_set_verdict(result, REPORT_FAILED,
                               "The outputs differ, and no difference between the models that was tested is the "
                               "cause");
        break;
    }
}

static void add_divergence(const struct models_command *command, struct result *result)
{
    const struct model_study *study = &command->study;
    char tolerance[NUMBER_TEXT_SIZE];
    SCOPED_STRING(node);

    result_add_line(result, RESULT_EVIDENCE, "output '" TEXT_FORMAT "' %s (tolerance %s)",
                    TEXT_ARGS(command->b->values.items[study->worst_output].name), study->worst_text.data,
                    number_to_text_short(study->tolerance, tolerance));
    if (study->first_node == NODE_NONE)
        return;
    node_describe(command->b, study->first_node, &node);
    result_add_line(result, RESULT_EVIDENCE,
                    "the models first diverge at %s: each computed input equals a tensor of A, and its output "
                    "'" TEXT_FORMAT "' %s",
                    node.data, TEXT_ARGS(command->b->values.items[study->first_value].name), study->first_text.data);
}

/* Inputs or outputs of B whose counterparts in A have other names: a wrong pair would be a difference, too. */
static void add_renamed_tensors(const struct models_command *command, const struct value_list *values, const char *what,
                                struct result *result)
{
    SCOPED_STRING(names);
    size_t count = 0;

    for (size_t i = 0; i < values->count; i++) {
        uint32_t partner = command->pairing.b.values[values->items[i]];
        struct text name = command->b->values.items[values->items[i]].name;

        if (partner == VALUE_NONE || text_equal(command->a->values.items[partner].name, name))
            continue;
        if (count++ < MOST_LISTED_PAIRS)
            string_add_format(&names, "%s'" TEXT_FORMAT "' and A's '" TEXT_FORMAT "'", count > 1 ? ", " : "",
                              TEXT_ARGS(name), TEXT_ARGS(command->a->values.items[partner].name));
    }
    if (count > 0)
        result_add_line(result, RESULT_NOTE, "%s%s of B paired with those of A that have other names: %s%s", what,
                        count > 1 ? "s" : "", names.data, count > MOST_LISTED_PAIRS ? ", ..." : "");
}

static void add_random_node(const struct model *model, const char *which, struct result *result)
{
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        SCOPED_STRING(node);

        if (!node_is_random(&model->nodes.items[i]))
            continue;
        node_describe(model, i, &node);
        result_add_line(result, RESULT_CAUTION,
                        "%s's node %s produces random values: the models may differ for this reason alone", which,
                        node.data);
        return;
    }
}

/* What the comparison of the outputs leaves out. */
static void add_uncompared(const struct models_command *command, struct result *result)
{
    const struct model_study *study = &command->study;

    add_random_node(command->a, "A", result);
    add_random_node(command->b, "B", result);
    add_renamed_tensors(command, &command->b->inputs, "input", result);
    add_renamed_tensors(command, &command->b->outputs, "output", result);
    if (study->nonfinite_outputs > 0)
        result_add_line(result, RESULT_CAUTION,
                        "%zu output%s of A with NaN or infinities, which are equal at equal positions: other input "
                        "data may show more (--load-inputs, --val-range)",
                        study->nonfinite_outputs, study->nonfinite_outputs > 1 ? "s" : "");
    if (study->uncompared_outputs > 0)
        result_add_line(result, RESULT_NOT_TESTED, "%zu of %zu outputs of B, which have no tensor of A as counterpart",
                        study->uncompared_outputs, command->b->outputs.count);
    if (study->outputs_of_a_only > 0)
        result_add_line(result, RESULT_NOT_TESTED, "%zu of %zu outputs of A, which have no output of B as counterpart",
                        study->outputs_of_a_only, command->a->outputs.count);
}

static void add_experiments(const struct models_command *command, struct result *result)
{
    const struct model_study *study = &command->study;
    char error[NUMBER_TEXT_SIZE];

    if (study->outcome == MODELS_HAVE_CAUSE)
        result_add_line(result, RESULT_EVIDENCE,
                        "B with A's part%s put in agrees with A: largest difference %s of the largest magnitude (%zu "
                        "run%s)",
                        study->causes.count > 1 ? "s" : "", number_to_text_short(study->error_after, error),
                        study->runs, study->runs == 1 ? "" : "s");
    if (study->outcome == MODELS_HAVE_CAUSE && study->causes.count > 1 && study->is_minimal)
        result_add_line(result, RESULT_EVIDENCE, "without any one of these parts it does not");
    for (size_t i = 0; i < study->causes.count; i++)
        if (study->causes.items[i].kind == DIFFERENT_OPERATOR)
            result_add_line(result, RESULT_NOTE,
                            "%s: tested with all of A's nodes between tensors that both models have",
                            study->causes.items[i].sentence);
    if (study->untested > 0)
        result_add_line(result, RESULT_NOT_TESTED, "%zu of A's parts, which could not be put into B: %s",
                        study->untested, study->why_untested.message);
    if (study->not_alone > 0)
        result_add_line(result, RESULT_NOT_TESTED, "%zu of A's parts one by one: they were put into B with all others",
                        study->not_alone);
}

static void add_models_fix(const struct models_command *command, struct result *result)
{
    const struct model_study *study = &command->study;
    const struct onnx_save_values *save = &command->settings->file.save;

    if (study->outcome != MODELS_HAVE_CAUSE)
        return;
    if (save->path != NULL)
        result_add_line(result, RESULT_FIX, "B with A's part%s: %s", study->causes.count > 1 ? "s" : "", save->path);
    else
        result_add_line(result, RESULT_FIX, "-o PATH writes B with A's part%s", study->causes.count > 1 ? "s" : "");
}

static void fill_models_result(struct models_command *command, struct result *result)
{
    static const char *const outcomes[] = {
        [MODELS_AGREE] = "agree", [MODELS_HAVE_CAUSE] = "cause", [MODELS_DIFFER] = "differ"};
    const struct model_study *study = &command->study;

    set_models_verdict(command, result);
    if (study->outcome != MODELS_AGREE)
        add_divergence(command, result);
    add_experiments(command, result);
    result_add_line(result, RESULT_EVIDENCE,
                    "%zu of the tensors that nodes of B compute have an equal counterpart in A, of %zu",
                    study->equal_values, study->values);
    result_add_line(result, RESULT_NOT_TESTED,
                    "other input data (--load-inputs, --seed), optimizations of runtimes: `polygraphy debug accuracy` "
                    "compares runners");
    add_uncompared(command, result);
    add_models_fix(command, result);
    model_pair_add_tables(&command->pairing, &command->differences, result);
    for (size_t i = 0; i < study->causes.count; i++)
        result_add_node(result, model_node_label(command->b, study->causes.items[i].node_b));
    result_add_text(result, "outcome", outcomes[study->outcome]);
    result_begin_list(result, "causes");
    for (size_t i = 0; i < study->causes.count; i++) {
        result_begin_record(result, NULL);
        result_add_text(result, "kind", model_difference_kind_name(study->causes.items[i].kind));
        result_add_text(result, "node_a", model_node_label(command->a, study->causes.items[i].node_a));
        result_add_text(result, "node_b", model_node_label(command->b, study->causes.items[i].node_b));
        result_add_text(result, "difference", study->causes.items[i].sentence);
        result_end_record(result);
    }
    result_end_list(result);
    result_add_text(result, "first_divergence",
                    study->first_node != NODE_NONE ? model_node_label(command->b, study->first_node) : NULL);
    result_add_number(result, "error", study->error);
    result_add_number(result, "error_with_parts", study->outcome == MODELS_HAVE_CAUSE ? study->error_after : NAN);
    result_add_number(result, "tolerance", study->tolerance);
    result_add_count(result, "runs", study->runs);
    result_add_number(result, "seconds", stopwatch_now() - command->start);
}

/* ---- The tensors of another program ---- */

static int study_recorded(struct models_command *command, struct error *err)
{
    const struct debug_models_settings *settings = command->settings;
    int rc;

    log_message(command->context->log, LOG_INFO, "A: %s\nB: the tensors in %s", settings->file.model.path,
                settings->recorded);
    rc = run_results_load(&command->results, settings->recorded, err);
    if (rc < 0)
        return rc;
    if (command->results.count == 0 || command->results.items[0].count == 0)
        return error_set(err, ERR_INVALID, "'%s' has no results", settings->recorded);
    rc = model_pair_open(settings->file.model.path, settings->file.load.external_data_dir, &command->a, err);
    if (rc < 0)
        return rc;
    rc = data_loader_from_options(command->context, &settings->file, command->a, &command->loader, err);
    if (rc < 0)
        return rc;
    command->request = model_file_request(command->context, &settings->file);
    command->onnxrt = onnxrt_settings_unoptimized(&command->request);
    command->request.settings = &command->onnxrt;
    command->recorded = (struct recorded_study){.model = command->a,
                                                .backend = &onnxrt_backend,
                                                .request = &command->request,
                                                .loader = command->loader,
                                                .recorded = &command->results.items[0].items[0].outputs,
                                                .tolerance = settings->tolerance};
    return recorded_study_run(&command->recorded, err);
}

/* ---- The command ---- */

static int open_both_models(struct models_command *command, struct error *err)
{
    const struct debug_models_settings *settings = command->settings;
    int rc;

    log_message(command->context->log, LOG_INFO, "A: %s\nB: %s", settings->file.model.path, settings->other);
    rc = model_pair_open(settings->file.model.path, settings->file.load.external_data_dir, &command->a, err);
    if (rc == 0)
        rc = model_pair_open(settings->other, NULL, &command->b, err);
    if (rc == 0)
        rc = model_pairing_make(command->a, command->b, &command->pairing, err);
    if (rc < 0)
        return rc;
    model_differences_find(&command->pairing, &command->differences);
    return data_loader_from_options(command->context, &settings->file, command->a, &command->loader, err);
}

static int study_models(struct models_command *command, struct error *err)
{
    command->request = model_file_request(command->context, &command->settings->file);
    command->onnxrt = onnxrt_settings_unoptimized(&command->request);
    command->request.settings = &command->onnxrt;
    command->study.pairing = &command->pairing;
    command->study.backend = &onnxrt_backend;
    command->study.request = &command->request;
    command->study.loader = command->loader;
    command->study.log = command->context->log;
    command->study.tolerance = command->settings->tolerance;
    return model_study_run(&command->study, err);
}

static int save_repaired_model(struct models_command *command, struct error *err)
{
    struct model *repaired = command->study.repaired;
    struct subgraph whole SCOPED(subgraph_release) = {0};
    int rc;

    if (command->study.outcome != MODELS_HAVE_CAUSE || command->settings->file.save.path == NULL)
        return 0;
    rc = model_remove_unneeded_nodes(repaired, err);
    if (rc < 0)
        return rc;
    subgraph_init_whole(&whole, repaired);
    return model_file_save(command->context, &command->settings->file, &whole, err);
}

static void release_models_command(struct models_command *command)
{
    recorded_study_release(&command->recorded);
    run_results_release(&command->results);
    model_study_release(&command->study);
    model_differences_release(&command->differences);
    model_pairing_release(&command->pairing);
    data_loader_free(command->loader);
    model_free(command->a);
    model_free(command->b);
}

static int debug_models_run(const struct command_context *context, const struct debug_models_settings *settings,
                            struct error *err)
{
    struct models_command command = {.context = context, .settings = settings, .start = stopwatch_now()};
    struct debug_outputs outputs = {.has_json = false};
    bool is_answered = false;
    int rc = debug_outputs_open(&outputs, context, &settings->debug, "debug models", err);

    if (rc < 0)
        return rc;
    if (settings->recorded != NULL) {
        rc = study_recorded(&command, err);
        if (rc < 0)
            goto done;
        is_answered = models_recorded_fill(&command.recorded, outputs.result);
        debug_outputs_add_model(&outputs, command.a);
        rc = debug_outputs_finish(&outputs, NULL, rc, is_answered, err);
        goto done;
    }
    rc = open_both_models(&command, err);
    if (rc == 0)
        rc = study_models(&command, err);
    if (rc == 0)
        rc = save_repaired_model(&command, err);
    if (rc < 0)
        goto done;
    is_answered = command.study.outcome == MODELS_AGREE || command.study.outcome == MODELS_HAVE_CAUSE;
    fill_models_result(&command, outputs.result);
    debug_outputs_add_model(&outputs, command.b);
    rc = debug_outputs_finish(&outputs, NULL, rc, is_answered, err);
done:
    debug_outputs_close(&outputs);
    release_models_command(&command);
    return rc < 0 || is_answered ? rc : EXIT_STATUS_ERROR;
}

DEFINE_COMMAND_RUN(debug_models_run, struct debug_models_settings)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct debug_models_settings, debug.common.logging, logging_options),
    COMMAND_GROUP(struct debug_models_settings, file.model, lint_model_options),
    {&models_options, 0},
    COMMAND_GROUP(struct debug_models_settings, file.save, onnx_save_options),
    DEBUG_RESULT_GROUPS(struct debug_models_settings),
    COMMAND_GROUP(struct debug_models_settings, file.data, data_loader_options),
    COMMAND_GROUP(struct debug_models_settings, file.onnxrt, onnxrt_library_options),
    COMMAND_GROUP(struct debug_models_settings, file.load, onnx_load_folder_options),
};

const struct command cmd_debug_models = {
    .name = "models",
    .summary = "find out why two models that should be equal differ",
    .description =
        "Finds out why a model computes other outputs than another one that should be the same: from another exporter "
        "or converter, with fused nodes, other weights, another operator set. The first model is the reference, A, the "
        "second one the suspect, B, with its external data in its own folder.\n\n"
        "Both run on the same inputs in ONNX Runtime without optimizations, with every tensor as an output. Nodes are "
        "paired by structure and tensors by value, whatever their names are. Where B first diverges, A's weight, "
        "attribute, input or nodes are put in its place. A cause is only named if B with A's part agrees with A; -o "
        "saves that model.\n\n"
        "Of another program --load-outputs has the tensors: then the answer is where they first differ from A's.\n\n"
        "`polygraphy inspect diff-models` lists the differences without running the models. The exit status is 0 when "
        "the outputs agree or a cause was found, 1 when they differ and no cause was found.",
    .example = "# two exporters\n"
               "polygraphy debug models torchscript.onnx dynamo.onnx\n"
               "# save B with A's part put in\n"
               "polygraphy debug models good.onnx bad.onnx --load-inputs inputs.json -o fixed.onnx\n"
               "# the tensors of another program\n"
               "polygraphy debug models model.onnx --load-inputs inputs.npz --load-outputs tensors.npz",
    COMMAND_GROUPS(groups),
    .essential = "-o --norm-tolerance --load-inputs --load-outputs --input-shapes --seed --json --report -v",
    .exact_names = true,
    .framed = true,
    COMMAND_RUN(debug_models_run),
};
