/* onnx/external/save.c: see save.h. */
#include "onnx/external/save.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "onnx/external/data.h"
#include "onnx/external/tensor.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/wire.h"

/* Tensors start at page boundaries, so that a runtime can map them (ONNX, "External Data", advises 4096). */
#define ALIGNMENT 4096

struct external_save {
    const struct model *model;
    char *folder;
    char *file_name; /* of the one file, relative to the model */
    const struct external_settings *settings;
    enum file_durability durability;
    struct text_list taken; /* files with existing external data of the model */
    struct file_writer writer;
    bool open;
    size_t file_count;
    struct path_list made; /* committed files */
    struct arena arena;
};

static int check_external_file_name(const char *name, const char *model_base, struct error *err)
{
    char *base, *folder;
    bool is_model;

    if (external_data_leads_out(name))
        return error_set(err, ERR_INVALID, "external data '%s' must be in the model's folder", name);
    base = file_basename(name);
    folder = file_folder(name);
    is_model = strcmp(base, model_base) == 0 && strcmp(folder, ".") == 0;
    free(base);
    free(folder);
    return is_model ? error_set(err, ERR_INVALID, "external data and the model cannot both be written to '%s'", name)
                    : 0;
}

int external_save_open(const struct subgraph *subgraph, const char *model_path,
                       const struct external_settings *settings, enum file_durability durability,
                       struct external_save **ret, struct error *err)
{
    struct external_save *save = memory_alloc_zero(1, sizeof(*save));
    char *base SCOPED_FREE = file_basename(model_path);
    int rc = 0;

    arena_init(&save->arena);
    save->model = subgraph->model;
    save->folder = file_folder(model_path);
    save->file_name = settings->file_name != NULL ? arena_strdup(&save->arena, settings->file_name)
                                                  : arena_printf(&save->arena, "%s.data", base);
    save->settings = settings;
    save->durability = durability;
    rc = check_external_file_name(save->file_name, base, err);
    if (rc == 0)
        rc = external_data_locations(subgraph, &save->taken, err);
    if (rc < 0)
        external_save_free(save, false);
    else
        *ret = save;
    return rc;
}

static int close_data_file(struct external_save *save, struct error *err)
{
    int rc;

    if (!save->open)
        return 0;
    save->open = false;
    *VECTOR_APPEND(&save->made) = memory_strdup(save->writer.path);
    rc = file_writer_commit(&save->writer, save->durability, err);
    file_writer_release(&save->writer);
    return rc;
}

/* Replacing the file would corrupt tensors that stay in it. */
static int refuse_existing_file(struct external_save *save, const char *path, struct error *err)
{
    struct stat destination, other;

    if (stat(path, &destination) < 0)
        return 0;
    for (size_t i = 0; i < save->taken.count; i++) {
        char *name SCOPED_FREE = file_join(save->folder, arena_text(&save->arena, save->taken.items[i]));
        bool same = stat(name, &other) == 0 && other.st_ino == destination.st_ino && other.st_dev == destination.st_dev;

        if (same)
            return error_set(
                err, ERR_EXISTS,
                "'%s' contains external data of this model: specify another name with --save-external-data", path);
    }
    return 0;
}

/* The file that the next tensor goes to, relative to the model. */
static int open_next_file(struct external_save *save, const char **ret_name, struct error *err)
{
    const char *name = save->file_name;
    char *path SCOPED_FREE = NULL;
    int rc = 0;

    if (save->settings->one_file_per_tensor) {
        rc = close_data_file(save, err);
        if (rc < 0)
            return rc;
        name = arena_printf(&save->arena, "%s.%zu", save->file_name, save->file_count++);
    }
    *ret_name = name;
    if (save->open)
        return 0;
    path = file_join(save->folder, name);
    rc = refuse_existing_file(save, path, err);
    if (rc < 0)
        return rc;
    if (!save->settings->one_file_per_tensor)
        file_remove_leftovers(path);
    rc = file_writer_open(&save->writer, path, err);
    save->open = rc == 0;
    return rc;
}

