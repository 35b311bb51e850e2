/* format/data/file.c: see file.h. */
#include "format/data/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/file/shared_map.h"
#include "base/memory.h"
#include "format/data/folder.h"
#include "format/data/iteration_folder.h"
#include "format/data/word.h"
#include "format/json/class.h"
#include "format/numpy/npy.h"

enum format {
    FORMAT_JSON,
    FORMAT_SAFETENSORS,
    FORMAT_NPY,
    FORMAT_NPZ,
    FORMAT_TENSOR_PROTO,
    FORMAT_FOLDER,
    FORMAT_UNKNOWN,
};

/* Text that begins with a brace or bracket. */
static bool is_json(const uint8_t *start, size_t size)
{
    size_t at = size >= 3 && memcmp(start, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

    while (at < size && (start[at] == ' ' || (start[at] >= '\t' && start[at] <= '\r')))
        at++;
    return at < size && (start[at] == '{' || start[at] == '[') && memchr(start, '\0', size) == NULL;
}

static enum format format_of(const char *path)
{
    uint8_t start[64];
    size_t size;

    if (file_is_folder(path))
        return FORMAT_FOLDER;
    size = file_read_start(path, start, sizeof(start));
    if (size >= 6 && memcmp(start, "\x93NUMPY", 6) == 0)
        return FORMAT_NPY;
    switch (array_archive_format(path)) {
    case ARCHIVE_NPZ:
        return FORMAT_NPZ;
    case ARCHIVE_SAFETENSORS:
        return FORMAT_SAFETENSORS;
    case ARCHIVE_NONE:
        break;
    }
    if (file_has_extension(path, ".pb"))
        return FORMAT_TENSOR_PROTO;
    if (is_json(start, size))
        return FORMAT_JSON;
    if (file_has_extension(path, ".npy"))
        return FORMAT_NPY;
    if (file_has_extension(path, ".npz"))
        return FORMAT_NPZ;
    if (safetensors_is_name(path))
        return FORMAT_SAFETENSORS;
    /* A file that cannot be read twice, such as a pipe, is assumed to be JSON, whose reader reports errors. */
    return size == 0 || file_has_extension(path, ".json") ? FORMAT_JSON : FORMAT_UNKNOWN;
}

/* ---- Reading ---- */

static struct tensor_list *add_feed(struct data_file *file)
{
    struct tensor_list *feed = VECTOR_APPEND(&file->feeds);

    *feed = (struct tensor_list){0};
    return feed;
}

static int load_json(struct data_file *ret, const char *path, struct error *err)
{
    struct json_reader reader SCOPED(json_reader_release) = {0};
    int rc = json_reader_open(&reader, path, err);

    if (rc < 0)
        return rc;
    ret->holds_results = json_class_of(&reader, reader.root) == JSON_CLASS_RUN_RESULTS;
    rc =
        ret->holds_results ? run_results_read(&ret->results, &reader, err) : feed_dicts_read(&ret->feeds, &reader, err);
    return rc;
}

static int load_archive(struct data_file *ret, const char *path, enum archive_format format, struct error *err)
{
    struct array_archive archive;
    int rc = array_archive_open(path, format, &archive, err);

    if (rc < 0)
        return rc;
    ret->holds_results = archive.holds_results;
    if (archive.holds_results)
        rc = run_results_add_archive(&ret->results, &archive, err);
    for (size_t i = 0; i < archive.count && rc == 0 && !archive.holds_results; i++)
        rc = array_archive_read(&archive, i, add_feed(ret), err);
    array_archive_close(&archive);
    return rc;
}

static int load_npy(struct data_file *ret, const char *path, struct error *err)
{
    struct tensor tensor;
    int rc = npy_load(path, &tensor, err);

    if (rc == 0)
        data_add_unnamed(add_feed(ret), path, &tensor);
    return rc;
}

/* Appends what a file of a folder of iterations contains. */
static int append_iteration(struct data_file *ret, struct data_file *from, const char *path, struct error *err)
{
    bool is_first = ret->feeds.count + ret->results.count == 0;

    if (is_first)
        ret->holds_results = from->holds_results;
    if (from->holds_results != ret->holds_results ||
        (from->holds_results && !is_first && from->results.count != ret->results.count))
        return error_set(err, ERR_INVALID,
                         "'%s' contains other data than the files before it: inputs, or results of "
                         "another number of runners",
                         path);
    for (size_t i = 0; i < from->feeds.count; i++)
        *VECTOR_APPEND(&ret->feeds) = from->feeds.items[i];
    from->feeds.count = 0;
    for (size_t i = 0; i < from->results.count; i++) {
        struct runner_results *runner = &from->results.items[i];

        if (is_first)
            run_results_add_runner(&ret->results, text_of(runner->name));
        for (size_t k = 0; k < runner->count; k++)
            *VECTOR_APPEND(&ret->results.items[i]) = runner->items[k];
        runner->count = 0;
    }
    return 0;
}

static int load_iteration(struct data_file *ret, const struct iteration_files *files, size_t index, struct error *err)
{
    char *path SCOPED_FREE = iteration_files_path(files, index);
    struct data_file file SCOPED(data_file_release) = {0};
    int rc = load_json(&file, path, err);

    if (rc == 0)
        rc = append_iteration(ret, &file, path, err);
    return rc;
}

/* A folder of iterations, or of arrays. `protos`: see folder.h. */
static int load_folder(struct data_file *ret, const char *path, const char *protos, struct error *err)
{
    struct iteration_files files;
    int rc = iteration_files_list(path, &files, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < files.count && rc == 0; i++)
        rc = load_iteration(ret, &files, i, err);
    if (rc == 0 && files.count == 0)
        rc = data_folder_load(path, protos, &ret->feeds, err);
    iteration_files_release(&files);
    return rc;
}

static int load_raw(struct data_file *ret, const struct data_word *word, struct error *err)
{
    size_t size = tensor_bytes(word->type, shape_elements(&word->shape));
    struct shared_map *map;
    struct span content;
    struct tensor tensor;
    int rc = shared_map_open(word->path, &map, err);

    if (rc < 0)
        return rc;
    content = shared_map_content(map);
    if (content.size != size) {
        SCOPED_STRING(shape);

        shape_to_text(&word->shape, &shape);
        rc = error_set(err, ERR_INVALID, "'%s' has %zu bytes, but %s of shape %s takes %s%zu", word->path, content.size,
                       data_type_name(word->type), shape.data, size == SIZE_MAX ? "more than " : "", size);
        goto done;
    }
    for (size_t i = 0; word->type == DATA_BOOL && i < size; i++)
        if (content.data[i] > 1) {
            rc = error_set(err, ERR_CORRUPT, "'%s': byte %zu is %d, but a boolean is 0 or 1", word->path, i,
                           content.data[i]);
            goto done;
        }
    if (size == 0) {
        rc = tensor_allocate(word->type, &word->shape, &tensor, err);
        if (rc < 0)
            goto done;
    } else {
        tensor_borrow(word->type, &word->shape, content.data, size, &tensor);
        tensor.owner = shared_map_join(map);
        tensor.free_owner = shared_map_leave;
    }
    data_add_unnamed(add_feed(ret), word->path, &tensor);
done:
    shared_map_leave(map);
    return rc;
}

static int refuse_format(const char *path, struct error *err)
{
    return error_set(
        err, ERR_INVALID,
        "'%s' is in none of the supported formats: JSON (Polygraphy's, or lists of numbers), .safetensors, .npz, .npy, "
        "ONNX's .pb, or a folder of the last two. Specify raw data with type and shape, as in %s:float32:1x3x224x224",
        path, path);
}

/* `protos`: see folder.h. */
static int load_path(struct data_file *ret, const struct data_word *word, const char *protos, struct error *err)
{
    const char *path = word->path;

    if (word->type != DATA_UNDEFINED)
        return load_raw(ret, word, err);
    switch (format_of(path)) {
    case FORMAT_JSON:
        return load_json(ret, path, err);
    case FORMAT_SAFETENSORS:
        return load_archive(ret, path, ARCHIVE_SAFETENSORS, err);
    case FORMAT_NPY:
        return load_npy(ret, path, err);
    case FORMAT_NPZ:
        return load_archive(ret, path, ARCHIVE_NPZ, err);
    case FORMAT_TENSOR_PROTO:
        return data_tensor_proto_load(path, add_feed(ret), err);
    case FORMAT_FOLDER:
        return load_folder(ret, path, protos, err);
    case FORMAT_UNKNOWN:
        break;
    }
    return refuse_format(path, err);
}

/* Renames the file's single array to the name in the word. */
static int rename_array(struct data_file *file, struct text name, const char *path, struct error *err)
{
    struct tensor_list named = {0};

    if (file->holds_results || file->feeds.count != 1 || file->feeds.items[0].count != 1)
        return error_set(err, ERR_INVALID,
                         "'%s' is not a single array for input '" TEXT_FORMAT "': omit '" TEXT_FORMAT ":'", path,
                         TEXT_ARGS(name), TEXT_ARGS(name));
    tensor_list_add(&named, name, &file->feeds.items[0].items[0].tensor);
    named.items[0].is_untyped = file->feeds.items[0].items[0].is_untyped;
    tensor_list_release(&file->feeds.items[0]);
    file->feeds.items[0] = named;
    return 0;
}

static int load_word(struct data_file *ret, const struct data_word *word, const char *protos, struct error *err)
{
    struct data_file file = {0};
    int rc = load_path(&file, word, protos, err);

    if (rc == 0 && word->name.size > 0)
        rc = rename_array(&file, word->name, word->path, err);
    if (rc == 0)
        *ret = file;
    else
        data_file_release(&file);
    return rc;
}

int data_file_load(struct data_file *ret, const char *word, struct error *err)
{
    struct data_word parts SCOPED(data_word_release) = {0};
    int rc = data_word_parse(word, &parts, err);

    if (rc == 0)
        rc = load_word(ret, &parts, "input", err);
    return rc;
}

void data_file_release(struct data_file *file)
{
    run_results_release(&file->results);
    feed_dicts_release(&file->feeds);
}

/* ---- Input data ---- */

/* Whether an array with a name in its word belongs to the last iteration. */
static bool name_joins_feeds(const struct feed_dicts *feeds, struct text name)
{
    return feeds->takes_more && name.size > 0 && feeds->count > 0 &&
           tensor_list_find(&feeds->items[feeds->count - 1], name) == NULL;
}

int data_file_add_inputs(struct feed_dicts *feeds, const char *word, struct error *err)
{
    struct data_file file SCOPED(data_file_release) = {0};
    struct data_word parts SCOPED(data_word_release) = {0};
    int rc = data_word_parse(word, &parts, err);

    if (rc < 0)
        return rc;
    rc = load_word(&file, &parts, "input", err);
    if (rc == 0 && file.holds_results)
        rc = error_set(err, ERR_INVALID,
                       "'%s' contains results, not inputs: convert it with `data merge %s -o inputs.json`", word, word);
    if (rc < 0)
        return rc;
    if (name_joins_feeds(feeds, parts.name)) {
        struct named_tensor *item = &file.feeds.items[0].items[0];
        struct tensor_list *last = &feeds->items[feeds->count - 1];

        tensor_list_add(last, parts.name, &item->tensor);
        last->items[last->count - 1].is_untyped = item->is_untyped;
        return rc;
    }
    for (size_t i = 0; i < file.feeds.count; i++) {
        *VECTOR_APPEND(feeds) = file.feeds.items[i];
        file.feeds.items[i] = (struct tensor_list){0};
    }
    feeds->takes_more = parts.name.size > 0;
    return rc;
}

/* ---- Results ---- */

/* Moves the arrays of `feeds` to a runner's outputs. */
static void add_runner(struct feed_dicts *feeds, const char *path, struct run_results *ret)
{
    char *name SCOPED_FREE = file_basename(path);
    struct runner_results *runner = run_results_add_runner(ret, text_of(name));

    for (size_t i = 0; i < feeds->count; i++) {
        runner_results_add_iteration(runner, NAN)->outputs = feeds->items[i];
        feeds->items[i] = (struct tensor_list){0};
    }
}

static void move_runners(struct run_results *from, struct run_results *ret)
{
    for (size_t i = 0; i < from->count; i++)
        *VECTOR_APPEND(ret) = from->items[i];
    from->count = 0;
}

int data_file_add_results(struct run_results *results, const char *word, struct error *err)
{
    struct data_file file SCOPED(data_file_release) = {0};
    struct data_word parts SCOPED(data_word_release) = {0};
    enum format format;
    int rc = data_word_parse(word, &parts, err);

    if (rc < 0)
        return rc;
    format = parts.type == DATA_UNDEFINED ? format_of(parts.path) : FORMAT_UNKNOWN;
    if (format == FORMAT_JSON || format == FORMAT_SAFETENSORS) {
        rc = run_results_load(results, parts.path, err);
    } else {
        rc = load_word(&file, &parts, "output", err);
        if (rc == 0 && file.holds_results)
            move_runners(&file.results, results);
        else if (rc == 0)
            add_runner(&file.feeds, parts.path, results);
    }
    return rc;
}

int data_file_add_results_from(struct run_results *results, const char *word, size_t first, struct error *err)
{
    size_t before = results->count;
    int rc = data_file_add_results(results, word, err);

    for (size_t r = before; r < results->count && rc == 0; r++) {
        struct runner_results *runner = &results->items[r];
        size_t dropped = first < runner->count ? first : runner->count;

        for (size_t i = 0; i < dropped; i++) {
            tensor_list_release(&runner->items[i].outputs);
            free(runner->items[i].runner_name);
        }
        runner->count -= dropped;
        memmove(runner->items, runner->items + dropped, runner->count * sizeof(*runner->items));
    }
    return rc;
}
