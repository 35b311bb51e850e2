/* backend/trtexec/engine_notes.c: see engine_notes.h. */
#include "backend/trtexec/engine_notes.h"

#include <stdlib.h>
#include <string.h>

#include "backend/trtexec/installation.h"
#include "base/file/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "format/json/reader.h"
#include "format/json/writer.h"

/* The name of a note has so many digits of the hash; the note has all of them. */
#define DIGITS 2

/* malloc'd; NULL when there is nowhere to put it. */
static char *note_path(const char *hash)
{
    char name[] = "engine-xx";

    memcpy(name + sizeof(name) - 1 - DIGITS, hash, DIGITS);
    return trtexec_cache_path(name);
}

static bool hash_of(const char *path, char ret[HASH_TEXT_SIZE])
{
    struct error ignored;
    struct hash hash;

    if (hash_file(path, &hash, &ignored) < 0)
        return false;
    hash_to_text(hash, ret);
    return true;
}

/* ---- Writing ---- */

static void write_list(const char *key, const struct io_list *list, struct json_writer *writer)
{
    json_writer_begin_array_member(writer, key);
    for (size_t i = 0; i < list->count; i++) {
        const struct backend_io *item = &list->items[i];

        json_writer_begin_object(writer);
        json_writer_add_string(writer, "name", item->name);
        json_writer_add_string(writer, "in_engine", list->details[i].safe);
        json_writer_add_string(writer, "type", data_type_name(item->type));
        json_writer_add_string(writer, "bound_type", data_type_name(list->details[i].bound));
        json_writer_add_boolean(writer, "is_open", list->details[i].is_open);
        if (item->has_shape) {
            json_writer_key(writer, "shape");
            json_writer_integers(writer, item->shape.dims, item->shape.rank);
        }
        json_writer_end_object(writer);
    }
    json_writer_end_array(writer);
}

void engine_notes_save(const char *path, const struct io_list *inputs, const struct io_list *outputs)
{
    char hash[HASH_TEXT_SIZE];
    struct json_writer writer;
    struct error ignored;
    char *note = hash_of(path, hash) ? note_path(hash) : NULL;

    if (note == NULL || json_writer_open(&writer, note, &ignored) < 0)
        goto done;
    json_writer_begin_object(&writer);
    json_writer_add_string(&writer, "engine", hash);
    write_list("inputs", inputs, &writer);
    write_list("outputs", outputs, &writer);
    json_writer_end_object(&writer);
    json_writer_commit(&writer, FILE_INTERMEDIATE, &ignored);
    json_writer_release(&writer);
done:
    free(note);
}

/* ---- Reading ---- */

static bool read_type(struct json_reader *reader, const json_t *value, enum data_type *ret)
{
    struct error ignored;
    struct text name;

    if (json_reader_text(reader, value, &name, &ignored) < 0)
        return false;
    *ret = data_type_parse(name);
    return *ret != DATA_UNDEFINED || text_equal_string(name, data_type_name(DATA_UNDEFINED));
}

static bool read_note_shape(const json_t *value, struct backend_io *ret)
{
    if (value == NULL)
        return true;
    if (!json_is_array(value) || json_array_size(value) > TENSOR_MAX_RANK)
        return false;
    ret->has_shape = true;
    ret->shape.rank = json_array_size(value);
    for (size_t i = 0; i < ret->shape.rank; i++) {
        const json_t *size = json_array_get(value, i);

        if (!json_is_integer(size) || json_integer_value(size) < -1)
            return false;
        ret->shape.dims[i] = json_integer_value(size);
    }
    return true;
}

static bool read_note_list(struct json_reader *reader, const char *key, struct io_list *ret)
{
    const json_t *list = json_object_get(reader->root, key), *value;
    struct error ignored;
    size_t i;

    if (!json_is_array(list))
        return false;
    json_array_foreach (list, i, value) {
        enum data_type type, bound;
        struct text name, safe;
        struct io *io;

        if (json_reader_text(reader, json_object_get(value, "name"), &name, &ignored) < 0 ||
            json_reader_text(reader, json_object_get(value, "in_engine"), &safe, &ignored) < 0 ||
            !read_type(reader, json_object_get(value, "type"), &type) ||
            !read_type(reader, json_object_get(value, "bound_type"), &bound))
            return false;
        io = io_list_add(ret, name.data, safe.data, type);
        io->bound = bound;
        io->is_open = json_is_true(json_object_get(value, "is_open"));
        if (!read_note_shape(json_object_get(value, "shape"), &ret->items[i]))
            return false;
    }
    return true;
}

bool engine_notes_parse(struct text note, const char *hash, struct io_list *inputs, struct io_list *outputs)
{
    struct json_reader reader = {0};
    struct error ignored;
    struct text engine;
    bool known = false;

    if (json_reader_open_memory(&reader, note.data, note.size, "a note of an engine", &ignored) < 0)
        goto done;
    known = json_is_object(reader.root) &&
            json_reader_text(&reader, json_object_get(reader.root, "engine"), &engine, &ignored) == 0 &&
            text_equal_string(engine, hash) && read_note_list(&reader, "inputs", inputs) &&
            read_note_list(&reader, "outputs", outputs);
done:
    json_reader_release(&reader);
    if (!known) {
        io_list_release(inputs);
        io_list_release(outputs);
        *inputs = *outputs = (struct io_list){0};
    }
    return known;
}

bool engine_notes_load(const char *path, struct io_list *inputs, struct io_list *outputs)
{
    char hash[HASH_TEXT_SIZE];
    struct error ignored;
    char *note, *data = NULL;
    size_t size;
    bool known = false;

    if (!hash_of(path, hash))
        return false;
    note = note_path(hash);
    if (note != NULL && file_read(note, (size_t)1 << 20, &data, &size, &ignored) == 0)
        known = engine_notes_parse((struct text){data, size}, hash, inputs, outputs);
    free(data);
    free(note);
    return known;
}
