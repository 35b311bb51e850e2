/* debug/loop/confirm.c: what an answer rests on is of a check that was run in this session. */
#include "debug/loop/state.h"

bool loop_has_run(const struct loop *loop, struct hash identity)
{
    const struct seen_candidate *seen = seen_candidates_find(&loop->seen, identity);

    return seen != NULL && seen->source == VERDICT_OF_CHECK;
}

/* What was known is not so. */
static int refuse_known_verdict(struct loop *loop, const struct trial *trial, enum verdict expected, struct error *err)
{
    static const char *const before[] = {
        [VERDICT_PASS] = "passes", [VERDICT_FAIL] = "fails", [VERDICT_SKIP] = "says nothing"};
    static const char *const now[] = {
        [VERDICT_PASS] = "it passes", [VERDICT_FAIL] = "it fails", [VERDICT_SKIP] = "the check says nothing about it"};
    const struct loop_settings *settings = &loop->settings;

    if (trial->earlier == VERDICT_OF_CHECK)
        return loop_refuse_check(
            loop, err,
            "%s %s, but in the form in which it is written, with all types and shapes that are known by now, %s. If "
            "that is not by chance (--flaky), give them to the model first: polygraphy surgeon sanitize. This time",
            trial->what, before[expected], now[trial->verdict]);
    return loop_refuse_check(
        loop, err,
        "%s %s according to the %s '%s', but now that it is checked, %s. So nothing that is known from there is "
        "certain: what the check does has changed since, or it depends on chance. %s; if the failure itself comes "
        "and goes, use --flaky. This time",
        trial->what, before[expected], trial->earlier == VERDICT_OF_CACHE ? "verdict cache" : "debug replay",
        trial->earlier == VERDICT_OF_CACHE ? settings->verdict_cache : settings->load_replay, now[trial->verdict],
        trial->earlier == VERDICT_OF_CACHE ? "Delete that folder" : "Begin anew, without --load-debug-replay");
}

int loop_confirm(struct loop *loop, const struct loop_subject *subject, const char *what, enum verdict expected,
                 struct error *err)
{
    struct trial trial = {.subject = subject, .index = -1, .key = "", .what = what, .anew = true};
    bool known = false;
    int rc = 0;

    if (check_is_interactive(loop->check))
        return 0;
    if (subject->may_be_kept)
        rc = trial_recall(loop, &trial, &known, err);
    if (rc == 0 && !known)
        rc = trial_check_apart(loop, &trial, err);
    return rc < 0 || trial.verdict == expected ? rc : refuse_known_verdict(loop, &trial, expected, err);
}
