/* cli/debug/accuracy.c: from "it is wrong" to a cause that was seen. */
#include "debug/accuracy/accuracy.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/system.h"
#include "base/text/shell_line.h"
#include "cli/commands.h"
#include "cli/debug/accuracy_report.h"
#include "cli/debug/accuracy_result.h"
#include "cli/debug/outputs.h"
#include "cli/debug/session.h"
#include "cli/frame.h"
#include "cli/options/groups.h"
#include "cli/options/runners/engine.h"
#include "cli/options/runners/runner_words.h"
#include "cli/run/model.h"
#include "cli/trt.h"
#include "debug/accuracy/folder.h"
#include "engine/backend.h"

struct debug_accuracy_settings {
    struct debug_values debug; /* of its session there is none: each step is a command */
    struct model_file_settings file;
    struct runner_values runners;
    struct comparison_values comparison;
    struct engine_values engine;
    struct step_values steps;

    struct accuracy_settings own; /* of its own options; make_settings() has the rest */
};

/* Of several loads and comparisons a few options would have another meaning in each step. */
static int finish_accuracy(struct parse *parse, void *filled, struct error *err)
{
    static const char *const refused[] = {"--load-outputs",
                                          "--validate",
                                          "--first-divergence",
                                          "--fail-fast",
                                          "--save-heatmaps",
                                          "--save-error-metrics-plot",
                                          NULL};
    const struct accuracy_settings *values = filled;
    SCOPED_STRING(given);

    if (values->builds < 1 || values->runs < 1 || values->explored_builds < 0)
        return error_set(err, ERR_INVALID, "--builds and --runs are at least 1, --explored-builds at least 0");
    if (values->max_checks < 0 || values->deadline < 0)
        return error_set(err, ERR_INVALID, "--max-checks and --deadline are at least 0");
    parse_list_given(parse, refused, &given);
    if (given.size > 0)
        return error_set(err, ERR_INVALID, "%s: this tool sets it itself; leave it out", given.data);
    return 0;
}

static void list_results(const struct parse *parse, struct word_list *ret)
{
    (void)parse;
    for (size_t i = 0; accuracy_results[i] != NULL; i++)
        *VECTOR_APPEND(ret) = accuracy_results[i];
}

/* In the order of enum precision. */
static const char *const precisions[] = {"float32", "tf32", "bfloat16", "float16", "int8", NULL};

#define ROW(member, ...) OPTION_ROW(struct accuracy_settings, member, __VA_ARGS__)

static const struct option accuracy_rows[] = {
    ROW(folder, .names = {"-o", "--output"}, .kind = OPTION_ONE, .value_name = "FOLDER",
        .fallback = "polygraphy_accuracy", .file = OPTION_WRITES_RESULTS, .list_results = list_results,
        .help = "folder for the report, the minimal case with a script that reproduces it, and every experiment with "
                "its log. Experiments of an interrupted session are reused if nothing has changed"),
    ROW(resume, .names = {"--resume"}, .kind = OPTION_FLAG,
        .help = "also reuse experiments of a completed session; those that the answer depends on are always repeated"),
    ROW(builds, .names = {"--builds"}, .kind = OPTION_ONE, .type = OPTION_INTEGER, .value_name = "N", .fallback = "3",
        .help = "number of builds of the suspect to find out whether it fails; three times as many if all builds of "
                "the built-in engine fail"),
    ROW(runs, .names = {"--runs"}, .kind = OPTION_ONE, .type = OPTION_INTEGER, .value_name = "N", .fallback = "2",
        .help = "number of runs of each of these builds; another build runs ten times"),
    ROW(explored_builds, .names = {"--explored-builds"}, .kind = OPTION_ONE, .type = OPTION_INTEGER, .value_name = "N",
        .fallback = "16",
        .help =
            "maximum number of builds with random tactics if builds differ, or none has failed; built-in engine only"),
    ROW(declared_precision, .names = {"--runner-precision"}, .yields = true, .kind = OPTION_ONE, .type = OPTION_CHOICE,
        .choices = precisions, .fallback = "float32",
        .help = "the lowest precision in which the command of --runner, as the suspect, stores tensors: tolerances are "
                "derived from it, and ranges of tensors are compared with it"),
    ROW(max_checks, .names = {"--max-checks"}, .kind = OPTION_ONE, .type = OPTION_INTEGER, .value_name = "N",
        .fallback = "0", .help = "stop after this many runs of the suspect, with the results so far; 0 is no limit"),
    ROW(deadline, .names = {"--deadline"}, .kind = OPTION_ONE, .type = OPTION_FLOAT, .value_name = "SECONDS",
        .fallback = "0", .help = "the same for time: no experiment begins after it"),
};

