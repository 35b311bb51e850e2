/* cli/check_lint.c: what is wrong with a model. */
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
        .help = "write what was found as SARIF 2.1.0, which code scanning and editors show (docs/ci.md); paths are "
                "relative to the current folder. There is no file when the model could not be checked"),
};

static int finish_lint(struct parse *parse, void *given, struct error *err)
{
    const struct check_lint_settings *settings = given;

    (void)parse;
    return output_folder_check("--sarif", settings->sarif, err);
}

static const struct option_group lint_options = {
    .title = "Report",
    .options = options,
    .count = ARRAY_LEN(options),
    .finish = finish_lint,
};

/* The file itself, unless its external data lie elsewhere: then a copy in memory, `ret_bytes`. */
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
    int rc = data_loader_from_options(context, &settings->file, &lint.loader, err);

    if (rc < 0)
        return rc;
    rc = choose_model(settings, model, &request, &bytes, err);
    if (rc == 0)
        rc = lint_run(&lint, err);
    data_loader_free(lint.loader);
    free(bytes);
    return rc;
}

/* Without its weights a model cannot be judged, which is not its fault. */
static int find_external_data(const struct check_lint_settings *settings, struct model *model, struct error *err)
{
    const struct onnx_load_values *load = &settings->file.load;
    struct text_list locations = {0};
    struct subgraph whole;
    struct error why = {0};
    int rc = 0;

    if (load->ignore_external_data)
        return 0;
    subgraph_init_whole(&whole, model);
    if (external_data_locations(&whole, &locations, &why) == 0)
        for (size_t i = 0; rc == 0 && i < locations.count; i++) {
            char *path = NULL;

            if (external_data_path(model, locations.items[i], &path, &why) == ERR_MISSING)
                rc = error_set(err, ERR_MISSING, "%s", why.message);
            free(path);
        }
    free(locations.items);
    subgraph_release(&whole);
    return rc;
}

/* A file that is no model is a finding, too. */
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

/* What a page of help has. */
static const char *const essential[] = {"-o", "--input-shapes", "--load-inputs", "--json", "--sarif", "--junit", "-v",
                                        NULL};

const struct command cmd_check_lint = {
    .name = "lint",
    .summary = "say what is wrong with a model, and at which node",
    .description = "Checks the graph, and runs the model in ONNX Runtime. "
                   "When it does not run, every node runs alone on what the nodes in front of it have made, "
                   "so that all nodes at fault are found at once. "
                   "ONNX Runtime is at work in a process of its own: "
                   "that it crashes, or needs more memory or time than it may have, is a finding like others.\n\n"
                   "An \"exception\" is a mistake, and makes the exit code 1; "
                   "a \"warning\" is something that may be one: "
                   "an operator that ONNX Runtime does not know, a node or an input that no output depends on, "
                   "and what ONNX Runtime itself warns of when the model runs. "
                   "The report also lists the nodes that pass and those that fail; "
                   "nodes behind one that fails are in neither list. "
                   "--json is another name for --output.",
    .example = "polygraphy check lint model.onnx -o report.json",
    .groups = groups,
    .group_count = ARRAY_LEN(groups),
    .essential = essential,
    .framed = true,
    COMMAND_RUN(check_lint_run),
};
