/* base/system.c: see system.h. */
#define _GNU_SOURCE /* dladdr, sched_getaffinity */
#include "base/system.h"

#include <dlfcn.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "base/memory.h"

double stopwatch_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

char *system_program_path(void)
{
    char path[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", path, sizeof(path)); /* Linux only */

    return size > 0 && (size_t)size < sizeof(path) ? memory_copy(path, (size_t)size) : NULL;
}

bool system_find_function(void *library, const char *name, void *ret_function)
{
    void *symbol = dlsym(library, name);

    memcpy(ret_function, &symbol, sizeof(symbol)); /* ISO C has no conversion from a pointer to data */
    return symbol != NULL;
}

const char *system_library_of(const void *symbol)
{
    Dl_info place;

    return dladdr(symbol, &place) != 0 ? place.dli_fname : NULL;
}

const char *system_temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");

    return folder != NULL && folder[0] != '\0' ? folder : "/tmp";
}

int system_processors(void)
{
#ifdef __linux__
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        return CPU_COUNT(&set);
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    return online > 0 ? (int)online : 1;
}

#define AVX_VNNI 0x10u /* of leaf 7, part 1, EAX */

bool system_saturates_products(void)
{
#ifdef __x86_64__
    unsigned a = 0, b, c, d;

    if (__builtin_cpu_supports("avx512vnni"))
        return false;
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) == 0 || (a & AVX_VNNI) == 0;
#else
    return false;
#endif
}

void system_add_processor_name(struct string_builder *ret)
{
    FILE *file = fopen("/proc/cpuinfo", "re"); /* Linux; elsewhere only the architecture is known */
    const char *name = NULL;
    struct utsname machine;
    char line[512];

    while (file && !name && fgets(line, sizeof(line), file))
        if (strncmp(line, "model name", strlen("model name")) == 0)
            name = strchr(line, ':');
    if (file)
        fclose(file);
    if (name) {
        name += 1 + strspn(name + 1, " \t");
        string_add_bytes(ret, name, strcspn(name, "\n"));
    } else {
        string_add(ret, uname(&machine) == 0 ? machine.machine : "unknown");
    }
}
