/* cli/debug/accuracy_result.c: see accuracy_result.h. */
#include "cli/debug/accuracy_result.h"

#include <string.h>

#include "base/memory.h"
#include "base/system.h"
#include "base/text/shell_line.h"

static const struct result_column step_columns[] = {
    {"name", NULL, RESULT_TEXT, false},      {"hypothesis", NULL, RESULT_TEXT, false},
    {"why", NULL, RESULT_TEXT, false},       {"command", NULL, RESULT_TEXT, false},
    {"outcome", NULL, RESULT_TEXT, false},   {"exit_status", NULL, RESULT_COUNT, false},
    {"checks", NULL, RESULT_COUNT, false},   {"builds", NULL, RESULT_COUNT, false},
    {"seconds", NULL, RESULT_NUMBER, false},
};

/* The page has a section of its own for them. */
static const struct result_table step_table = {
    .key = "steps", .columns = step_columns, .column_count = ARRAY_LEN(step_columns)};

static void add_steps(const struct study *study, struct result *ret)
{
    result_begin_table(ret, &step_table);
    for (size_t i = 0; i < study->steps.count; i++) {
        const struct study_step *step = study->steps.items[i];

        result_add_row(ret, (const struct result_cell[]){{.text = step->name},
                                                         {.text = step->hypothesis},
                                                         {.text = step->why},
                                                         {.text = step->command},
                                                         {.text = step->outcome},
                                                         {.number = step->exit_status},
                                                         {.number = (double)step->checks},
                                                         {.number = (double)step->builds},
                                                         {.number = step->seconds}});
    }
}

static void add_cause_facts(const struct cause *cause, struct result *ret)
{
    if (cause->kind == CAUSE_UNKNOWN) {
        result_add_null(ret, "cause");
        return;
    }
    result_begin_record(ret, "cause");
    result_add_text(ret, "kind", cause_kind_name(cause->kind));
    result_add_text(ret, "sentence", cause->sentence);
    result_add_names(ret, "nodes", cause->nodes);
    result_add_names(ret, "tensors", cause->tensors);
    result_add_text(ret, "tactic", cause->tactic);
    result_add_flag(ret, "proven", cause->proven);
    if (cause->fix.what != NULL) {
        result_begin_record(ret, "fix");
        result_add_text(ret, "what", cause->fix.what);
        result_add_names(ret, "options", cause->fix.options);
        result_add_text(ret, "model", cause->fix.model);
        result_add_flag(ret, "holds", cause->fix.holds);
        result_end_record(ret);
    } else {
        result_add_null(ret, "fix");
    }
    result_end_record(ret);
}

/* With the options, or the model, that can be used as they are. */
static void add_fix(const struct cause_fix *fix, struct result *ret)
{
    SCOPED_STRING(options);

    if (fix->what == NULL)
        return;
    for (size_t i = 0; i < fix->options.count; i++)
        shell_add_argument(&options, fix->options.items[i]);
    if (options.size > 0 && strcmp(options.data, fix->what) == 0) /* the options are their own description */
        string_clear(&options);
    result_add_line(ret, RESULT_FIX, "%s%s%s%s%s", fix->what, options.size > 0 ? ": " : "",
                    options.size > 0 ? options.data : "", fix->model != NULL ? ": " : "",
                    fix->model != NULL ? fix->model : "");
    if (!fix->holds)
        result_add_line(ret, RESULT_NOT_TESTED, "whether the fix makes the whole model pass");
}

static enum report_verdict find_verdict(const struct study *study)
{
    bool was_seen_to_fail = study->refused || study->failure_rate > 0;

    return study->outcome == OUTCOME_CAUSE           ? REPORT_CAUSE
           : study->outcome == OUTCOME_NOTHING_FAILS ? REPORT_PASSED
           : was_seen_to_fail                        ? REPORT_FAILED
                                                     : REPORT_UNKNOWN;
}

void accuracy_result_fill(const struct study *study, struct result *ret)
{
    static const char *const outcomes[] = {[OUTCOME_OPEN] = "open",
                                           [OUTCOME_CAUSE] = "cause",
                                           [OUTCOME_NOTHING_FAILS] = "nothing-fails",
                                           [OUTCOME_NO_CAUSE] = "no-cause",
                                           [OUTCOME_NO_QUESTION] = "no-question"};
    const struct cause *cause = &study->cause;
    double seconds = stopwatch_now() - study->start;

    result_set_verdict(ret, find_verdict(study), "%s", study->verdict);
    for (size_t i = 0; i < cause->evidence.count; i++)
        result_add_line(ret, RESULT_EVIDENCE, "%s", cause->evidence.items[i]);
    for (size_t i = 0; i < study->not_tested.count; i++)
        result_add_line(ret, RESULT_NOT_TESTED, "%s", study->not_tested.items[i]);
    add_fix(&cause->fix, ret);
    for (size_t i = 0; i < study->notes.count; i++)
        result_add_line(ret, RESULT_NOTE, "%s", study->notes.items[i]);
    result_add_line(ret, RESULT_NOTE,
                    "%zu experiments, %lld runs of the suspect, %lld builds, %.0f s; all files are in "
                    "'%s'",
                    study->steps.count, (long long)study_checks(study), (long long)study_builds(study), seconds,
                    study->question->folder);
    for (size_t i = 0; i < cause->nodes.count; i++)
        result_add_node(ret, cause->nodes.items[i]);
    result_add_text(ret, "outcome", outcomes[study->outcome]);
    add_cause_facts(cause, ret);
    result_add_text(ret, "tolerance", study->tolerance_why);
    result_add_integer(ret, "checks", study_checks(study));
    result_add_integer(ret, "builds", study_builds(study));
    result_add_number(ret, "seconds", seconds);
    add_steps(study, ret);
}
