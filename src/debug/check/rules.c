/* debug/check/rules.c: see rules.h. */
#include "debug/check/rules.h"

int check_exit_code(const struct process_result *result)
{
    switch (result->end) {
    case PROCESS_EXITED:
        return result->code;
    case PROCESS_SIGNALED:
        return -result->code;
    case PROCESS_TIMED_OUT:
        break;
    }
    return CHECK_TIMED_OUT_CODE;
}

static bool has_code(const struct exit_codes *codes, int code)
{
    for (size_t i = 0; i < codes->count; i++) {
        if (codes->items[i] == code)
            return true;
    }
    return false;
}

bool check_rules_name_code(const struct check_rules *rules, int code)
{
    return has_code(&rules->fail_codes, code) || has_code(&rules->ignored_codes, code) ||
           has_code(&rules->skip_codes, code);
}

/* By convention exit code 125 means inconclusive, unless an option gives it another meaning. */
static bool is_skipped(const struct check_rules *rules, int code)
{
    return has_code(&rules->skip_codes, code) || (code == CHECK_UNTESTABLE_CODE && !check_rules_name_code(rules, code));
}

/* Whether this exit code can be a failure. */
static bool code_may_fail(const struct check_rules *rules, int code)
{
    if (has_code(&rules->ignored_codes, code) || is_skipped(rules, code))
        return false;
    return rules->fail_codes.count == 0 || has_code(&rules->fail_codes, code);
}

bool check_rules_need_output(const struct check_rules *rules, int code)
{
    return rules->fail_patterns.count > 0 && code_may_fail(rules, code);
}

enum verdict check_rules_verdict(const struct check_rules *rules, int code, bool output_matches)
{
    if (is_skipped(rules, code))
        return VERDICT_SKIP;
    if (!code_may_fail(rules, code))
        return VERDICT_PASS;
    if (rules->fail_patterns.count > 0)
        return output_matches ? VERDICT_FAIL : VERDICT_PASS;
    return rules->fail_codes.count > 0 || code != 0 ? VERDICT_FAIL : VERDICT_PASS;
}