static const struct option_group accuracy_options = {
    .title = "Investigation",
    OPTION_ROWS(accuracy_rows),
    .finish = finish_accuracy,
};

/* ---- The two runners ---- */

/* What makes an engine compute in less than float32. */
static const char *const lower_precision[] = {"--fp16",
                                              "--bf16",
                                              "--int8",
                                              "--fp8",
                                              "--precision-constraints",
                                              "--precision-policy",
                                              "--layer-precisions",
                                              "--tensor-dtypes",
                                              "--calibration-cache",
                                              "--calib-base-cls",
                                              "--quantile",
                                              NULL};

/* What decides on the tactics of a build. */
static const char *const tactic_choice[] = {"--load-tactics", "--save-tactics", "--exclude-tactics", "--deterministic",
                                            NULL};

/* The study decides where they go. */
static const char *const saved_step_inputs[] = {"--save-step-inputs", NULL};

struct given {
    const struct command_context *context;
    const struct debug_accuracy_settings *settings;
    struct arena arena; /* owns the words */
};

static void add_word(struct word_list *list, const char *word)
{
    *VECTOR_APPEND(list) = word;
}

static struct words keep_given_words(struct given *given, struct word_list *list)
{
    const char **items = arena_alloc_zero(&given->arena, list->count + 1, sizeof(*items));
    struct words ret = {.items = items, .count = list->count};

    for (size_t i = 0; i < list->count; i++)
        items[i] = list->items[i];
    free(list->items);
    *list = (struct word_list){0};
    return ret;
}

static struct words words_of_group(struct given *given, const struct option_group *group, const char *const *except)
{
    struct word_list list = {0};

    parse_add_given_of_group(given->context->parse, group, except, &list);
    return keep_given_words(given, &list);
}

static struct words words_of_data(struct given *given)
{
    struct word_list list = {0};

    data_loader_add_words(given->context->parse, &list);
    if (given->settings->file.model.shapes.count > 0)
        parse_add_given_of_group(given->context->parse, &run_model_options, NULL, &list);
    return keep_given_words(given, &list);
}

/* As given, and infinities by position and sign. */
static struct words words_of_comparison(struct given *given)
{
    const struct parse *parse = given->context->parse;
    const char *const equal = "--infinities-compare-equal";
    struct word_list list = {0};

    parse_add_given_of_group(parse, &comparison_options, NULL, &list);
    if (list.count > 0 && comparison_is_of_values(parse) && parse_given(parse, equal) == NULL)
        add_word(&list, equal);
    return keep_given_words(given, &list);
}

/* What an engine that is built already needs to run. */
static struct words words_of_serving(struct given *given)
{
    static const char *const all_but_providers[] = {"--trt-outputs",
                                                    "--trt-exclude-outputs",
                                                    "--layer-precisions",
                                                    "--tensor-dtypes",
                                                    "--strongly-typed",
                                                    "--decide-branches",
                                                    NULL};

    return words_of_group(given, &engine_network_options, all_but_providers);
}

/* Runner number `runner` of the command line with what it takes; without what is in `except`. */
static struct words words_of_runner(struct given *given, size_t runner, const char *const *except)
{
    struct word_list list = {0};

    runner_add_words((struct parse *)given->context->parse, &given->settings->runners, runner, except, &list);
    return keep_given_words(given, &list);
}

