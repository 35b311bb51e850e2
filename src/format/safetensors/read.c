/* format/safetensors/read.c: reads files without copying the data. */
#include "format/safetensors/safetensors.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/shared_map.h"
#include "base/memory.h"
#include "format/json/reader.h"
#include "format/safetensors/types.h"

enum { LENGTH_SIZE = 8 }; /* before the header */

static uint64_t read_length(const uint8_t bytes[LENGTH_SIZE])
{
    uint64_t length = 0;

    for (int i = LENGTH_SIZE - 1; i >= 0; i--)
        length = length << 8 | bytes[i];
    return length;
}

/* Text cannot be mistaken for this: eight characters as a number would be a huge header. */
static bool has_signature(const uint8_t *data, size_t available, uint64_t file_size)
{
    return available > LENGTH_SIZE && read_length(data) <= SAFETENSORS_LONGEST_HEADER &&
           read_length(data) <= file_size - LENGTH_SIZE && data[LENGTH_SIZE] == '{';
}

bool safetensors_recognize(const char *path)
{
    uint8_t start[LENGTH_SIZE + 1];
    struct stat status;

    return stat(path, &status) == 0 && file_read_start(path, start, sizeof(start)) == sizeof(start) &&
           has_signature(start, sizeof(start), (uint64_t)status.st_size);
}

void safetensors_release(struct safetensors *file)
{
    tensor_list_release(&file->tensors);
    for (size_t i = 0; i < file->metadata_count; i++) {
        free(file->metadata[i].name);
        free(file->metadata[i].value);
    }
    free(file->metadata);
    *file = (struct safetensors){0};
}

const char *safetensors_find_metadata(const struct safetensors *file, const char *name)
{
    for (size_t i = 0; i < file->metadata_count; i++)
        if (strcmp(file->metadata[i].name, name) == 0)
            return file->metadata[i].value;
    return NULL;
}

bool safetensors_is_kind(const struct safetensors *file, const char *kind)
{
    const char *found = safetensors_find_metadata(file, SAFETENSORS_KIND);

    return found != NULL && strcmp(found, kind) == 0;
}

bool safetensors_take_number(const char **name, size_t count, size_t *ret)
{
    size_t number = 0;
    const char *at = *name;

    for (; *at >= '0' && *at <= '9'; at++) {
        number = number * 10 + (size_t)(*at - '0');
        if (number >= count)
            return false;
    }
    if (at == *name || *at != '/')
        return false;
    *name = at + 1;
    *ret = number;
    return true;
}

static int read_metadata(struct json_reader *reader, json_t *object, struct safetensors *ret, struct error *err)
{
    const char *name;
    json_t *member;

    if (!json_is_object(object))
        return error_set(err, ERR_CORRUPT, "__metadata__ is not an object");
    json_object_foreach (object, name, member) {
        struct safetensors_metadata *metadata;
        struct text value;

        if (json_reader_text(reader, member, &value, err) < 0)
            return error_context(err, "__metadata__ '%s'", name);
        ret->metadata =
            memory_grow(ret->metadata, ret->metadata_count, &ret->metadata_capacity, sizeof(*ret->metadata));
        metadata = &ret->metadata[ret->metadata_count++];
        metadata->name = memory_strdup(name);
        metadata->value = memory_copy(value.data, value.size);
    }
    return 0;
}

/* A tensor of the header. */
struct entry {
    const char *name; /* owned by the reader */
    enum data_type type;
    struct shape shape;
    uint64_t begin, end; /* in the data */
    size_t position;     /* in the header */
};

struct entry_list {
    struct entry *items;
    size_t count, capacity;
};

static int read_type(struct json_reader *reader, json_t *member, enum data_type *ret, struct error *err)
{
    struct text name;

    if (json_reader_text(reader, member, &name, err) < 0)
        return error_context(err, "dtype");
    for (unsigned type = 0; type < DATA_TYPE_COUNT; type++) {
        const char *known = safetensors_type_name((enum data_type)type);

        if (known != NULL && text_equal_string(name, known)) {
            *ret = (enum data_type)type;
            return 0;
        }
    }
    return error_set(err, ERR_UNSUPPORTED, "unknown dtype '" TEXT_FORMAT "'", TEXT_ARGS(name));
}

