/* debug/check/report.c: see report.h. */
#include "debug/check/report.h"

#include "base/text/number.h"
#include "debug/check/output.h"
#include "debug/check/verdict_rules.h"

static void show_stream(const char *name, const struct process_output *output, enum log_level level, struct log *log)
{
    struct string_builder message;

    if (!log_shows(log, level))
        return;
    string_init(&message);
    string_add_format(&message, "========== CAPTURED %s ==========\n", name);
    check_output_render(output, &message);
    log_text(log, level, (struct text){message.data, message.size});
    string_release(&message);
}

static bool is_output_wanted(const struct check_settings *settings, enum verdict verdict)
{
    return verdict == VERDICT_FAIL ? !settings->hide_fail_output : settings->show_output;
}

bool check_report_shows_output(const struct check_settings *settings, enum verdict verdict, const struct log *log)
{
    return is_output_wanted(settings, verdict) && log_shows(log, LOG_INFO);
}

static void show_output(const struct check_settings *settings, const struct process_result *result,
                        enum verdict verdict, struct log *log)
{
    bool failed = verdict == VERDICT_FAIL;

    if (!is_output_wanted(settings, verdict))
        return;
    show_stream("STDOUT", &result->out, LOG_INFO, log);
    show_stream("STDERR", &result->error_out, failed ? LOG_ERROR : LOG_WARNING, log);
}

/* A script that calls `sh -c` with a misspelt name would otherwise look like a check that always fails. */
static void warn_about_shell(int code, struct log *log)
{
    if (code == 127)
        log_message(log, LOG_WARNING,
                    "The shell ended with code 127: it did not find the command. "
                    "This says nothing about what was to be checked");
    else if (code == 126)
        log_message(log, LOG_WARNING,
                    "The shell ended with code 126: it could not execute the command. "
                    "This says nothing about what was to be checked");
}

void check_report(const struct check_settings *settings, const struct process_result *result, enum verdict verdict,
                  bool first, struct log *log)
{
    int code = verdict_exit_code(result);
    char number[NUMBER_TEXT_SIZE];

    show_output(settings, result, verdict, log);

    if (result->out.truncated || result->error_out.truncated)
        log_message(log, LOG_WARNING, "The disk of temporary files is full: some of the check's output was lost");
    if (result->end == PROCESS_TIMED_OUT)
        log_message(log, LOG_WARNING, "Check timed out after %s s and was ended with all its children%s",
                    number_to_text(settings->timeout, number),
                    verdict == VERDICT_FAIL                 ? ""
                    : settings->on_timeout != TIMEOUT_FAILS ? " (which is no failure, as --on-timeout says)"
                    : verdict == VERDICT_SKIP               ? " (code 124 is skipped)"
                                                            : " (by the exit codes given, code 124 is a pass)");
    if (result->end == PROCESS_SIGNALED && verdict == VERDICT_PASS && verdict_needs_output(settings, code))
        log_once(log, LOG_WARNING, "Signal %d ended the check. It counts as a pass, because no --fail-regex was found",
                 result->code);
    if (settings->timeout == 0 && !settings->auto_timeout && result->seconds > CHECK_LONG_SECONDS)
        log_once(log, LOG_INFO,
                 "The check took more than a minute. Should it hang: "
                 "--check-timeout <seconds> ends such a check and counts it as a failure");
    if (first && settings->shell)
        warn_about_shell(code, log);
}