/* `narrowed`: the type to convert to; UNDEFINED: none. */
static int append_tensor_data(struct external_save *save, struct span raw, enum data_type narrowed,
                              uint64_t *ret_offset, struct error *err)
{
    static const char zeros[ALIGNMENT];
    const struct file_map *map = &save->model->map;
    uint64_t end = save->writer.written;
    int rc = file_writer_add(&save->writer, zeros, (size_t)((ALIGNMENT - end % ALIGNMENT) % ALIGNMENT), err);

    if (rc < 0)
        return rc;
    *ret_offset = save->writer.written;
    if (narrowed != DATA_UNDEFINED)
        return pieces_write_narrowed(raw, narrowed, external_tensor_map(save->model, raw), &save->writer, err);
    if (file_map_holds(map, raw.data, raw.size))
        return file_writer_copy(&save->writer, map->fd, (uint64_t)(raw.data - map->data), raw.size, err);
    return file_writer_add(&save->writer, raw.data, raw.size, err);
}

static void add_location_entry(struct string_builder *out, const char *key, const char *value)
{
    SCOPED_STRING(entry);

    wire_write_text(&entry, ENTRY_KEY, text_of(key));
    wire_write_text(&entry, ENTRY_VALUE, text_of(value));
    wire_write_bytes(out, TENSOR_EXTERNAL_DATA, entry.data, entry.size);
}

/* Copies the TensorProto without its data and their location. */
static void add_tensor_description(struct string_builder *out, struct span message, struct text name)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;

    while (wire_next(&reader, &field))
        if (field.number != TENSOR_RAW_DATA && field.number != TENSOR_NAME && field.number != TENSOR_DATA_LOCATION &&
            field.number != TENSOR_EXTERNAL_DATA)
            string_add_bytes(out, field.whole.data, field.whole.size);
    wire_write_text(out, TENSOR_NAME, name);
}

int external_save_initializer(struct external_save *save, const struct initializer *initializer, struct piece_list *out,
                              struct error *err)
{
    struct tensor_header header;
    SCOPED_STRING(proto);
    const char *name = NULL;
    uint64_t offset = 0;
    bool narrowed = initializer->narrowed.size > 0;
    struct span data;
    size_t size;
    int rc = tensor_proto_read(initializer->message, &header, err);

    if (rc < 0 || header.external)
        return rc;
    data = narrowed ? initializer->narrowed : header.raw;
    size = narrowed ? data.size / 2 : data.size;
    if (size == 0 || size < save->settings->threshold)
        return 0;
    rc = open_next_file(save, &name, err);
    if (rc == 0)
        rc = append_tensor_data(save, data, narrowed ? initializer->narrowed_type : DATA_UNDEFINED, &offset, err);
    if (rc < 0)
        return rc;
    add_tensor_description(&proto, initializer->message, save->model->values.items[initializer->value].name);
    add_location_entry(&proto, "location", name);
    add_location_entry(&proto, "offset", arena_printf(&save->arena, "%llu", (unsigned long long)offset));
    add_location_entry(&proto, "length", arena_printf(&save->arena, "%zu", size));
    wire_write_integer(&proto, TENSOR_DATA_LOCATION, DATA_LOCATION_EXTERNAL);
    pieces_add_header(out, GRAPH_INITIALIZER, proto.size);
    pieces_add_copy(out, proto.data, proto.size);
    return 1;
}

int external_save_finish(struct external_save *save, struct error *err)
{
    return close_data_file(save, err);
}

void external_save_free(struct external_save *save, bool keep)
{
    if (save == NULL)
        return;
    if (save->open)
        file_writer_release(&save->writer);
    for (size_t i = 0; !keep && i < save->made.count; i++)
        unlink(save->made.items[i]);
    path_list_release(&save->made);
    free(save->taken.items);
    free(save->folder);
    arena_release(&save->arena);
    free(save);
}
