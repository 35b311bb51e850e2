/* debug/session/settings.h: settings of a debugging session. */
#ifndef DEBUG_SESSION_SETTINGS_H
#define DEBUG_SESSION_SETTINGS_H

#include "debug/check/check.h"
#include "debug/session/artifacts.h"
#include "debug/session/progress.h"

/* A candidate with its verdict; valid during the callback only. */
struct judged_candidate {
    int64_t iteration; /* -1: not a numbered iteration */
    const char *what;  /* "iteration 3", "the original model" */
    int64_t nodes;     /* -1: unknown */
    enum verdict verdict;
    const struct process_result *result; /* of the last run of the check; NULL: it was not run for this candidate */
};

/* All pointers are borrowed. */
struct session_settings {
    struct check_settings check; /* its `files` are the paths of candidates */
    struct artifact_settings artifacts;
    bool keep_intermediate;    /* --no-remove-intermediate */
    int64_t jobs;              /* number of parallel checks; 0 is 1 */
    const char *work_folder;   /* --work-dir: folder of candidates; NULL: their usual paths */
    const char *load_replay;   /* NULL: none */
    const char *save_replay;   /* NULL: none */
    bool force;                /* overwrite existing files at the paths of candidates */
    bool force_replay;         /* accept a replay of another model or check */
    const char *verdict_cache; /* a folder of verdicts that sessions share; NULL: none */

    /* With `verdict_cache`: hash of a candidate's content. `more_files` is NULL-terminated, and its order matters
     * (debug/candidate/hash.h). */
    int (*hash_content)(const char *artifact, const char *const *more_files, struct hash *ret, struct error *err);

    const char *model;    /* model of the session and its data: files, or NULL */
    struct words data;    /* a check that modifies one of these ends the session */
    struct words written; /* files that the tool itself rewrites between checks: not watched */
    int64_t max_checks;   /* no iteration begins after this many checks; 0: no limit */
    double deadline;      /* nor this many seconds after session_new(); 0: no limit */

    /* Called for each candidate when its verdict counts; may be NULL. */
    void (*judged)(void *data, const struct judged_candidate *candidate);
    void *judged_data;

    /* Called when a check begins; may be NULL. */
    void (*progress)(void *data, const struct session_progress *progress);
    void *progress_data;
};

#endif
