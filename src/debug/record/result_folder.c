/* debug/record/result_folder.c: see result_folder.h. */
#include "debug/record/result_folder.h"

#include <dirent.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/system.h"
#include "format/json/reader.h"

/* False also if the folder cannot be read. */
static bool folder_is_empty(const char *path)
{
    DIR *folder = opendir(path);
    size_t entries = 0;

    if (folder == NULL)
        return false;
    while (readdir(folder) != NULL)
        entries++;
    closedir(folder);
    return entries <= 2; /* "." and ".." */
}

static bool is_marked(const char *folder, const char *command)
{
    char *path SCOPED_FREE = file_join(folder, RESULT_FOLDER_MARKER);
    struct json_reader reader SCOPED(json_reader_release) = {0};
    struct text name;
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && json_reader_open(&reader, path, NULL) == 0 &&
           json_reader_text(&reader, json_object_get(reader.root, "command"), &name, NULL) == 0 &&
           text_equal(name, text_of(command));
}

int result_folder_check(const char *folder, const char *command, struct error *err)
{
    if (!file_exists(folder) || folder_is_empty(folder) || is_marked(folder, command))
        return 0;
    return error_set(err, ERR_EXISTS,
                     "folder '%s' contains files that `polygraphy %s` did not write and might overwrite: choose "
                     "another folder, or an empty one",
                     folder, command);
}

void result_folder_write_marker(const char *command, struct json_writer *writer)
{
    json_writer_add_string(writer, "command", command);
    json_writer_add_string(writer, "version", POLYGRAPHY_VERSION);
}

int result_folder_begin(const char *folder, const char *command, struct error *err)
{
    char *path SCOPED_FREE = file_join(folder, RESULT_FOLDER_MARKER);
    struct json_writer writer SCOPED(json_writer_release) = {0};
    int rc = file_make_folders(folder, err);

    if (rc < 0 || is_marked(folder, command))
        return rc;
    rc = json_writer_open(&writer, path, err);
    if (rc < 0)
        return rc;
    json_writer_begin_object(&writer);
    result_folder_write_marker(command, &writer);
    json_writer_end_object(&writer);
    return json_writer_commit(&writer, FILE_DURABLE, err);
}
