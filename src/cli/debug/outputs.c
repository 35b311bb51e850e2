/* cli/debug/outputs.c: see outputs.h. */
#include "cli/debug/outputs.h"

#include <math.h>
#include <stdlib.h>

#include "base/file/file.h"
#include "debug/check/report.h"
#include "format/ci/junit.h"

/* Bytes of each stream of a check in a test case; artifacts contain the rest, if requested. */
#define LOG_SHOWN ((size_t)8 << 10)

/* ---- What the session judges ---- */

static void add_output(const struct process_output *output, struct string_builder *ret)
{
    SCOPED_STRING(text);

    check_output_render(output, &text);
    if (text.size > 2 * LOG_SHOWN) {
        string_add_text(ret, (struct text){text.data, LOG_SHOWN});
        string_add_format(ret, "\n... %zu bytes ...\n", text.size - 2 * LOG_SHOWN);
        string_add_text(ret, (struct text){text.data + text.size - LOG_SHOWN, LOG_SHOWN});
    } else {
        string_add_text(ret, (struct text){text.data, text.size});
    }
}

/* The candidates of a search are not test cases: failures among them are expected. */
static void add_test(const struct debug_outputs *outputs, const struct judged_candidate *judged,
                     const struct report_candidate *candidate)
{
    static const enum junit_outcome outcomes[] = {
        [VERDICT_PASS] = JUNIT_PASSED, [VERDICT_FAIL] = JUNIT_FAILED, [VERDICT_SKIP] = JUNIT_SKIPPED};
    static const char *const messages[] = {
        [VERDICT_PASS] = "", [VERDICT_FAIL] = "the check failed", [VERDICT_SKIP] = "the check was inconclusive"};
    struct junit_case item = {.name = judged->what,
                              .outcome = outcomes[judged->verdict],
                              .message = messages[judged->verdict],
                              .details = candidate->log,
                              .seconds = candidate->seconds};

    if (!outputs->counts && judged->nodes >= 0)
        junit_add_line(outputs->context->junit, "%s: %s (%.0f in size)", judged->what, candidate->verdict,
                       candidate->size);
    else if (!outputs->counts)
        junit_add_line(outputs->context->junit, "%s: %s", judged->what, candidate->verdict);
    else if (judged->iteration >= 0)
        junit_add_case(outputs->context->junit, &item);
}

static void add_candidate(void *data, const struct judged_candidate *judged)
{
    const struct debug_outputs *outputs = data;
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
    report_add_candidate(outputs->report, &candidate);
    add_test(outputs, judged, &candidate);
}

/* ---- The beginning ---- */

int debug_outputs_open(struct debug_outputs *outputs, const struct command_context *context,
                       const struct debug_values *debug, const char *tool, struct error *err)
{
    int rc;

    *outputs = (struct debug_outputs){.context = context, .debug = debug, .tool = tool};
    if (debug->json.path != NULL) {
        rc = json_writer_open(&outputs->json, debug->json.path, err);
        if (rc < 0)
            return error_context(err, "--json");
        outputs->has_json = true;
    }
    outputs->result = result_new(tool);
    return 0;
}

void debug_outputs_watch(struct debug_outputs *outputs, const char *unit, struct session_settings *settings)
{
    const struct command_context *context = outputs->context;
    const struct report_values *values = &outputs->debug->report;

    outputs->report = context->junit != NULL ? report_begin_always(context, outputs->tool, settings->model)
                                             : report_begin(context, values, outputs->tool, settings->model);
    if (outputs->report == NULL)
        return;
    report_set_search(outputs->report, unit);
    settings->judged = add_candidate;
    settings->judged_data = outputs;
}

/* ---- The answer ---- */

void debug_outputs_add_model(struct debug_outputs *outputs, struct model *model)
{
    if (outputs->report == NULL || model == NULL)
        return;
    report_add_environment(outputs->report, "model", model->display_name);
    report_add_network(outputs->report, model);
}

