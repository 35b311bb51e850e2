/* backend/command/files.c: see files.h. */
#include "backend/command/files.h"

#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "format/polygraphy/feed_dicts.h"
#include "format/polygraphy/run_results.h"

/* ---- Inputs ---- */

static int write_safetensors(const struct tensor_list *inputs, const char *path, struct error *err)
{
    struct safetensors_writer writer;
    int rc = safetensors_writer_open(&writer, path, err);

    if (rc < 0)
        goto done;
    writer.durability = FILE_INTERMEDIATE;
    for (size_t i = 0; i < inputs->count; i++)
        safetensors_writer_expect(&writer, 1, strlen(inputs->items[i].name));
    for (size_t i = 0; i < inputs->count; i++) {
        rc = safetensors_writer_add(&writer, inputs->items[i].name, &inputs->items[i].tensor, err);
        if (rc < 0)
            goto done;
    }
    rc = safetensors_writer_commit(&writer, NULL, 0, err);
done:
    safetensors_writer_release(&writer);
    return rc;
}

int command_inputs_write(const struct tensor_list *inputs, enum command_format format, const char *path,
                         const char **ret_original, struct error *err)
{
    struct feed_dicts feeds = {.items = (struct tensor_list *)inputs, .count = 1};

    *ret_original = NULL;
    switch (format) {
    case COMMAND_SAFETENSORS:
        return write_safetensors(inputs, path, err);
    case COMMAND_JSON:
        return feed_dicts_save(&feeds, path, err);
    case COMMAND_NPZ:
    case COMMAND_NPY:
    case COMMAND_FORMATS:
        break;
    }
    return error_set(err, ERR_UNSUPPORTED, "inputs cannot be written in this format yet");
}

/* ---- Outputs ---- */

static void take_all(struct tensor_list *from, struct tensor_list *ret)
{
    for (size_t i = 0; i < from->count; i++)
        tensor_list_add(ret, text_of(from->items[i].name), &from->items[i].tensor);
}

static int take_results(struct run_results *results, const char *path, struct tensor_list *ret, struct error *err)
{
    if (results->count != 1 || results->items[0].count != 1)
        return error_set(err, ERR_INVALID, "'%s' holds the results of %zu runners, not those of one run", path,
                         results->count);
    take_all(&results->items[0].items[0].outputs, ret);
    return 0;
}

static int take_feeds(struct feed_dicts *feeds, const char *path, struct tensor_list *ret, struct error *err)
{
    if (feeds->count != 1)
        return error_set(err, ERR_INVALID, "'%s' holds %zu sets of tensors, not one", path, feeds->count);
    take_all(&feeds->items[0], ret);
    return 0;
}

/* Whether the file can be JSON, by its first byte. */
static bool begins_like_json(const char *path)
{
    char first;

    return file_read_start(path, &first, 1) == 1 && strchr("[{ \t\r\n", first) != NULL;
}

/* Results of a run, or tensors without more: what a file holds tells, whatever it was to hold. */
int command_outputs_read(enum command_format format, const char *path, struct tensor_list *ret, struct error *err)
{
    struct run_results results = {0};
    struct feed_dicts feeds = {0};
    struct safetensors file;
    int rc;

    if (format == COMMAND_SAFETENSORS && !safetensors_recognize(path) && !begins_like_json(path))
        return safetensors_load(path, &file, err); /* which says what is wrong with it */
    rc = run_results_load(&results, path, err);
    if (rc == 0)
        rc = take_results(&results, path, ret, err);
    else if (rc == ERR_INVALID) {
        rc = feed_dicts_load_any(&feeds, path, err);
        if (rc == 0)
            rc = take_feeds(&feeds, path, ret, err);
    }
    feed_dicts_release(&feeds);
    run_results_release(&results);
    return rc;
}
