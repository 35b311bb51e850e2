/* debug/session/state.h: private structs of debug/session: a session, and a trial of one candidate. */
#ifndef DEBUG_SESSION_STATE_H
#define DEBUG_SESSION_STATE_H

#include "debug/record/session_lock.h"
#include "debug/record/session_replay.h"
#include "debug/record/verdict_cache.h"
#include "debug/session/history.h"
#include "debug/session/job_slots.h"
#include "debug/session/settings.h"
#include "debug/session/subject.h"

struct speculation;

/* See session_verify_with(). */
struct verification {
    int (*run)(void *data, struct error *err); /* or NULL */
    void *data;
    bool runs; /* now */
    bool done;
};

struct debug_session {
    struct session_settings settings;
    struct log *log;
    double started;
    struct check *check;
    struct judge *judge;            /* of the check */
    struct repeated_check repeated; /* --flaky */
    struct job_slots *slots;
    struct speculation *speculation; /* in session_search() with parallel checks; else NULL */
    struct session_locks locks;
    struct session_replay replay;
    char *resume_hint;
    struct verdict_cache *cache; /* or NULL */
    struct history history;
    struct verification verification;
    bool questioned; /* the control for a check with always the same output has run */
    struct watched_files watched;
    struct hash check_scripts; /* hash of scripts and data that the check names */
    struct hash check_files;   /* hash of all files that it names, and of its program */
};

struct trial {
    const struct session_subject *subject;
    int64_t index; /* -1: not a numbered iteration */
    enum check_role role;
    const char *key;  /* in the replay */
    const char *what; /* name in log lines about identical candidates */
    bool anew;        /* requires a new run of the check */
    struct candidate_description candidate;
    struct job_slot *slot; /* of the candidate; NULL: none yet */
    bool has_file;         /* if the subject's candidates `may_be_kept`: */
    struct hash file;      /* hash of the written file; the identity covers external data */

    /* Results: */
    int64_t num_nodes;
    enum verdict verdict;
    enum verdict_source source;
    enum verdict_source earlier; /* `anew`: origin of the earlier verdict */
    struct run_counts counts;    /* with --flaky; of a run check */
};

/* ---- debug/session/trial.c ---- */

bool trial_is_control(const struct trial *trial);

/* Gets the verdict on a described candidate: a known one, or by running the check. */
int trial_judge(struct debug_session *session, struct trial *trial, struct error *err);

/* Writes the candidate, runs the check as often as needed, and sorts the artifacts. */
int trial_check(struct debug_session *session, struct trial *trial, struct error *err);

/* Writes the candidate. `ret_known`: this session has checked a file with the same bytes, whose verdict becomes the
 * trial's. */
int trial_recall(struct debug_session *session, struct trial *trial, bool *ret_known, struct error *err);

/* Removes its files, and speculative checks for iterations up to its own. */
void trial_clean_up(struct debug_session *session, struct trial *trial);

/* Kinds of checks for log levels: outside of iterations a failure is often the expected verdict, so it is not logged as
 * an error; controls are about the check. */
enum checked { CHECKED_CANDIDATE, CHECKED_APART, CHECKED_CONTROL };

/* Logs the verdict on `what` ("Iteration 1") and the duration in seconds. */
void trial_log_end(struct log *log, enum verdict verdict, enum checked what_it_was, const char *what, double seconds);

/* The verdict that is passed to the search for a candidate with this verdict. */
enum verdict session_verdict_to_tell(const struct candidate_description *candidate, enum verdict verdict);

/* The verdict on the candidate of iteration `index` if known beforehand, from the replay or an identical candidate. */
bool session_find_known(const struct debug_session *session, const struct session_subject *subject, int64_t index,
                        const struct candidate_description *candidate, struct saved_verdict *ret);

/* "_N0_outputs", malloc'd. */
char *session_replay_key(int64_t index, const char *suffix);

/* Identifies the candidate that `search` asks for, with a muted log if `muted`. `ret` is zeroed except for `is_known`.
 * Release it. */
int session_identify(struct debug_session *session, const struct session_subject *subject, const void *search,
                     bool muted, struct candidate_description *ret, struct error *err);
void session_release_candidate(const struct session_subject *subject, struct candidate_description *candidate);

/* Takes a slot and writes the candidate there. `*ret` is unchanged on failure, and if the subject finds nothing to
 * check. */
int session_write(struct debug_session *session, const struct session_subject *subject,
                  struct candidate_description *candidate, struct job_key key, struct job_slot **ret,
                  struct error *err);

/* ---- debug/session/session.c ---- */

/* Runs a trial outside of the numbered iterations, from description to verdict. */
int trial_check_apart(struct debug_session *session, struct trial *trial, struct error *err);

/* ---- debug/session/cached_verdicts.c ---- */

/* Looks up the written candidate in the verdict cache; repeated if it was written ahead, because the failure's
 * signature may have been set since. The result is in slot->cached. */
bool session_look_up(struct debug_session *session, struct job_slot *slot);
void session_look_up_again(struct debug_session *session, struct job_slot *slot);

/* Uses the cached verdict for the trial; or adds the trial's verdict to the cache under the slot's key. */
void session_use_cached(struct debug_session *session, struct trial *trial);
void session_keep_in_cache(struct debug_session *session, const struct trial *trial, struct hash question);

/* ---- debug/belief/trust.c ---- */

/* Handles a check that terminates as a shell does that cannot run a command: on a candidate, that may be due to the
 * candidate, but not on the original. Call it after each check, before its verdict counts. */
int session_suspect_check(struct debug_session *session, struct trial *trial, struct error *err);

/* Tests early whether the check reads its candidates: after several first candidates with the same output, the check
 * runs on an invalid file. Logs a warning if it fails alike on that; ERR_INVALID if it passes on that. Call it after
 * each new verdict. */
int session_question_likeness(struct debug_session *session, struct trial *trial, struct error *err);

/* Without an original, equal output of all iterations is the only sign that the check itself fails: logs a warning. */
void session_report_likeness(const struct debug_session *session, int64_t count, int64_t passed);

/* Watches the model, the data and the files that the check names. */
void session_watch_files(struct debug_session *session);

/* ERR_INVALID if the check modified its candidate, the model or the data; other modifications are warnings. Call it
 * after each check, before its verdict counts. */
int session_refuse_changes(struct debug_session *session, const struct job_slot *slot, struct error *err);

#endif
