/* debug/loop/loop.h: the loop that all `debug` tools share.
 *
 * In each iteration a subject describes a candidate, the candidate becomes a file, the check gives a verdict, artifacts
 * are sorted, the replay is saved, the subject advances. The loop knows nothing about models. What it adds to
 * Polygraphy's: replays are bound to model and check, identical candidates are checked once, the original is verified
 * first, and an interrupted session leaves no intermediate file and can be resumed.
 */
#ifndef DEBUG_LOOP_LOOP_H
#define DEBUG_LOOP_LOOP_H

#include <stdint.h>

#include "debug/check/check.h"
#include "debug/check/repeated.h"
#include "debug/loop/artifacts.h"
#include "debug/loop/progress.h"
#include "format/polygraphy/debug_replay.h"

struct loop_settings {
    struct check_settings check; /* its `files` are where each candidate is written to */
    struct artifact_settings artifacts;
    bool keep_intermediate;    /* --no-remove-intermediate */
    int64_t jobs;              /* so many checks run at a time; 0 is 1 */
    const char *work_folder;   /* --work-dir: candidates are written there; NULL: to their usual paths */
    const char *load_replay;   /* NULL: none */
    const char *save_replay;   /* NULL: none */
    bool force;                /* write over what lies where candidates are written */
    bool force_replay;         /* accept a replay of another model or check */
    const char *verdict_cache; /* a folder of verdicts that sessions share; NULL: none */

    /* With `verdict_cache`: what a check gets to see of a candidate, as a hash. `more_files` are NULL-terminated, and
     * their order counts (debug/candidate/hash.h). */
    int (*hash_content)(const char *artifact, const char *const *more_files, struct hash *ret, struct error *err);

    const char *model;  /* what the session is about, and what it is fed: files, or NULL */
    struct words data;  /* a check that changes one of them ends the session */
    int64_t max_checks; /* no iteration begins after so many checks; 0: no limit */
    double deadline;    /* nor so many seconds after loop_new(); 0: no limit */

    /* Told when a check begins and when it ends; NULL: nobody looks. */
    void (*progress)(void *data, const struct loop_progress *progress);
    void *progress_data;
};

enum candidate_action {
    CANDIDATE_CHECK, /* write and check it */
    CANDIDATE_SKIP,  /* no check: `skip_verdict` counts */
    CANDIDATE_STOP,  /* leave the loop */
};

struct loop_candidate {
    enum candidate_action action;
    enum verdict skip_verdict;
    int64_t num_nodes; /* recorded in the replay; -1: nothing to record */
    bool has_identity; /* candidates of equal identity are the same file: only the first is checked */
    struct hash identity;
    enum expectation expectation; /* with --flaky. A candidate that is checked EXPECT_AGAIN gets a new verdict */
};

/* What a tool knows of candidates before it is their turn: its search is a value. What is asked here changes nothing,
 * and is not logged (the log is muted). With it several checks can run at a time. */
struct foresight {
    const void *(*search)(void *data); /* as it is now */
    const struct search_ops *ops;

    /* Describes and writes the candidate that a state of the search asks for. */
    int (*describe)(void *data, const void *search, struct loop_candidate *ret, struct error *err);
    int (*write)(void *data, const void *search, const struct candidate_paths *paths, struct error *err);
};

/* What ends it. */
enum loop_end {
    ENDS_BY_ITSELF,
    ENDS_BY_PASS, /* so a check that always fails has it go on for ever */
    ENDS_BY_FAILURE,
};

/* What a tool brings to the loop. */
struct loop_subject {
    void *data;
    const char *suffix; /* of replay keys: "outputs" gives "_N0_outputs"; NULL: none */
    const char *kind;   /* what candidates are: "engine"; NULL: "model" */
    const char *beside; /* a file that is written beside each candidate, which the check may look at instead; or NULL */
    enum loop_end end;
    bool looks_into_failure; /* the tool itself asks what it means that no candidate has passed */
    bool may_be_kept;        /* a candidate may become the result: the bytes of its file are remembered, too */

    /* Decides on the candidate of iteration `index` (0-based; -1 in loop_check_apart()) and logs what it is, unless
     * `quiet`: its verdict is known already and only the identity matters. */
    int (*describe)(void *data, int64_t index, bool quiet, struct loop_candidate *ret, struct error *err);

    /* Gets what that takes to write it, and logs that it is written, to `path`; NULL: nothing to be done. */
    int (*prepare)(void *data, const char *path, struct error *err);

