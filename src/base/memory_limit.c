/* base/memory_limit.c: see memory_limit.h. */
#include "base/memory_limit.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/file.h"
#include "base/number_text.h"

#define ALWAYS_ALLOWED ((size_t)64 << 20) /* bytes */
#define GIB ((double)((size_t)1 << 30))

static size_t limit; /* 0: none was given */

void memory_limit_set(size_t bytes)
{
    limit = bytes;
}

bool memory_limit_is_set(void)
{
    return limit > 0;
}

/* ---- What the system has ---- */

/* The number behind `name` at the beginning of a line of the file; with "" the one at its beginning. False when there is none. */
static bool read_number(const char *path, const char *name, uint64_t *ret)
{
    FILE *file = fopen(path, "re");
    size_t length = strlen(name);
    char line[256];
    bool found = false;

    while (file != NULL && !found && fgets(line, sizeof(line), file) != NULL)
        found = strncmp(line, name, length) == 0 && sscanf(line + length, "%" SCNu64, ret) == 1;
    if (file != NULL)
        fclose(file);
    return found;
}

/* What the names of a control group's files are, in the second and the first version of Linux's interface. */
struct group_files {
    const char *controller; /* in /proc/self/cgroup: "ID:CONTROLLERS:PATH" */
    const char *root, *most, *used, *cached;
};

static const struct group_files group_versions[] = {
    {"::", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "},
    {":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "},
};

/* What the group in `folder` may take yet; files that are only kept in memory make room. */
static uint64_t left_in_group(const struct group_files *files, const char *folder)
{
    char *most_path = file_join(folder, files->most), *used_path = file_join(folder, files->used);
    char *statistics_path = file_join(folder, "memory.stat");
    uint64_t most, used, cached = 0, left = UINT64_MAX;

    if (read_number(most_path, "", &most) && read_number(used_path, "", &used)) {
        read_number(statistics_path, files->cached, &cached);
        used -= cached < used ? cached : used;
        left = most > used ? most - used : 0;
    }
    free(statistics_path);
    free(used_path);
    free(most_path);
    return left;
}

/* The least of a group and all that it is in. In a container the path may be that outside of it: then the root is its group. */
static uint64_t left_in_groups(const struct group_files *files, char *path)
{
    uint64_t least = left_in_group(files, files->root);

    for (char *slash; (slash = strrchr(path, '/')) != NULL && slash[1] != '\0'; *slash = '\0') {
        char *folder = file_join(files->root, path + 1);
        uint64_t left = left_in_group(files, folder);

        least = left < least ? left : least;
        free(folder);
    }
    return least;
}

static uint64_t left_for_us(void)
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    uint64_t least = UINT64_MAX;
    char line[4096];

    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        for (size_t i = 0; i < sizeof(group_versions) / sizeof(*group_versions); i++) {
            const char *controller = strstr(line, group_versions[i].controller);
            uint64_t left;

            if (controller == NULL || controller != strchr(line, ':'))
                continue;
            line[strcspn(line, "\n")] = '\0';
            left =
                left_in_groups(&group_versions[i], line + (controller - line) + strlen(group_versions[i].controller));
            least = left < least ? left : least;
        }
    if (file != NULL)
        fclose(file);
    return least;
}

static size_t available(void)
{
    uint64_t kibibytes, ours = left_for_us(), all = UINT64_MAX;

    if (read_number("/proc/meminfo", "MemAvailable:", &kibibytes))
        all = kibibytes << 10;
    all = ours < all ? ours : all;
    return all < SIZE_MAX ? (size_t)all : SIZE_MAX;
}

size_t memory_limit(void)
{
    return limit > 0 ? limit : available();
}

/* ---- What may be asked for ---- */

/* What is there already, shared libraries and stacks of threads, is not the model's. */
void memory_limit_enforce(void)
{
    struct rlimit most;
    uint64_t used, room = memory_limit();

    if (room == SIZE_MAX || !read_number("/proc/self/status", "VmData:", &used) || getrlimit(RLIMIT_DATA, &most) != 0)
        return;
    used <<= 10;
    if (room < RLIM_INFINITY - used && used + room < most.rlim_cur) {
        most.rlim_cur = used + room;
        setrlimit(RLIMIT_DATA, &most);
    }
}

bool memory_limit_allows(size_t size)
{
    if (limit > 0)
        return size <= limit;
    return size <= ALWAYS_ALLOWED || size <= available();
}

static const char *to_gib(double bytes, char ret[NUMBER_TEXT_SIZE])
{
    return number_to_text_rounded(bytes / GIB, 'f', bytes < GIB / 10 ? 4 : 1, ret);
}

int memory_limit_refuse(size_t size, const char *what, struct error *err)
{
    char wanted[NUMBER_TEXT_SIZE], most[NUMBER_TEXT_SIZE], enough[NUMBER_TEXT_SIZE];

    if (size >= PTRDIFF_MAX)
        return error_set(err, ERR_MEMORY, "%s would take more memory than there can be", what);
    return error_set(err, ERR_MEMORY,
                     limit > 0
                         ? "%s would take %s GiB, but --max-memory allows %s GiB; --max-memory %sG would let it"
                         : "%s would take %s GiB, and %s GiB of memory are available; --max-memory %sG lets it ask "
                           "for them all the same",
                     what, to_gib((double)size, wanted), to_gib((double)memory_limit(), most),
                     number_to_text_rounded(ceil((double)size / GIB + 0.5), 'f', 0, enough));
}

int memory_limit_check(size_t size, const char *what, struct error *err)
{
    return memory_limit_allows(size) ? 0 : memory_limit_refuse(size, what, err);
}
