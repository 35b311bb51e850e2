/* base/process/guard.c: see guard.h.
 *
 * Messages to the guard are numbers in a pipe: a group to add, its negative to remove it, 0 to stop. The pipe is closed
 * when the last writer is gone. Numbers are written atomically (PIPE_BUF), so threads need no lock.
 */
#include "base/process/guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"

/* The guard closes descriptors below this number. Others stay open until it exits. */
#define MOST_DESCRIPTORS 256

/* The guard stops after this number of consecutive searches without a marked process, with a pause in nanoseconds in
 * between: a child being started gets its environment only at exec. */
#define LOOKS 3
#define PAUSE 10000000

/* Maximum number of searches: a process that SIGKILL does not terminate must not keep the guard for ever. */
#define MOST_LOOKS 500

/* Pauses between SIGTERM and SIGKILL while a group exists: srun and similar programs need time to terminate their
 * remote processes. */
#define PAUSES_OF_GRACE 20

static int to_guard = -1;
static pid_t guard_process;
static char mark[64];

#ifdef RLIMIT_RTTIME
static struct rlimit limits_before; /* the mark, next line: */
static rlim_t limit_mark;           /* 0: there is none */
#endif

struct groups {
    pid_t *items;
    size_t count, capacity;
};

/* ---- The guard ---- */

/* A group may have been added twice: by its leader, and by the process that started it. */
static void remove_group(struct groups *groups, pid_t group)
{
    for (size_t i = 0; i < groups->count;) {
        if (groups->items[i] == group)
            groups->items[i] = groups->items[--groups->count];
        else
            i++;
    }
}

static bool receive_guard_message(int from, pid_t *ret)
{
    ssize_t size;

    do
        size = read(from, ret, sizeof(*ret));
    while (size < 0 && errno == EINTR);
    return size == sizeof(*ret);
}

/* Whether one of the NUL-terminated strings in the file is the mark. */
static bool holds_mark(FILE *environment)
{
    char *variable = NULL;
    size_t capacity = 0;
    bool found = false;

    while (!found && getdelim(&variable, &capacity, '\0', environment) > 0)
        found = strcmp(variable, mark) == 0;
    free(variable);
    return found;
}

/* Of /proc/<pid>/limits: "Max realtime timeout      <soft>     <hard>     us" */
static bool has_limit_mark(FILE *limits)
{
#ifdef RLIMIT_RTTIME
    static const char name[] = "Max realtime timeout";
    unsigned long long soft;
    char line[128];

    while (limit_mark != 0 && fgets(line, sizeof(line), limits) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            return sscanf(line + strlen(name), "%llu", &soft) == 1 && soft == limit_mark;
#endif
    (void)limits;
    return false;
}

/* Zombies cannot be killed again. "<pid> (<name>) <state> ...", see family.c. */
static bool is_alive(FILE *status)
{
    char line[128] = "";
    size_t length = fread(line, 1, sizeof(line) - 1, status);
    const char *name_end;

    line[length] = '\0';
    name_end = strrchr(line, ')');
    return name_end != NULL && name_end[1] == ' ' && strchr("ZX", name_end[2]) == NULL;
}

/* The result of `test` on a /proc file of the process; false if it cannot be read. */
static bool process_file_shows(int pid, const char *name, bool (*test)(FILE *))
{
    char path[64];
    FILE *file;
    bool ret;

    snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
    file = fopen(path, "re");
    ret = file != NULL && test(file);
    if (file != NULL)
        fclose(file);
    return ret;
}

/* Kills marked processes. Returns whether there were any; false on systems without /proc. */
static bool kill_marked(void)
{
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    bool found = false;

    while (processes != NULL && (entry = readdir(processes)) != NULL) {
        int pid = (int)strtol(entry->d_name, NULL, 10);

        if (pid > 0 && pid != getpid() &&
            (process_file_shows(pid, "environ", holds_mark) || process_file_shows(pid, "limits", has_limit_mark)) &&
            process_file_shows(pid, "stat", is_alive) && kill(pid, SIGKILL) == 0)
            found = true;
    }
    if (processes != NULL)
        closedir(processes);
    return found;
}

static bool any_left(const struct groups *groups)
{
    for (size_t i = 0; i < groups->count; i++)
        if (kill(-groups->items[i], 0) == 0)
            return true;
    return false;
}

static void end_family(const struct groups *groups)
{
    const struct timespec pause = {.tv_nsec = PAUSE};

    for (size_t i = 0; i < groups->count; i++) {
        kill(-groups->items[i], SIGTERM);
        kill(-groups->items[i], SIGCONT); /* a stopped process does not handle SIGTERM */
    }
    for (int pauses = 0; pauses < PAUSES_OF_GRACE && any_left(groups); pauses++)
        nanosleep(&pause, NULL);
    for (size_t i = 0; i < groups->count; i++)
        kill(-groups->items[i], SIGKILL);
    for (int looks = 0, all = 0; looks < LOOKS && all < MOST_LOOKS; looks++, all++) {
        if (kill_marked())
            looks = 0;
        nanosleep(&pause, NULL);
    }
}

static _Noreturn void run_guard(int from)
{
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGPIPE};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct groups groups = {0};
    pid_t group = 1;

    setpgid(0, 0); /* or a signal to our group would also kill the guard */
    sigemptyset(&ignore.sa_mask);
    for (size_t i = 0; i < ARRAY_LEN(ignored); i++)
        sigaction(ignored[i], &ignore, NULL); /* they are handled by the guarded process */
    for (int i = 0; i < MOST_DESCRIPTORS; i++)
        if (i != from)
            close(i);
    while (group != 0 && receive_guard_message(from, &group)) {
        if (group > 0)
            *VECTOR_APPEND(&groups) = group;
        else
            remove_group(&groups, -group);
    }
    if (group != 0)
        end_family(&groups);
    _exit(0);
}

