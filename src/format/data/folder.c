/* format/data/folder.c: see folder.h. */
#include "format/data/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/file/shared_map.h"
#include "base/memory.h"
#include "base/text/number.h"
#include "format/numpy/folder.h"
#include "onnx/proto/tensor_proto.h"

/* ---- Reading ---- */

void data_add_unnamed(struct tensor_list *list, const char *path, struct tensor *tensor)
{
    char *name SCOPED_FREE = file_basename(path);

    tensor_list_add(list, (struct text){name, (size_t)(file_extension(name) - name)}, tensor);
    list->items[list->count - 1].is_unnamed = true;
}

int data_tensor_proto_load(const char *path, struct tensor_list *ret, struct error *err)
{
    struct tensor_header header;
    struct shared_map *map;
    struct tensor tensor;
    int rc = shared_map_open(path, &map, err);

    if (rc < 0)
        return rc;
    rc = tensor_proto_read(shared_map_content(map), &header, err);
    if (rc == 0)
        rc = tensor_proto_decode(shared_map_content(map), &tensor, err);
    if (rc < 0) {
        error_context(err, "'%s' (read as a TensorProto)", path);
        goto done;
    }
    if (tensor.free_owner == NULL) {
        tensor.owner = shared_map_join(map);
        tensor.free_owner = shared_map_leave;
    }
    if (header.name.size > 0)
        tensor_list_add(ret, header.name, &tensor);
    else
        data_add_unnamed(ret, path, &tensor);
done:
    shared_map_leave(map);
    return rc;
}

/* A file or folder named by a known prefix and a number. */
struct numbered {
    int64_t number;
    char *path; /* owned */
};

struct numbered_list {
    struct numbered *items;
    size_t count, capacity;
};

static void numbered_release(struct numbered_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].path);
    free(list->items);
}

static int by_number(const void *left, const void *right)
{
    const struct numbered *a = left, *b = right;

    return a->number != b->number ? (a->number < b->number ? -1 : 1) : strcmp(a->path, b->path);
}

/* The number in "<prefix><digits><suffix>". */
static bool take_number(const char *name, const char *prefix, const char *suffix, int64_t *ret)
{
    size_t before = strlen(prefix), digits;

    if (strncmp(name, prefix, before) != 0)
        return false;
    digits = strspn(name + before, "0123456789");
    return digits > 0 && strcmp(name + before + digits, suffix) == 0 &&
           number_parse_integer((struct text){name + before, digits}, ret);
}

/* Lists such entries of the folder, sorted by number; the numbers must be 0, 1, 2 and so on. */
static int list_numbered(const char *folder, const char *prefix, const char *suffix, struct numbered_list *ret,
                         struct error *err)
{
    DIR *stream = opendir(folder);
    const struct dirent *entry;

    if (stream == NULL)
        return error_set_errno(err, ERR_IO, "cannot read the folder '%s'", folder);
    while ((entry = readdir(stream)) != NULL) {
        int64_t number;

        if (take_number(entry->d_name, prefix, suffix, &number))
            *VECTOR_APPEND(ret) = (struct numbered){number, file_join(folder, entry->d_name)};
    }
    closedir(stream);
    if (ret->count > 0)
        qsort(ret->items, ret->count, sizeof(*ret->items), by_number);
    for (size_t i = 0; i < ret->count; i++)
        if (ret->items[i].number != (int64_t)i)
            return error_set(err, ERR_INVALID, "'%s' contains '%s', expected %s%zu%s: numbers start at 0", folder,
                             ret->items[i].path, prefix, i, suffix);
    return 0;
}

/* Loads the arrays that are directly in the folder. */
static int load_arrays(const char *folder, const char *protos, struct tensor_list *ret, struct error *err)
{
    struct numbered_list found = {0};
    char prefix[16];
    int rc;

    snprintf(prefix, sizeof(prefix), "%s_", protos);
    rc = list_numbered(folder, prefix, ".pb", &found, err);
    for (size_t i = 0; i < found.count && rc == 0; i++)
        rc = data_tensor_proto_load(found.items[i].path, ret, err);
    numbered_release(&found);
    return rc < 0 ? rc : npy_folder_load(folder, ret, err);
}