static int read_member_shape(json_t *member, struct shape *ret, struct error *err)
{
    size_t rank = json_array_size(member);

    if (!json_is_array(member))
        return error_set(err, ERR_CORRUPT, "the shape is not a list");
    if (rank > TENSOR_MAX_RANK)
        return error_set(err, ERR_UNSUPPORTED, "%zu dimensions exceed the maximum of %d", rank, TENSOR_MAX_RANK);
    *ret = (struct shape){.rank = rank};
    for (size_t i = 0; i < rank; i++) {
        json_t *dimension = json_array_get(member, i);

        if (!json_is_integer(dimension) || json_integer_value(dimension) < 0)
            return error_set(err, ERR_CORRUPT, "dimension %zu of the shape is not an integer >= 0", i);
        ret->dims[i] = json_integer_value(dimension);
    }
    return 0;
}

static int read_offsets(json_t *member, uint64_t data_size, struct entry *ret, struct error *err)
{
    json_t *begin = json_array_get(member, 0), *end = json_array_get(member, 1);

    if (json_array_size(member) != 2 || !json_is_integer(begin) || !json_is_integer(end))
        return error_set(err, ERR_CORRUPT, "data_offsets are not two numbers");
    if (json_integer_value(begin) < 0 || json_integer_value(end) < json_integer_value(begin) ||
        (uint64_t)json_integer_value(end) > data_size)
        return error_set(err, ERR_CORRUPT, "data_offsets [%lld, %lld] are outside of the %llu bytes of data",
                         (long long)json_integer_value(begin), (long long)json_integer_value(end),
                         (unsigned long long)data_size);
    ret->begin = (uint64_t)json_integer_value(begin);
    ret->end = (uint64_t)json_integer_value(end);
    return 0;
}

static int read_entry(struct json_reader *reader, json_t *object, uint64_t data_size, struct entry *ret,
                      struct error *err)
{
    size_t elements, needed;
    int rc;

    if (!json_is_object(object))
        return error_set(err, ERR_CORRUPT, "expected an object with dtype, shape and data_offsets");
    rc = read_type(reader, json_object_get(object, "dtype"), &ret->type, err);
    if (rc == 0)
        rc = read_member_shape(json_object_get(object, "shape"), &ret->shape, err);
    if (rc == 0)
        rc = read_offsets(json_object_get(object, "data_offsets"), data_size, ret, err);
    if (rc < 0)
        return rc;
    elements = shape_elements(&ret->shape);
    needed = elements == SIZE_MAX ? SIZE_MAX : tensor_bytes(ret->type, elements);
    if (needed == SIZE_MAX || needed != ret->end - ret->begin)
        return error_set(err, ERR_CORRUPT, "its type and shape do not match its %llu bytes of data",
                         (unsigned long long)(ret->end - ret->begin));
    return 0;
}

static int by_place(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;

    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return a->position < b->position ? -1 : 1;
}

/* Checks that every byte of the data belongs to exactly one tensor. A duplicate name appears as a gap. */
static int check_places(const struct entry_list *entries, uint64_t data_size, struct error *err)
{
    uint64_t end = 0;

    for (size_t i = 0; i < entries->count; i++) {
        const struct entry *entry = &entries->items[i];

        if (entry->begin != end)
            return error_set(err, ERR_CORRUPT,
                             "tensor '%s': its data begin at byte %llu, but the preceding data end at byte %llu",
                             entry->name, (unsigned long long)entry->begin, (unsigned long long)end);
        end = entry->end;
    }
    if (end != data_size)
        return error_set(err, ERR_CORRUPT, "%llu bytes at the end belong to no tensor",
                         (unsigned long long)(data_size - end));
    return 0;
}

static void add_entry_tensors(const struct entry_list *entries, const uint8_t *data, struct shared_map *shared,
                              struct safetensors *ret)
{
    for (size_t i = 0; i < entries->count; i++) {
        const struct entry *entry = &entries->items[i];
        struct tensor tensor;

        tensor_borrow(entry->type, &entry->shape, data + entry->begin, (size_t)(entry->end - entry->begin), &tensor);
        if (shared != NULL) {
            tensor.owner = shared_map_join(shared);
            tensor.free_owner = shared_map_leave;
        }
        tensor_list_add(&ret->tensors, text_of(entry->name), &tensor);
    }
}

