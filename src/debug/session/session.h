/* debug/session/session.h: the session that all `debug` tools share.
 *
 * The module debug/session/ gets the verdicts on candidates, one after the other or in parallel. Inputs: a tool's
 * search and the functions that write its candidates (subject.h). Outputs: verdicts, a replay and sorted artifacts. It
 * uses debug/check, candidate, record and belief, and knows nothing about models.
 *
 * In each iteration the tool identifies the candidate that its search asks for, the candidate is written, the check
 * gives a verdict, artifacts are sorted, the replay is saved, and the search advances. In addition to Polygraphy's
 * loop, replays are bound to model and check, identical candidates are checked once, and an interrupted session leaves
 * no intermediate file and can be resumed.
 */
#ifndef DEBUG_SESSION_SESSION_H
#define DEBUG_SESSION_SESSION_H

#include "debug/belief/evidence.h"
#include "debug/session/settings.h"
#include "debug/session/subject.h"

struct debug_session;

/* Prepares a session: resolves the check, loads the replay, refuses an existing intermediate artifact unless the replay
 * is that of this session, which was killed. `model_hash` identifies the subject of the session (NULL: none, as in
 * `repeat`). */
int session_new(const struct session_settings *settings, const struct hash *model_hash, struct log *log,
                struct debug_session **ret, struct error *err);
void session_free(struct debug_session *session);
void session_free_pointed(struct debug_session **session); /* for SCOPED() */

/* Runs iterations until the search is over. May be called again for another phase. */
int session_search(struct debug_session *session, const struct session_subject *subject, struct error *err);

/* Checks one candidate outside of the numbered iterations; its iteration number for the check is -1. Its identity is
 * stored like any other. Logs a line before and after, with the name `request.what`; artifacts are not sorted. */
int session_check(struct debug_session *session, const struct session_subject *subject, struct check_request request,
                  enum verdict *ret, struct error *err);

/* State of a session. */
struct session_state {
    int64_t passed, failed, skipped; /* numbered iterations with each verdict */
    int64_t written;                 /* number of candidates of subjects with `saving` */
    bool is_interactive;             /* no check: the user is asked */
    bool is_flaky;                   /* --flaky */
    bool is_spent;                   /* the budget of checks or time is exhausted */
    bool ignores_hangs;              /* by --fail-code or --fail-regex a timeout is not a failure */
    bool resumes;                    /* the loaded replay is that of this session: files that it left may be replaced */
    bool takes_over;                 /* the same, or existing files at candidates' paths may be overwritten anyway */
    bool has_passed;                 /* the check passed on a candidate, in this session or by a reused verdict */
    enum verdict last_verdict;       /* on the latest candidate that passed or failed */
    int64_t same_verdicts;           /* number of equal verdicts in a row, on distinct candidates */
    const char *artifact;            /* path of candidates outside of the search; all others are in the same folder */
    const struct check_evidence *evidence; /* output of the runs of the check */
    const struct check_counts *checks;     /* counts of the runs of the check */
};

/* The pointers are valid until session_free(). */
struct session_state session_state(const struct debug_session *session);

/* The verdict on a candidate that could not be built: see judge_unmade(). */
enum verdict session_judge_unmade(struct debug_session *session, const struct error *why);

/* Whether a candidate with this identity was checked (or replayed); sets its verdict. */
bool session_has_seen(const struct debug_session *session, struct hash identity, enum verdict *ret);

/* Whether that verdict is from a check run in this session, not from a debug replay or a verdict cache. */
bool session_has_run(const struct debug_session *session, struct hash identity);

/* Whether the loaded replay has verdicts, but none under `key`: its session omitted that check. */
bool session_went_without(const struct debug_session *session, const char *key);

/* Re-checks the original, once in a session, if the check of a candidate terminates as if the check itself were broken
 * (judge_take_broken_code()): `verify` does that with session_check(), as ROLE_REPETITION. It is called before the
 * verdict counts; its errors end the session. */
void session_verify_with(struct debug_session *session, int (*verify)(void *data, struct error *err), void *data);

/* Watches another file, like the model: a check that modifies it ends the session before its verdict counts. */
void session_watch(struct debug_session *session, const char *path);

/* Logs the command that checks the model at `path`, a saved result. Logs nothing if the command does not name the
 * model. */
void session_log_check_of(const struct debug_session *session, const char *path);

/* The command to resume after an interruption, "Resume with: polygraphy ... --load-debug-replay ...", or NULL if
 * nothing was saved. Valid until session_free(). `command_line`: the words typed, NULL-terminated. */
const char *session_resume_hint(struct debug_session *session, const char *const *command_line);

#endif
