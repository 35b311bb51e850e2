/* onnx/proto/wire.c: see wire.h. All input is untrusted. */
#include "onnx/proto/wire.h"

struct wire_reader wire_reader_of(struct span message)
{
    /* An empty message may have a null pointer, to which not even 0 may be added. */
    const uint8_t *end = message.size > 0 ? message.data + message.size : message.data;

    return (struct wire_reader){message.data, message.data, end, false};
}

static bool read_long_varint(const uint8_t **next, const uint8_t *end, uint64_t *ret)
{
    uint64_t value = 0;
    const uint8_t *p = *next;

    for (unsigned shift = 0; shift < 64 && p < end; shift += 7) {
        uint8_t byte = *p++;

        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *next = p;
            *ret = value;
            return true;
        }
    }
    return false;
}

/* Fast path: nearly all varints have one byte. */
static inline bool read_wire_varint(const uint8_t **next, const uint8_t *end, uint64_t *ret)
{
    if (*next == end || **next >= 0x80)
        return read_long_varint(next, end, ret);
    *ret = *(*next)++;
    return true;
}

static bool read_fixed_field(const uint8_t **next, const uint8_t *end, size_t size, uint64_t *ret)
{
    uint64_t value = 0;

    if ((size_t)(end - *next) < size)
        return false;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)(*next)[i] << (8 * i);
    *next += size;
    *ret = value;
    return true;
}

static bool read_field_value(struct wire_reader *reader, struct wire_field *field)
{
    uint64_t length;

    switch (field->type) {
    case WIRE_VARINT:
        return read_wire_varint(&reader->next, reader->end, &field->value);
    case WIRE_FIXED64:
        return read_fixed_field(&reader->next, reader->end, 8, &field->value);
    case WIRE_FIXED32:
        return read_fixed_field(&reader->next, reader->end, 4, &field->value);
    case WIRE_BYTES:
        if (!read_wire_varint(&reader->next, reader->end, &length) || length > (size_t)(reader->end - reader->next))
            return false;
        field->bytes = (struct span){reader->next, (size_t)length};
        reader->next += length;
        return true;
    }
    return false; /* groups (3, 4) are not part of ONNX; 6 and 7 do not exist */
}

bool wire_next(struct wire_reader *reader, struct wire_field *ret)
{
    const uint8_t *begin = reader->next;
    uint64_t tag;

    if (reader->damaged || begin >= reader->end)
        return false;
    *ret = (struct wire_field){0};
    if (!read_wire_varint(&reader->next, reader->end, &tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff) {
        reader->next = begin;
        reader->damaged = true;
        return false;
    }
    ret->number = (uint32_t)(tag >> 3);
    ret->type = (enum wire_type)(tag & 7);
    if (!read_field_value(reader, ret)) {
        reader->next = begin;
        reader->damaged = true;
        return false;
    }
    ret->whole = (struct span){begin, (size_t)(reader->next - begin)};
    return true;
}

bool wire_next_bytes(struct wire_reader *reader, uint32_t number, struct span *ret)
{
    struct wire_field field;

    while (wire_next(reader, &field))
        if (field.number == number && field.type == WIRE_BYTES) {
            *ret = field.bytes;
            return true;
        }
    return false;
}

struct text wire_find_text(struct span message, uint32_t number)
{
    struct wire_reader reader = wire_reader_of(message);
    struct span found = {(const uint8_t *)"", 0};

    while (wire_next_bytes(&reader, number, &found))
        ;
    return span_text(found);
}

struct span wire_content(struct span whole)
{
    struct wire_reader reader = wire_reader_of(whole);
    struct wire_field field = {0};

    wire_next(&reader, &field);
    return field.bytes;
}

int wire_damage(const struct wire_reader *reader, struct span file, const char *what, struct error *err)
{
    return error_set(err, ERR_CORRUPT, "%s is damaged at byte %zu of %zu: not a valid ONNX (protobuf) field", what,
                     (size_t)(reader->next - file.data), file.size);
}

bool wire_next_packed_varint(struct span *cursor, uint64_t *ret, bool *damaged)
{
    const uint8_t *next = cursor->data;

    if (cursor->size == 0)
        return false;
    if (!read_wire_varint(&next, cursor->data + cursor->size, ret)) {
        *damaged = true;
        return false;
    }
    cursor->size -= (size_t)(next - cursor->data);
    cursor->data = next;
    return true;
}

void wire_write_varint(struct string_builder *out, uint64_t value)
{
    char bytes[10];
    size_t size = 0;

    while (value >= 0x80) {
        bytes[size++] = (char)(value | 0x80);
        value >>= 7;
    }
    bytes[size++] = (char)value;
    string_add_bytes(out, bytes, size);
}

void wire_write_tag(struct string_builder *out, uint32_t number, enum wire_type type)
{
    wire_write_varint(out, (uint64_t)number << 3 | type);
}

void wire_write_integer(struct string_builder *out, uint32_t number, int64_t value)
{
    wire_write_tag(out, number, WIRE_VARINT);
    wire_write_varint(out, (uint64_t)value);
}

void wire_write_bytes(struct string_builder *out, uint32_t number, const void *data, size_t size)
{
    wire_write_tag(out, number, WIRE_BYTES);
    wire_write_varint(out, size);
    if (size > 0)
        string_add_bytes(out, data, size);
}

void wire_write_text(struct string_builder *out, uint32_t number, struct text text)
{
    wire_write_bytes(out, number, text.data, text.size);
}

void wire_copy_without(struct string_builder *out, struct span message, uint32_t number)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;

    while (wire_next(&reader, &field))
        if (field.number != number)
            string_add_bytes(out, field.whole.data, field.whole.size);
}

struct span wire_keep(struct arena *arena, const struct string_builder *message)
{
    return (struct span){arena_copy(arena, message->data, message->size), message->size};
}

struct span wire_make_field(struct arena *arena, uint32_t number, const struct string_builder *message)
{
    SCOPED_STRING(field);

    wire_write_bytes(&field, number, message->data, message->size);
    return wire_keep(arena, &field);
}

size_t wire_varint_size(uint64_t value)
{
    size_t size = 1;

    for (; value >= 0x80; value >>= 7)
        size++;
    return size;
}