static int read_header(struct json_reader *reader, struct span data, struct shared_map *shared, struct safetensors *ret,
                       struct error *err)
{
    struct entry_list entries = {0};
    const char *name;
    json_t *member;
    int rc = 0;

    if (!json_is_object(reader->root))
        return error_set(err, ERR_CORRUPT, "the header is not an object");
    json_object_foreach (reader->root, name, member) {
        struct entry entry = {.name = name, .position = entries.count};

        if (strcmp(name, "__metadata__") == 0) {
            rc = read_metadata(reader, member, ret, err);
        } else {
            rc = read_entry(reader, member, data.size, &entry, err);
            if (rc < 0)
                error_context(err, "tensor '%s'", name);
            *VECTOR_APPEND(&entries) = entry;
        }
        if (rc < 0)
            goto done;
    }
    if (entries.count > 0)
        qsort(entries.items, entries.count, sizeof(*entries.items), by_place);
    rc = check_places(&entries, data.size, err);
    if (rc == 0)
        add_entry_tensors(&entries, data.data, shared, ret);
done:
    free(entries.items);
    return rc;
}

static int read_file(struct span file, const char *name, struct shared_map *shared, struct safetensors *ret,
                     struct error *err)
{
    struct safetensors loaded = {0};
    struct json_reader reader;
    size_t length;
    int rc;

    if (!has_signature(file.data, file.size, file.size))
        return error_set(err, ERR_CORRUPT, "'%s' is not a safetensors file: its header is missing or truncated", name);
    length = (size_t)read_length(file.data);
    rc = json_reader_open_memory(&reader, file.data + LENGTH_SIZE, length, name, err);
    if (rc < 0)
        return rc;
    rc = read_header(&reader, (struct span){file.data + LENGTH_SIZE + length, file.size - LENGTH_SIZE - length}, shared,
                     &loaded, err);
    json_reader_release(&reader);
    if (rc < 0) {
        safetensors_release(&loaded);
        return error_context(err, "'%s'", name);
    }
    *ret = loaded;
    return 0;
}

int safetensors_load(const char *path, struct safetensors *ret, struct error *err)
{
    struct shared_map *shared;
    int rc = shared_map_open(path, &shared, err);

    if (rc < 0)
        return rc;
    rc = read_file(shared_map_content(shared), path, shared, ret, err);
    shared_map_leave(shared);
    return rc;
}

int safetensors_parse(struct span file, const char *name, struct safetensors *ret, struct error *err)
{
    return read_file(file, name, NULL, ret, err);
}

static bool is_still_there(const struct file_map *map)
{
    struct stat mapped, there;

    return fstat(map->fd, &mapped) == 0 && stat(map->path, &there) == 0 && mapped.st_ino == there.st_ino &&
           mapped.st_dev == there.st_dev;
}

const char *safetensors_find_file(const struct tensor_list *tensors)
{
    const struct file_map *map = NULL;
    struct safetensors file;
    bool holds_these;

    for (size_t i = 0; i < tensors->count && map == NULL; i++)
        if (tensors->items[i].tensor.size > 0)
            map = shared_map_of(tensors->items[i].tensor.data, tensors->items[i].tensor.size);
    if (map == NULL || !is_still_there(map) ||
        safetensors_parse((struct span){map->data, map->size}, map->path, &file, NULL) < 0)
        return NULL;
    holds_these = file.tensors.count == tensors->count;
    for (size_t i = 0; i < tensors->count && holds_these; i++) {
        const struct named_tensor *found = tensor_list_find(&file.tensors, text_of(tensors->items[i].name));
        const struct tensor *wanted = &tensors->items[i].tensor;

        holds_these = found != NULL && found->tensor.data == wanted->data && found->tensor.type == wanted->type &&
                      shape_equal(&found->tensor.shape, &wanted->shape);
    }
    safetensors_release(&file);
    return holds_these ? map->path : NULL;
}
