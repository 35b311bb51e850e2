/* base/process/family.c: see family.h. */
#include "base/process/family.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/memory_limit.h"
#include "base/process/guard.h"

struct pids {
    pid_t *items;
    size_t count, capacity;
};

/* Guards the following variables, and the interval between the start of a child and its registration. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct pids leaders; /* running now */
static struct pids kept;    /* children of family_fork() */

static bool pids_contain(const struct pids *pids, pid_t pid)
{
    for (size_t i = 0; i < pids->count; i++) {
        if (pids->items[i] == pid)
            return true;
    }
    return false;
}

static void remove_pid(struct pids *pids, pid_t pid)
{
    for (size_t i = 0; i < pids->count; i++) {
        if (pids->items[i] == pid) {
            pids->items[i] = pids->items[--pids->count];
            return;
        }
    }
}

#ifdef __linux__

static struct pids inherited; /* children that existed before, for example of a shell that executed this program */

static bool has_children(void)
{
    siginfo_t info;

    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

/* Reads the children of each of our threads. Returns false when the kernel does not list them. */
static bool list_by_thread(struct pids *ret)
{
    DIR *threads = opendir("/proc/self/task");
    bool listed = false;

    if (!threads)
        return false;
    for (struct dirent *entry; (entry = readdir(threads));) {
        char path[64];
        int pid;

        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        snprintf(path, sizeof(path), "/proc/self/task/%.20s/children", entry->d_name);
        FILE *children = fopen(path, "re");
        if (!children)
            continue;
        listed = true;
        while (fscanf(children, "%d", &pid) == 1)
            *VECTOR_APPEND(ret) = pid;
        fclose(children);
    }
    closedir(threads);
    return listed;
}

/* Fallback: reads the children from the table of all processes. */
static void list_by_parent(struct pids *ret)
{
    DIR *processes = opendir("/proc");

    if (!processes)
        return;
    for (struct dirent *entry; (entry = readdir(processes));) {
        char path[64];
        int pid, parent;

        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        snprintf(path, sizeof(path), "/proc/%.20s/stat", entry->d_name);
        FILE *status = fopen(path, "re");
        if (!status)
            continue;
        /* "<pid> (<name>) <state> <parent> ...": the name may contain anything, but has at most 15 bytes and no
         * parenthesis follows it. */
        char line[128] = "";
        size_t length = fread(line, 1, sizeof(line) - 1, status);
        line[length] = '\0';
        const char *name_end = strrchr(line, ')');
        if (name_end && sscanf(line, "%d", &pid) == 1 && sscanf(name_end + 1, " %*c %d", &parent) == 1 &&
            parent == getpid())
            *VECTOR_APPEND(ret) = pid;
        fclose(status);
    }
    closedir(processes);
}

static struct pids list_children(void)
{
    struct pids ret = {0};

    if (has_children() && !list_by_thread(&ret))
        list_by_parent(&ret);
    return ret;
}

static void adopt_orphans(void)
{
    static pid_t reaper; /* a forked child does not inherit the role */

    if (reaper == getpid())
        return;
    reaper = getpid();
    free(inherited.items);
    inherited = list_children();
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/* Kills the orphans of the family of `leader`, in a loop: the children of a killed orphan become ours. */
static void end_orphans(pid_t leader)
{
    bool last = leaders.count == 0;
    bool found = true;

    while (found) {
        struct pids children = list_children();
        found = false;
        for (size_t i = 0; i < children.count; i++) {
            pid_t pid = children.items[i];
            if (pids_contain(&leaders, pid) || pids_contain(&kept, pid) || pids_contain(&inherited, pid) ||
                pid == process_guard_process() || (!last && getpgid(pid) != leader))
                continue;
            kill(pid, SIGKILL);
            found = waitpid(pid, NULL, 0) == pid || found;
        }
        free(children.items);
    }
}

bool family_has_members(pid_t leader)
{
    struct pids children = list_children();
    bool ret = false;

    for (size_t i = 0; i < children.count && !ret; i++) {
        siginfo_t info = {0};
        pid_t pid = children.items[i];
        if (pid != leader && getpgid(pid) == leader)
            ret = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
    }
    free(children.items);
    return ret;
}

#else

static void adopt_orphans(void)
{
}

static void end_orphans(pid_t leader)
{
    (void)leader;
}

bool family_has_members(pid_t leader)
{
    (void)leader;
    return false;
}

#endif

void family_begin(sigset_t *ret_mask)
{
    sigset_t all;

    pthread_mutex_lock(&mutex);
    adopt_orphans();
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, ret_mask);
    memory_limit_lift();
}

void family_add(pid_t leader, const sigset_t *mask)
{
    memory_limit_put_back();
    if (leader > 0) {
        interrupt_kill_at_exit(leader);
        process_guard_add(leader);
        *VECTOR_APPEND(&leaders) = leader;
    }
    pthread_sigmask(SIG_SETMASK, mask, NULL);
    pthread_mutex_unlock(&mutex);
}

pid_t family_fork(void)
{
    pid_t ret;

    pthread_mutex_lock(&mutex);
    ret = fork();
    if (ret > 0)
        *VECTOR_APPEND(&kept) = ret;
    pthread_mutex_unlock(&mutex); /* also in the child, which has its own copy */
    return ret;
}

void family_forget(pid_t child)
{
    pthread_mutex_lock(&mutex);
    remove_pid(&kept, child);
    pthread_mutex_unlock(&mutex);
}

void family_end(pid_t leader)
{
    /* Safe: the number is not reused before the leader is reaped. */
    kill(-leader, SIGKILL);
    interrupt_spare(leader);
    process_guard_remove(leader);
    while (waitpid(leader, NULL, 0) < 0 && errno == EINTR) {
    }
    pthread_mutex_lock(&mutex);
    remove_pid(&leaders, leader);
    end_orphans(leader);
    pthread_mutex_unlock(&mutex);
}
