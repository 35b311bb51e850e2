/* cli/debug/kernels.c: each node alone against float64. */
#include "debug/kernels/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/command/command.h"
#include "backend/command/resident.h"
#include "backend/onnxrt/settings.h"
#include "base/memory.h"
#include "base/process/guard.h"
#include "base/system.h"
#include "cli/commands.h"
#include "cli/debug/golden.h"
#include "cli/debug/outputs.h"
#include "cli/debug/session.h"
#include "cli/frame.h"
#include "cli/model_file.h"
#include "cli/options/groups.h"
#include "cli/run/model.h"
#include "onnx/edit/model.h"

struct debug_kernels_settings {
    struct debug_values debug; /* of its session there is none */
    struct model_file_settings file;
    struct runner_values runners;
};

struct kernels_command {
    const struct command_context *context;
    const struct debug_kernels_settings *settings;
    struct model *model;
    struct data_loader *loader;
    struct candidate_settings candidates;
    struct onnxrt_settings reference; /* that gives the values: as they are written */
    struct onnxrt_settings onnxrt;    /* of --onnxrt */
    struct onnxrt_entry *entries;     /* its session configuration, or NULL */
    struct golden_engine engine;      /* of --trt */
    struct runner_command runner;     /* of --runner */
    struct staying_host *host;
    bool guarded;
    struct kernel_study study;
    struct backend_request request; /* for the runner */
    double start;
};

/* ---- The runner ---- */

static int choose_engine(struct kernels_command *command, struct error *err)
{
    struct hash unused = {0};
    int rc = golden_engine_choose(&command->engine, command->context->log, &unused, err);

    if (rc == 0)
        rc = golden_engine_init(&command->engine, command->context, &command->settings->file, command->model,
                                command->loader, err);
    command->study.backend = command->engine.backend;
    command->request.settings = command->engine.settings;
    return rc;
}

static int choose_command(struct kernels_command *command, struct error *err)
{
    const struct runner_values *runners = &command->settings->runners;
    const struct runner_line *line = &runners->commands.items[0];

    command->runner = (struct runner_command){.name = line->name != NULL ? line->name : "runner",
                                              .line = line->line,
                                              .build_line = runners->build_commands[0],
                                              .timeout = runners->timeout};
    command->study.backend = &command_backend;
    command->request.settings = &command->runner;
    command->guarded = true;
    process_guard_start(); /* before a runtime has threads */
    return command_host_start((struct words){&line->line, 1}, &command->host, err);
}

/* A node that falls back to the processor would be a kernel of the processor, reported as one of the provider. */
static void choose_onnxrt(struct kernels_command *command)
{
    command->request = model_file_request(command->context, &command->settings->file);
    command->onnxrt = *onnxrt_settings_of(&command->request);
    command->entries = onnxrt_settings_refuse_fallback(&command->onnxrt);
    command->request.settings = &command->onnxrt;
    command->study.backend = &onnxrt_backend;
}

static int choose_runner(struct kernels_command *command, struct error *err)
{
    const struct runner_values *runners = &command->settings->runners;
    const char *name;

    if (runners->names.count != 1)
        return error_set(err, ERR_INVALID, "one runner is tested: --onnxrt --providers cuda, say; here are %zu",
                         runners->names.count);
    name = runners->names.items[0];
    if (strcmp(name, "runner") == 0)
        return choose_command(command, err);
    if (strcmp(name, "trt") == 0)
        return choose_engine(command, err);
    choose_onnxrt(command);
    return 0;
}

/* ---- The answer ---- */

static const struct result_column beyond_columns[] = {
    {"node", "Node", RESULT_TEXT, false},
    {"op_type", "Operator", RESULT_TEXT, false},
    {"output", "Output", RESULT_TEXT, false},
    {"error", "Error", RESULT_NUMBER, false},
    {"excess", "Of its bound", RESULT_RATIO, false},
    {"terms", "Terms", RESULT_COUNT, false},
};

static const struct result_table beyond_table = {
    .key = "beyond",
    .title = "Nodes beyond their bound",
    .line = "Nodes beyond their bound. The error is relative to the largest magnitude of the exact output",
    .log_rows = 20,
    .columns = beyond_columns,
    .column_count = ARRAY_LEN(beyond_columns),
};

static const struct result_column untested_columns[] = {
    {"node", "Node", RESULT_TEXT, false},
    {"op_type", "Operator", RESULT_TEXT, false},
    {"reason", "Reason", RESULT_TEXT, false},
};

