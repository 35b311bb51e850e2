/* debug/belief/belief.h: whether the verdicts of the check are reliable.
 *
 * The module debug/belief/ tests that the check runs, reads its candidate, is reproducible, and leaves its input files
 * unmodified (trust.c); it records the output of runs (evidence.h) and estimates how often an intermittent check fails
 * (repeated.h). Inputs: verdicts of a session. Outputs: errors and warnings. It uses debug/session.
 */
#ifndef DEBUG_BELIEF_BELIEF_H
#define DEBUG_BELIEF_BELIEF_H

#include "debug/session/session.h"

/* The end of messages about a check whose output is the same for every input; the subject is the check. */
#define BELIEF_MAY_IGNORE_INPUT "may not read its input; make it print what is wrong"

/* The end of errors about a candidate whose verdict changed. */
#define BELIEF_NOT_REPRODUCIBLE                                                                                        \
    ", so the verdicts of the check are not reproducible. If the failure is intermittent, use --flaky "                \
    "(`polygraphy debug repeat` counts how often it fails). Last run"

/* Reports that the check does not work: logs the output of its last run, even with -q, and sets `err` to the message, a
 * colon, and how that run terminated. Returns ERR_INVALID. */
int belief_refuse_check(struct debug_session *session, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Confirms `expected`, the verdict on this candidate that the answer depends on, by a run of the check now, whatever
 * this session, a debug replay or a verdict cache knows of the candidate. If the candidate `may_be_kept`, it is written
 * in its final form; the run is skipped if this session has checked a file with the same bytes. ERR_INVALID, with
 * advice, if the verdict differs. Does nothing in interactive mode. */
int belief_confirm(struct debug_session *session, const struct session_subject *subject, const char *what,
                   enum verdict expected, struct error *err);

/* Runs the check, whose verdict on the candidate was `suspicious` (not a skip), on a file that is not a valid `kind`
 * ("engine"), under this key of the replay. VERDICT_PASS: the check distinguishes that file from the candidate.
 * VERDICT_FAIL: it does not: if it passes, it does not read candidates; if it fails, it may still read them.
 * VERDICT_SKIP: unknown, because the check fails without output, or because the verdict is from a replay. */
int belief_check_nonsense(struct debug_session *session, const char *key, const char *kind, enum verdict suspicious,
                          enum verdict *ret, struct error *err);

/* With --flaky: logs the failure rates of the original, named `original`, and of the candidate with this identity,
 * named `result`. Candidates that were not run are omitted. */
void belief_report_rates(const struct debug_session *session, const char *original, const char *result,
                         struct hash identity);

#endif
