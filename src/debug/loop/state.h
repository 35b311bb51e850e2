/* debug/loop/state.h: a session, as the files of debug/loop see it. */
#ifndef DEBUG_LOOP_STATE_H
#define DEBUG_LOOP_STATE_H

#include "debug/cache/verdict_cache.h"
#include "debug/loop/speculation.h"
#include "debug/loop/job_slots.h"
#include "debug/loop/loop.h"
#include "debug/loop/seen_candidates.h"
#include "debug/loop/session_lock.h"
#include "debug/loop/session_replay.h"

struct loop {
    struct loop_settings settings;
    struct log *log;
    struct check *check;
    struct judge *judge; /* of the check */
    struct job_slots *slots;
    struct speculation *speculation; /* in loop_run(), when several checks may run at a time; else NULL */
    struct session_locks locks;
    struct session_replay replay;
    struct verdict_cache *cache; /* or NULL */
    struct seen_candidates seen;
    struct seen_candidates files;   /* that were checked in this session: by identity and content; see `may_be_kept` */
    struct repeated_check repeated; /* --flaky */
    int64_t verdicts[3];            /* how many iterations have each enum verdict */
    int64_t checks;                 /* that were run, for the budget */
    double started, check_seconds;  /* when; and what all checks took */
    int64_t nodes_now, nodes_whole; /* for the progress; -1: not known */
    char *resume_hint;

    int64_t verdicts_told;           /* passes and failures of different candidates, known ones included */
    int64_t last_pass, last_failure; /* which of them these were; 0: there was none */
    bool questioned;                 /* whether the check looks at candidates, because it always wrote the same */
    struct watched_files watched;

    /* See loop_verify_with(): */
    int (*verify)(void *data, struct error *err); /* or NULL */
    void *verify_data;
    bool verifies; /* now */
    bool verified; /* it was called */
};

/* One candidate on its way to a verdict. */
struct trial {
    const struct loop_subject *subject;
    int64_t index;    /* -1: apart from the numbered iterations */
    const char *key;  /* in the replay */
    const char *what; /* how candidates that are identical refer to this one */
    struct loop_candidate candidate;
    struct job_slot *slot; /* where it is checked; NULL: nowhere yet */
    bool has_file;         /* if the subject's candidates `may_be_kept`: */
    struct hash file;      /* what was written, byte for byte; external data are those that the identity stands for */
    bool is_control;       /* it is about the check, and does not count as one */
    bool anew;             /* its verdict has to be of a check that is run now */

    /* What came of it: */
    bool stopped; /* the subject wants to leave the loop: there is no verdict */
    int64_t num_nodes;
    enum verdict verdict;
    enum verdict_source source;
    enum verdict_source earlier; /* `anew`: of the verdict that there was before */
    struct run_counts counts;    /* with --flaky; of a check that was run */
};

/* debug/loop/trial.c: writes the candidate, runs the check as often as it takes, and sorts the artifacts. */
int trial_check(struct loop *loop, struct trial *trial, struct error *err);

/* Writes the candidate, and tells whether a check was run in this session on a file of the same bytes. Its verdict is
 * the trial's. */
int trial_recall(struct loop *loop, struct trial *trial, bool *ret_known, struct error *err);

/* debug/loop/cached_verdicts.c: looks in the verdict cache for the candidate of the subject that was written to this
 * slot; again, when it was written ahead, because there may have been a first failure since then. What is found is in
 * slot->cached. */
bool loop_look_up(struct loop *loop, const struct loop_subject *subject, struct job_slot *slot);
void loop_look_up_again(struct loop *loop, struct job_slot *slot);

/* The failure that is looked for is that of an earlier session. */
void loop_take_failure(struct loop *loop, const struct debug_replay *replay);

/* Takes what was found for the verdict of the trial; keeps the trial's verdict under slot->question. */
void loop_use_cached(struct loop *loop, struct trial *trial);
void loop_keep_in_cache(struct loop *loop, const struct trial *trial, struct hash question);

/* debug/loop/loop.c: a trial apart from the numbered iterations, from its description to a verdict. */
int trial_check_apart(struct loop *loop, struct trial *trial, struct error *err);

/* The files of the trial are not needed any more, nor is whatever was done ahead for iterations up to its own. */
void trial_clean_up(struct loop *loop, struct trial *trial);

/* debug/loop/sight.c: a search that is long, or would never end, need not come to its end to find out that it may be in
 * vain: once the check has said the same of the first candidates, it is shown a file that is none. A warning when it
 * fails alike on that, ERR_INVALID when it passes on that, too. To be called after each verdict that was not known
 * before. */
int loop_question_likeness(struct loop *loop, struct trial *trial, struct error *err);

/* debug/loop/sight.c: of iterations without an original, nothing but their likeness says that it may be the check that
 * fails: says so. */
void loop_report_likeness(const struct loop *loop, int64_t count, int64_t passed);

/* debug/loop/watch.c: notes what the session is about, and which files the check names. */
void loop_watch_files(struct loop *loop);

/* debug/loop/watch.c: a check that has changed its candidate, or what it is about, has judged something else:
 * ERR_INVALID. Other changes are warned of. To be called after each check, before its verdict counts. */
int loop_refuse_changes(struct loop *loop, const struct job_slot *slot, struct error *err);

/* Tells whoever shows it how far the session is. */
void loop_show_progress(const struct loop *loop, const struct loop_subject *subject);

#endif