static const struct result_table refused_table = {
    .key = "refused",
    .title = "Nodes that the runner does not run",
    .line = "Nodes that the runner does not run",
    .log_rows = 10,
    .columns = untested_columns,
    .column_count = ARRAY_LEN(untested_columns),
};

static const struct result_table untested_table = {
    .key = "untested",
    .title = "Nodes that were not tested",
    .columns = untested_columns,
    .column_count = ARRAY_LEN(untested_columns),
};

static size_t count_findings(const struct kernel_study *study, enum kernel_outcome outcome)
{
    size_t ret = 0;

    for (size_t i = 0; i < study->model->nodes.count; i++)
        ret += study->findings[i].outcome == outcome;
    return ret;
}

static void add_rows(struct kernels_command *command, enum kernel_outcome outcome, const struct result_table *table,
                     struct result *result)
{
    struct kernel_study *study = &command->study;

    result_begin_table(result, table);
    for (uint32_t i = 0; i < study->model->nodes.count; i++) {
        const struct kernel_finding *finding = &study->findings[i];
        const char *label = model_node_label(command->model, i);
        const char *op_type = arena_text(&study->arena, study->model->nodes.items[i].op_type);
        const struct result_cell beyond[] = {{.text = label},
                                             {.text = op_type},
                                             {.text = finding->output},
                                             {.number = finding->error},
                                             {.number = finding->excess},
                                             {.number = (double)finding->terms}};
        const struct result_cell untested[] = {{.text = label}, {.text = op_type}, {.text = finding->why}};

        if (finding->outcome != outcome)
            continue;
        result_add_row(result, outcome == KERNEL_IS_BEYOND ? beyond : untested);
        if (outcome == KERNEL_IS_BEYOND)
            result_add_node(result, label);
    }
}

/* Adds " Name," unless the list has it. */
static void add_operator(struct string_builder *list, struct text op_type)
{
    SCOPED_STRING(item);

    string_add_format(&item, " " TEXT_FORMAT ",", TEXT_ARGS(op_type));
    if (text_find((struct text){list->data, list->size}, (struct text){item.data, item.size}) == SIZE_MAX)
        string_add(list, item.data);
}

/* A line for each reason, with the operators. */
static void add_not_tested(struct kernels_command *command, struct result *result)
{
    const struct kernel_study *study = &command->study;
    size_t count = study->model->nodes.count;
    struct bitset shown SCOPED(bitset_release);

    bitset_init(&shown, count);
    for (size_t i = 0; i < count; i++) {
        const struct kernel_finding *first = &study->findings[i];
        size_t same = 0;
        SCOPED_STRING(operators);

        if (first->outcome != KERNEL_NOT_TESTED || bitset_has(&shown, i))
            continue;
        for (size_t k = i; k < count; k++) {
            const struct kernel_finding *finding = &study->findings[k];

            if (finding->outcome != KERNEL_NOT_TESTED || strcmp(finding->why, first->why) != 0)
                continue;
            bitset_add(&shown, k);
            same++;
            add_operator(&operators, study->model->nodes.items[k].op_type);
        }
        result_add_line(result, RESULT_NOT_TESTED, "%zu node%s (%.*s): %s", same, same == 1 ? "" : "s",
                        (int)(operators.size - strlen(" ,")), operators.data + strlen(" "), first->why);
    }
}

static int fill_result(struct kernels_command *command, struct result *result)
{
    const struct kernel_study *study = &command->study;
    size_t beyond = count_findings(study, KERNEL_IS_BEYOND), within = count_findings(study, KERNEL_IS_WITHIN);
    size_t refused = count_findings(study, KERNEL_IS_REFUSED);

    if (beyond > 0)
        result_set_verdict(result, REPORT_CAUSE, "%zu of %zu nodes are computed with errors beyond their bound", beyond,
                           beyond + within);
    else if (within > 0)
        result_set_verdict(result, REPORT_PASSED, "All %zu nodes that have a bound are computed within it", within);
    else
        result_set_verdict(result, REPORT_UNKNOWN, "No node was tested");
    add_rows(command, KERNEL_IS_BEYOND, &beyond_table, result);
    add_rows(command, KERNEL_IS_REFUSED, &refused_table, result);
    add_rows(command, KERNEL_NOT_TESTED, &untested_table, result);
    add_not_tested(command, result);
    result_add_count(result, "nodes", study->model->nodes.count);
    result_add_count(result, "within", within);
    result_add_number(result, "inference_seconds", study->seconds);
    result_add_number(result, "seconds", stopwatch_now() - command->start);
    return beyond > 0 || refused > 0 || within == 0 ? EXIT_STATUS_ERROR : 0;
}

