/* base/process/family.h: kills the descendants of a child. Internal to base/process.
 *
 * Descendants in the child's process group are found by the group. On Linux this process also becomes a subreaper
 * (PR_SET_CHILD_SUBREAPER): a descendant whose parent has exited becomes our child, whatever group or session it moved
 * to. While several children run at once, an orphan cannot be assigned to one of them; it is killed with the last of
 * them. If this process is killed, base/process/guard.h kills the orphans.
 *
 * A program with other children must start them before its first call of process_run(), or with family_fork().
 */
#ifndef BASE_PROCESS_FAMILY_H
#define BASE_PROCESS_FAMILY_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* Enclose the start of a child. In between, signals are blocked until the child is registered, no other child is
 * started, and the memory limit is lifted so that the child does not inherit it. `leader` is the child; 0: it could not
 * be started. */
void family_begin(sigset_t *ret_mask);
void family_add(pid_t leader, const sigset_t *mask);

/* Kills and reaps the remaining descendants of `leader`, which has exited or is about to exit. */
void family_end(pid_t leader);

/* fork() for a child that is excluded from orphan reaping. Call family_forget() when it has been reaped. */
pid_t family_fork(void);
void family_forget(pid_t child);

/* Whether the group has running members other than its leader. May miss members whose parent left the group; always
 * false on systems other than Linux. */
bool family_has_members(pid_t leader);

#endif