int data_folder_load_iteration(const char *path, const char *protos, struct tensor_list *ret, struct error *err)
{
    int rc = load_arrays(path, protos, ret, err);

    if (rc == 0 && ret->count == 0)
        rc = error_set(err, ERR_INVALID, "the folder '%s' contains neither .npy files nor %s_0.pb", path, protos);
    return rc;
}

/* Whether arrays are directly in the folder. */
static int find_arrays(const char *folder, const char *protos, bool *ret, struct error *err)
{
    struct numbered_list found = {0};
    char prefix[16];
    int rc;

    snprintf(prefix, sizeof(prefix), "%s_", protos);
    rc = list_numbered(folder, prefix, ".pb", &found, err);
    *ret = found.count > 0 || npy_folder_has_arrays(folder);
    numbered_release(&found);
    return rc;
}

int data_folder_list(const char *path, const char *protos, struct file_list *ret, struct error *err)
{
    static const char *const prefixes[] = {"", "test_data_set_"};
    struct numbered_list found = {0};
    bool has_arrays;
    int rc = find_arrays(path, protos, &has_arrays, err);

    for (size_t i = 0; i < ARRAY_LEN(prefixes) && rc == 0 && !has_arrays && found.count == 0; i++)
        rc = list_numbered(path, prefixes[i], "", &found, err);
    for (size_t i = 0; i < found.count && rc == 0; i++)
        *VECTOR_APPEND(ret) = memory_strdup(found.items[i].path);
    numbered_release(&found);
    return rc;
}

int data_folder_load(const char *path, const char *protos, struct feed_dicts *ret, struct error *err)
{
    struct file_list folders SCOPED(file_list_release) = {0};
    struct tensor_list *feed;
    int rc = data_folder_list(path, protos, &folders, err);

    for (size_t i = 0; i < folders.count && rc == 0; i++) {
        feed = VECTOR_APPEND(ret);
        *feed = (struct tensor_list){0};
        rc = data_folder_load_iteration(folders.items[i], protos, feed, err);
    }
    if (rc < 0 || folders.count > 0)
        return rc;
    feed = VECTOR_APPEND(ret);
    *feed = (struct tensor_list){0};
    rc = load_arrays(path, protos, feed, err);
    if (rc == 0 && feed->count == 0)
        rc = error_set(err, ERR_INVALID,
                       "the folder '%s' contains no data: expected .npy files, %s_0.pb and so on, or folders 0, 1, ... "
                       "or test_data_set_0, ... of these",
                       path, protos);
    return rc;
}

/* ---- Writing ---- */

int data_folder_writer_open(struct data_folder_writer *writer, const char *path, size_t iterations, struct error *err)
{
    size_t length = strlen(path);
    int rc;

    while (length > 1 && path[length - 1] == '/')
        length--;
    *writer = (struct data_folder_writer){.place = memory_copy(path, length), .iterations = iterations};
    rc = file_make_parent_folders(writer->place, err);
    if (rc < 0)
        return rc;
    if (file_exists(writer->place) && rmdir(writer->place) != 0) {
        if (errno == ENOTEMPTY || errno == EEXIST)
            return error_set(
                err, ERR_EXISTS,
                "the folder '%s' is not empty, and its files would be read as data, too: choose another one", path);
        return error_set_errno(err, ERR_EXISTS, "'%s' exists and is not an empty folder: choose another name", path);
    }
    writer->temporary = file_temporary_name(writer->place);
    return 0;
}

int data_folder_writer_add(struct data_folder_writer *writer, const struct tensor_list *feed, struct error *err)
{
    SCOPED_STRING(folder);

    string_add(&folder, writer->temporary);
    if (writer->iterations != 1)
        string_add_format(&folder, "/%zu", writer->count);
    writer->count++;
    return npy_folder_save(feed, folder.data, FILE_INTERMEDIATE, err);
}

int data_folder_writer_commit(struct data_folder_writer *writer, struct error *err)
{
    int rc = file_sync_all(writer->temporary, err);

    if (rc == 0)
        rc = file_move(writer->temporary, writer->place, err);
    if (rc == 0) {
        free(writer->temporary);
        writer->temporary = NULL;
    }
    return rc;
}

void data_folder_writer_release(struct data_folder_writer *writer)
{
    if (writer->temporary != NULL)
        file_remove_tree(writer->temporary, NULL);
    free(writer->place);
    free(writer->temporary);
}