/* ---- The guarded process ---- */

#ifdef RLIMIT_RTTIME

/* The number is derived from the time and never reused. It is larger than any real limit: above 2^62 microseconds. */
static void take_limit_mark(void)
{
    struct timespec now;
    struct rlimit marked;

    clock_gettime(CLOCK_REALTIME, &now);
    if (getrlimit(RLIMIT_RTTIME, &limits_before) != 0)
        return;
    marked = limits_before;
    marked.rlim_cur = ((rlim_t)1 << 62) + (rlim_t)now.tv_sec * 1000000000 + (rlim_t)now.tv_nsec;
    if (setrlimit(RLIMIT_RTTIME, &marked) == 0)
        limit_mark = marked.rlim_cur;
}

static void give_up_limit_mark(void)
{
    if (limit_mark != 0)
        setrlimit(RLIMIT_RTTIME, &limits_before);
    limit_mark = 0;
}

#else

static void take_limit_mark(void)
{
}

static void give_up_limit_mark(void)
{
}

#endif

void process_guard_start(void)
{
    int ends[2];
    pid_t pid;

    if (to_guard >= 0 || pipe(ends) != 0)
        return;
    snprintf(mark, sizeof(mark), "POLYGRAPHY_SESSION=%ld.%lld", (long)getpid(), (long long)time(NULL));
    take_limit_mark();
    fflush(NULL); /* or the guard would flush the same buffers */
    pid = fork();
    if (pid == 0)
        run_guard(ends[0]);
    close(ends[0]);
    if (pid < 0) {
        give_up_limit_mark();
        close(ends[1]);
        return;
    }
    setpgid(pid, pid); /* the guard does the same, to avoid a race */
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    guard_process = pid;
    to_guard = ends[1];
}

/* If the guard has exited, the message is dropped. The program ignores SIGPIPE. */
static void send_guard_message(pid_t number)
{
    if (to_guard >= 0 && write(to_guard, &number, sizeof(number)) < 0)
        process_guard_forget();
}

void process_guard_add(pid_t group)
{
    send_guard_message(group);
}

void process_guard_remove(pid_t group)
{
    send_guard_message(-group);
}

pid_t process_guard_process(void)
{
    return to_guard >= 0 ? guard_process : 0;
}

const char *process_guard_mark(void)
{
    return to_guard >= 0 ? mark : NULL;
}

void process_guard_forget(void)
{
    if (to_guard >= 0)
        close(to_guard);
    to_guard = -1;
}

void process_guard_stop(void)
{
    if (to_guard < 0)
        return;
    send_guard_message(0);
    process_guard_forget();
    give_up_limit_mark();
    while (waitpid(guard_process, NULL, 0) < 0 && errno == EINTR) {
    }
}
