/* backend/command/files.c: see files.h. */
#include "backend/command/files.h"

#include <stdlib.h>
#include <string.h>

#include "format/data/file.h"
#include "format/numpy/folder.h"
#include "format/numpy/npz.h"

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

static int write_npz(const struct tensor_list *inputs, const char *path, struct error *err)
{
    struct npz_writer writer;
    int rc = npz_writer_open(&writer, path, err);

    if (rc < 0)
        goto done;
    for (size_t i = 0; i < inputs->count; i++) {
        rc = npz_writer_add(&writer, inputs->items[i].name, &inputs->items[i].tensor, err);
        if (rc < 0)
            goto done;
    }
    rc = npz_writer_commit(&writer, FILE_INTERMEDIATE, err);
done:
    npz_writer_release(&writer);
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
        return write_npz(inputs, path, err);
    case COMMAND_NPY:
        return npy_folder_save(inputs, path, FILE_INTERMEDIATE, err);
    case COMMAND_FORMATS:
        break;
    }
    return error_set(err, ERR_UNSUPPORTED, "inputs cannot be written in this format");
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

/* Results of a run, or tensors without more: what a file holds tells, whatever it was to hold. */
int command_outputs_read(enum command_format format, const char *path, struct tensor_list *ret, struct error *err)
{
    struct data_file file;
    int rc = data_file_load(&file, path, err);

    (void)format;
    if (rc < 0)
        return rc;
    rc = file.holds_results ? take_results(&file.results, path, ret, err) : take_feeds(&file.feeds, path, ret, err);
    data_file_release(&file);
    return rc;
}
