/* base/file/temporary.c: names of temporary files, and removal of leftovers. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/system.h"

#define TEMPORARY_FOLDER "polygraphy-" /* the beginning of their names */
#define SUFFIX_LENGTH 6
#define SPACE_LENGTH 16
#define LONGEST_BASENAME 210 /* the rest of 255 bytes is the suffix */

static const char suffix_characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/* ".<basename>.": the beginning of all temporary names for `path`. */
static void write_beginning(const char *path, char ret[LONGEST_BASENAME + 3])
{
    char *basename SCOPED_FREE = file_basename(path);

    snprintf(ret, LONGEST_BASENAME + 3, ".%.*s.", LONGEST_BASENAME, basename);
}

/* Writes the scope of process IDs, the boot and the PID namespace, as 16 hexadecimal digits; the first half is from the
 * random boot ID. False, and all zeros, if the system does not provide them. */
static bool write_space(char ret[SPACE_LENGTH + 1])
{
    char boot[SPACE_LENGTH / 2 + 1] = "";
    struct stat space;
    size_t size = file_read_start("/proc/sys/kernel/random/boot_id", boot, sizeof(boot) - 1);

    memset(ret, '0', SPACE_LENGTH);
    ret[SPACE_LENGTH] = '\0';
    if (size != SPACE_LENGTH / 2 || strspn(boot, "0123456789abcdef") != SPACE_LENGTH / 2 ||
        stat("/proc/self/ns/pid", &space) != 0)
        return false;
    snprintf(ret, SPACE_LENGTH + 1, "%s%08x", boot, (unsigned)space.st_ino);
    return true;
}

char *file_temporary_name(const char *path)
{
    static atomic_uint count;
    struct timespec now;
    char suffix[SUFFIX_LENGTH + 1] = "";
    char beginning[LONGEST_BASENAME + 3], space[SPACE_LENGTH + 1], name[256];

    clock_gettime(CLOCK_REALTIME, &now);
    /* An odd multiplier (from splitmix64) spreads differences between processes and times over all bits. */
    uint64_t bits = (uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 40;
    bits = (bits + atomic_fetch_add(&count, 1)) * 0x9E3779B97F4A7C15u;
    bits ^= bits >> 32;
    for (int i = 0; i < SUFFIX_LENGTH; i++, bits /= sizeof(suffix_characters) - 1)
        suffix[i] = suffix_characters[bits % (sizeof(suffix_characters) - 1)];

    write_beginning(path, beginning);
    write_space(space);
    snprintf(name, sizeof(name), "%s%ld.%s.%s", beginning, (long)getpid(), space, suffix);
    char *folder SCOPED_FREE = file_folder(path);

    return file_join(folder, name);
}

char *file_follow_links(const char *path)
{
    char *current = memory_strdup(path);

    for (int links = 0; links < 40; links++) {
        char target[4096];
        ssize_t length = readlink(current, target, sizeof(target) - 1);
        if (length < 0)
            return current;
        target[length] = '\0';
        char *folder SCOPED_FREE = file_folder(current);
        char *next = target[0] == '/' ? memory_strdup(target) : file_join(folder, target);
        free(current);
        current = next;
    }
    free(current);
    errno = ELOOP;
    return NULL;
}

/* A process in a new PID namespace may still see the /proc of the outer namespace, with its process IDs. */
static bool has_own_proc(void)
{
    char number[32];
    ssize_t length = readlink("/proc/self", number, sizeof(number) - 1);

    if (length <= 0)
        return false;
    number[length] = '\0';
    return strtol(number, NULL, 10) == (long)getpid();
}

/* A killed process accepts signals until it is reaped. Without /proc it counts as alive. */
static bool is_zombie(long process)
{
    char path[32], status[512], *end;

    if (!has_own_proc())
        return false;
    snprintf(path, sizeof(path), "/proc/%ld/stat", process);
    status[file_read_start(path, status, sizeof(status) - 1)] = '\0';
    end = strrchr(status, ')'); /* end of the program's name, which may contain any character */
    return end && (strncmp(end, ") Z", 3) == 0 || strncmp(end, ") X", 3) == 0);
}

/* An earlier process with our own process ID is gone. */
static bool process_is_gone(long process)
{
    return process == (long)getpid() || (kill((pid_t)process, 0) != 0 && errno == ESRCH) || is_zombie(process);
}

/* `space` is our scope: processes of other scopes cannot be checked, and their files are kept. */
static bool is_leftover(const char *name, const char *beginning, const char *space)
{
    size_t length = strlen(beginning);
    char *end;

    if (strncmp(name, beginning, length) != 0 || name[length] < '1' || name[length] > '9')
        return false;
    errno = 0;
    long process = strtol(name + length, &end, 10);
    if (errno != 0 || process != (long)(pid_t)process || *end != '.' || strncmp(end + 1, space, SPACE_LENGTH) != 0)
        return false;
    end += 1 + SPACE_LENGTH;
    return *end == '.' && strlen(end + 1) == SUFFIX_LENGTH && strspn(end + 1, suffix_characters) == SUFFIX_LENGTH &&
           process_is_gone(process);
}

void file_remove_leftovers(const char *path)
{
    char beginning[LONGEST_BASENAME + 3], space[SPACE_LENGTH + 1];
    char *target SCOPED_FREE = write_space(space) ? file_follow_links(path) : NULL;

    if (!target)
        return;
    write_beginning(target, beginning);
    char *folder SCOPED_FREE = file_folder(target);
    DIR *stream = opendir(folder);
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        struct stat status;
        if (is_leftover(entry->d_name, beginning, space) &&
            fstatat(dirfd(stream), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode))
            unlinkat(dirfd(stream), entry->d_name, 0);
    }
    if (stream)
        closedir(stream);
}

/* Removes the temporary folders that killed processes of this user left in `parent`. */
static void remove_leftover_folders(const char *parent, const char *space)
{
    DIR *stream = opendir(parent);

    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        const char *dot =
            strncmp(entry->d_name, TEMPORARY_FOLDER, strlen(TEMPORARY_FOLDER)) == 0 ? strchr(entry->d_name, '.') : NULL;
        char *beginning SCOPED_FREE =
            dot != NULL ? memory_copy(entry->d_name, (size_t)(dot - entry->d_name) + 1) : NULL;
        char *path SCOPED_FREE = NULL;
        struct stat status;

        if (beginning == NULL || strtol(dot + 1, NULL, 10) == (long)getpid() /* ours, and in use */ ||
            !is_leftover(entry->d_name, beginning, space) ||
            fstatat(dirfd(stream), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(status.st_mode) ||
            status.st_uid != geteuid())
            continue;
        path = file_join(parent, entry->d_name);
        file_remove_tree(path, NULL);
    }
    if (stream)
        closedir(stream);
}

int file_make_temporary_folder(const char *purpose, char **ret, struct error *err)
{
    char *real SCOPED_FREE = file_real_path(system_temporary_folder());
    const char *parent = real != NULL ? real : system_temporary_folder();
    char space[SPACE_LENGTH + 1];
    SCOPED_STRING(path);
    int rc = 0;

    if (write_space(space))
        remove_leftover_folders(parent, space);
    string_add_format(&path, "%s/" TEMPORARY_FOLDER "%s.%ld.%s.XXXXXX", parent, purpose, (long)getpid(), space);
    if (mkdtemp(path.data) != NULL)
        *ret = string_take(&path);
    else
        rc = error_set_errno(err, ERR_IO, "cannot create a folder in '%s' (TMPDIR sets another folder)",
                             system_temporary_folder());
    return rc;
}
