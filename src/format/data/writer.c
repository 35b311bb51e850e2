/* format/data/writer.c: see writer.h. */
#include "format/data/writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "format/data/iteration_folder.h"
#include "format/numpy/npy.h"

static bool is_npy_folder(const char *path)
{
    return path[0] != '\0' && path[strlen(path) - 1] == '/';
}

bool data_file_holds_arrays_only(const char *path)
{
    return is_npy_folder(path) || file_has_extension(path, ".npy") || file_has_extension(path, ".npz");
}

static int refuse_count(const struct data_writer *writer, size_t arrays, struct error *err)
{
    return error_set(err, ERR_INVALID,
                     "'%s' can contain one array only, but there are %zu iteration(s), the first with %zu: choose a "
                     "name that ends in .npz, .safetensors, .json, or '/' for a folder",
                     writer->path, writer->iterations, arrays);
}

int data_writer_open(struct data_writer *writer, const char *path, bool by_iteration, size_t iterations,
                     struct error *err)
{
    *writer = (struct data_writer){.format = DATA_OTHER, .path = memory_strdup(path), .iterations = iterations};
    if (by_iteration && iteration_folder_is_name(path)) {
        writer->format = DATA_JSON_FOLDER;
        return iteration_folder_create(path, err);
    }
    if (data_file_holds_arrays_only(path) && iterations == 0)
        return error_set(
            err, ERR_INVALID,
            "'%s' cannot represent an empty list of iterations: choose a name that ends in .json or .safetensors",
            path);
    if (is_npy_folder(path)) {
        writer->format = DATA_NPY_FOLDER;
        return data_folder_writer_open(&writer->folder, path, iterations, err);
    }
    if (file_has_extension(path, ".npy")) {
        writer->format = DATA_NPY;
        return 0;
    }
    if (file_has_extension(path, ".npz")) {
        writer->format = DATA_NPZ;
        return npz_writer_open(&writer->npz, path, err);
    }
    return feed_dicts_writer_open(&writer->file, path, iterations, err);
}

/* Names of several iterations have their number as a prefix; also for a single iteration that would be read as
 * several. */
static int add_to_npz(struct data_writer *writer, const struct tensor_list *feed, struct error *err)
{
    SCOPED_STRING(name);
    int rc = 0;

    if (writer->count == 0)
        writer->numbered = writer->iterations > 1 || feed_dict_is_numbered(feed);
    for (size_t i = 0; i < feed->count && rc == 0; i++) {
        string_clear(&name);
        if (writer->numbered)
            string_add_format(&name, "%zu/", writer->count);
        string_add(&name, feed->items[i].name);
        rc = npz_writer_add(&writer->npz, name.data, &feed->items[i].tensor, err);
    }
    return rc;
}

static int save_array(const struct data_writer *writer, const struct tensor_list *feed, struct error *err)
{
    if (writer->iterations != 1 || feed->count != 1)
        return refuse_count(writer, feed->count, err);
    return npy_save(&feed->items[0].tensor, writer->path, FILE_DURABLE, err);
}

static int save_iteration(const struct data_writer *writer, const struct tensor_list *feed, struct error *err)
{
    char *path SCOPED_FREE = iteration_folder_file(writer->path, writer->count);
    return feed_dict_save(feed, path, err);
}

static int add_feed(struct data_writer *writer, const struct tensor_list *feed, struct error *err)
{
    if (feed->count == 0 && writer->format != DATA_JSON_FOLDER && writer->format != DATA_OTHER)
        return error_set(err, ERR_INVALID,
                         "'%s' cannot represent iteration %zu, which has no arrays: choose a name that ends in .json "
                         "or .safetensors",
                         writer->path, writer->count);
    switch (writer->format) {
    case DATA_JSON_FOLDER:
        return save_iteration(writer, feed, err);
    case DATA_NPY:
        return save_array(writer, feed, err);
    case DATA_NPZ:
        return add_to_npz(writer, feed, err);
    case DATA_NPY_FOLDER:
        return data_folder_writer_add(&writer->folder, feed, err);
    default:
        return feed_dicts_writer_add(&writer->file, feed, err);
    }
}

int data_writer_add(struct data_writer *writer, const struct tensor_list *feed, struct error *err)
{
    int rc = add_feed(writer, feed, err);

    if (rc == 0)
        writer->count++;
    return rc;
}

int data_writer_commit(struct data_writer *writer, struct error *err)
{
    switch (writer->format) {
    case DATA_NPZ:
        return npz_writer_commit(&writer->npz, FILE_DURABLE, err);
    case DATA_NPY_FOLDER:
        return data_folder_writer_commit(&writer->folder, err);
    case DATA_OTHER:
        return feed_dicts_writer_commit(&writer->file, err);
    default:
        return 0;
    }
}

void data_writer_release(struct data_writer *writer)
{
    if (writer->path == NULL)
        return;
    if (writer->format == DATA_NPZ)
        npz_writer_release(&writer->npz);
    else if (writer->format == DATA_NPY_FOLDER)
        data_folder_writer_release(&writer->folder);
    else if (writer->format == DATA_OTHER)
        feed_dicts_writer_release(&writer->file);
    free(writer->path);
    *writer = (struct data_writer){0};
}

int data_file_save(const struct feed_dicts *feeds, const char *path, struct error *err)
{
    struct data_writer writer;
    int rc = data_writer_open(&writer, path, false, feeds->count, err);

    for (size_t i = 0; i < feeds->count && rc == 0; i++)
        rc = data_writer_add(&writer, &feeds->items[i], err);
    if (rc == 0)
        rc = data_writer_commit(&writer, err);
    data_writer_release(&writer);
    return rc;
}
