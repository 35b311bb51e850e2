/* format/polygraphy/feed_dicts.c: lists of input data. */
#include "format/polygraphy/feed_dicts.h"

#include <stdlib.h>

#include "base/memory.h"
#include "format/json/class.h"
#include "format/json/list.h"
#include "format/json/reader.h"
#include "format/numpy/ndarray.h"

void feed_dicts_release(struct feed_dicts *feeds)
{
    for (size_t i = 0; i < feeds->count; i++)
        tensor_list_release(&feeds->items[i]);
    free(feeds->items);
    *feeds = (struct feed_dicts){0};
}

/* A member is an array written by Polygraphy, or a list written by hand. */
static int read_input(struct json_reader *reader, json_t *value, struct named_tensor *ret, struct error *err)
{
    ret->is_untyped = json_list_is(value);
    return ret->is_untyped ? json_list_read(reader, value, &ret->tensor, err)
                           : ndarray_read(reader, value, &ret->tensor, err);
}

static int read_feed(struct json_reader *reader, json_t *object, struct feed_dicts *feeds, struct error *err)
{
    struct tensor_list *feed = VECTOR_APPEND(feeds);
    const char *name;
    json_t *value;

    *feed = (struct tensor_list){0};
    if (!json_is_object(object) || json_class_of(reader, object) != JSON_CLASS_NONE)
        return error_set(err, ERR_CORRUPT, "expected a map of inputs by name, found %s",
                         json_class_describe(reader, object));
    json_object_foreach (object, name, value) {
        struct named_tensor item = {0};

        if (read_input(reader, value, &item, err) < 0)
            return error_context(err, "input '%s'", name);
        tensor_list_add(feed, text_of(name), &item.tensor);
        feed->items[feed->count - 1].is_untyped = item.is_untyped;
    }
    return 0;
}

/* Reads nested lists without objects: one unnamed array. */
static int read_feed_list(struct json_reader *reader, struct feed_dicts *ret, struct error *err)
{
    char *name = file_basename(reader->name);
    struct tensor_list *feed = VECTOR_APPEND(ret);
    struct tensor tensor;
    int rc = json_list_read(reader, reader->root, &tensor, err);

    *feed = (struct tensor_list){0};
    if (rc == 0) {
        tensor_list_add(feed, (struct text){name, (size_t)(file_extension(name) - name)}, &tensor);
        feed->items[0].is_unnamed = true;
        feed->items[0].is_untyped = true;
    }
    free(name);
    return rc < 0 ? error_context(err, "'%s'", reader->name) : 0;
}

/* Reports why a file is not a list of feed dicts. */
static int refuse_feed_dicts(struct json_reader *reader, struct error *err)
{
    const char *name = reader->name;

    if (json_class_of(reader, reader->root) == JSON_CLASS_RUN_RESULTS)
        return error_set(err, ERR_INVALID,
                         "'%s' holds results, not inputs: `data merge %s -o inputs.json` makes inputs of them", name,
                         name);
    return error_set(err, ERR_INVALID, "'%s' contains %s, not a list of feed dicts", name,
                     json_class_describe(reader, reader->root));
}

int feed_dicts_read(struct feed_dicts *ret, struct json_reader *reader, struct error *err)
{
    json_t *object;
    size_t index;
    int rc = json_class_check_all(reader, err);

    if (rc < 0)
        return rc;
    if (json_is_object(reader->root) && json_class_of(reader, reader->root) == JSON_CLASS_NONE) {
        rc = read_feed(reader, reader->root, ret, err);
        return rc < 0 ? error_context(err, "'%s'", reader->name) : 0;
    }
    if (!json_is_array(reader->root))
        return refuse_feed_dicts(reader, err);
    if (json_array_size(reader->root) > 0 && !json_is_object(json_array_get(reader->root, 0)))
        return read_feed_list(reader, ret, err);
    json_array_foreach (reader->root, index, object) {
        if (read_feed(reader, object, ret, err) < 0)
            return error_context(err, "'%s': iteration %zu", reader->name, index);
    }
    return 0;
}

/* ---- Files ---- */

/* Appends the loaded data to `feeds` on success. */
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

int feed_dicts_parse(struct feed_dicts *feeds, const void *data, size_t size, const char *name, struct error *err)
{
    struct feed_dicts loaded = {0};
    struct json_reader reader SCOPED(json_reader_release) = {0};
    int rc = json_reader_open_memory(&reader, data, size, name, err);

    if (rc < 0)
        return rc;
    rc = feed_dicts_read(&loaded, &reader, err);
    return hand_over(&loaded, feeds, rc);
}
