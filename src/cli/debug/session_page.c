/* cli/debug/session_page.c: see session_page.h. */
#include "cli/debug/session_page.h"

#include <math.h>

#include "base/file/file.h"
#include "cli/options/groups.h"
#include "debug/check/report.h"
#include "format/ci/junit.h"

/* Of each stream of a check; what lies in between is in artifacts, where they were wanted. */
#define LOG_SHOWN ((size_t)8 << 10)

static void add_output(const struct process_output *output, struct string_builder *ret)
{
    struct string_builder text;

    string_init(&text);
    check_output_render(output, &text);
    if (text.size > 2 * LOG_SHOWN) {
        string_add_text(ret, (struct text){text.data, LOG_SHOWN});
        string_add_format(ret, "\n... %zu bytes ...\n", text.size - 2 * LOG_SHOWN);
        string_add_text(ret, (struct text){text.data + text.size - LOG_SHOWN, LOG_SHOWN});
    } else {
        string_add_text(ret, (struct text){text.data, text.size});
    }
    string_release(&text);
}

/* Of a search, what was tried is not what is tested: bad candidates are its daily bread. */
static void add_test(const struct session_page *page, const struct judged_candidate *judged,
                     const struct report_candidate *candidate)
{
    static const enum junit_outcome outcomes[] = {
        [VERDICT_PASS] = JUNIT_PASSED, [VERDICT_FAIL] = JUNIT_FAILED, [VERDICT_SKIP] = JUNIT_SKIPPED};
    static const char *const messages[] = {
        [VERDICT_PASS] = "", [VERDICT_FAIL] = "the check failed", [VERDICT_SKIP] = "the check said nothing"};
    struct junit_case item = {.name = judged->what,
                              .outcome = outcomes[judged->verdict],
                              .message = messages[judged->verdict],
                              .details = candidate->log,
                              .seconds = candidate->seconds};

    if (!page->counts && judged->nodes >= 0)
        junit_add_line(page->junit, "%s: %s (%.0f in size)", judged->what, candidate->verdict, candidate->size);
    else if (!page->counts)
        junit_add_line(page->junit, "%s: %s", judged->what, candidate->verdict);
    else if (judged->iteration >= 0)
        junit_add_case(page->junit, &item);
}

static void add_candidate(void *data, const struct judged_candidate *judged)
{
    const struct session_page *page = data;
    static const char *const verdicts[] = {
        [VERDICT_PASS] = "passed", [VERDICT_FAIL] = "failed", [VERDICT_SKIP] = "skipped"};
    struct report_candidate candidate = {.number = judged->iteration,
                                         .size = judged->nodes >= 0 ? (double)judged->nodes : NAN,
                                         .verdict = verdicts[judged->verdict],
                                         .note = judged->what,
                                         .seconds = NAN};
    SCOPED_STRING(log);

    if (judged->result != NULL) {
        candidate.seconds = judged->result->seconds;
        if (judged->result->end == PROCESS_TIMED_OUT)
            candidate.verdict = "timed out";
        add_output(&judged->result->out, &log);
        add_output(&judged->result->error_out, &log);
    }
    candidate.log = (struct text){log.data, log.size};
    report_add_candidate(page->report, &candidate);
    add_test(page, judged, &candidate);
}

void session_page_begin(struct session_page *page, const struct command_context *context,
                        const struct report_values *values, const char *tool, const char *unit,
                        struct session_settings *settings)
{
    char *name = settings->model != NULL ? file_basename(settings->model) : NULL;
    SCOPED_STRING(title);

    string_add(&title, tool);
    if (name != NULL)
        string_add_format(&title, " %s", name);
    page->junit = context->junit;
    page->report =
        page->junit != NULL ? report_begin_always(context, title.data) : report_begin(context, values, title.data);
    free(name);
    if (page->report == NULL)
        return;
    report_set_search(page->report, unit);
    settings->judged = add_candidate;
    settings->judged_data = page;
}

int session_page_finish(struct session_page *page, const struct command_context *context,
                        const struct report_values *values, bool found, struct error *err)
{
    struct report *report = page->report;

    if (report != NULL && !page->counts)
        junit_add_verdict(page->junit, report, found);
    page->report = NULL;
    return report_finish(context, values, report, err);
}

void session_page_release(struct session_page *page)
{
    report_free(page->report);
    page->report = NULL;
}

void session_page_add_model(struct report *report, struct model *model)
{
    if (report == NULL || model == NULL)
        return;
    report_add_environment(report, "model", model->display_name);
    report_add_network(report, model);
}

void session_page_add_checks(struct report *report, const struct debug_session *session)
{
    if (report != NULL)
        report_add_proof(
            report, "%lld iterations: %lld passed, %lld failed, %lld skipped",
            (long long)(session_state(session).passed + session_state(session).failed + session_state(session).skipped),
            (long long)session_state(session).passed, (long long)session_state(session).failed,
            (long long)session_state(session).skipped);
}

void session_page_tell_rate(struct report *report, const char *unit, const struct debug_session *session)
{
    int64_t failed = session_state(session).failed, all = session_state(session).passed + failed;

    report_set_verdict(report,
                       failed > 0 ? REPORT_FAILED
                       : all > 0  ? REPORT_PASSED
                                  : REPORT_UNKNOWN,
                       "%lld of %lld %s failed", (long long)failed, (long long)all, unit);
    session_page_add_checks(report, session);
}
