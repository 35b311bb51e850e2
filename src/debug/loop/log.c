/* debug/loop/log.c: see log.h. */
#include "debug/loop/log.h"

#include <inttypes.h>
#include <string.h>

#include "base/text/number.h"

void loop_log_start(struct log *log, const struct loop_subject *subject, int64_t number)
{
    if (subject->remaining)
        log_message(log, LOG_START,
                    "RUNNING | Iteration %" PRId64 " | Approximately %" PRId64 " iteration(s) remaining", number,
                    subject->remaining(subject->data));
    else
        log_message(log, LOG_START, "RUNNING | Iteration %" PRId64, number);
}

void loop_log_end(struct log *log, enum verdict verdict, enum checked what_it_was, const char *what, double seconds)
{
    static const char *const words[] = {
        [VERDICT_PASS] = "PASSED", [VERDICT_FAIL] = "FAILED", [VERDICT_SKIP] = "SKIPPED"};
    static const enum log_level levels[][3] = {
        [CHECKED_CANDIDATE] = {[VERDICT_PASS] = LOG_FINISH, [VERDICT_FAIL] = LOG_ERROR, [VERDICT_SKIP] = LOG_WARNING},
        [CHECKED_APART] = {[VERDICT_PASS] = LOG_FINISH, [VERDICT_FAIL] = LOG_FINISH, [VERDICT_SKIP] = LOG_WARNING},
        [CHECKED_CONTROL] = {[VERDICT_PASS] = LOG_INFO, [VERDICT_FAIL] = LOG_INFO, [VERDICT_SKIP] = LOG_INFO},
    };
    char number[NUMBER_TEXT_SIZE];

    log_message(log, levels[what_it_was][verdict], "%s | %s | Duration %ss", words[verdict], what,
                number_to_text(seconds, number));
}

void loop_log_reuse(struct log *log, const struct loop_subject *subject, const struct seen_candidate *seen)
{
    const char *phase = subject->suffix;

    if (seen->phase && (!phase || strcmp(seen->phase, phase) != 0))
        log_message(log, LOG_INFO, "Identical to %s of the %s: its verdict is reused", seen->what, seen->phase);
    else
        log_message(log, LOG_INFO, "Identical to %s: its verdict is reused", seen->what);
}
