/* support/option_dump.c: see option_dump.h. */
#include "support/option_dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "support/unit_test.h"

struct option_dump option_dump;

bool option_dump_read(const char *path, const char *tool)
{
    size_t size;
    char heading[64], *section = NULL;
    bool inside = false, allows_abbreviations = false;

    assert_int_equal(file_read(path, 1 << 20, &option_dump.text, &size, NULL), 0);
    snprintf(heading, sizeof(heading), "==== %s (allow_abbrev=", tool);
    option_dump.count = 0;
    for (char *line = option_dump.text, *next; *line; line = next) {
        char *bar;

        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = '\0';
        bar = strstr(line, " | ");
        if (strncmp(line, "====", 4) == 0) {
            inside = strncmp(line, heading, strlen(heading)) == 0;
            if (inside)
                allows_abbreviations = strcmp(line + strlen(heading), "True)") == 0;
        } else if (inside && strncmp(line, "-- [", 4) == 0) {
            section = line + 4;
        } else if (inside && bar) {
            assert_true(option_dump.count < ARRAY_LEN(option_dump.items));
            *bar = '\0';
            option_dump.items[option_dump.count++] =
                (struct registered_option){line + strspn(line, " "), bar + 3, section, false};
        }
    }
    assert_true(option_dump.count > 0);
    return allows_abbreviations;
}

bool registered_option_has(const struct registered_option *registered, const char *property)
{
    return strstr(registered->properties, property) != NULL;
}

struct registered_option *option_dump_find(const char *name)
{
    for (size_t i = 0; i < option_dump.count; i++)
        for (const char *at = option_dump.items[i].names; at && *at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
            if (strncmp(at, name, strlen(name)) == 0 && strchr("/", at[strlen(name)]))
                return &option_dump.items[i];
    return NULL;
}

void option_dump_release(void)
{
    free(option_dump.text);
    option_dump.text = NULL;
}

enum option_kind registered_option_kind(const struct registered_option *registered)
{
    if (registered_option_has(registered, "CountAction"))
        return OPTION_COUNT;
    if (registered_option_has(registered, "StoreRunnerOrdered"))
        return OPTION_ORDERED;
    if (registered_option_has(registered, "nargs=0"))
        return OPTION_FLAG;
    if (registered_option_has(registered, "nargs=+"))
        return OPTION_MANY;
    if (registered_option_has(registered, "nargs=*"))
        return OPTION_ANY;
    if (registered_option_has(registered, "nargs=?"))
        return OPTION_MAYBE;
    return registered_option_has(registered, "nargs=...") ? OPTION_REST : OPTION_ONE;
}
