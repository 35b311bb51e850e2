/* debug/record/session_lock.h: locks on the files that a session writes repeatedly.
 *
 * Two sessions with candidates at the same path would check each other's. So a session locks a hidden file next to that
 * path, ".<name>.lock", which it removes at the end. The lock belongs to the process, not to its children, and is
 * released however the process terminates: a lock file of a killed session blocks nobody.
 */
#ifndef DEBUG_RECORD_SESSION_LOCK_H
#define DEBUG_RECORD_SESSION_LOCK_H

#include "base/error.h"
#include "base/log.h"
#include "debug/candidate/place.h"

/* {.fd = -1}: no lock. */
struct session_lock {
    int fd;
    char *path; /* of the lock file */
};

/* Locks the file at `path`, after resolving links, for this process. Folders, pipes and devices are not locked. If
 * locking fails, a warning is logged (`log` may be NULL). ERR_EXISTS if another process holds the lock; the message
 * names the process, its use of the file (`what`: "writes candidates to"), and `option`, which chooses another path.
 * Release in any case. */
int session_lock_take(struct session_lock *lock, const char *path, const char *what, const char *option,
                      struct log *log, struct error *err);

/* Does nothing without a lock. Only the process that took the lock may release it. */
void session_lock_release(struct session_lock *lock);

/* All locks of a session; zero-initialized: none. */
struct session_locks {
    struct session_lock items[CANDIDATE_FILES + 1];
    size_t count;
};

/* Locks the files of candidates, in `folder` if not NULL, and the debug replay. A session inside of another session's
 * check has its own candidates, but may use the same replay path by default: if that is locked, `*replay` becomes NULL,
 * with a warning. ERR_EXISTS as above; release in any case. */
int session_locks_take(struct session_locks *locks, const struct candidate_paths *usual, const char *folder,
                       const char **replay, struct log *log, struct error *err);
void session_locks_release(struct session_locks *locks);

#endif
