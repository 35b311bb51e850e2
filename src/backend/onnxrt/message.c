/* backend/onnxrt/message.c: see message.h. */
#include "backend/onnxrt/message.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define ALIGNMENT 64 /* bytes, of data */

/* ---- Writing ---- */

void message_put_number(struct message *message, uint64_t number)
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

void message_put_strings(struct message *message, const char *const *strings)
{
    size_t count = 0;

    while (strings != NULL && strings[count] != NULL)
        count++;
    message_put_number(message, strings == NULL ? MESSAGE_NONE : count);
    for (size_t i = 0; i < count; i++)
        message_put_string(message, strings[i]);
}

void message_put_settings(struct message *message, const struct backend_settings *settings)
{
    message_put_number(message, settings->count);
    for (size_t i = 0; i < settings->count; i++) {
        message_put_string(message, settings->items[i].provider);
        message_put_string(message, settings->items[i].key);
        message_put_string(message, settings->items[i].value);
    }
}

static void put_shape(struct message *message, const struct shape *shape)
{
    message_put_number(message, shape->rank);
    for (size_t i = 0; i < shape->rank; i++)
        message_put_number(message, (uint64_t)shape->dims[i]);
}

void message_put_tensors(struct message *message, const struct tensor_list *tensors)
{
    message_put_number(message, tensors->count);
    for (size_t i = 0; i < tensors->count; i++) {
        const struct tensor *tensor = &tensors->items[i].tensor;
        const struct text *texts = tensor->data;

        message_put_string(message, tensors->items[i].name);
        message_put_number(message, (uint64_t)tensor->type);
        put_shape(message, &tensor->shape);
        if (tensor->type != DATA_STRING)
            message_put_data(message, (struct text){tensor->data, tensor->size});
        for (size_t k = 0; tensor->type == DATA_STRING && k < tensor_elements(tensor); k++)
            message_put_text(message, texts[k]);
    }
}

void message_put_shared_tensors(struct message *message, const struct tensor_list *tensors)
{
    message_put_number(message, tensors->count);
    for (size_t i = 0; i < tensors->count; i++) {
        const struct tensor *tensor = &tensors->items[i].tensor;

        message_put_string(message, tensors->items[i].name);
        message_put_number(message, (uint64_t)tensor->type);
        put_shape(message, &tensor->shape);
        message_put_number(message, (uint64_t)(uintptr_t)tensor->data);
    }
}

void message_put_ios(struct message *message, const struct backend_io *ios, size_t count)
{
    message_put_number(message, count);
    for (size_t i = 0; i < count; i++) {
        message_put_string(message, ios[i].name);
        message_put_number(message, (uint64_t)ios[i].type);
        message_put_string(message, ios[i].not_a_tensor);
        message_put_number(message, ios[i].has_shape);
        if (!ios[i].has_shape)
            continue;
        put_shape(message, &ios[i].shape);
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

const char *const *message_take_strings(struct message_reader *reader, struct arena *arena)
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

void message_take_settings(struct message_reader *reader, struct arena *arena, struct backend_settings *ret)
{
    size_t count = message_take_count(reader);
    struct backend_setting *items = arena_alloc_zero(arena, count + 1, sizeof(*items));

    for (size_t i = 0; i < count && !reader->damaged; i++) {
        items[i].provider = message_take_string(reader, arena);
        items[i].key = arena_text(arena, message_take_text(reader));
        items[i].value = arena_text(arena, message_take_text(reader));
    }
    *ret = (struct backend_settings){items, reader->damaged ? 0 : count};
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

static int take_string_tensor(struct message_reader *reader, const struct shape *shape, struct tensor *ret,
                              struct error *err)
{
    size_t count = shape_elements(shape);
    struct text *texts;
    int rc;

    reader->damaged |= count > (reader->size - reader->at) / sizeof(uint64_t);
    if (reader->damaged)
        return 0;
    texts = memory_alloc_zero(count + 1, sizeof(*texts));
    for (size_t i = 0; i < count; i++)
        texts[i] = message_take_text(reader);
    rc = tensor_set_strings(shape, texts, ret, err);
    free(texts);
    return rc;
}

int message_take_tensors(struct message_reader *reader, struct tensor_list *ret, struct error *err)
{
    size_t count = message_take_count(reader), before = ret->count;
    int rc = 0;

    for (size_t i = 0; i < count && !reader->damaged; i++) {
        struct text name = message_take_text(reader);
        enum data_type type = take_type(reader);
        struct tensor tensor = {0};
        struct shape shape = {0};

        take_shape(reader, &shape);
        if (type == DATA_STRING)
            rc = take_string_tensor(reader, &shape, &tensor, err);
        else
            tensor_borrow(type, &shape, NULL, 0, &tensor);
        if (rc < 0)
            return rc;
        tensor_list_add(ret, name, &tensor);
    }
    for (size_t i = before; i < ret->count && !reader->damaged; i++) {
        struct tensor *tensor = &ret->items[i].tensor;
        size_t size = tensor_bytes(tensor->type, shape_elements(&tensor->shape));

        if (tensor->type != DATA_STRING)
            tensor_borrow(tensor->type, &tensor->shape, message_take_data(reader, size).data, size, tensor);
    }
    return 0;
}

void message_take_shared_tensors(struct message_reader *reader, struct tensor_list *ret)
{
    size_t count = message_take_count(reader);

    for (size_t i = 0; i < count && !reader->damaged; i++) {
        struct text name = message_take_text(reader);
        enum data_type type = take_type(reader);
        struct tensor tensor;
        struct shape shape = {0};
        const void *data;

        take_shape(reader, &shape);
        data = (const void *)(uintptr_t)message_take_number(reader);
        tensor_borrow(type, &shape, data, tensor_bytes(type, shape_elements(&shape)), &tensor);
        if (!reader->damaged)
            tensor_list_add(ret, name, &tensor);
    }
}

struct backend_io *message_take_ios(struct message_reader *reader, struct arena *arena, size_t *ret_count)
{
    static const char *const kinds[] = {"sequence", "map", "optional", "sparse tensor", "opaque"};
    size_t count = message_take_count(reader);
    struct backend_io *ret = arena_alloc_zero(arena, count + 1, sizeof(*ret));

    for (size_t i = 0; i < count && !reader->damaged; i++) {
        const char *kind;

        ret[i].name = arena_text(arena, message_take_text(reader));
        ret[i].type = take_type(reader);
        kind = message_take_string(reader, arena);
        for (size_t k = 0; kind != NULL && k < ARRAY_LEN(kinds); k++)
            if (strcmp(kind, kinds[k]) == 0)
                ret[i].not_a_tensor = kinds[k];
        reader->damaged |= kind != NULL && ret[i].not_a_tensor == NULL;
        ret[i].has_shape = message_take_number(reader) != 0;
        if (!ret[i].has_shape)
            continue;
        take_shape(reader, &ret[i].shape);
        ret[i].symbols = arena_alloc_zero(arena, ret[i].shape.rank + 1, sizeof(*ret[i].symbols));
        for (size_t k = 0; k < ret[i].shape.rank; k++)
            ret[i].symbols[k] = message_take_string(reader, arena);
    }
    *ret_count = count;
    return ret;
}