/* The options of runner number `runner`, if it is an engine. */
static struct words words_of_engine(struct given *given, size_t runner, const char *const *except)
{
    struct words ret = words_of_runner(given, runner, except);

    if (strcmp(given->settings->runners.names.items[runner], "trt") != 0)
        return (struct words){0};
    return (struct words){.items = ret.items + 1, .count = ret.count - 1};
}

static void choose_precision(const struct engine_settings *request, struct accuracy_settings *settings)
{
    static const double roundoffs[PRECISION_COUNT] = {
        [PRECISION_FLOAT32] = 0x1p-24, [PRECISION_TF32] = 0x1p-11,     [PRECISION_BFLOAT16] = 0x1p-8,
        [PRECISION_FLOAT16] = 0x1p-11, [PRECISION_INT8] = 1.0 / 254.0,
    };
    enum precision lowest = PRECISION_FLOAT32;

    for (int i = 0; settings->suspect_has_engine && i < PRECISION_COUNT; i++)
        if (request->builder.precision.enabled[i] && roundoffs[i] > roundoffs[lowest])
            lowest = (enum precision)i;
    if (settings->suspect_is_command)
        lowest = settings->declared_precision;
    settings->precision = precision_name(lowest);
    settings->unit_roundoff = roundoffs[lowest];
}

/* A thing agrees with itself, whatever is wrong with it. */
static int refuse_equal_runners(struct given *given, struct error *err)
{
    struct words words;
    SCOPED_STRING(line);

    if (!runners_are_equal((struct parse *)given->context->parse, &given->settings->runners, 0, 1))
        return 0;
    words = words_of_runner(given, 1, NULL);
    for (size_t i = 0; i < words.count; i++)
        shell_add_argument(&line, words.items[i]);
    return error_set(
        err, ERR_INVALID,
        "reference and suspect are the same, '%s', so there is nothing to compare: give them different options, each "
        "after its runner, as in --onnxrt --onnxrt-optimization-level none --onnxrt --onnxrt-optimization-level all. "
        "Options without a value apply to both; to give them to one, write the other as --runner 'polygraphy run "
        "{model} --trt --load-inputs {inputs} --save-outputs {outputs}'",
        line.data + strspn(line.data, " "));
}

