/* backend/command/files.c: see files.h. */
#include "backend/command/files.h"

#include <string.h>
#include <unistd.h>

#include "base/file/file.h"
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
    return rc == ERR_UNSUPPORTED ? error_context(err, "other types go with {inputs:npz}") : rc;
}

static int write_npz(const struct tensor_list *inputs, const char *path, struct error *err)
{
    struct npz_writer writer;
    int rc = npz_writer_open(&writer, path, err);

    for (size_t i = 0; i < inputs->count && rc == 0; i++)
        rc = npz_writer_add(&writer, inputs->items[i].name, &inputs->items[i].tensor, err);
    if (rc == 0)
        rc = npz_writer_commit(&writer, FILE_INTERMEDIATE, err);
    npz_writer_release(&writer);
    return rc;
}

int command_inputs_write(const struct tensor_list *inputs, enum command_format format, const char *path,
                         const char **ret_original, struct error *err)
{
    const char *there = format == COMMAND_SAFETENSORS ? safetensors_find_file(inputs) : NULL;
    struct feed_dicts feeds = {.items = (struct tensor_list *)inputs, .count = 1};

    *ret_original = there != NULL && link(there, path) == 0 ? there : NULL;
    if (*ret_original != NULL)
        return 0;
    switch (format) {
    case COMMAND_NPZ:
        return write_npz(inputs, path, err);
    case COMMAND_JSON:
        return feed_dicts_save(&feeds, path, err);
    case COMMAND_NPY:
        return npy_folder_save(inputs, path, FILE_INTERMEDIATE, err);
    case COMMAND_SAFETENSORS:
    case COMMAND_FORMATS:
        break;
    }
    return write_safetensors(inputs, path, err);
}

/* ---- Outputs ---- */

static void take_all(struct tensor_list *from, struct tensor_list *ret)
{
    for (size_t i = 0; i < from->count; i++)
        tensor_list_add(ret, text_of(from->items[i].name), &from->items[i].tensor);
}

/* One run's results, or tensors without more. */
static int read_data(const char *path, struct tensor_list *ret, struct error *err)
{
    struct data_file file;
    size_t count;
    int rc = data_file_load(&file, path, err);

    if (rc < 0)
        return rc;
    count = file.holds_results ? file.results.count : file.feeds.count;
    if (count == 1 && file.holds_results)
        count = file.results.items[0].count;
    if (count != 1)
        rc = error_set(err, ERR_INVALID, "'%s' has %zu sets of tensors, not one", path, count);
    else
        take_all(file.holds_results ? &file.results.items[0].items[0].outputs : &file.feeds.items[0], ret);
    data_file_release(&file);
    return rc;
}

int command_outputs_read(enum command_format format, const char *path, struct tensor_list *ret, struct error *err)
{
    switch (format) {
    case COMMAND_NPZ:
        return npz_load(path, ret, err);
    case COMMAND_NPY:
        return npy_folder_load(path, ret, err);
    case COMMAND_SAFETENSORS:
    case COMMAND_JSON:
    case COMMAND_FORMATS:
        break;
    }
    return read_data(path, ret, err);
}
