/* debug/session/session.h: the session that all `debug` tools share.
 *
 * The module debug/session/ takes candidates to verdicts, one after the other or several in parallel. A tool's search
 * and what writes its candidates come in (subject.h); verdicts, a replay and sorted artifacts go out. It uses
 * debug/check, candidate, record and belief, and knows nothing about models.
 *
 * In each iteration the tool identifies the candidate that its search asks for, the candidate becomes a file, the check
 * gives a verdict, artifacts are sorted, the replay is saved, and the search advances. What this adds to Polygraphy's
 * loop: replays are bound to model and check, identical candidates are checked once,
 * and an interrupted session leaves no intermediate file and can be resumed.
 */
#ifndef DEBUG_SESSION_SESSION_H
#define DEBUG_SESSION_SESSION_H

#include "debug/belief/evidence.h"
#include "debug/session/settings.h"
#include "debug/session/subject.h"

struct debug_session;

/* Prepares a session: compiles the check, loads the replay, refuses an existing intermediate artifact unless the replay
 * is that of this session: then a killed one has left it. `model_hash` identifies what the session is about (NULL:
 * nothing, as in `repeat`). */
int session_new(const struct session_settings *settings, const struct hash *model_hash, struct log *log,
                struct debug_session **ret, struct error *err);
void session_free(struct debug_session *session);

/* Runs iterations until the search is over. May be called again for another phase. */
int session_search(struct debug_session *session, const struct session_subject *subject, struct error *err);

/* Checks one candidate outside of the numbered iterations. The candidate's identity is remembered like any other. Logs
 * one line before and one after, which call it `request.what`; artifacts are not sorted. To the check it is iteration
 * -1. */
int session_check(struct debug_session *session, const struct session_subject *subject, struct check_request request,
                  enum verdict *ret, struct error *err);

/* What a session has come to so far. */
struct session_state {
    int64_t passed, failed, skipped; /* numbered iterations with each verdict */
    int64_t written;                 /* candidates, numbered or not, of subjects whose writing is logged (`saving`) */
    bool is_interactive;             /* there is no check: somebody is asked */
    bool is_flaky;                   /* --flaky */
    bool is_spent;                   /* the budget of checks or time is used up */
    bool ignores_hangs;              /* by --fail-code or --fail-regex a check that is out of time has not failed */
    bool resumes;    /* the replay that was loaded is that of this session: what it left on its paths may be replaced */
    bool takes_over; /* the same, or what is at the paths of candidates may be written over in any case */
    bool has_passed; /* the check has, on a candidate, by what was run or is known of this model and this check */
    enum verdict last_verdict; /* on the latest candidate that passed or failed */
    int64_t same_verdicts;     /* how many of these in a row, on different candidates */
    const char *artifact;      /* where candidates are written that are checked apart; all others are in its folder */
    const struct check_evidence *evidence; /* what the runs of the check have written */
    const struct check_counts *checks;     /* how the checks that were run have ended */
};

/* The pointers are valid until session_free(). */
struct session_state session_state(const struct debug_session *session);

/* True when a candidate of this identity was checked (or replayed with that identity) and had this verdict. */
bool session_has_seen(const struct debug_session *session, struct hash identity, enum verdict *ret);

/* True when that verdict is of a check that was run in this session, not from a debug replay or a verdict cache. */
bool session_has_run(const struct debug_session *session, struct hash identity);

/* True when the replay that was loaded has verdicts, but none under `key`: its session did without that check. */
bool session_went_without(const struct debug_session *session, const char *key);

/* Has the original checked again, once in a session, when the check of a candidate ends as if the check itself were
 * broken (judge_take_broken_code()): `verify` does that with session_check(), as ROLE_REPETITION. It is called before
 * the verdict counts; its errors end the session. */
void session_verify_with(struct debug_session *session, int (*verify)(void *data, struct error *err), void *data);

/* Watches one more file, as it does the model: a check that changes it ends the session before its verdict counts. */
void session_watch(struct debug_session *session, const char *path);

/* Logs the command by which the check looks at the model at `path`, where a result was left. Nothing where it is not
 * the command that says which model it looks at. */
void session_log_check_of(const struct debug_session *session, const char *path);

/* How to resume after an interruption, "Resume with: polygraphy … --load-debug-replay …", or NULL when nothing was
 * saved. Valid until session_free(). `command_line` is the words typed, NULL-terminated. */
const char *session_resume_hint(struct debug_session *session, const char *const *command_line);

#endif
