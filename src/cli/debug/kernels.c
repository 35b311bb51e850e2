/* cli/debug/kernels.c: each node and each fused layer alone against float64. */
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
#include "cli/debug/fused_layers.h"
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
    struct fused_layers layers;
    const char *no_layers;          /* why it is not known which nodes are fused; NULL: it is */
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
    command->engine.builtin.network.keep_nodes_apart = false; /* what it fuses is tested */
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

/* What it does not tell, or cannot, is one line of the answer. With a provider, other nodes may be on the processor. */
static int find_layers(struct kernels_command *command, struct error *err)
{
    const struct backend_request onnxrt = model_file_request(command->context, &command->settings->file);
    struct error why;
    int rc;

    command->study.layers = &command->layers;
    command->no_layers = "the runner does not tell which nodes it computes together";
    if (command->study.backend == &onnxrt_backend)
        rc = fused_layers_of_onnxrt(command->model, &onnxrt, &command->layers, &why);
    else if (command->study.backend == &engine_backend)
        rc = fused_layers_of_engine(command->model, &command->engine.builtin, &command->layers, &why);
    else
        return 0;
    command->no_layers = rc < 0 ? arena_strdup(&command->layers.arena, why.message) : NULL;
    if (rc == ERR_INTERRUPTED)
        *err = why;
    return rc == ERR_INTERRUPTED ? rc : 0;
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
    .title = "Nodes and layers beyond their bound",
    .line = "Nodes and layers beyond their bound. The error is relative to the largest magnitude of the exact output",
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

static bool is_layer(const struct kernel_finding *finding)
{
    return finding->nodes.count > 1;
}

static size_t count_findings(const struct kernel_study *study, enum kernel_outcome outcome, bool layers)
{
    size_t ret = 0;

    for (size_t i = 0; i < study->finding_count; i++)
        ret += study->findings[i].outcome == outcome && is_layer(&study->findings[i]) == layers;
    return ret;
}

/* "conv + relu", "Conv + Relu". */
static void name_nodes(struct kernels_command *command, const struct kernel_finding *finding, const char **ret_label,
                       const char **ret_operators)
{
    struct arena *arena = &command->study.arena;
    SCOPED_STRING(label);
    SCOPED_STRING(operators);

    for (size_t i = 0; i < finding->nodes.count; i++) {
        uint32_t node = finding->nodes.nodes[i];

        string_add_format(&label, "%s%s", i > 0 ? " + " : "", model_node_label(command->model, node));
        string_add_format(&operators, "%s" TEXT_FORMAT, i > 0 ? " + " : "",
                          TEXT_ARGS(command->model->nodes.items[node].op_type));
    }
    *ret_label = arena_strdup(arena, label.data);
    *ret_operators = arena_strdup(arena, operators.data);
}

static void add_rows(struct kernels_command *command, enum kernel_outcome outcome, const struct result_table *table,
                     struct result *result)
{
    const struct kernel_study *study = &command->study;

    result_begin_table(result, table);
    for (size_t i = 0; i < study->finding_count; i++) {
        const struct kernel_finding *finding = &study->findings[i];
        const char *label, *operators;

        if (finding->outcome != outcome)
            continue;
        name_nodes(command, finding, &label, &operators);
        if (outcome != KERNEL_IS_BEYOND) {
            result_add_row(result,
                           (const struct result_cell[]){{.text = label}, {.text = operators}, {.text = finding->why}});
            continue;
        }
        result_add_row(result, (const struct result_cell[]){{.text = label},
                                                            {.text = operators},
                                                            {.text = finding->output},
                                                            {.number = finding->error},
                                                            {.number = finding->excess},
                                                            {.number = (double)finding->terms}});
        for (size_t k = 0; k < finding->nodes.count; k++)
            result_add_node(result, model_node_label(command->model, finding->nodes.nodes[k]));
    }
}

/* Adds " Name," unless the list has it. */
static void add_operator(struct string_builder *list, const char *operators)
{
    SCOPED_STRING(item);

    string_add_format(&item, " %s,", operators);
    if (text_find((struct text){list->data, list->size}, (struct text){item.data, item.size}) == SIZE_MAX)
        string_add(list, item.data);
}

static bool is_same_reason(const struct kernel_finding *a, const struct kernel_finding *b)
{
    return b->outcome == KERNEL_NOT_TESTED && is_layer(a) == is_layer(b) && strcmp(a->why, b->why) == 0;
}

/* A line for each reason, with the operators. */
static void add_not_tested(struct kernels_command *command, struct result *result)
{
    const struct kernel_study *study = &command->study;
    struct bitset shown SCOPED(bitset_release);

    bitset_init(&shown, study->finding_count);
    for (size_t i = 0; i < study->finding_count; i++) {
        const struct kernel_finding *first = &study->findings[i];
        size_t same = 0;
        SCOPED_STRING(operators);

        if (first->outcome != KERNEL_NOT_TESTED || bitset_has(&shown, i))
            continue;
        for (size_t k = i; k < study->finding_count; k++) {
            const char *label, *of_these;

            if (!is_same_reason(first, &study->findings[k]))
                continue;
            bitset_add(&shown, k);
            same++;
            name_nodes(command, &study->findings[k], &label, &of_these);
            add_operator(&operators, of_these);
        }
        result_add_line(result, RESULT_NOT_TESTED, "%zu %s%s (%.*s): %s", same,
                        is_layer(first) ? "fused layer" : "node", same == 1 ? "" : "s",
                        (int)(operators.size - strlen(" ,")), operators.data + strlen(" "), first->why);
    }
    if (command->no_layers != NULL)
        result_add_line(result, RESULT_NOT_TESTED, "fused layers: %s", command->no_layers);
}

static void add_verdict(const struct kernel_study *study, struct result *result)
{
    size_t beyond = count_findings(study, KERNEL_IS_BEYOND, false);
    size_t within = count_findings(study, KERNEL_IS_WITHIN, false);
    size_t beyond_layers = count_findings(study, KERNEL_IS_BEYOND, true);
    size_t layers = beyond_layers + count_findings(study, KERNEL_IS_WITHIN, true);
    SCOPED_STRING(more);

    string_add(&more, "");
    if (beyond + beyond_layers > 0) {
        if (layers > 0)
            string_add_format(&more, " and %zu of %zu fused layers", beyond_layers, layers);
        result_set_verdict(result, REPORT_CAUSE, "%zu of %zu nodes%s are computed with errors beyond their bound",
                           beyond, beyond + within, more.data);
    } else if (within + layers > 0) {
        if (layers > 0)
            string_add_format(&more, " and %zu fused layer%s", layers, layers == 1 ? "" : "s");
        result_set_verdict(result, REPORT_PASSED, "All %zu nodes%s that have a bound are computed within it", within,
                           more.data);
    } else {
        result_set_verdict(result, REPORT_UNKNOWN, "No node was tested");
    }
}

static int fill_result(struct kernels_command *command, struct result *result)
{
    const struct kernel_study *study = &command->study;
    size_t within = count_findings(study, KERNEL_IS_WITHIN, false);
    size_t wrong = count_findings(study, KERNEL_IS_BEYOND, false) + count_findings(study, KERNEL_IS_BEYOND, true) +
                   count_findings(study, KERNEL_IS_REFUSED, false) + count_findings(study, KERNEL_IS_REFUSED, true);

    add_verdict(study, result);
    add_rows(command, KERNEL_IS_BEYOND, &beyond_table, result);
    add_rows(command, KERNEL_IS_REFUSED, &refused_table, result);
    add_rows(command, KERNEL_NOT_TESTED, &untested_table, result);
    add_not_tested(command, result);
    result_add_count(result, "nodes", study->model->nodes.count);
    result_add_count(result, "within", within);
    result_add_count(result, "layers", study->layers->count);
    result_add_count(result, "layers_within", count_findings(study, KERNEL_IS_WITHIN, true));
    result_add_number(result, "inference_seconds", study->seconds);
    result_add_number(result, "seconds", stopwatch_now() - command->start);
    return wrong > 0 || within == 0 ? EXIT_STATUS_ERROR : 0;
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
    int rc = find_layers(command, err);

    const struct command_context *context = command->context;
    struct backend_request reference = model_file_request(context, &command->settings->file);

    if (rc < 0)
        return rc;
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
    fused_layers_release(&command->layers);
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
    fused_layers_init(&command.layers);
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
    .summary = "test each node and each fused layer alone against float64",
    .description =
        "Runs each node of a model alone in one runner, on the values that ONNX Runtime computes without optimizations "
        "for what it reads, and compares the result with the node evaluated in float64. A node whose error is larger "
        "than rounding can make it is wrong. The same for nodes that ONNX Runtime or the built-in engine compute "
        "together.\n\n"
        "The bound of a sum of n products is that of its backward error in the type of the output, with the sum of the "
        "terms' magnitudes; operations that round once have that of one rounding. Nodes without a bound, or that are "
        "not evaluated in float64, are listed as not tested. Layouts are not tested: debug accuracy does "
        "that.\n\n"
        "The exit status is 0 when all nodes and layers that have a bound are within it, and the runner ran all of "
        "them.",
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