void debug_outputs_count_failures(struct debug_outputs *outputs, const char *unit, const struct debug_session *session)
{
    int64_t failed = session_state(session).failed, all = session_state(session).passed + failed;

    result_set_verdict(outputs->result,
                       failed > 0 ? REPORT_FAILED
                       : all > 0  ? REPORT_PASSED
                                  : REPORT_UNKNOWN,
                       "%lld of %lld %s failed", (long long)failed, (long long)all, unit);
}

static void write_checks(struct json_writer *writer, const struct session_state *state)
{
    json_writer_add_integer(writer, "passed", state->passed);
    json_writer_add_integer(writer, "failed", state->failed);
    json_writer_add_integer(writer, "skipped", state->skipped);
    json_writer_begin_object_member(writer, "checks");
    json_writer_add_integer(writer, "failed", state->checks->failed);
    json_writer_add_integer(writer, "passed", state->checks->passed);
    json_writer_add_integer(writer, "other_failure", state->checks->other_failure);
    json_writer_add_integer(writer, "skipped", state->checks->skipped);
    json_writer_add_integer(writer, "timed_out", state->checks->timed_out);
    json_writer_add_integer(writer, "signaled", state->checks->signaled);
    json_writer_end_object(writer);
}

static int save_json_result(struct debug_outputs *outputs, const struct session_state *state, struct error *err)
{
    if (!outputs->has_json)
        return 0;
    json_writer_begin_object(&outputs->json);
    result_write(outputs->result, &outputs->json);
    if (state != NULL)
        write_checks(&outputs->json, state);
    json_writer_end_object(&outputs->json);
    return json_writer_commit(&outputs->json, FILE_DURABLE, err);
}

static int save_page(struct debug_outputs *outputs, const struct session_state *state, bool found, struct error *err)
{
    struct report *report = outputs->report;

    if (report == NULL)
        return 0;
    result_show(outputs->result, report);
    if (state != NULL)
        report_add_proof(report, "%lld iterations: %lld passed, %lld failed, %lld skipped",
                         (long long)(state->passed + state->failed + state->skipped), (long long)state->passed,
                         (long long)state->failed, (long long)state->skipped);
    if (!outputs->counts)
        junit_add_verdict(outputs->context->junit, report, found);
    outputs->report = NULL;
    return report_finish(outputs->context, &outputs->debug->report, report, err);
}

int debug_outputs_finish(struct debug_outputs *outputs, struct debug_session *session, int rc, bool found,
                         struct error *err)
{
    const struct command_context *context = outputs->context;
    struct session_state state;

    if (session != NULL)
        state = session_state(session);
    if (rc == ERR_INTERRUPTED && session != NULL) {
        const char *hint = session_resume_hint(session, context->command_line);
        if (hint)
            log_message(context->log, LOG_CRITICAL, "%s", hint);
    }
    if (rc < 0)
        return rc;
    if (!outputs->has_polygraphy_log)
        result_log(outputs->result, context->log);
    rc = save_page(outputs, session != NULL ? &state : NULL, found, err);
    if (rc == 0)
        rc = save_json_result(outputs, session != NULL ? &state : NULL, err);
    if (rc < 0)
        return rc;
    if (session != NULL)
        check_counts_log(state.checks, context->log);
    if (!outputs->debug->exit_code)
        return 0;
    if (outputs->counts)
        return session != NULL && state.failed > 0 ? EXIT_STATUS_FAILED_ITERATION : 0;
    return found ? 0 : EXIT_STATUS_NOT_REPRODUCED;
}

void debug_outputs_close(struct debug_outputs *outputs)
{
    result_free(outputs->result);
    report_free(outputs->report);
    if (outputs->has_json)
        json_writer_release(&outputs->json); /* without a commit the file is removed */
    *outputs = (struct debug_outputs){.has_json = false};
}
