/* comparator/infer/subprocess.c: see subprocess.h. */
#include "comparator/infer/subprocess.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/crash.h"
#include "base/file/file.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/system.h"

/* The report of the child to its parent. */
struct child_report {
    int rc;
    struct error error;
};

/* Lets the child be killed with its parent: a model may run for hours. */
static void end_with_parent(pid_t parent)
{
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* the parent has exited already */
        _exit(1);
#endif
    (void)parent;
}

/* The work of the child. */
struct task {
    const char *name; /* for messages */
    subprocess_work *work;
    void *data;
    const char *path; /* of the results */
};

static _Noreturn void run_child(const struct task *task, pid_t parent, int report_fd)
{
    struct run_results results = {0};
    struct child_report report = {0};

    crash_forget();
    end_with_parent(parent);
    report.rc = task->work(task->data, &results, &report.error);
    if (report.rc == 0)
        report.rc = run_results_save(&results, task->path, &report.error);
    if (write(report_fd, &report, sizeof(report)) != (ssize_t)sizeof(report))
        report.rc = ERR_IO;
    _exit(report.rc != 0);
}

/* Reads the report; forwards termination signals to the child. False if the child exits without a report. */
static bool await_report(int fd, pid_t child, struct child_report *ret)
{
    struct pollfd events[] = {{.fd = fd, .events = POLLIN}, {.fd = interrupt_descriptor(), .events = POLLIN}};
    ssize_t count;

    while (poll(events, ARRAY_LEN(events), -1) < 0 || events[0].revents == 0) {
        if (events[1].revents == 0)
            continue;
        kill(child, SIGTERM);
        events[1].fd = -1;
    }
    do
        count = read(fd, ret, sizeof(*ret)); /* smaller than PIPE_BUF, so read at once */
    while (count < 0 && errno == EINTR);
    return count == (ssize_t)sizeof(*ret);
}

static int explain_death(const char *name, int status, struct error *err)
{
    if (interrupt_pending())
        return error_set(err, ERR_INTERRUPTED, "interrupted");
    if (WIFSIGNALED(status)) {
        error_set(err, ERR_BACKEND, "the process of %s was ended by signal %d (%s)", name, WTERMSIG(status),
                  strsignal(WTERMSIG(status)));
        err->foreign_code = -WTERMSIG(status);
        return ERR_BACKEND;
    }
    return error_set(err, ERR_BACKEND, "the process of %s ended with exit code %d before it had a result", name,
                     WEXITSTATUS(status));
}

static int await_child(const struct task *task, int fd, pid_t child, struct error *err)
{
    struct child_report report;
    bool reported = await_report(fd, child, &report);
    int status = 0;

    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (!reported)
        return explain_death(task->name, status, err);
    if (report.rc < 0)
        *err = report.error;
    return report.rc < 0 ? report.rc : 0;
}

/* Starts the child and waits for it. */
static int run_in_child(const struct task *task, struct error *err)
{
    int ends[2], rc;
    pid_t parent = getpid(), child;

    if (pipe(ends) < 0)
        return error_set_errno(err, ERR_IO, "cannot make a pipe for %s", task->name);
    child = fork();
    if (child == 0)
        run_child(task, parent, ends[1]);
    if (child < 0)
        rc = error_set_errno(err, ERR_IO, "cannot start a process for %s", task->name);
    close(ends[1]);
    if (child > 0)
        rc = await_child(task, ends[0], child, err);
    close(ends[0]);
    return rc;
}

int subprocess_run(const char *name, subprocess_work *work, void *data, struct run_results *ret, struct error *err)
{
    char *path SCOPED_FREE = file_join(system_temporary_folder(), "polygraphy_results_XXXXXX");
    struct task task = {.name = name, .work = work, .data = data, .path = path};
    int fd = mkstemp(path), rc;

    if (fd < 0)
        return error_set_errno(err, ERR_IO, "cannot make the temporary file '%s'", path);
    close(fd);
    interrupt_remove_at_exit(path);
    rc = run_in_child(&task, err);
    if (rc == 0)
        rc = run_results_load(ret, path, err);
    unlink(path);
    interrupt_keep(path);
    return rc;
}