    /* Writes that candidate; NULL when the tool has no artifact of its own. */
    int (*write)(void *data, const struct candidate_paths *paths, struct error *err);

    /* Learns the verdict. `num_nodes` is the candidate's, or the replay's. Returns false to end the loop. */
    bool (*advance)(void *data, int64_t index, int64_t num_nodes, enum verdict verdict);

    /* Iterations still expected, for the log; NULL: nothing is shown. */
    int64_t (*remaining)(void *data);

    const struct foresight *foresight; /* NULL: candidates are checked one after the other */
};

struct loop;

/* Prepares a session: compiles the check, loads the replay, refuses an existing intermediate artifact unless the replay
 * is that of this session: then a killed one has left it. `model_hash` identifies what the session is about (NULL:
 * nothing, as in `repeat`). */
int loop_new(const struct loop_settings *settings, const struct hash *model_hash, struct log *log, struct loop **ret,
             struct error *err);
void loop_free(struct loop *loop);

/* Runs iterations until the subject ends them. May be called again for another phase. */
int loop_run(struct loop *loop, const struct loop_subject *subject, struct error *err);

/* Checks one candidate outside of the numbered iterations, under a replay key of its own ("_verify", "_final"). The
 * candidate's identity is remembered like any other. Logs one line before and one after, which call it `what` ("the
 * original model"); artifacts are not sorted. To the check it is iteration -1. */
int loop_check_apart(struct loop *loop, const struct loop_subject *subject, const char *key, const char *what,
                     enum verdict *ret, struct error *err);

/* The same for a check that is not about the search but about the check itself. */
int loop_check_control(struct loop *loop, const struct loop_subject *subject, const char *key, const char *what,
                       enum verdict *ret, struct error *err);

/* The answer rests on `expected` as the verdict on this candidate: has it checked now, whatever a debug replay or a
 * verdict cache says. If it `may_be_kept`, it is written as it will be kept, and that is not checked again if a file of
 * the same bytes was checked in this session. ERR_INVALID, with what to do, when the check says something else. Nothing
 * is done where there is no check, but somebody who is asked. */
int loop_confirm(struct loop *loop, const struct loop_subject *subject, const char *what, enum verdict expected,
                 struct error *err);

/* Has the check, which has said `suspicious` (no skip) of the candidate before, look at a file that is no `kind`
 * ("engine"), under this key of the replay. VERDICT_PASS: it says something else of that. VERDICT_FAIL: it says the
 * same: when it passes, it does not look at candidates; when it fails, it may look all the same. VERDICT_SKIP: that
 * cannot be told, because it writes nothing when it fails, or because the verdict is from a replay. */
int loop_check_sight(struct loop *loop, const char *key, const char *kind, enum verdict suspicious, enum verdict *ret,
                     struct error *err);

/* For tools that begin with two engines, of which one has to pass and the other to fail: this one, built `how`, did the
 * contrary. ERR_INVALID when that is due to the check, which says nothing about it, or the same of a file that is no
 * engine. */
int loop_question_end(struct loop *loop, const char *how, enum verdict verdict, struct error *err);

/* What an error says of a check that has changed its mind. */
#define LOOP_NOT_BELIEVED                                                                                              \
    ", so that its verdicts cannot be believed: they depend on chance, on the time, or on what has changed "           \
    "meanwhile. If the failure itself comes and goes, --flaky reckons with it, and `polygraphy debug repeat` counts. " \
    "This time"

/* The engines that a tool has begun with, and how they were built. */
struct loop_ends {
    void *data;
    const char *good, *bad;
    int (*check_again)(void *data, bool bad, enum verdict *ret, struct error *err);
};

/* At the end of a search between two engines: the one that had the contrary of the last verdict is checked once more,
 * because a check that has changed its mind on the way leads the search anywhere. ERR_INVALID when its verdict is
 * another now. */
int loop_look_back(struct loop *loop, const struct loop_ends *ends, struct error *err);

/* Has the original checked again, once in a session, when the check of a candidate ends as if the check itself were
 * broken (judge_take_broken_code()): `verify` does that with loop_check_apart(), as EXPECT_AGAIN. It is called before
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
bool loop_looks_for_other_than_hangs(const struct loop *loop); /* --fail-code without 124, or --fail-regex */
bool loop_is_interactive(const struct loop *loop);
bool loop_is_flaky(const struct loop *loop); /* --flaky */
bool loop_is_spent(const struct loop *loop); /* so is its budget of checks or time */

/* True when the replay that was loaded is that of this session: what it has left on its paths may be replaced. */
bool loop_resumes(const struct loop *loop);

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
