/* backend/worker/message.c: see message.h. */
#include "backend/worker/message.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/process/shared_memory.h"

#define ALIGNMENT 64                    /* bytes, of data */
#define LEAST_SHARED ((size_t)64 << 10) /* bytes of a tensor; smaller ones are part of the message */

/* ---- Writing ---- */

void message_put_number(struct message *message, uint64_t number)
{
    string_add_bytes(&message->head, &number, sizeof(number));
}

void message_put_real(struct message *message, double number)
{
    string_add_bytes(&message->head, &number, sizeof(number));
}

void message_put_text(struct message *message, struct text text)
{
    message_put_number(message, text.size);
    string_add_text(&message->head, text);
}

void message_put_data(struct message *message, struct text data)
{
    *VECTOR_APPEND(&message->data) = data;
}

void message_put_string(struct message *message, const char *string)
{
    if (string == NULL)
        message_put_number(message, MESSAGE_NONE);
    else
        message_put_text(message, text_of(string));
}

static size_t round_to_alignment(size_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void put_strings(struct message *message, const char *const *strings)
{
    size_t count = 0;

    while (strings != NULL && strings[count] != NULL)
        count++;
    message_put_number(message, strings == NULL ? MESSAGE_NONE : count);
    for (size_t i = 0; i < count; i++)
        message_put_string(message, strings[i]);
}

static void put_shape(struct message *message, const struct shape *shape)
{
    message_put_number(message, shape->rank);
    for (size_t i = 0; i < shape->rank; i++)
        message_put_number(message, (uint64_t)shape->dims[i]);
}

static void put_words(struct message *message, const struct words *words)
{
    message_put_number(message, words->count);
    for (size_t i = 0; i < words->count; i++)
        message_put_string(message, words->items[i]);
}

/* What every MESSAGE_LIST is. */
struct record_list {
    const char *items;
    size_t count;
};

static void put_list(struct message *message, const struct message_record *record, const void *member)
{
    struct record_list list;

    memcpy(&list, member, sizeof(list));
    message_put_number(message, list.count);
    for (size_t i = 0; i < list.count; i++)
        message_put_record(message, record, list.items + i * record->size);
}

static void put_field(struct message *message, const struct message_field *field, const void *member)
{
    switch (field->kind) {
    case MESSAGE_INT:
        message_put_number(message, (uint64_t)(int64_t) * (const int *)member);
        break;
    case MESSAGE_NUMBER:
    case MESSAGE_REAL: /* bit by bit */
        string_add_bytes(&message->head, member, sizeof(uint64_t));
        break;
    case MESSAGE_FLAG:
        message_put_number(message, *(const bool *)member);
        break;
    case MESSAGE_TYPE:
        message_put_number(message, (uint64_t) * (const enum data_type *)member);
        break;
    case MESSAGE_SHAPE:
        put_shape(message, member);
        break;
    case MESSAGE_STRING:
        message_put_string(message, *(const char *const *)member);
        break;
    case MESSAGE_STRINGS:
        put_strings(message, *(const char *const *const *)member);
        break;
    case MESSAGE_WORDS:
        put_words(message, member);
        break;
    case MESSAGE_LIST:
        put_list(message, field->record, member);
        break;
    case MESSAGE_STRUCT:
        message_put_record(message, field->record, member);
        break;
    }
}

void message_put_record(struct message *message, const struct message_record *record, const void *object)
{
    for (size_t i = 0; i < record->count; i++)
        put_field(message, &record->fields[i], (const char *)object + record->fields[i].offset);
}

/* All of a tensor but its data. */
static const struct message_field tensor_fields[] = {
    MESSAGE_FIELD(struct named_tensor, name, MESSAGE_STRING),
    MESSAGE_FIELD(struct named_tensor, tensor.type, MESSAGE_TYPE),
    MESSAGE_FIELD(struct named_tensor, tensor.shape, MESSAGE_SHAPE),
};
static const struct message_record tensor_record = MESSAGE_RECORD(struct named_tensor, tensor_fields);

/* Where the data of a tensor of numbers are; a number follows. */
enum tensor_place {
    PLACE_MESSAGE, /* 0 */
    PLACE_SHARED,  /* where in the shared memory */
    PLACE_FILE,    /* which of the files */
    TENSOR_PLACES,
};

/* Tensors of this process that have files: more than fit into one message would only use up descriptors. */
static atomic_size_t tensor_files;

static void release_memory_of_tensor(void *data)
{
    struct shared_memory *memory = data;

    if (memory->file >= 0)
        atomic_fetch_sub(&tensor_files, 1);
    shared_memory_release(memory);
    free(memory);
}

int message_allocate_tensor(enum data_type type, const struct shape *shape, struct tensor *ret, void **ret_data,
                            struct error *err)
{
    size_t size = tensor_bytes(type, shape_elements(shape));
    struct shared_memory memory;
    int rc;

    if (type == DATA_STRING || size == SIZE_MAX || size < LEAST_SHARED ||
        atomic_load(&tensor_files) >= BOUNDED_MOST_FILES || !shared_memory_create(size, &memory)) {
        rc = tensor_allocate(type, shape, ret, err);
        if (rc == 0)
            *ret_data = tensor_writable(ret);
        return rc;
    }
    tensor_borrow(type, shape, memory.data, size, ret);
    atomic_fetch_add(&tensor_files, 1);
    *ret_data = memory.data;
    ret->owner = memory_copy(&memory, sizeof(memory));
    ret->free_owner = release_memory_of_tensor;
    return 0;
}

static void put_place(struct message *message, const struct tensor *tensor)
{
    struct text data = {tensor->data, tensor->size};
    bool is_large = tensor->size >= LEAST_SHARED;

    if (is_large && message->shares) {
        message_put_number(message, PLACE_SHARED);
        message_put_number(message, message->shared_size);
        *VECTOR_APPEND(&message->shared) = data;
        message->shared_size += round_to_alignment(data.size);
    } else if (is_large && tensor->free_owner == release_memory_of_tensor &&
               message->files.count < BOUNDED_MOST_FILES) {
        message_put_number(message, PLACE_FILE);
        message_put_number(message, message->files.count);
        message->files.items[message->files.count++] = ((const struct shared_memory *)tensor->owner)->file;
    } else {
        message_put_number(message, PLACE_MESSAGE);
        message_put_number(message, 0);
        message_put_data(message, data);
    }
}

void message_put_tensors(struct message *message, const struct tensor_list *tensors)
{
    message_put_number(message, tensors->count);
    for (size_t i = 0; i < tensors->count; i++) {
        const struct tensor *tensor = &tensors->items[i].tensor;
        const struct text *texts = tensor->data;

        message_put_record(message, &tensor_record, &tensors->items[i]);
        if (tensor->type != DATA_STRING)
            put_place(message, tensor);
        for (size_t k = 0; tensor->type == DATA_STRING && k < tensor_elements(tensor); k++)
            message_put_text(message, texts[k]);
    }
}

void message_fill_shared(const struct message *message, char *memory)
{
    for (size_t i = 0; i < message->shared.count; i++) {
        struct text data = message->shared.items[i];

        memcpy(memory, data.data, data.size);
        memory += round_to_alignment(data.size);
    }
}

void message_put_shared_tensors(struct message *message, const struct tensor_list *tensors)
{
    message_put_number(message, tensors->count);
    for (size_t i = 0; i < tensors->count; i++) {
        message_put_record(message, &tensor_record, &tensors->items[i]);
        message_put_number(message, (uint64_t)(uintptr_t)tensors->items[i].tensor.data);
    }
}

/* All of an input or output but the symbols of its shape. */
static const struct message_field io_fields[] = {
    MESSAGE_FIELD(struct backend_io, name, MESSAGE_STRING),
    MESSAGE_FIELD(struct backend_io, type, MESSAGE_TYPE),
    MESSAGE_FIELD(struct backend_io, not_a_tensor, MESSAGE_STRING),
    MESSAGE_FIELD(struct backend_io, has_shape, MESSAGE_FLAG),
    MESSAGE_FIELD(struct backend_io, shape, MESSAGE_SHAPE),
};
static const struct message_record io_record = MESSAGE_RECORD(struct backend_io, io_fields);

void message_put_ios(struct message *message, const struct backend_io *ios, size_t count)
{
    message_put_number(message, count);
    for (size_t i = 0; i < count; i++) {
        message_put_record(message, &io_record, &ios[i]);
        for (size_t k = 0; k < ios[i].shape.rank; k++)
            message_put_string(message, ios[i].symbols != NULL ? ios[i].symbols[k] : NULL);
    }
}

struct text *message_parts(const struct message *message, size_t *ret_count)
{
    static const char padding[ALIGNMENT];
    struct text *parts = memory_alloc_zero(2 * message->data.count + 1, sizeof(*parts));
    size_t count = 0, size = message->head.size;

    parts[count++] = (struct text){message->head.data, message->head.size};
    for (size_t i = 0; i < message->data.count; i++) {
        struct text data = message->data.items[i];

        parts[count] = (struct text){padding, (ALIGNMENT - size % ALIGNMENT) % ALIGNMENT};
        size += parts[count++].size + data.size;
        parts[count++] = data;
    }
    *ret_count = count;
    return parts;
}

void message_init(struct message *message)
{
    *message = (struct message){0};
    string_init(&message->head);
}

void message_release(struct message *message)
{
    string_release(&message->head);
    free(message->data.items);
    free(message->shared.items);
}

/* ---- Reading ---- */

static struct text take_bytes(struct message_reader *reader, uint64_t size)
{
    struct text ret = {reader->data + reader->at, (size_t)size};

    if (size > reader->size - reader->at) {
        reader->damaged = true;
        return TEXT("");
    }
    reader->at += (size_t)size;
    return ret;
}

struct text message_take_data(struct message_reader *reader, uint64_t size)
{
    take_bytes(reader, (ALIGNMENT - reader->at % ALIGNMENT) % ALIGNMENT);
    return take_bytes(reader, size);
}

uint64_t message_take_number(struct message_reader *reader)
{
    uint64_t ret = 0;
    struct text bytes = take_bytes(reader, sizeof(ret));

    if (bytes.size == sizeof(ret))
        memcpy(&ret, bytes.data, sizeof(ret));
    return ret;
}

double message_take_real(struct message_reader *reader)
{
    uint64_t bits = message_take_number(reader);
    double ret;

    memcpy(&ret, &bits, sizeof(ret));
    return ret;
}

size_t message_take_count(struct message_reader *reader)
{
    uint64_t count = message_take_number(reader);

    reader->damaged |= count > (reader->size - reader->at) / sizeof(count);
    return reader->damaged ? 0 : (size_t)count;
}

struct text message_take_text(struct message_reader *reader)
{
    return take_bytes(reader, message_take_number(reader));
}

char *message_take_string(struct message_reader *reader, struct arena *arena)
{
    uint64_t size = message_take_number(reader);

    return size == MESSAGE_NONE ? NULL : arena_text(arena, take_bytes(reader, size));
}

static const char *const *take_strings(struct message_reader *reader, struct arena *arena)
{
    uint64_t count = message_take_number(reader);
    const char **ret;

    if (count == MESSAGE_NONE)
        return NULL;
    reader->damaged |= count > (reader->size - reader->at) / sizeof(count);
    ret = arena_alloc_zero(arena, reader->damaged ? 1 : (size_t)count + 1, sizeof(*ret));
    for (size_t i = 0; !reader->damaged && i < count; i++)
        ret[i] = message_take_string(reader, arena);
    return ret;
}

static void take_shape(struct message_reader *reader, struct shape *ret)
{
    uint64_t rank = message_take_number(reader);

    reader->damaged |= rank > TENSOR_MAX_RANK;
    ret->rank = reader->damaged ? 0 : (size_t)rank;
    for (size_t i = 0; i < ret->rank; i++)
        ret->dims[i] = (int64_t)message_take_number(reader);
}

static enum data_type take_type(struct message_reader *reader)
{
    uint64_t type = message_take_number(reader);

    reader->damaged |= type >= DATA_TYPE_COUNT;
    return reader->damaged ? DATA_UNDEFINED : (enum data_type)type;
}

/* The counts of lists are read first: memory is bounded by the size of the message. An item takes eight bytes of it, at
 * least. */
static void take_list(struct message_reader *reader, struct arena *arena, const struct message_record *record,
                      void *member)
{
    size_t count = message_take_count(reader);
    char *items = arena_alloc_zero(arena, count + 1, record->size);
    struct record_list list = {items, count};

    for (size_t i = 0; i < count && !reader->damaged; i++)
        message_take_record(reader, arena, record, items + i * record->size);
    if (reader->damaged)
        list.count = 0;
    memcpy(member, &list, sizeof(list));
}

static void take_words(struct message_reader *reader, struct arena *arena, struct words *ret)
{
    size_t count = message_take_count(reader);
    const char **items = arena_alloc_zero(arena, count + 1, sizeof(*items));

    for (size_t i = 0; i < count && !reader->damaged; i++)
        items[i] = arena_text(arena, message_take_text(reader));
    *ret = (struct words){.items = items, .count = reader->damaged ? 0 : count};
}

static void take_field(struct message_reader *reader, struct arena *arena, const struct message_field *field,
                       void *member)
{
    uint64_t bits;

    switch (field->kind) {
    case MESSAGE_INT:
        *(int *)member = (int)(int64_t)message_take_number(reader);
        break;
    case MESSAGE_NUMBER:
    case MESSAGE_REAL:
        bits = message_take_number(reader);
        memcpy(member, &bits, sizeof(bits));
        break;
    case MESSAGE_FLAG:
        *(bool *)member = message_take_number(reader) != 0;
        break;
    case MESSAGE_TYPE:
        *(enum data_type *)member = take_type(reader);
        break;
    case MESSAGE_SHAPE:
        take_shape(reader, member);
        break;
    case MESSAGE_STRING:
        *(char **)member = message_take_string(reader, arena);
        break;
    case MESSAGE_STRINGS:
        *(const char *const **)member = take_strings(reader, arena);
        break;
    case MESSAGE_WORDS:
        take_words(reader, arena, member);
        break;
    case MESSAGE_LIST:
        take_list(reader, arena, field->record, member);
        break;
    case MESSAGE_STRUCT:
        message_take_record(reader, arena, field->record, member);
        break;
    }
}

void message_take_record(struct message_reader *reader, struct arena *arena, const struct message_record *record,
                         void *object)
{
    for (size_t i = 0; i < record->count; i++)
        take_field(reader, arena, &record->fields[i], (char *)object + record->fields[i].offset);
}

static int take_string_tensor(struct message_reader *reader, const struct shape *shape, struct tensor *ret,
                              struct error *err)
{
    size_t count = shape_elements(shape);
    struct text *texts SCOPED_FREE = NULL;

    reader->damaged |= count > (reader->size - reader->at) / sizeof(uint64_t);
    if (reader->damaged)
        return 0;
    texts = memory_alloc_zero(count + 1, sizeof(*texts));
    for (size_t i = 0; i < count; i++)
        texts[i] = message_take_text(reader);
    return tensor_set_strings(shape, texts, ret, err);
}

/* What tensor_fields put; the name lies in the message. */
struct tensor_head {
    struct text name;
    enum data_type type;
    struct shape shape;
};

static struct tensor_head take_tensor_head(struct message_reader *reader)
{
    struct tensor_head ret = {.name = message_take_text(reader)};

    ret.type = take_type(reader);
    take_shape(reader, &ret.shape);
    return ret;
}

/* `at`: which of the files. The tensor is empty. */
static void take_file(struct message_reader *reader, uint64_t at, struct tensor *tensor)
{
    size_t size = tensor_bytes(tensor->type, shape_elements(&tensor->shape));
    struct shared_memory memory;

    if (reader->files == NULL || at >= reader->files->count || size == SIZE_MAX ||
        !shared_memory_open(reader->files->items[at], size, true, &memory)) {
        reader->damaged = true;
        return;
    }
    tensor_borrow(tensor->type, &tensor->shape, memory.data, size, tensor);
    tensor->owner = memory_copy(&memory, sizeof(memory));
    tensor->free_owner = release_memory_of_tensor;
}

static void take_shared(struct message_reader *reader, uint64_t at, struct tensor *tensor)
{
    size_t size = tensor_bytes(tensor->type, shape_elements(&tensor->shape));

    if (at > reader->shared.size || size > reader->shared.size - at)
        reader->damaged = true;
    else
        tensor_borrow(tensor->type, &tensor->shape, reader->shared.data + at, size, tensor);
}

/* A tensor whose data are part of the message gets them later: they are behind all heads. */
static void take_place(struct message_reader *reader, struct tensor *tensor)
{
    uint64_t place = message_take_number(reader), at = message_take_number(reader);

    reader->damaged |= place >= TENSOR_PLACES;
    if (!reader->damaged && place == PLACE_FILE)
        take_file(reader, at, tensor);
    else if (!reader->damaged && place == PLACE_SHARED)
        take_shared(reader, at, tensor);
}

int message_take_tensors(struct message_reader *reader, struct tensor_list *ret, struct error *err)
{
    size_t count = message_take_count(reader), before = ret->count;

    for (size_t i = 0; i < count && !reader->damaged; i++) {
        struct tensor_head head = take_tensor_head(reader);
        struct tensor tensor = {0};
        int rc = 0;

        if (head.type == DATA_STRING) {
            rc = take_string_tensor(reader, &head.shape, &tensor, err);
        } else {
            tensor_borrow(head.type, &head.shape, NULL, 0, &tensor);
            take_place(reader, &tensor);
        }
        if (rc < 0)
            return rc;
        tensor_list_add(ret, head.name, &tensor);
    }
    for (size_t i = before; i < ret->count && !reader->damaged; i++) {
        struct tensor *tensor = &ret->items[i].tensor;
        size_t size = tensor_bytes(tensor->type, shape_elements(&tensor->shape));

        if (tensor->type != DATA_STRING && tensor->size == 0 && tensor->free_owner == NULL)
            tensor_borrow(tensor->type, &tensor->shape, message_take_data(reader, size).data, size, tensor);
    }
    return 0;
}

void message_take_shared_tensors(struct message_reader *reader, struct tensor_list *ret)
{
    size_t count = message_take_count(reader);

    for (size_t i = 0; i < count && !reader->damaged; i++) {
        struct tensor_head head = take_tensor_head(reader);
        const void *data = (const void *)(uintptr_t)message_take_number(reader);
        struct tensor tensor;

        tensor_borrow(head.type, &head.shape, data, tensor_bytes(head.type, shape_elements(&head.shape)), &tensor);
        if (!reader->damaged)
            tensor_list_add(ret, head.name, &tensor);
    }
}

/* In memory that outlives the message, as those that a session gives. Else the message is damaged. */
static const char *take_kind(struct message_reader *reader, const char *kind)
{
    static const char *const kinds[] = {"sequence", "map", "optional", "sparse tensor", "opaque"};

    for (size_t i = 0; kind != NULL && i < ARRAY_LEN(kinds); i++)
        if (strcmp(kind, kinds[i]) == 0)
            return kinds[i];
    reader->damaged |= kind != NULL;
    return NULL;
}

struct backend_io *message_take_ios(struct message_reader *reader, struct arena *arena, size_t *ret_count)
{
    size_t count = message_take_count(reader);
    struct backend_io *ret = arena_alloc_zero(arena, count + 1, sizeof(*ret));

    for (size_t i = 0; i < count && !reader->damaged; i++) {
        message_take_record(reader, arena, &io_record, &ret[i]);
        ret[i].not_a_tensor = take_kind(reader, ret[i].not_a_tensor);
        reader->damaged |= ret[i].name == NULL;
        ret[i].symbols = arena_alloc_zero(arena, ret[i].shape.rank + 1, sizeof(*ret[i].symbols));
        for (size_t k = 0; k < ret[i].shape.rank; k++)
            ret[i].symbols[k] = message_take_string(reader, arena);
    }
    *ret_count = count;
    return ret;
}
