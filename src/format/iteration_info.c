/* format/iteration_info.c: which iteration a check belongs to. */
#include "format/iteration_info.h"

#include "format/json_writer.h"

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
