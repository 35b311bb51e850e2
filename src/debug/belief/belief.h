/* debug/belief/belief.h: whether the check is to be believed.
 *
 * The module debug/belief/ answers that: the check runs, it looks at its candidate, it says the same again, and it
 * leaves what it judges as it is (trust.c); what its runs have written (evidence.h); how often an unreliable one fails
 * (repeated.h). Verdicts of a session come in; errors and warnings go out. It uses debug/session.
 */
#ifndef DEBUG_BELIEF_BELIEF_H
#define DEBUG_BELIEF_BELIEF_H

#include "debug/session/session.h"

/* What errors and warnings say of a check that says the same whatever it is given. */
#define BELIEF_NOTHING_SHOWS "nothing shows that it looks at what it is given; let it write what is wrong"

/* What an error says of a check that has changed its mind. */
#define BELIEF_NOT_BELIEVED                                                                                            \
    ", so that its verdicts cannot be believed: they depend on chance, on the time, or on what has changed "           \
    "meanwhile. If the failure itself comes and goes, --flaky reckons with it, and `polygraphy debug repeat` counts. " \
    "This time"

/* The check does not work: shows what its last run has written, -q or not, and sets `err` to the message, a colon, and
 * how that run ended. Returns ERR_INVALID. */
int belief_refuse_check(struct debug_session *session, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The answer rests on `expected` as the verdict on this candidate: has it checked now, whatever this session, a debug
 * replay or a verdict cache knows of it. If it `may_be_kept`, it is written as it will be kept, and that is not
 * checked again if a file of the same bytes was checked in this session. ERR_INVALID, with what to do, when the check
 * says something else. Nothing is done where there is no check, but somebody who is asked. */
int belief_confirm(struct debug_session *session, const struct session_subject *subject, const char *what,
                   enum verdict expected, struct error *err);

/* Has the check, which has said `suspicious` (no skip) of the candidate before, look at a file that is not a valid
 * `kind` ("engine"), under this key of the replay. VERDICT_PASS: it says something else of that. VERDICT_FAIL: it says
 * the same: when it passes, it does not look at candidates; when it fails, it may look all the same. VERDICT_SKIP: that
 * cannot be told, because it writes nothing when it fails, or because the verdict is from a replay. */
int belief_check_nonsense(struct debug_session *session, const char *key, const char *kind, enum verdict suspicious,
                          enum verdict *ret, struct error *err);

/* With --flaky: logs how often the original, called `original`, failed, and the candidate of this identity, called
 * `result`. Nothing of what was not run. */
void belief_report_rates(const struct debug_session *session, const char *original, const char *result,
                         struct hash identity);

#endif
