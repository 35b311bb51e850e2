/* base/process/spawn.c: finding and starting a program.
 *
 * posix_spawn() does not copy the parent's page tables (a model of many gigabytes may be mapped) and returns the error
 * of exec. It gets a path, never a name, so that no C library falls back to running a file of unknown format with sh.
 */
#define _GNU_SOURCE /* posix_spawn_file_actions_addchdir_np */
#include "base/process/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/container/arena.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "base/process/family.h"
#include "base/process/fork_server.h"
#include "base/process/guard.h"

/* The Python package also runs with glibc 2.28, which does not have it. */
#pragma weak posix_spawn_file_actions_addchdir_np

extern char **environ;

static const char *search_path(void)
{
    const char *path = getenv("PATH");

    return path ? path : "/usr/local/bin:/bin:/usr/bin";
}

/* Looks for `name` in the folders of PATH; an empty one is the working directory. If only non-executable files are
 * found, returns NULL and sets `*ret_unusable` (unless NULL) to the first one. */
static char *find_program_in_path(const char *name, char **ret_unusable)
{
    for (const char *folder = search_path();;) {
        size_t length = strcspn(folder, ":");
        char *copy SCOPED_FREE = length > 0 ? memory_copy(folder, length) : memory_strdup(".");
        char *path = file_join(copy, name);
        bool found = file_is_regular(path);
        if (found && access(path, X_OK) == 0)
            return path;
        if (found && ret_unusable && !*ret_unusable)
            *ret_unusable = path;
        else
            free(path);
        if (folder[length] == '\0')
            return NULL;
        folder += length + 1;
    }
}

char *process_find(const char *program)
{
    if (!strchr(program, '/'))
        return program[0] ? find_program_in_path(program, NULL) : NULL;
    return file_is_regular(program) && access(program, X_OK) == 0 ? memory_strdup(program) : NULL;
}

/* Writes the path to execute to `*ret`, malloc'd. */
static int choose_program(const struct process_request *request, char **ret, struct error *err)
{
    const char *name = request->program ? request->program : request->arguments[0];
    char *unusable = NULL;
    int rc = 0;

    if (!name[0])
        return error_set(err, ERR_INVALID, "the command to run is empty");
    if (request->program || strchr(name, '/')) {
        *ret = memory_strdup(name);
        return 0;
    }
    char *path = find_program_in_path(name, &unusable);
    if (path)
        *ret = path;
    else if (unusable)
        rc = error_set(err, ERR_IO, "cannot run '%s': '%s', found on PATH, is not executable", name, unusable);
    else
        rc = error_set(err, ERR_MISSING, "cannot run '%s': there is no such program on PATH (%s)", name, search_path());
    free(unusable);
    return rc;
}

static int explain_spawn_failure(int reason, const char *program, struct error *err)
{
    switch (reason) {
    case ENOENT:
    case ENOTDIR:
        if (access(program, F_OK) == 0)
            return error_set(err, ERR_IO, "cannot run '%s': its interpreter does not exist", program);
        return error_set(err, ERR_MISSING, "cannot run '%s': it does not exist", program);
    case EACCES:
        return error_set(err, ERR_IO, "cannot run '%s': %s", program,
                         file_is_folder(program) ? "it is a folder" : "it is not executable (see chmod)");
    case ENOEXEC:
        return error_set(err, ERR_IO,
                         "cannot run '%s': it is neither a program for this machine nor a script that "
                         "begins with '#!'",
                         program);
    default:
        errno = reason;
        return error_set_errno(err, ERR_IO, "cannot run '%s'", program);
    }
}

/* Whether one of `others` sets or unsets the variable of `assignment`. */
static bool is_overridden(const char *assignment, const char *const *others)
{
    size_t length = strcspn(assignment, "=");

    for (; others && *others; others++) {
        if (strcspn(*others, "=") == length && strncmp(*others, assignment, length) == 0)
            return true;
    }
    return false;
}

/* Our environment with `added`; allocated in `arena`, and refers to the strings of both. */
static char **make_environment(const char *const *added, struct arena *arena)
{
    size_t inherited = 0, count = 0, more = 0;

    const char *const mark[] = {process_guard_mark(), NULL};

    while (environ[inherited])
        inherited++;
    while (added && added[more])
        more++;
    char **ret = arena_alloc(arena, (inherited + more + 2) * sizeof(*ret));
    for (size_t i = 0; i < inherited; i++) {
        if (!is_overridden(environ[i], added) && !is_overridden(environ[i], mark))
            ret[count++] = environ[i];
    }
    for (size_t i = 0; i < more; i++)
        if (strchr(added[i], '='))
            ret[count++] = (char *)added[i];
    if (mark[0])
        ret[count++] = (char *)mark[0];
    ret[count] = NULL;
    return ret;
}

/* Resets signals: we ignore SIGPIPE and block signals in some threads, the child must not inherit that. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, defaults;
    int reason;

    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    reason = posix_spawnattr_setsigmask(attributes, &none);
    if (reason != 0)
        return reason;
    reason = posix_spawnattr_setsigdefault(attributes, &defaults);
    if (reason != 0)
        return reason;
    reason = posix_spawnattr_setpgroup(attributes, 0);
    if (reason != 0)
        return reason;
    return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

int process_spawn(const struct process_request *request, int out, int error_out, pid_t *ret, struct error *err)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    SCOPED_ARENA(arena);
    sigset_t mask;
    char *program = NULL;
    int rc = 0, reason;

    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    family_begin(&mask);
    if (request->server != NULL &&
        fork_server_spawn(request->server, request->server_arguments, request->environment, out, error_out, ret))
        goto done;
    rc = choose_program(request, &program, err);
    if (rc < 0)
        goto done;
    reason = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (reason == 0 && request->without_input)
        reason = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (reason == 0)
        reason = posix_spawn_file_actions_adddup2(&actions, error_out, STDERR_FILENO);
    if (reason == 0 && request->folder)
        reason = posix_spawn_file_actions_addchdir_np != NULL
                     ? posix_spawn_file_actions_addchdir_np(&actions, request->folder)
                     : ENOSYS;
    if (reason == 0)
        reason = set_attributes(&attributes);
    if (reason == 0)
        reason = posix_spawn(ret, program, &actions, &attributes, (char *const *)request->arguments,
                             make_environment(request->environment, &arena));
    if (reason != 0)
        rc = explain_spawn_failure(reason, program, err);
done:
    family_add(rc == 0 ? *ret : 0, &mask);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    free(program);
    return rc;
}
