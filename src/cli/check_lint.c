/* cli/check_lint.c: `check lint`: errors and warnings in a model. */
#include <stdlib.h>

#include "backend/model_io.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/lint_results.h"
#include "cli/model_file.h"
#include "cli/options/groups.h"
#include "lint/lint.h"
#include "onnx/external/data.h"

struct check_lint_settings {
    struct common_settings common;
    struct json_values json;
    struct model_file_settings file;

    /* its own */
    const char *output, *sarif; /* NULL: not wanted */
};

#define ROW(member, ...) OPTION_ROW(struct check_lint_settings, member, __VA_ARGS__)

static const struct option options[] = {
    ROW(output, .names = {"-o", "--output"}, .kind = OPTION_ONE, .value_name = "PATH", .file = OPTION_WRITES,
        .extensions = "json", .help = "write the report to this file, as JSON"),
    ROW(sarif, .names = {"--sarif"}, .kind = OPTION_ONE, .value_name = "FILE.sarif", .file = OPTION_WRITES,
        .extensions = "sarif json",
        .help = "write the findings as SARIF 2.1.0, for code scanning and editors (docs/ci.md). Paths are relative to "
                "the current folder. No file is written if the model could not be checked"),
};

static int finish_lint(struct parse *parse, void *given, struct error *err)
{
    const struct check_lint_settings *settings = given;

    (void)parse;
    return output_folder_check("--sarif", settings->sarif, err);
}

static const struct option_group lint_options = {
    .title = "Report",
    OPTION_ROWS(options),
    .finish = finish_lint,
};

/* The model's file, or a copy in memory, `ret_bytes`, if its external data are in another folder. */
static int choose_model(const struct check_lint_settings *settings, struct model *model,
                        struct backend_request *request, char **ret_bytes, struct error *err)
{
    if (settings->file.load.external_data_dir != NULL)
        return model_io_write(model, ret_bytes, &request->model, err);
    request->model.path = model->display_name;
    return 0;
}

static int lint_model(const struct command_context *context, const struct check_lint_settings *settings,
                      struct model *model, struct lint_report *report, struct error *err)
{
    struct backend_request request = model_file_request_for(context, &settings->file, model);
    struct lint lint = {
        .model = model,
        .backend = model_file_runtime(&settings->file),
        .request = &request,
        .log = context->log,
        .report = report,
    };
    char *bytes = NULL;
    int rc = data_loader_from_options(context, &settings->file, model, &lint.loader, err);

    if (rc < 0)
        return rc;
    rc = choose_model(settings, model, &request, &bytes, err);
    if (rc == 0)
        rc = lint_run(&lint, err);
    data_loader_free(lint.loader);
    free(bytes);
    return rc;
}

/* Missing weights are an error of the command line, not a finding about the model. */
static int find_external_data(const struct check_lint_settings *settings, struct model *model, struct error *err)
{
    struct text_list locations SCOPED_ITEMS = {0};
    struct subgraph whole SCOPED(subgraph_release) = {0};
    struct error why = {0};
    int rc = 0;

    if (settings->file.load.ignore_external_data)
        return 0;
    subgraph_init_whole(&whole, model);
    if (external_data_locations(&whole, &locations, &why) == 0)
        for (size_t i = 0; rc == 0 && i < locations.count; i++) {
            char *path SCOPED_FREE = NULL;

            if (external_data_path(model, locations.items[i], &path, &why) == ERR_MISSING)
                rc = error_set(err, ERR_MISSING, "%s", why.message);
        }
    return rc;
}

/* An invalid model file is a finding, too. */
static int load_and_lint(const struct command_context *context, const struct check_lint_settings *settings,
                         struct lint_report *report, struct error *err)
{
    struct model *model;
    int rc = model_file_load(context, &settings->file, &model, err);

    if (rc == ERR_CORRUPT) {
        lint_report_add(report, &lint_rules[LINT_RULE_UNREADABLE], NULL, text_of(err->message));
        log_message(context->log, LOG_ERROR, "LINT | %s", err->message);
        return 0;
    }
    if (rc < 0)
        return rc;
    rc = find_external_data(settings, model, err);
    if (rc == 0)
        rc = lint_model(context, settings, model, report, err);
    model_free(model);
    return rc;
}

static int save_lint_report(struct log *log, const struct lint_report *report, const char *path, struct error *err)
{
    if (path == NULL)
        return 0;
    log_message(log, LOG_INFO, "Saving linting report to %s", path);
    return lint_report_save(report, path, err);
}

static int write_all(const struct command_context *context, const struct check_lint_settings *values,
                     const struct lint_report *report, struct error *err)
{
    int rc = save_lint_report(context->log, report, values->output, err);

    if (rc < 0)
        return rc;
    rc = save_lint_report(context->log, report, values->json.path, err);
    if (rc < 0)
        return rc;
    lint_results_add_tests(context, report);
    return lint_results_save_sarif(context, report, values->file.model.path, values->sarif, err);
}

static int check_lint_run(const struct command_context *context, const struct check_lint_settings *settings,
                          struct error *err)
{
    struct lint_report report = {0};
    bool bad;
    int rc = load_and_lint(context, settings, &report, err);

    lint_report_finish(&report);
    if (rc == 0)
        rc = write_all(context, settings, &report, err);
    bad = lint_report_has_exceptions(&report);
    lint_report_release(&report);
    return rc < 0 ? rc : bad;
}

DEFINE_COMMAND_RUN(check_lint_run, struct check_lint_settings)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct check_lint_settings, common.logging, logging_options),
    COMMAND_GROUP(struct check_lint_settings, file.model, lint_model_options),
    COMMAND_GROUP(struct check_lint_settings, file.load, onnx_load_options),
    COMMAND_GROUP(struct check_lint_settings, file.data, data_loader_options),
    COMMAND_GROUP(struct check_lint_settings, file.onnxrt, onnxrt_options),
    COMMAND_GROUP(struct check_lint_settings, file.bounds, onnxrt_bounds_options),
    {&lint_options, 0},
    COMMAND_GROUP(struct check_lint_settings, json, json_options),
    COMMAND_GROUP(struct check_lint_settings, common.junit, junit_options),
};

const struct command cmd_check_lint = {
    .name = "lint",
    .summary = "find errors in a model and the nodes that cause them",
    .description =
        "Checks the graph, and runs the model in ONNX Runtime. If that fails, each node runs separately on the outputs "
        "of its predecessors, so that all wrong nodes are found at once. ONNX Runtime runs in a worker process: a "
        "crash, or exceeding the memory or time limit, is a finding, too.\n\nAn \"exception\" is an error, with exit "
        "code 1; a \"warning\" is a possible error: an operator that ONNX Runtime does not know, a node or an input "
        "that no output depends on, and warnings of ONNX Runtime. The report also lists the nodes that pass and those "
        "that fail; nodes downstream of a failing one are in neither list. --json is another name for --output.",
    .example = "polygraphy check lint model.onnx -o report.json",
    COMMAND_GROUPS(groups),
    .essential = "-o --input-shapes --load-inputs --json --sarif --junit -v",
    .framed = true,
    COMMAND_RUN(check_lint_run),
};
