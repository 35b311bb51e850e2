/* format/polygraphy/iteration_info.c: which iteration a check belongs to. */
#include "format/polygraphy/iteration_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "format/json/writer.h"

int iteration_info_save(const char *path, int64_t index, struct error *err)
{
    struct json_writer writer;
    int rc;

    json_writer_init(&writer);
    json_writer_begin_object(&writer);
    json_writer_key(&writer, "iteration");
    json_writer_integer(&writer, index);
    json_writer_end_object(&writer);
    rc = file_write(path, writer.text.data, writer.text.size, FILE_INTERMEDIATE, err);
    json_writer_release(&writer);
    return rc;
}

bool iteration_info_may_replace(const char *path)
{
    struct stat status;
    long long index;
    size_t size;
    char *text;
    int end = 0;

    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
        return true;
    if (file_read(path, 4096, &text, &size, NULL) < 0)
        return false;
    bool ret = sscanf(text, " { \"iteration\" : %lld } %n", &index, &end) == 1 && end > 0 && (size_t)end == size;
    free(text);
    return ret;
}
