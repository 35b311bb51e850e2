/* base/processor.c: see processor.h. */
#include "base/processor.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/* The part of a line of /proc/cpuinfo behind "model name : ". False when it is another line. */
static bool read_model_name(const char *line, struct string_builder *ret)
{
    const char *name = strncmp(line, "model name", strlen("model name")) == 0 ? strchr(line, ':') : NULL;

    if (name == NULL)
        return false;
    name += 1 + strspn(name + 1, " \t");
    string_add_bytes(ret, name, strcspn(name, "\n"));
    return true;
}

void processor_name(struct string_builder *ret)
{
    FILE *file = fopen("/proc/cpuinfo", "re"); /* Linux; elsewhere there is only the machine's kind */
    struct utsname machine;
    char line[512];
    bool found = false;

    while (file && !found && fgets(line, sizeof(line), file))
        found = read_model_name(line, ret);
    if (file)
        fclose(file);
    if (!found)
        string_add(ret, uname(&machine) == 0 ? machine.machine : "unknown");
}