static int make_settings(struct given *given, struct accuracy_settings *ret, struct error *err)
{
    static const char *const all_precisions[] = {"--fp16", "--bf16", "--int8", "--fp8", NULL};
    const struct parse *parse = given->context->parse;
    const struct debug_accuracy_settings *values = given->settings;
    const struct model_values *model = &values->file.model;
    const struct runner_values *runners = &values->runners;
    const struct tensorrt_description *library;
    const char *suspect;
    SCOPED_STRING(lowered);
    int rc;

    if (runners->names.count != 2)
        return error_set(err, ERR_INVALID,
                         "two runners are compared, the first one being the reference: --onnxrt --trt, say; here are "
                         "%zu",
                         runners->names.count);
    rc = run_model_refuse_idle(given->context, runners, engine_option_groups, ENGINE_OPTION_GROUPS, err);
    if (rc == 0)
        rc = refuse_equal_runners(given, err);
    if (rc < 0)
        return rc;
    suspect = runners->names.items[1];
    if (parse_given(parse, "--runner-precision") && strcmp(suspect, "runner") != 0)
        return error_set(err, ERR_INVALID,
                         "--runner-precision declares the precision of a --runner, but the suspect is --%s, whose "
                         "precision its own options set; leave it out",
                         suspect);
    *ret = values->own;
    ret->model = parse_positional_word(parse, "model_file");
    ret->reference = words_of_runner(given, 0, NULL);
    ret->suspect = words_of_runner(given, 1, NULL);
    ret->engine = words_of_engine(given, 1, NULL);
    ret->explored = words_of_engine(given, 1, tactic_choice);
    ret->excluded = values->engine.request.builder.excluded;
    ret->serving = words_of_serving(given);
    ret->external_data_dir = values->file.load.external_data_dir;
    ret->loading = words_of_group(given, &onnx_load_options, NULL);
    ret->data = words_of_data(given);
    ret->data_are_given = parse_given(parse, "--load-inputs") != NULL;
    ret->steps = words_of_group(given, &step_options, saved_step_inputs);
    ret->step_inputs = values->steps.save_inputs;
    ret->tolerance = words_of_comparison(given);
    ret->suspect_has_engine = strcmp(suspect, "trt") == 0;
    ret->suspect_is_built =
        strcmp(suspect, "trt") == 0 ||
        (strcmp(suspect, "runner") == 0 && runners->build_commands[runner_place_of(runners, 1).index] != NULL);
    ret->reference_is_onnxrt = strcmp(runners->names.items[0], "onnxrt") == 0;
    ret->reference_is_command = strcmp(runners->names.items[0], "runner") == 0;
    ret->suspect_is_command = strcmp(suspect, "runner") == 0;
    ret->suspect_is_onnxrt = strcmp(suspect, "onnxrt") == 0;
    ret->products_saturate = system_saturates_products();
    ret->program = given->context->program;
    ret->self_main = given->context->main;
    ret->self_prepare = debug_preload_libraries;
    choose_precision(&values->engine.request, ret);
    parse_list_given(parse, all_precisions, &lowered);
    if (ret->suspect_has_engine && lowered.size > 0)
        ret->suspect_in_float = words_of_runner(given, 1, lower_precision);
    if (!ret->suspect_has_engine)
        return 0;
    rc = trt_choose(given->context->log, model->path, TRT_RUNS, &library, err);
    if (rc < 0)
        return rc;
    if (library != NULL && lowered.size > 0 && (library->is_rtx || library->major >= 11))
        return error_set(err, ERR_UNSUPPORTED,
                         "%s: types are those of the model in %s: `polygraphy debug precision` with the same option "
                         "finds the layers that need float32; to study a model in float16, pass what `polygraphy "
                         "convert MODEL -o half.onnx --fp-to-fp16` writes",
                         lowered.data, library->name);
    ret->engine_library = library != NULL ? library->path : NULL;
    ret->suspect_is_builtin = ret->engine_library == NULL;
    return 0;
}

/* Of an answer that was not observed whole just now. */
static void add_kept_experiments(const struct study *study, struct result *ret)
{
    size_t kept = study_kept_steps(study);

    if (kept > 0)
        result_add_line(
            ret, RESULT_CAUTION,
            "%zu of %zu experiments are from an earlier session; the failure and the answer were confirmed again", kept,
            study->steps.count);
}

/* What is known is reported after an interruption, too. */
static int report_study(struct debug_outputs *outputs, struct study *study, int rc, struct error *err)
{
    const struct command_context *context = outputs->context;
    const struct report_values *report = &outputs->debug->report;
    struct error why;

    if (rc == 0)
        rc = accuracy_write_bundle(study, err);
    if (rc < 0 && rc != ERR_INTERRUPTED)
        return rc;
    accuracy_result_fill(study, outputs->result);
    if (study->settings->suspect_is_builtin)
        trt_add_not_tested(NULL, outputs->result);
    if (rc == ERR_INTERRUPTED) {
        if (accuracy_report_write(context, report, study, outputs->result, &why) < 0)
            log_message(study->log, LOG_WARNING, "The report was not written: %s", why.message);
        result_log(outputs->result, study->log);
        log_message(study->log, LOG_CRITICAL, "Resume with the same command");
        return rc;
    }
    add_kept_experiments(study, outputs->result);
    rc = accuracy_report_write(context, report, study, outputs->result, err);
    rc = debug_outputs_finish(outputs, NULL, rc, true, err);
    if (rc == 0 && !study->out_of_budget)
        rc = accuracy_folder_finish(study, err);
    return rc < 0 || accuracy_is_answered(study) ? rc : EXIT_STATUS_ERROR;
}

