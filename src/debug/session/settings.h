/* debug/session/settings.h: what the command line says about a debugging session. */
#ifndef DEBUG_SESSION_SETTINGS_H
#define DEBUG_SESSION_SETTINGS_H

#include "debug/check/check.h"
#include "debug/session/artifacts.h"
#include "debug/session/progress.h"

/* A candidate that has its verdict; valid as long as somebody is told of it. */
struct judged_candidate {
    int64_t iteration; /* -1: apart from the numbered ones */
    const char *what;  /* "iteration 3", "the original model" */
    int64_t nodes;     /* -1: not known */
    enum verdict verdict;
    const struct process_result
        *result; /* of the check, the last time that it was run; NULL: it was not run for this */
};

/* Everything is borrowed. */
struct session_settings {
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
    double deadline;    /* nor so many seconds after session_new(); 0: no limit */

    /* Told of each candidate when its verdict counts; NULL: nobody looks. */
    void (*judged)(void *data, const struct judged_candidate *candidate);
    void *judged_data;

    /* Called when a check begins; NULL: nobody looks. */
    void (*progress)(void *data, const struct session_progress *progress);
    void *progress_data;
};

#endif
