/* format/polygraphy/feed_dicts.c: lists of input data. */
#include "format/polygraphy/feed_dicts.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/number.h"
#include "format/json/class.h"
#include "format/json/reader.h"
#include "format/json/writer.h"
#include "format/numpy/ndarray.h"

void feed_dicts_release(struct feed_dicts *feeds)
{
    for (size_t i = 0; i < feeds->count; i++)
        tensor_list_release(&feeds->items[i]);
    free(feeds->items);
    *feeds = (struct feed_dicts){0};
}

static int read_feed(struct json_reader *reader, json_t *object, struct feed_dicts *feeds, struct error *err)
{
    struct tensor_list *feed = VECTOR_APPEND(feeds);

    *feed = (struct tensor_list){0};
    return ndarray_read_members(reader, object, "input", feed, err);
}

/* Says why a file is no list of feed dicts. */
static int refuse(struct json_reader *reader, struct error *err)
{
    const char *name = reader->name;
    const char *found = json_class_describe(reader, reader->root);

    switch (json_class_of(reader, reader->root)) {
    case JSON_CLASS_RUN_RESULTS:
        return error_set(err, ERR_INVALID,
                         "'%s' holds results, not inputs: `data to-input %s -o inputs.json` makes inputs of them", name,
                         name);
    case JSON_CLASS_NONE:
        return error_set(err, ERR_INVALID,
                         "'%s' holds a single object, not a list of feed dicts: put it into brackets, [...]", name);
    default:
        return error_set(err, ERR_INVALID, "'%s' holds %s, not a list of feed dicts", name, found);
    }
}

static int read_feeds(struct json_reader *reader, bool bare_allowed, struct feed_dicts *ret, struct error *err)
{
    json_t *object;
    size_t index;
    int rc = json_class_check_all(reader, err);

    if (rc < 0)
        return rc;
    if (bare_allowed && json_class_of(reader, reader->root) == JSON_CLASS_NONE && json_is_object(reader->root)) {
        rc = read_feed(reader, reader->root, ret, err);
        return rc < 0 ? error_context(err, "'%s'", reader->name) : 0;
    }
    if (!json_is_array(reader->root))
        return refuse(reader, err);
    json_array_foreach (reader->root, index, object) {
        if (read_feed(reader, object, ret, err) < 0)
            return error_context(err, "'%s': iteration %zu", reader->name, index);
    }
    return 0;
}

/* ---- Safetensors ---- */

/* No more iterations than a header can name: an empty one takes no room in it. */
enum { MOST_ITERATIONS = 10000000 };

static int take_feeds(struct safetensors *file, struct feed_dicts *ret, struct error *err)
{
    const char *text = safetensors_find_metadata(file, "iterations");
    size_t before = ret->count;
    int64_t iterations;

    if (text == NULL || !number_parse_integer(text_of(text), &iterations) || iterations < 0 ||
        iterations > MOST_ITERATIONS)
        return error_set(err, ERR_CORRUPT, "the metadata 'iterations' are missing or not a number");
    for (int64_t i = 0; i < iterations; i++)
        *VECTOR_APPEND(ret) = (struct tensor_list){0};
    for (size_t i = 0; i < file->tensors.count; i++) {
        struct named_tensor *item = &file->tensors.items[i];
        const char *name = item->name;
        size_t iteration;

        if (!safetensors_take_number(&name, (size_t)iterations, &iteration))
            return error_set(err, ERR_CORRUPT, "tensor '%s' belongs to no iteration of the metadata", item->name);
        tensor_list_add(&ret->items[before + iteration], text_of(name), &item->tensor);
    }
    return 0;
}

int feed_dicts_take_safetensors(struct feed_dicts *ret, struct safetensors *file, const char *name, struct error *err)
{
    struct tensor_list *feed;

    if (safetensors_is_kind(file, SAFETENSORS_RESULTS))
        return error_set(err, ERR_INVALID,
                         "'%s' holds results, not inputs: `data to-input %s -o inputs.json` makes inputs of them", name,
                         name);
    if (safetensors_find_metadata(file, SAFETENSORS_KIND) != NULL) {
        int rc = take_feeds(file, ret, err);

        return rc < 0 ? error_context(err, "'%s'", name) : 0;
    }
    feed = VECTOR_APPEND(ret);
    *feed = file->tensors;
    file->tensors = (struct tensor_list){0};
    return 0;
}

