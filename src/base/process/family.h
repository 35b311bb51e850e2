/* base/process/family.h: all that a child leaves behind. Internal to base/process.
 *
 * Members of a child's group are known by the group. On Linux this process is made a "subreaper": a descendant whose
 * parent has ended becomes our child, whatever group or session it has moved to. While several children run at once,
 * whose descendant that is cannot be told; it is then ended with the last of them. When this process is killed, orphans
 * become others' children: then it is up to base/process/guard.h.
 *
 * A program that has other children of its own has to start them before its first call of process_run(), or with
 * family_fork().
 */
#ifndef BASE_PROCESS_FAMILY_H
#define BASE_PROCESS_FAMILY_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* Stands around the start of a child: from here on no signal ends this process before the child is known, no other
 * child is started, and bounds on memory do not hold, which it would inherit. `leader` is the child; 0: it could not
 * be started. */
void family_begin(sigset_t *ret_mask);
void family_add(pid_t leader, const sigset_t *mask);

/* Kills what is left of the family of `leader`, which has ended or is about to, and reaps all of it. */
void family_end(pid_t leader);

/* fork(), for a child that is nobody's orphan, whatever ends while it runs: whoever reaps it says so with
 * family_forget(). */
pid_t family_fork(void);
void family_forget(pid_t child);

/* True when the group has members besides its leader that still run. May miss some: those whose parent left the group,
 * and all on systems other than Linux. */
bool family_has_members(pid_t leader);

#endif
