/* cli/options/report.c: options of the HTML report, and its creation. */

#include "base/file/file.h"
#include "base/memory.h"
#include "base/system.h"
#include "base/text/shell_line.h"
#include "cli/options/groups.h"
#include "cli/parse/command.h"

#define ROW(member, ...) OPTION_ROW(struct report_values, member, __VA_ARGS__)

static const struct option options[] = {
    ROW(files.page, .names = {"--report"}, .kind = OPTION_ONE, .value_name = "FILE.html", .file = OPTION_WRITES,
        .extensions = "html",
        .help = "write the result as an HTML page: one file that needs no network connection and draws the graph"),
    ROW(files.data, .names = {"--report-data"}, .kind = OPTION_ONE, .value_name = "FILE.json", .file = OPTION_WRITES,
        .extensions = "json",
        .help = "write the data of the report as JSON, with or without --report. docs/report.md describes it"),
};

/* Checked before the work starts, because hours may pass before the file is written. */
int output_folder_check(const char *option, const char *path, struct error *err)
{
    char *folder SCOPED_FREE = path != NULL ? file_folder(path) : NULL;
    int rc = 0;

    if (path != NULL && path[0] == '\0')
        rc = error_set(err, ERR_INVALID, "%s: the name of the file to write is empty", option);
    else if (folder != NULL && file_exists(folder) && !file_is_folder(folder))
        rc = error_set(err, ERR_INVALID, "%s: cannot write '%s': '%s' is not a folder", option, path, folder);
    return rc;
}

static int finish_report(struct parse *parse, void *given, struct error *err)
{
    const struct report_values *values = given;
    int rc = output_folder_check("--report", values->files.page, err);

    (void)parse;
    return rc < 0 ? rc : output_folder_check("--report-data", values->files.data, err);
}

const struct option_group report_options = {
    .title = "Report",
    OPTION_ROWS(options),
    .finish = finish_report,
};

struct report *report_begin(const struct command_context *context, const struct report_values *values, const char *tool,
                            const char *model)
{
    if (values->files.page == NULL && values->files.data == NULL)
        return NULL;
    return report_begin_always(context, tool, model);
}

void command_line_add(const struct command_context *context, struct string_builder *ret)
{
    struct shell_quotes quotes = {0};

    for (size_t i = 0; context->command_line[i] != NULL; i++) {
        string_add(ret, i > 0 ? " " : "");
        shell_add_word(ret, context->command_line[i], &quotes);
    }
}

struct report *report_begin_always(const struct command_context *context, const char *tool, const char *model)
{
    char *name SCOPED_FREE = model != NULL ? file_basename(model) : NULL;
    SCOPED_STRING(text);
    struct report *report;

    string_add_format(&text, "%s%s%s", tool, name != NULL ? " " : "", name != NULL ? name : "");
    report = report_new(text.data);
    string_clear(&text);
    command_line_add(context, &text);
    report_add_command(report, NULL, text.data);
    report_add_environment(report, "program", "polygraphy " POLYGRAPHY_VERSION);
    string_clear(&text);
    system_add_processor_name(&text);
    report_add_environment(report, "processor", text.data);
    return report;
}

int report_finish(const struct command_context *context, const struct report_values *values, struct report *report,
                  struct error *err)
{
    int rc = report_write(report, &values->files, context->log, err);

    if (rc == 0 && report != NULL && values->files.page != NULL)
        log_message(context->log, LOG_INFO, "Report: %s", values->files.page);
    report_free(report);
    return rc;
}
