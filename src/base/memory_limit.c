/* base/memory_limit.c: see memory_limit.h. */
#include "base/memory_limit.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/system.h"

#define ALWAYS_ALLOWED ((size_t)64 << 20) /* bytes */
#define MIB 0x1p20
#define GIB 0x1p30
#define SIZE_TEXT_SIZE 32

static size_t limit; /* 0: none was given */

void memory_limit_set(size_t bytes)
{
    limit = bytes;
}

bool memory_limit_is_set(void)
{
    return limit > 0;
}

/* ---- Available memory ---- */

/* Reads the number that follows `name` at the beginning of a line; with "" the number at the beginning of the file.
 * False if there is none. */
static bool read_number_of_file(const char *path, const char *name, uint64_t *ret)
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

/* File names of a control group, for versions 2 and 1 of the interface. */
struct group_files {
    const char *controller; /* in /proc/self/cgroup: "ID:CONTROLLERS:PATH" */
    const char *root, *most, *used, *cached;
};

static const struct group_files group_versions[] = {
    {"::", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "},
    {":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "},
};

/* Bytes that the group in `folder` may still allocate; page cache counts as free. */
static uint64_t left_in_group(const struct group_files *files, const char *folder)
{
    char *most_path SCOPED_FREE = file_join(folder, files->most),
                    *used_path SCOPED_FREE = file_join(folder, files->used);
    char *statistics_path SCOPED_FREE = file_join(folder, "memory.stat");
    uint64_t most, used, cached = 0, left = UINT64_MAX;

    if (read_number_of_file(most_path, "", &most) && read_number_of_file(used_path, "", &used)) {
        read_number_of_file(statistics_path, files->cached, &cached);
        used -= cached < used ? cached : used;
        left = most > used ? most - used : 0;
    }
    return left;
}

/* The minimum over a group and its ancestors. In a container the path may be that of the host: then the root is its
 * group. */
static uint64_t left_in_groups(const struct group_files *files, char *path)
{
    uint64_t least = left_in_group(files, files->root);

    for (char *slash; (slash = strrchr(path, '/')) != NULL && slash[1] != '\0'; *slash = '\0') {
        char *folder SCOPED_FREE = file_join(files->root, path + 1);
        uint64_t left = left_in_group(files, folder);

        least = left < least ? left : least;
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

static size_t find_available_memory(void)
{
    uint64_t kibibytes, swap = 0, ours = left_for_us(), all = UINT64_MAX;

    if (read_number_of_file("/proc/meminfo", "MemAvailable:", &kibibytes)) {
        read_number_of_file("/proc/meminfo", "SwapFree:", &swap);
        all = (kibibytes + swap) << 10;
    }
    all = ours < all ? ours : all;
    return all < SIZE_MAX ? (size_t)all : SIZE_MAX;
}

size_t memory_limit(void)
{
    return limit > 0 ? limit : find_available_memory();
}

/* ---- Checks ---- */

bool memory_limit_allows(size_t size)
{
    if (limit > 0)
        return size <= limit;
    return size <= ALWAYS_ALLOWED || size <= find_available_memory();
}

/* "8.0 GiB", "1.5 MiB", "3 bytes" */
static const char *to_text(size_t bytes, char ret[SIZE_TEXT_SIZE])
{
    double size = (double)bytes;

    if (size >= GIB / 10)
        snprintf(ret, SIZE_TEXT_SIZE, "%.1f GiB", size / GIB);
    else if (size >= MIB / 10)
        snprintf(ret, SIZE_TEXT_SIZE, "%.1f MiB", size / MIB);
    else
        snprintf(ret, SIZE_TEXT_SIZE, "%zu bytes", bytes);
    return ret;
}

/* A sufficient value of the option, rounded up: "9G", "2M". */
static const char *to_option(size_t bytes, char ret[SIZE_TEXT_SIZE])
{
    double unit = (double)bytes >= GIB / 2 ? GIB : MIB;

    snprintf(ret, SIZE_TEXT_SIZE, "%.0f%c", ceil((double)bytes / unit + 0.5), unit > MIB ? 'G' : 'M');
    return ret;
}

int memory_limit_refuse(size_t size, const char *what, struct error *err)
{
    char wanted[SIZE_TEXT_SIZE], most[SIZE_TEXT_SIZE], enough[SIZE_TEXT_SIZE];

    if (size >= PTRDIFF_MAX)
        return error_set(err, ERR_MEMORY, "%s would take more memory than can be addressed", what);
    return error_set(err, ERR_MEMORY,
                     limit > 0
                         ? "%s would take %s, but --max-memory allows %s; --max-memory %s would let it"
                         : "%s would take %s, and %s of memory are available; --max-memory %s lets it ask for them "
                           "all the same",
                     what, to_text(size, wanted), to_text(memory_limit(), most), to_option(size, enough));
}

int memory_limit_check(size_t size, const char *what, struct error *err)
{
    return memory_limit_allows(size) ? 0 : memory_limit_refuse(size, what, err);
}

/* ---- Enforcement by the system ---- */

#ifdef __linux__

static pthread_mutex_t enforcement =
    PTHREAD_MUTEX_INITIALIZER; /* guards what follows, and the limit while it is lifted */
static bool was_asked, enforced;
static struct rlimit before, bounded;

/* Address space that future threads of ONNX Runtime and OpenMP reserve for their stacks: large on machines with many
 * processors. */
static uint64_t stacks_to_come(void)
{
    pthread_attr_t attributes;
    size_t size = 0;

    if (pthread_attr_init(&attributes) != 0)
        return 0;
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_destroy(&attributes);
    return 2 * (uint64_t)system_processors() * size;
}

/* Existing memory (shared libraries, stacks) and future bookkeeping are added to the limit: they do not belong to the
 * model. */
static void enforce_memory_limit(void)
{
    uint64_t used, room = memory_limit();

    if (room >= SIZE_MAX - ALWAYS_ALLOWED || !read_number_of_file("/proc/self/status", "VmData:", &used) ||
        getrlimit(RLIMIT_DATA, &before) != 0)
        return;
    used = (used << 10) + ALWAYS_ALLOWED + stacks_to_come();
    bounded = before;
    if (room >= RLIM_INFINITY - used || used + room >= before.rlim_cur)
        return;
    bounded.rlim_cur = used + room;
    enforced = setrlimit(RLIMIT_DATA, &bounded) == 0;
}

void memory_limit_enforce(void)
{
    pthread_mutex_lock(&enforcement);
    if (!was_asked)
        enforce_memory_limit();
    was_asked = true;
    pthread_mutex_unlock(&enforcement);
}

void memory_limit_forget(void)
{
    if (enforced)
        setrlimit(RLIMIT_DATA, &before);
    was_asked = enforced = false;
}

void memory_limit_lift(void)
{
    pthread_mutex_lock(&enforcement);
    if (enforced)
        setrlimit(RLIMIT_DATA, &before);
}

void memory_limit_put_back(void)
{
    if (enforced)
        setrlimit(RLIMIT_DATA, &bounded);
    pthread_mutex_unlock(&enforcement);
}

#else

void memory_limit_enforce(void)
{
}

void memory_limit_forget(void)
{
}

void memory_limit_lift(void)
{
}

void memory_limit_put_back(void)
{
}

#endif
