/* support/format_fixture.c: see format_fixture.h. */
#include "support/format_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file/file.h"

const char *scratch_path(const char *name)
{
    static char path[4096];
    const char *folder = getenv("TMPDIR");

    snprintf(path, sizeof(path), "%s/format-%ld-%s", folder ? folder : "/tmp", (long)getpid(), name);
    return path;
}

char *content_of(const char *path, size_t *ret_size)
{
    struct error error = {0};
    char *content = NULL;

    if (file_read(path, SIZE_MAX, &content, ret_size, &error) < 0)
        fail_msg("%s", error.message);
    return content;
}

void assert_same_content(const char *path, const char *expected_path)
{
    size_t size, expected_size;
    char *content = content_of(path, &size);
    char *expected = content_of(expected_path, &expected_size);

    if (size != expected_size || memcmp(content, expected, size) != 0)
        fail_msg("'%s' differs from '%s': %s", path, expected_path, content);
    free(content);
    free(expected);
}
