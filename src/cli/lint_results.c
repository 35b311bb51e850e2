/* cli/lint_results.c: see lint_results.h. */
#include "cli/lint_results.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system.h"
#include "cli/options/groups.h"
#include "format/ci/junit.h"
#include "format/ci/sarif.h"

static bool was_applied(const struct lint_report *report, const struct lint_rule *rule)
{
    if (rule->source == LINT_RUNTIME && rule != &lint_rules[LINT_RULE_NOT_RUN])
        for (size_t i = 0; i < report->entries.count; i++)
            if (report->entries.items[i].rule == &lint_rules[LINT_RULE_NOT_RUN])
                return false;
    return report->looked[rule->source];
}

static void add_test(struct junit *junit, const struct lint_report *report, const struct lint_rule *rule)
{
    struct junit_case item = {.name = rule->id, .message = rule->summary, .seconds = NAN};
    SCOPED_STRING(lines);
    size_t count = 0;

    VECTOR_EACH (const struct lint_entry, entry, report->entries) {
        if (entry->rule != rule)
            continue;
        count++;
        if (entry->node != NULL)
            string_add_format(&lines, "node '%s': ", entry->node);
        string_add_format(&lines, "%s\n", entry->message + strspn(entry->message, " "));
    }
    item.details = (struct text){lines.data, lines.size};
    if (count > 0)
        item.outcome = rule->level == LINT_EXCEPTION ? JUNIT_FAILED : JUNIT_PASSED;
    else
        item.outcome = was_applied(report, rule) ? JUNIT_PASSED : JUNIT_SKIPPED;
    if (item.outcome == JUNIT_SKIPPED)
        item.message = "not applied: an earlier check has failed, or the model was not run";
    junit_add_case(junit, &item);
}

void lint_results_add_tests(const struct command_context *context, const struct lint_report *report)
{
    for (size_t i = 0; context->junit != NULL && i < LINT_RULE_COUNT; i++)
        add_test(context->junit, report, &lint_rules[i]);
}

int lint_results_save_sarif(const struct command_context *context, const struct lint_report *report, const char *model,
                            const char *path, struct error *err)
{
    SCOPED_STRING(command);
    struct sarif_run run = {.version = POLYGRAPHY_VERSION,
                            .path = model,
                            .rules = lint_rules,
                            .rule_count = LINT_RULE_COUNT,
                            .report = report};
    char *folder SCOPED_FREE = NULL;

    if (path == NULL)
        return 0;
    folder = getcwd(NULL, 0);
    command_line_add(context, &command);
    run.command = command.data;
    run.folder = folder != NULL ? folder : "";
    log_message(context->log, LOG_INFO, "Saving findings to %s", path);
    return sarif_save(&run, path, err);
}