static int save_safetensors(const struct feed_dicts *feeds, const char *path, struct error *err)
{
    struct safetensors_writer writer;
    struct string_builder name, iterations;
    int rc;

    string_init(&name);
    string_init(&iterations);
    string_add_format(&iterations, "%zu", feeds->count);
    rc = safetensors_writer_open(&writer, path, err);
    if (rc < 0)
        goto done;
    for (size_t i = 0; i < feeds->count; i++)
        for (size_t k = 0; k < feeds->items[i].count; k++)
            safetensors_writer_expect(&writer, 1, strlen(feeds->items[i].items[k].name));
    for (size_t i = 0; i < feeds->count; i++)
        for (size_t k = 0; k < feeds->items[i].count; k++) {
            string_clear(&name);
            string_add_format(&name, "%zu/%s", i, feeds->items[i].items[k].name);
            rc = safetensors_writer_add(&writer, name.data, &feeds->items[i].items[k].tensor, err);
            if (rc < 0)
                goto done;
        }
    rc = safetensors_writer_commit(
        &writer,
        (struct safetensors_metadata[]){{(char *)SAFETENSORS_KIND, (char *)SAFETENSORS_INPUTS},
                                        {(char *)"iterations", iterations.data}},
        2, err);
done:
    safetensors_writer_release(&writer);
    string_release(&name);
    string_release(&iterations);
    return rc;
}

/* ---- Files ---- */

/* Appends what was loaded to `feeds` when all is well. */
static int hand_over(struct feed_dicts *loaded, struct feed_dicts *feeds, int rc)
{
    if (rc < 0) {
        feed_dicts_release(loaded);
    } else {
        for (size_t i = 0; i < loaded->count; i++)
            *VECTOR_APPEND(feeds) = loaded->items[i];
        free(loaded->items);
    }
    return rc;
}

/* `rc` is what opening the reader gave. */
static int read_and_close(struct feed_dicts *feeds, struct json_reader *reader, bool bare_allowed, int rc,
                          struct error *err)
{
    struct feed_dicts loaded = {0};

    if (rc < 0)
        return rc;
    rc = read_feeds(reader, bare_allowed, &loaded, err);
    json_reader_release(reader);
    return hand_over(&loaded, feeds, rc);
}

static int load_safetensors(struct feed_dicts *feeds, const char *path, struct error *err)
{
    struct feed_dicts loaded = {0};
    struct safetensors file;
    int rc = safetensors_load(path, &file, err);

    if (rc < 0)
        return rc;
    rc = feed_dicts_take_safetensors(&loaded, &file, path, err);
    safetensors_release(&file);
    return hand_over(&loaded, feeds, rc);
}

static int load(struct feed_dicts *feeds, const char *path, bool bare_allowed, struct error *err)
{
    struct json_reader reader;
    int rc;

    if (safetensors_recognize(path))
        return load_safetensors(feeds, path, err);
    rc = json_reader_open(&reader, path, err);
    return read_and_close(feeds, &reader, bare_allowed, rc, err);
}

int feed_dicts_load(struct feed_dicts *feeds, const char *path, struct error *err)
{
    return load(feeds, path, false, err);
}

int feed_dicts_load_any(struct feed_dicts *feeds, const char *path, struct error *err)
{
    return load(feeds, path, true, err);
}

int feed_dicts_parse(struct feed_dicts *feeds, const void *data, size_t size, const char *name, struct error *err)
{
    struct json_reader reader;
    int rc = json_reader_open_memory(&reader, data, size, name, err);

    return read_and_close(feeds, &reader, false, rc, err);
}

static int write_feed(struct json_writer *writer, const struct tensor_list *feed, struct error *err)
{
    json_writer_begin_object(writer);
    for (size_t i = 0; i < feed->count; i++) {
        json_writer_key(writer, feed->items[i].name);
        if (ndarray_write(writer, &feed->items[i].tensor, err) < 0)
            return error_context(err, "input '%s'", feed->items[i].name);
    }
    json_writer_end_object(writer);
    return 0;
}

int feed_dicts_save(const struct feed_dicts *feeds, const char *path, struct error *err)
{
    struct json_writer writer;
    int rc;

    if (safetensors_is_name(path))
        return save_safetensors(feeds, path, err);
    rc = json_writer_open(&writer, path, err);
    json_writer_begin_array(&writer);
    for (size_t i = 0; i < feeds->count && rc == 0; i++)
        rc = write_feed(&writer, &feeds->items[i], err);
    json_writer_end_array(&writer);
    if (rc == 0)
        rc = json_writer_commit(&writer, FILE_DURABLE, err);
    json_writer_release(&writer);
    return rc;
}