static int debug_accuracy_run(const struct command_context *context, const struct debug_accuracy_settings *options,
                              struct error *err)
{
    struct given given = {.context = context, .settings = options};
    struct accuracy_settings settings;
    struct study *study = NULL;
    struct debug_outputs outputs = {.has_json = false};
    int rc;

    arena_init(&given.arena);
    rc = make_settings(&given, &settings, err);
    if (rc < 0)
        goto done;
    rc = debug_outputs_open(&outputs, context, &options->debug, "debug accuracy", err);
    if (rc < 0)
        goto done;
    rc = accuracy_begin(&settings, context->log, &study, err);
    if (rc < 0)
        goto done;
    rc = accuracy_run(study, err);
    if (rc == 0 || rc == ERR_INTERRUPTED)
        rc = report_study(&outputs, study, rc, err);
done:
    debug_outputs_close(&outputs);
    study_free(study);
    arena_release(&given.arena);
    return rc;
}

DEFINE_COMMAND_RUN(debug_accuracy_run, struct debug_accuracy_settings)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct debug_accuracy_settings, debug.common.logging, logging_options),
    {&accuracy_options, offsetof(struct debug_accuracy_settings, own)},
    DEBUG_RESULT_GROUPS(struct debug_accuracy_settings),
    COMMAND_GROUP(struct debug_accuracy_settings, file.model, run_model_options),
    COMMAND_GROUP(struct debug_accuracy_settings, runners, runner_options),
    COMMAND_GROUP(struct debug_accuracy_settings, file.data, data_loader_options),
    COMMAND_GROUP(struct debug_accuracy_settings, steps, step_options),
    COMMAND_GROUP(struct debug_accuracy_settings, comparison, comparison_options),
    COMMAND_GROUP(struct debug_accuracy_settings, file.onnxrt, onnxrt_options),
    COMMAND_GROUP(struct debug_accuracy_settings, file.load, onnx_load_options),
    COMMAND_GROUP(struct debug_accuracy_settings, engine, engine_config_options),
    COMMAND_GROUP(struct debug_accuracy_settings, engine, engine_network_options),
    COMMAND_GROUP(struct debug_accuracy_settings, engine, tensorrt_options),
};

const struct command cmd_debug_accuracy = {
    .name = "accuracy",
    .summary = "find out automatically why a compiled model gives wrong outputs",
    .description =
        "Finds out why a model that was compiled gives other outputs than a runtime that you trust. "
        "The first runner is that reference, the second one the suspect, each with its options of `polygraphy run`.\n\n"
        "It follows docs/finding-the-cause.md: are reference and check valid; does the suspect fail always, in some "
        "builds "
        "or in some runs; then tactics, precision, single layers, fusions, a reduction, if they apply. "
        "A cause is only named if it was observed: the smallest case fails in a fresh process, and the whole model "
        "passes with that one change.\n\n"
        "Every experiment is a command of this program, which -v shows and whose log is in the folder. "
        "After Ctrl-C or a crash, the same command resumes, if nothing has changed that the answer depends on.\n\n"
        "Without tolerances (--atol, --rtol, --norm-tolerance, ...) they are derived from the lowest precision "
        "and the depth of the model. "
        "The exit status is 0 when a cause was proven or nothing fails, 1 when it fails and no cause was found.",
    .example = "# a float16 engine against ONNX Runtime, with data for which it fails\n"
               "polygraphy debug accuracy model.onnx --onnxrt --trt --fp16 --load-inputs inputs.json\n"
               "# any other engine\n"
               "polygraphy debug accuracy model.onnx --onnxrt --runner './infer {model} {inputs} {outputs}' -o why",
    COMMAND_GROUPS(groups),
    .essential = "--onnxrt --trt --runner --fp16 --int8 --load-inputs --input-shapes --atol --rtol --norm-tolerance -o "
                 "--builds --runs --max-checks --deadline --report --json -v",
    .exact_names = true,
    .framed = true,
    COMMAND_RUN(debug_accuracy_run),
};
