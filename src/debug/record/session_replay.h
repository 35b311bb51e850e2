/* debug/record/session_replay.h: the verdicts of a session, saved after each iteration, so that it can be resumed.
 *
 * A replay is bound to model and check: replays of others are refused.
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
    char *skip_current_path;           /* NULL: not saved */
    bool resumes;                      /* the loaded replay is of this session, or was forced */
    const char *remark;                /* a warning about the loaded replay, or NULL */
    bool announced, saved;
    bool kept_old;       /* an existing file at `save_path` was renamed */
    const char *pending; /* key of the entry that is provisionally saved as failed; NULL: none. Borrowed */
    struct log *log;
};

/* A saved verdict. */
struct saved_verdict {
    int64_t iteration; /* -1: not a numbered iteration */
    int64_t nodes;     /* -1: not recorded */
    enum verdict verdict;
    struct run_counts counts; /* if the check was repeated */
};

/* Model and check of a replay, and its paths. */
struct replay_binding {
    const char *load_path, *save_path; /* borrowed; NULL: none */
    bool force;                        /* accept a replay of another model or check */
    struct hash model, check;
};

/* Loads the replay, if any. Release also after an error. */
int session_replay_open(struct session_replay *replay, const struct replay_binding *binding, struct log *log,
                        struct error *err);
void session_replay_release(struct session_replay *replay);

/* Removes partly written replays of killed processes. */
void session_replay_remove_leftovers(const struct session_replay *replay);

/* Logs that the replay was loaded, before its first use. */
void session_replay_announce(struct session_replay *replay);

/* False if the replay has no such key. Provisional failures of session_replay_save_as_failed() do not count. */
bool session_replay_find(const struct session_replay *replay, const char *key, struct saved_verdict *ret);

/* Saves a provisional failure of this candidate to a file next to the replay: if its check crashes the machine, a
 * session that loads this file continues after it. The key must stay valid until the verdict is saved. */
int session_replay_save_as_failed(struct session_replay *replay, const char *key, const struct saved_verdict *verdict,
                                  struct error *err);
int session_replay_save(struct session_replay *replay, const char *key, const struct saved_verdict *verdict,
                        struct error *err);

/* The command line to resume with: `command_line` (the words typed, NULL-terminated) with `--load-debug-replay
 * <replay>` in place of any such option, quoted for a shell. Words after --check are unchanged, unless
 * `options_after_check`: the check was one quoted word. malloc'd. */
char *resume_hint_make(const char *const *command_line, const char *replay, bool options_after_check);

#endif