/* ---- The command ---- */

static int load_model(struct kernels_command *command, struct error *err)
{
    const struct debug_kernels_settings *settings = command->settings;
    int rc = model_file_load(command->context, &settings->file, &command->model, err);

    if (rc < 0)
        return rc;
    rc = model_lower_constants(command->model, err);
    return rc < 0 ? rc
                  : data_loader_from_options(command->context, &settings->file, command->model, &command->loader, err);
}

static int test_kernels(struct kernels_command *command, struct error *err)
{
    const struct command_context *context = command->context;
    struct backend_request reference = model_file_request(context, &command->settings->file);

    command->reference = onnxrt_settings_unoptimized(&reference);
    reference.settings = &command->reference;
    command->candidates = (struct candidate_settings){.backend = &onnxrt_backend,
                                                      .request = reference,
                                                      .loader = command->loader,
                                                      .static_inference = true,
                                                      .fixed_shapes = true,
                                                      .cuts_anywhere = true};
    command->study.model = command->model;
    command->study.candidates = &command->candidates;
    command->study.request = &command->request;
    command->study.log = context->log;
    return kernel_study_run(&command->study, err);
}

static void release_command(struct kernels_command *command)
{
    kernel_study_release(&command->study);
    golden_engine_release(&command->engine);
    staying_host_stop(command->host);
    if (command->guarded)
        process_guard_stop();
    free(command->entries);
    data_loader_free(command->loader);
    model_free(command->model);
}

static int debug_kernels_run(const struct command_context *context, const struct debug_kernels_settings *settings,
                             struct error *err)
{
    struct kernels_command command = {.context = context, .settings = settings, .start = stopwatch_now()};
    struct debug_outputs outputs = {.has_json = false};
    int rc, status = 0;

    rc = run_model_refuse_idle(context, &settings->runners, NULL, 0, err);
    if (rc < 0)
        return rc;
    rc = debug_outputs_open(&outputs, context, &settings->debug, "debug kernels", err);
    if (rc < 0)
        return rc;
    rc = load_model(&command, err);
    if (rc == 0)
        rc = choose_runner(&command, err);
    if (rc < 0)
        goto done;
    rc = test_kernels(&command, err);
    if (rc < 0)
        goto done;
    status = fill_result(&command, outputs.result);
    debug_outputs_add_model(&outputs, command.model);
    rc = debug_outputs_finish(&outputs, NULL, rc, status == 0, err);
done:
    debug_outputs_close(&outputs);
    release_command(&command);
    return rc < 0 ? rc : status;
}

DEFINE_COMMAND_RUN(debug_kernels_run, struct debug_kernels_settings)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct debug_kernels_settings, debug.common.logging, logging_options),
    DEBUG_RESULT_GROUPS(struct debug_kernels_settings),
    COMMAND_GROUP(struct debug_kernels_settings, file.model, lint_model_options),
    COMMAND_GROUP(struct debug_kernels_settings, runners, runner_options),
    COMMAND_GROUP(struct debug_kernels_settings, file.data, data_loader_options),
    COMMAND_GROUP(struct debug_kernels_settings, file.onnxrt, onnxrt_options),
    COMMAND_GROUP(struct debug_kernels_settings, file.load, onnx_load_options),
};

const struct command cmd_debug_kernels = {
    .name = "kernels",
    .summary = "test each node alone against float64",
    .description =
        "Runs each node of a model alone in one runner, on the values that ONNX Runtime computes without optimizations "
        "for what it reads, and compares the result with the node evaluated in float64. A node whose error is larger "
        "than rounding can make it is wrong.\n\n"
        "The bound of a sum of n products is that of its backward error in the type of the output, with the sum of the "
        "terms' magnitudes; operations that round once have that of one rounding. Nodes without a bound, or that are "
        "not evaluated in float64, are listed as not tested. Fusions and layouts are not tested: debug accuracy does "
        "that.\n\n"
        "The exit status is 0 when all nodes that have a bound are within it, and the runner ran all of them.",
    .example = "# an execution provider\n"
               "polygraphy debug kernels model.onnx --onnxrt --providers cuda\n"
               "# any other engine\n"
               "polygraphy debug kernels model.onnx --runner './serve {requests} {answers}'",
    COMMAND_GROUPS(groups),
    .essential = "--onnxrt --providers --trt --runner --load-inputs --input-shapes --json -v",
    .exact_names = true,
    .framed = true,
    COMMAND_RUN(debug_kernels_run),
};
