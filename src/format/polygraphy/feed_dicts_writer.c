/* format/polygraphy/feed_dicts_writer.c: writes input data incrementally. */
#include <string.h>

#include "format/numpy/ndarray.h"
#include "format/polygraphy/feed_dicts.h"

bool feed_dict_is_numbered(const struct tensor_list *feed)
{
    for (size_t i = 0; i < feed->count; i++) {
        const char *name = feed->items[i].name;
        size_t number;

        if (!safetensors_take_number(&name, SIZE_MAX, &number))
            return false;
    }
    return true;
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
    return json_writer_status(writer, err);
}

int feed_dict_save(const struct tensor_list *feed, const char *path, struct error *err)
{
    struct json_writer writer SCOPED(json_writer_release) = {0};
    int rc = json_writer_open(&writer, path, err);

    if (rc == 0)
        rc = write_feed(&writer, feed, err);
    if (rc == 0)
        rc = json_writer_commit(&writer, FILE_INTERMEDIATE, err);
    return rc;
}

int feed_dicts_writer_open(struct feed_dicts_writer *writer, const char *path, size_t iterations, struct error *err)
{
    int rc;

    *writer = (struct feed_dicts_writer){.is_safetensors = safetensors_is_name(path), .expected = iterations};
    if (writer->is_safetensors)
        return safetensors_writer_open(&writer->tensors, path, err);
    rc = json_writer_open(&writer->json, path, err);
    json_writer_begin_array(&writer->json);
    return rc;
}

/* A single iteration needs no numbers, so that other programs find the tensors by name. */
static void begin_safetensors(struct feed_dicts_writer *writer, const struct tensor_list *feed)
{
    writer->numbered = writer->expected != 1 || feed_dict_is_numbered(feed);
    for (size_t i = 0; i < writer->expected; i++)
        for (size_t k = 0; k < feed->count; k++)
            safetensors_writer_expect(&writer->tensors, 1, strlen(feed->items[k].name));
}

static int add_to_safetensors(struct feed_dicts_writer *writer, const struct tensor_list *feed, struct error *err)
{
    SCOPED_STRING(name);
    int rc = 0;

    if (writer->count == 0)
        begin_safetensors(writer, feed);
    for (size_t i = 0; i < feed->count && rc == 0; i++) {
        string_clear(&name);
        if (writer->numbered)
            string_add_format(&name, "%zu/", writer->count);
        string_add(&name, feed->items[i].name);
        rc = safetensors_writer_add(&writer->tensors, name.data, &feed->items[i].tensor, err);
    }
    return rc;
}

int feed_dicts_writer_add(struct feed_dicts_writer *writer, const struct tensor_list *feed, struct error *err)
{
    int rc = writer->is_safetensors ? add_to_safetensors(writer, feed, err) : write_feed(&writer->json, feed, err);

    writer->count++;
    return rc;
}

static int commit_safetensors(struct feed_dicts_writer *writer, struct error *err)
{
    SCOPED_STRING(iterations);

    string_add_format(&iterations, "%zu", writer->count);
    return safetensors_writer_commit(
        &writer->tensors,
        (struct safetensors_metadata[]){{(char *)SAFETENSORS_KIND, (char *)SAFETENSORS_INPUTS},
                                        {(char *)"iterations", iterations.data}},
        2, err);
}

int feed_dicts_writer_commit(struct feed_dicts_writer *writer, struct error *err)
{
    if (writer->is_safetensors)
        return commit_safetensors(writer, err);
    json_writer_end_array(&writer->json);
    return json_writer_commit(&writer->json, FILE_DURABLE, err);
}

void feed_dicts_writer_release(struct feed_dicts_writer *writer)
{
    if (writer->is_safetensors)
        safetensors_writer_release(&writer->tensors);
    else
        json_writer_release(&writer->json);
}

int feed_dicts_save(const struct feed_dicts *feeds, const char *path, struct error *err)
{
    struct feed_dicts_writer writer;
    int rc = feed_dicts_writer_open(&writer, path, feeds->count, err);

    for (size_t i = 0; i < feeds->count && rc == 0; i++)
        rc = feed_dicts_writer_add(&writer, &feeds->items[i], err);
    if (rc == 0)
        rc = feed_dicts_writer_commit(&writer, err);
    feed_dicts_writer_release(&writer);
    return rc;
}
