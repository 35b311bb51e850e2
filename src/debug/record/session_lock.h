/* debug/record/session_lock.h: files that a session writes again and again are its own as long as it runs.
 *
 * Two sessions that have their candidates at one path would judge each other's. So each holds a lock on a hidden file
 * beside that path, ".<name>.lock", which it removes in the end. The lock belongs to the process and not to its
 * children, and goes with it however it ends: what a killed session leaves of that file hinders nobody.
 */
#ifndef DEBUG_RECORD_SESSION_LOCK_H
#define DEBUG_RECORD_SESSION_LOCK_H

#include "base/error.h"
#include "base/log.h"
#include "debug/candidate/place.h"

/* {.fd = -1}: nothing is locked. */
struct session_lock {
    int fd;
    char *path; /* of the hidden file */
};

/* Locks what `path` leads to, for this process. Nothing is locked where there is a folder, a pipe or a device, and
 * where that cannot be done, for which there is a warning (`log` may be NULL). ERR_EXISTS when another process has it;
 * the message says which, what it has there ("writes its candidates to"), and to choose another path with `option`.
 * Release in any case. */
int session_lock_take(struct session_lock *lock, const char *path, const char *what, const char *option,
                      struct log *log, struct error *err);

/* Harmless where nothing is locked. Only the process that has taken it may do so. */
void session_lock_release(struct session_lock *lock);

/* All that one session has. Zeroed: nothing. */
struct session_locks {
    struct session_lock items[CANDIDATE_FILES + 1];
    size_t count;
};

/* Locks the files of candidates, in `folder` unless that is NULL, and the debug replay. A session inside of the check
 * of another one has candidates of its own, but nobody thinks of its replay: when that is not its own, `*replay`
 * becomes NULL, with a warning. ERR_EXISTS as above; release in any case. */
int session_locks_take(struct session_locks *locks, const struct candidate_paths *usual, const char *folder,
                       const char **replay, struct log *log, struct error *err);
void session_locks_release(struct session_locks *locks);

#endif
