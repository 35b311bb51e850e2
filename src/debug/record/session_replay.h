/* debug/record/session_replay.h: the verdicts of a session, saved after each iteration, so that another one can go on
 * there.
 *
 * A replay is bound to model and check: verdicts about something else are refused.
 */
#ifndef DEBUG_RECORD_SESSION_REPLAY_H
#define DEBUG_RECORD_SESSION_REPLAY_H

#include "base/log.h"
#include "format/polygraphy/debug_replay.h"
#include "search/failure_rates.h"
#include "search/search.h"

struct session_replay {
    struct debug_replay replay;
    const char *load_path, *save_path; /* borrowed; NULL: none */
    char *skip_current_path;           /* NULL: nothing is saved */
    bool resumes;                      /* what was loaded is of this very session, or is said to be */
    const char *remark;                /* a warning about what was loaded, or NULL */
    bool announced, saved;
    bool kept_old;       /* what was at `save_path` is out of the way */
    const char *pending; /* key of the entry that is only presumed to have failed; NULL: none. The caller's */
    struct log *log;
};

/* A verdict as it is saved. */
struct saved_verdict {
    int64_t iteration; /* -1: apart from the numbered ones */
    int64_t nodes;     /* -1: nothing to record */
    enum verdict verdict;
    struct run_counts counts; /* of a check that was run several times */
};

/* What a replay is bound to, and where it is. */
struct replay_binding {
    const char *load_path, *save_path; /* borrowed; NULL: none */
    bool force;                        /* one of another model or check will do */
    struct hash model, check;
};

/* Loads a replay if there is one. Release also after an error. */
int session_replay_open(struct session_replay *replay, const struct replay_binding *binding, struct log *log,
                        struct error *err);
void session_replay_release(struct session_replay *replay);

/* Removes what processes that were killed have left of half-written replays. */
void session_replay_remove_leftovers(const struct session_replay *replay);

/* The replay was loaded when the session began; the log tells so where it is first used. */
void session_replay_announce(struct session_replay *replay);

/* False when the replay does not know the key. What was only noted by session_replay_save_as_failed() is not known. */
bool session_replay_find(const struct session_replay *replay, const char *key, struct saved_verdict *ret);

/* Notes in a file beside the replay that this candidate fails: should its check take the machine down, a session that
 * loads this file goes on behind it. The key has to live until the verdict is saved. */
int session_replay_save_as_failed(struct session_replay *replay, const char *key, const struct saved_verdict *verdict,
                                  struct error *err);
int session_replay_save(struct session_replay *replay, const char *key, const struct saved_verdict *verdict,
                        struct error *err);

/* How to go on there: `command_line` (the words typed, NULL-terminated) with `--load-debug-replay <replay>` in place of
 * any such option, ready to be pasted into a shell. What follows --check is left alone, unless `options_after_check`:
 * the check was one quoted word. malloc'd. */
char *resume_hint_make(const char *const *command_line, const char *replay, bool options_after_check);

#endif
