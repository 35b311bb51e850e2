/* debug/loop/loop.h: the loop that all `debug` tools share.
 *
 * The room debug/loop/ takes candidates to verdicts, one after the other or several at a time. A tool's search and what
 * writes its candidates come in (subject.h); verdicts, a replay and sorted artifacts go out. It uses the rooms check,
 * candidate and cache, and knows nothing about models.
 *
 * In each iteration the tool describes the candidate that its search asks for, the candidate becomes a file, the check
 * gives a verdict, artifacts are sorted, the replay is saved, and the search advances. What this adds to Polygraphy's
 * loop: replays are bound to model and check, identical candidates are checked once, the original is verified first,
 * and an interrupted session leaves no intermediate file and can be resumed.
 */
#ifndef DEBUG_LOOP_LOOP_H
#define DEBUG_LOOP_LOOP_H

#include "debug/loop/settings.h"
#include "debug/loop/subject.h"

struct loop;

/* Prepares a session: compiles the check, loads the replay, refuses an existing intermediate artifact unless the replay
 * is that of this session: then a killed one has left it. `model_hash` identifies what the session is about (NULL:
 * nothing, as in `repeat`). */
int loop_new(const struct loop_settings *settings, const struct hash *model_hash, struct log *log, struct loop **ret,
             struct error *err);
void loop_free(struct loop *loop);

/* Runs iterations until the search is over. May be called again for another phase. */
int loop_run(struct loop *loop, const struct loop_subject *subject, struct error *err);

/* Checks one candidate outside of the numbered iterations. The candidate's identity is remembered like any other. Logs
 * one line before and one after, which call it `request.what`; artifacts are not sorted. To the check it is iteration
 * -1. */
int loop_check(struct loop *loop, const struct loop_subject *subject, struct check_request request, enum verdict *ret,
               struct error *err);

/* The answer rests on `expected` as the verdict on this candidate: has it checked now, whatever this session, a debug
 * replay or a verdict cache knows of it. If it `may_be_kept`, it is written as it will be kept, and that is not
 * checked again if a file of the same bytes was checked in this session. ERR_INVALID, with what to do, when the check
 * says something else. Nothing is done where there is no check, but somebody who is asked. */
int loop_confirm(struct loop *loop, const struct loop_subject *subject, const char *what, enum verdict expected,
                 struct error *err);

/* Has the check, which has said `suspicious` (no skip) of the candidate before, look at a file that is no `kind`
 * ("engine"), under this key of the replay. VERDICT_PASS: it says something else of that. VERDICT_FAIL: it says the
 * same: when it passes, it does not look at candidates; when it fails, it may look all the same. VERDICT_SKIP: that
 * cannot be told, because it writes nothing when it fails, or because the verdict is from a replay. */
int loop_check_sight(struct loop *loop, const char *key, const char *kind, enum verdict suspicious, enum verdict *ret,
                     struct error *err);

/* What errors and warnings say of a check that says the same whatever it is given. */
#define LOOP_NOTHING_SHOWS "nothing shows that it looks at what it is given; let it write what is wrong"

/* What an error says of a check that has changed its mind. */
#define LOOP_NOT_BELIEVED                                                                                              \
    ", so that its verdicts cannot be believed: they depend on chance, on the time, or on what has changed "           \
    "meanwhile. If the failure itself comes and goes, --flaky reckons with it, and `polygraphy debug repeat` counts. " \
    "This time"

/* Has the original checked again, once in a session, when the check of a candidate ends as if the check itself were
 * broken (judge_take_broken_code()): `verify` does that with loop_check(), as ROLE_REPETITION. It is called before
 * the verdict counts; its errors end the session. */
void loop_verify_with(struct loop *loop, int (*verify)(void *data, struct error *err), void *data);

/* The check does not work: shows what its last run has written, -q or not, and sets `err` to the message, a colon, and
 * how that run ended. Returns ERR_INVALID. */
int loop_refuse_check(struct loop *loop, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What the runs of the check have written. */
const struct check_evidence *loop_evidence(const struct loop *loop);

/* How the checks that were run in this session have ended, and one line about that for the log. */
const struct check_counts *loop_check_counts(const struct loop *loop);
void loop_log_checks(const struct loop *loop);

/* With --flaky: logs how often the original, called `original`, failed, and the candidate of this identity, called
 * `result`. Nothing of what was not run. */
void loop_report_rates(const struct loop *loop, const char *original, const char *result, struct hash identity);

/* True when the replay that was loaded holds verdicts, but none under `key`: its session did without that check. */
bool loop_went_without(const struct loop *loop, const char *key);

/* True when a candidate of this identity was checked (or replayed with that identity) and had this verdict. */
bool loop_has_seen(const struct loop *loop, struct hash identity, enum verdict *ret);

/* True when that verdict is of a check that was run in this session, not from a debug replay or a verdict cache. */
bool loop_has_run(const struct loop *loop, struct hash identity);

/* Whether the check has passed on a candidate, by what was run or is known of this model and this check; and with how
 * many equal verdicts in a row, on different candidates, the session has ended so far. */
bool loop_has_passed(const struct loop *loop);
int64_t loop_same_verdicts(const struct loop *loop, enum verdict *ret);

/* Totals over all numbered iterations so far. */
int64_t loop_passed(const struct loop *loop);
int64_t loop_failed(const struct loop *loop);
int64_t loop_skipped(const struct loop *loop);
int64_t loop_written(const struct loop *loop); /* candidates, numbered or not, of subjects that say so in the log */
bool loop_looks_for_other_than_hangs(const struct loop *loop); /* --fail-code without 124, or --fail-regex */
bool loop_is_interactive(const struct loop *loop);
bool loop_is_flaky(const struct loop *loop); /* --flaky */
bool loop_is_spent(const struct loop *loop); /* so is its budget of checks or time */

/* True when the replay that was loaded is that of this session: what it has left on its paths may be replaced. */
bool loop_resumes(const struct loop *loop);

/* Logs the command by which the check looks at the model at `path`, where a result was left. Nothing where it is not
 * the command that says which model it looks at. */
void loop_tell_check_of(const struct loop *loop, const char *path);

/* Watches one more file, as it does the model: a check that changes it ends the session before its verdict counts. */
void loop_watch(struct loop *loop, const char *path);

/* The same, or what is at the paths of candidates may be written over in any case. */
bool loop_takes_over(const struct loop *loop);

/* Where candidates are written that are checked apart, and in which folder all others are. */
const char *loop_artifact(const struct loop *loop);

/* How to go on after an interruption, "Resume with: polygraphy … --load-debug-replay …", or NULL when nothing was
 * saved. Valid until loop_free(). `command_line` is the words typed, NULL-terminated. */
const char *loop_resume_hint(struct loop *loop, const char *const *command_line);

#endif
