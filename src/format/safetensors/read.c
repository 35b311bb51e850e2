/* format/safetensors/read.c: reads files without copying the data. */
#include "format/safetensors/safetensors.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "format/json/reader.h"
#include "format/json/split.h"
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

void safetensors_release_metadata(struct safetensors *file)
{
    for (size_t i = 0; i < file->metadata_count; i++) {
        free(file->metadata[i].name);
        free(file->metadata[i].value);
    }
    free(file->metadata);
    file->metadata = NULL;
    file->metadata_count = file->metadata_capacity = 0;
}

void safetensors_close(struct safetensors *file)
{
    safetensors_release_metadata(file);
    free(file->members);
    if (file->map != NULL)
        shared_map_leave(file->map);
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
    if (ret->has_metadata)
        return error_set(err, ERR_CORRUPT, "the header has two members '__metadata__'");
    ret->has_metadata = true;
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

/* ---- A tensor's member of the header ---- */

/* A member of the header, parsed as an object of its own. */
struct parsed_member {
    struct string_builder text;
    struct json_reader reader;
    const char *name; /* owned by the reader */
    json_t *value;
};

static void release_member(struct parsed_member *member)
{
    json_reader_release(&member->reader);
    string_release(&member->text);
}

static int parse_member(struct text name, struct text value, struct parsed_member *ret, struct error *err)
{
    struct text both = {name.data, (size_t)(value.data + value.size - name.data)};
    int rc;

    *ret = (struct parsed_member){0};
    string_init(&ret->text);
    string_add_char(&ret->text, '{');
    string_add_text(&ret->text, both);
    string_add_char(&ret->text, '}');
    rc = json_reader_open_memory(&ret->reader, ret->text.data, ret->text.size, "header", err);
    if (rc < 0) {
        string_release(&ret->text);
        return rc;
    }
    ret->name = json_object_iter_key(json_object_iter(ret->reader.root));
    ret->value = json_object_iter_value(json_object_iter(ret->reader.root));
    return 0;
}

/* What a member says about its tensor. */
struct entry {
    enum data_type type;
    struct shape shape;
    uint64_t begin, end; /* in the data */
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

/* The member at this offset in the header, which was checked when the file was opened. */
static void find_member(const struct safetensors *file, size_t index, struct text *ret_name, struct text *ret_value)
{
    size_t offset = file->members[index];
    struct text rest = {file->header.data + offset, file->header.size - offset};

    json_take_member(&rest, ret_name, ret_value);
}

int safetensors_read_name(const struct safetensors *file, size_t index, struct string_builder *ret, struct error *err)
{
    struct parsed_member member;
    struct text name, value;
    int rc;

    find_member(file, index, &name, &value);
    if (memchr(name.data, '\\', name.size) == NULL) {
        string_add_bytes(ret, name.data + 1, name.size - 2);
        return 0;
    }
    rc = parse_member(name, value, &member, err);
    if (rc < 0)
        return rc;
    string_add(ret, member.name);
    release_member(&member);
    return 0;
}

int safetensors_read(const struct safetensors *file, size_t index, struct tensor *ret, struct error *err)
{
    struct parsed_member member;
    struct text name, value;
    struct entry entry;
    int rc;

    find_member(file, index, &name, &value);
    rc = parse_member(name, value, &member, err);
    if (rc < 0)
        return rc;
    rc = read_entry(&member.reader, member.value, file->data.size, &entry, err);
    release_member(&member);
    if (rc < 0)
        return rc;
    tensor_borrow(entry.type, &entry.shape, file->data.data + entry.begin, (size_t)(entry.end - entry.begin), ret);
    if (file->map != NULL) {
        ret->owner = shared_map_join(file->map);
        ret->free_owner = shared_map_leave;
    }
    return 0;
}

/* ---- The header ---- */

/* Where a tensor's data are, and its member in the header. */
struct data_place {
    uint64_t begin, end;
    size_t member; /* offset in the header */
};

struct data_place_list {
    struct data_place *items;
    size_t count, capacity;
};

static int compare_places(const void *left, const void *right)
{
    const struct data_place *a = left, *b = right;

    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return a->member < b->member ? -1 : 1;
}

/* Checks that every byte of the data belongs to exactly one tensor, and keeps the members' offsets in the order of the
 * data. */
static int take_places(struct data_place_list *places, struct safetensors *ret, struct error *err)
{
    uint64_t end = 0;

    if (places->count > 0)
        qsort(places->items, places->count, sizeof(*places->items), compare_places);
    ret->members = memory_alloc_zero(places->count + 1, sizeof(*ret->members));
    for (ret->count = 0; ret->count < places->count; ret->count++) {
        const struct data_place *place = &places->items[ret->count];

        ret->members[ret->count] = place->member;
        if (place->begin != end) {
            SCOPED_STRING(name);

            safetensors_read_name(ret, ret->count, &name, NULL);
            return error_set(err, ERR_CORRUPT,
                             "tensor '%s': its data begin at byte %llu, but the preceding data end at byte %llu",
                             name.data, (unsigned long long)place->begin, (unsigned long long)end);
        }
        end = place->end;
    }
    if (end != ret->data.size)
        return error_set(err, ERR_CORRUPT, "%llu bytes at the end belong to no tensor",
                         (unsigned long long)(ret->data.size - end));
    return 0;
}

static int read_member(struct parsed_member *member, size_t offset, struct data_place_list *places,
                       struct safetensors *ret, struct error *err)
{
    struct entry entry;

    if (strcmp(member->name, "__metadata__") == 0)
        return read_metadata(&member->reader, member->value, ret, err);
    if (read_entry(&member->reader, member->value, ret->data.size, &entry, err) < 0)
        return error_context(err, "tensor '%s'", member->name);
    *VECTOR_APPEND(places) = (struct data_place){entry.begin, entry.end, offset};
    return 0;
}

/* The reader of JSON says what is wrong with the header, and at which byte of it. */
static int refuse_header(struct text header, struct error *err)
{
    struct json_reader reader;
    int rc = json_reader_open_memory(&reader, header.data, header.size, "header", err);

    if (rc < 0)
        return rc;
    json_reader_release(&reader);
    return error_set(err, ERR_CORRUPT, "the header is not an object");
}

static int read_members(struct safetensors *ret, struct error *err)
{
    struct text rest = {ret->header.data + 1, ret->header.size - 1}; /* behind the brace of the signature */
    struct data_place_list places = {0};
    struct text name, value;
    int rc = 0;

    while (rc == 0 && json_take_member(&rest, &name, &value)) {
        struct parsed_member member;

        if (parse_member(name, value, &member, NULL) < 0) {
            rc = refuse_header(ret->header, err);
            break;
        }
        rc = read_member(&member, (size_t)(name.data - ret->header.data), &places, ret, err);
        release_member(&member);
    }
    if (rc == 0)
        rc = take_places(&places, ret, err);
    free(places.items);
    return rc;
}

static bool is_object(struct text header)
{
    struct json_pieces members SCOPED_ITEMS = {0};

    return json_split_object(header, NULL, &members);
}

int safetensors_open_memory(struct span file, const char *name, struct safetensors *ret, struct error *err)
{
    size_t length;
    int rc;

    *ret = (struct safetensors){0};
    if (!has_signature(file.data, file.size, file.size))
        return error_set(err, ERR_CORRUPT, "'%s' is not a safetensors file: its header is missing or truncated", name);
    length = (size_t)read_length(file.data);
    ret->header = (struct text){(const char *)file.data + LENGTH_SIZE, length};
    ret->data = (struct span){file.data + LENGTH_SIZE + length, file.size - LENGTH_SIZE - length};
    rc = is_object(ret->header) ? read_members(ret, err) : refuse_header(ret->header, err);
    if (rc < 0) {
        safetensors_close(ret);
        return error_context(err, "'%s'", name);
    }
    return 0;
}

int safetensors_open(const char *path, struct safetensors *ret, struct error *err)
{
    struct shared_map *map;
    int rc = shared_map_open(path, &map, err);

    if (rc < 0)
        return rc;
    rc = safetensors_open_memory(shared_map_content(map), path, ret, err);
    if (rc == 0)
        ret->map = shared_map_join(map);
    shared_map_leave(map);
    return rc;
}

/* Whether the tensor at `index` of the file is one of `tensors`, under its name, with its data there. */
static bool is_in_list(const struct safetensors *file, size_t index, const struct tensor_list *tensors)
{
    const struct named_tensor *found;
    struct tensor tensor;
    SCOPED_STRING(name);

    if (safetensors_read_name(file, index, &name, NULL) < 0 || safetensors_read(file, index, &tensor, NULL) < 0)
        return false;
    found = tensor_list_find(tensors, (struct text){name.data, name.size});
    return found != NULL && found->tensor.data == tensor.data && found->tensor.type == tensor.type &&
           shape_equal(&found->tensor.shape, &tensor.shape);
}

const char *safetensors_find_file(const struct tensor_list *tensors)
{
    const struct shared_map *map = NULL;
    const char *path;
    struct safetensors file;
    bool holds_these;

    for (size_t i = 0; i < tensors->count && map == NULL; i++)
        if (tensors->items[i].tensor.size > 0)
            map = shared_map_of(tensors->items[i].tensor.data, tensors->items[i].tensor.size);
    path = map != NULL ? shared_map_path(map) : NULL;
    if (path == NULL || safetensors_open_memory(shared_map_content(map), path, &file, NULL) < 0)
        return NULL;
    holds_these = file.count == tensors->count;
    for (size_t i = 0; i < file.count && holds_these; i++)
        holds_these = is_in_list(&file, i, tensors);
    safetensors_close(&file);
    return holds_these ? path : NULL;
}
