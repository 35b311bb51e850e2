/* debug/session/state.h: a session, and one candidate on its way to a verdict, as the files of debug/session see them.
 * */
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
    struct speculation *speculation; /* in session_search(), when several checks may run at a time; else NULL */
    struct session_locks locks;
    struct session_replay replay;
    char *resume_hint;
    struct verdict_cache *cache; /* or NULL */
    struct history history;
    struct verification verification;
    bool questioned; /* whether the check looks at candidates, because it always wrote the same */
    struct watched_files watched;
    struct hash check_scripts; /* content of scripts and data that the check names, */
    struct hash check_files;   /* of all files that it names, and of its program */
};

struct trial {
    const struct session_subject *subject;
    int64_t index; /* -1: apart from the numbered iterations */
    enum check_role role;
    const char *key;  /* in the replay */
    const char *what; /* how candidates that are identical refer to this one */
    bool anew;        /* its verdict has to be of a check that is run now */
    struct candidate_description candidate;
    struct job_slot *slot; /* where it is checked; NULL: nowhere yet */
    bool has_file;         /* if the subject's candidates `may_be_kept`: */
    struct hash file;      /* what was written, byte for byte; external data are those that the identity stands for */

    /* What came of it: */
    int64_t num_nodes;
    enum verdict verdict;
    enum verdict_source source;
    enum verdict_source earlier; /* `anew`: of the verdict that there was before */
    struct run_counts counts;    /* with --flaky; of a check that was run */
};

/* ---- debug/session/trial.c ---- */

bool trial_is_control(const struct trial *trial);

/* Takes a candidate from its description to a verdict: one that is known, or one of a check that is run. */
int trial_judge(struct debug_session *session, struct trial *trial, struct error *err);

/* Writes the candidate, runs the check as often as it takes, and sorts the artifacts. */
int trial_check(struct debug_session *session, struct trial *trial, struct error *err);

/* Writes the candidate, and tells whether a check was run in this session on a file of the same bytes. Its verdict is
 * the trial's. */
int trial_recall(struct debug_session *session, struct trial *trial, bool *ret_known, struct error *err);

/* Its files are not needed any more, nor is whatever was done ahead for iterations up to its own. */
void trial_clean_up(struct debug_session *session, struct trial *trial);

/* What has got a verdict. A failure apart from the iterations is what is hoped for as often as not: no reason for the
 * level of an error; and controls are about the check. */
enum checked { CHECKED_CANDIDATE, CHECKED_APART, CHECKED_CONTROL };

/* `what` ("Iteration 1") has got the verdict, after so many seconds. */
void trial_log_end(struct log *log, enum verdict verdict, enum checked what_it_was, const char *what, double seconds);

/* What the search is told of a candidate that has this verdict. */
enum verdict session_verdict_to_tell(const struct candidate_description *candidate, enum verdict verdict);

/* What is known of the candidate of iteration `index` before it is checked, by the replay or by an identical one. */
bool session_find_known(const struct debug_session *session, const struct session_subject *subject, int64_t index,
                        const struct candidate_description *candidate, struct saved_verdict *ret);

/* "_N0_outputs", malloc'd. */
char *session_replay_key(int64_t index, const char *suffix);

/* Identifies the candidate that `search` asks for, with a muted log if `muted`. `ret` is zeroed but for `is_known`. To
 * be released. */
int session_identify(struct debug_session *session, const struct session_subject *subject, const void *search,
                     bool muted, struct candidate_description *ret, struct error *err);
void session_release_candidate(const struct session_subject *subject, struct candidate_description *candidate);

/* Takes a slot for the candidate and writes it there. `*ret` stays as it is when that fails, and when the subject finds
 * that there is nothing to check. */
int session_write(struct debug_session *session, const struct session_subject *subject,
                  struct candidate_description *candidate, struct job_key key, struct job_slot **ret,
                  struct error *err);

/* ---- debug/session/session.c ---- */

/* A trial apart from the numbered iterations, from its description to a verdict. */
int trial_check_apart(struct debug_session *session, struct trial *trial, struct error *err);

/* ---- debug/session/cached_verdicts.c ---- */

/* Looks in the verdict cache for the candidate of the subject that was written to this slot; again, when it was written
 * ahead, because there may have been a first failure since then. What is found is in slot->cached. */
bool session_look_up(struct debug_session *session, const struct session_subject *subject, struct job_slot *slot);
void session_look_up_again(struct debug_session *session, struct job_slot *slot);

/* Takes what was found for the verdict of the trial; keeps the trial's verdict under `question`. */
void session_use_cached(struct debug_session *session, struct trial *trial);
void session_keep_in_cache(struct debug_session *session, const struct trial *trial, struct hash question);

/* ---- debug/belief/trust.c ---- */

/* When the check ends as a shell does that cannot run a command, that may be due to the candidate; but not on the
 * original. To be called after each check, before its verdict counts. */
int session_suspect_check(struct debug_session *session, struct trial *trial, struct error *err);

/* A search that is long, or would never end, need not come to its end to find out that it may be in vain: once the
 * check has said the same of the first candidates, it is shown a file that is none. A warning when it fails alike on
 * that, ERR_INVALID when it passes on that, too. To be called after each verdict that was not known before. */
int session_question_likeness(struct debug_session *session, struct trial *trial, struct error *err);

/* Of iterations without an original, nothing but their likeness says that it may be the check that fails: says so. */
void session_report_likeness(const struct debug_session *session, int64_t count, int64_t passed);

/* Notes what the session is about, and which files the check names. */
void session_watch_files(struct debug_session *session);

/* A check that has changed its candidate, or what it is about, has judged something else: ERR_INVALID. Other changes
 * are warned of. To be called after each check, before its verdict counts. */
int session_refuse_changes(struct debug_session *session, const struct job_slot *slot, struct error *err);

#endif
