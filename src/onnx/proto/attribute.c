/* onnx/proto/attribute.c: see attribute.h. */
#include "onnx/proto/attribute.h"

#include <string.h>

#include "onnx/proto/fields.h"
#include "tensor/values/float_bits.h"

/* Attribute types and the field with their elements. */
static const struct {
    uint32_t number;
    enum attribute_type type;
} fields[] = {
    {ATTRIBUTE_FLOAT, ATTRIBUTE_ONE_FLOAT},
    {ATTRIBUTE_INTEGER, ATTRIBUTE_ONE_INTEGER},
    {ATTRIBUTE_STRING, ATTRIBUTE_ONE_STRING},
    {ATTRIBUTE_TENSOR, ATTRIBUTE_ONE_TENSOR},
    {ATTRIBUTE_GRAPH, ATTRIBUTE_ONE_GRAPH},
    {ATTRIBUTE_FLOATS, ATTRIBUTE_MANY_FLOATS},
    {ATTRIBUTE_INTEGERS, ATTRIBUTE_MANY_INTEGERS},
    {ATTRIBUTE_STRINGS, ATTRIBUTE_MANY_STRINGS},
    {ATTRIBUTE_TENSORS, ATTRIBUTE_MANY_TENSORS},
    {ATTRIBUTE_GRAPHS, ATTRIBUTE_MANY_GRAPHS},
    {ATTRIBUTE_SPARSE_TENSOR, ATTRIBUTE_ONE_SPARSE_TENSOR},
    {ATTRIBUTE_SPARSE_TENSORS, ATTRIBUTE_MANY_SPARSE_TENSORS},
    {ATTRIBUTE_TYPE, ATTRIBUTE_ONE_TYPE},
    {ATTRIBUTE_TYPES, ATTRIBUTE_MANY_TYPES},
};

enum { FIELD_COUNT = sizeof(fields) / sizeof(fields[0]) };

static enum attribute_type attribute_type_of_field(uint32_t number)
{
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (fields[i].number == number)
            return fields[i].type;
    return ATTRIBUTE_UNDEFINED;
}

static uint32_t field_of_attribute_type(enum attribute_type type)
{
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (fields[i].type == type)
            return fields[i].number;
    return 0;
}

static void read_attribute_value(const struct wire_field *field, struct attribute *attribute)
{
    enum attribute_type type = attribute_type_of_field(field->number);

    if (type == ATTRIBUTE_ONE_FLOAT && field->type == WIRE_FIXED32)
        attribute->number = float32_of_bits((uint32_t)field->value);
    else if (type == ATTRIBUTE_ONE_INTEGER && field->type == WIRE_VARINT)
        attribute->integer = (int64_t)field->value;
    else if (field->type == WIRE_BYTES)
        attribute->bytes = field->bytes;
    if (attribute->type == ATTRIBUTE_UNDEFINED)
        attribute->type = type;
}

void attribute_read(struct span message, struct attribute *ret)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    enum attribute_type said = ATTRIBUTE_UNDEFINED;

    *ret = (struct attribute){
        .name = {"", 0}, .reference = {"", 0}, .message = message, .bytes = {(const uint8_t *)"", 0}};
    while (wire_next(&reader, &field)) {
        if (field.number == ATTRIBUTE_NAME && field.type == WIRE_BYTES)
            ret->name = span_text(field.bytes);
        else if (field.number == ATTRIBUTE_REFERENCE && field.type == WIRE_BYTES)
            ret->reference = span_text(field.bytes);
        else if (field.number == ATTRIBUTE_KIND && field.type == WIRE_VARINT)
            said = field.value <= ATTRIBUTE_MANY_TYPES ? (enum attribute_type)field.value : ATTRIBUTE_UNDEFINED;
        else if (attribute_type_of_field(field.number) != ATTRIBUTE_UNDEFINED)
            read_attribute_value(&field, ret);
    }
    if (said != ATTRIBUTE_UNDEFINED)
        ret->type = said;
}

struct attribute_walk attribute_walk(const struct attribute *attribute)
{
    return (struct attribute_walk){.reader = wire_reader_of(attribute->message),
                                   .number = field_of_attribute_type(attribute->type)};
}

/* Finds the next field of the list. */
static bool find_next_element(struct attribute_walk *walk, struct wire_field *ret)
{
    while (wire_next(&walk->reader, ret))
        if (ret->number == walk->number)
            return true;
    return false;
}

bool attribute_next_float(struct attribute_walk *walk, float *ret)
{
    struct wire_field field;

    while (walk->packed.size < sizeof(*ret)) {
        if (!find_next_element(walk, &field))
            return false;
        if (field.type == WIRE_FIXED32) {
            *ret = float32_of_bits((uint32_t)field.value);
            return true;
        }
        if (field.type == WIRE_BYTES)
            walk->packed = field.bytes;
    }
    memcpy(ret, walk->packed.data, sizeof(*ret));
    walk->packed.data += sizeof(*ret);
    walk->packed.size -= sizeof(*ret);
    return true;
}

bool attribute_next_integer(struct attribute_walk *walk, int64_t *ret)
{
    struct wire_field field;
    uint64_t value;
    bool damaged = false;

    while (!wire_next_packed_varint(&walk->packed, &value, &damaged)) {
        walk->packed.size = 0;
        if (!find_next_element(walk, &field))
            return false;
        if (field.type == WIRE_VARINT) {
            *ret = (int64_t)field.value;
            return true;
        }
        if (field.type == WIRE_BYTES)
            walk->packed = field.bytes;
    }
    *ret = (int64_t)value;
    return true;
}

bool attribute_next_bytes(struct attribute_walk *walk, struct span *ret)
{
    struct wire_field field;

    while (find_next_element(walk, &field))
        if (field.type == WIRE_BYTES) {
            *ret = field.bytes;
            return true;
        }
    return false;
}

struct hash attribute_value_hash(const struct attribute *attribute)
{
    struct attribute_walk walk = attribute_walk(attribute);
    struct hash ret = hash_bytes(&attribute->type, sizeof(attribute->type));
    struct span bytes;
    int64_t integer;
    float number;

    switch (attribute->type) {
    case ATTRIBUTE_ONE_FLOAT:
        return hash_combine(ret, hash_bytes(&attribute->number, sizeof(attribute->number)));
    case ATTRIBUTE_ONE_INTEGER:
        return hash_combine(ret, hash_bytes(&attribute->integer, sizeof(attribute->integer)));
    case ATTRIBUTE_MANY_INTEGERS:
        while (attribute_next_integer(&walk, &integer))
            ret = hash_combine(ret, hash_bytes(&integer, sizeof(integer)));
        return ret;
    case ATTRIBUTE_MANY_FLOATS:
        while (attribute_next_float(&walk, &number))
            ret = hash_combine(ret, hash_bytes(&number, sizeof(number)));
        return ret;
    case ATTRIBUTE_MANY_STRINGS:
    case ATTRIBUTE_MANY_TENSORS:
    case ATTRIBUTE_MANY_GRAPHS:
        while (attribute_next_bytes(&walk, &bytes))
            ret = hash_combine(ret, hash_bytes(bytes.data, bytes.size));
        return ret;
    default:
        return hash_combine(ret, hash_bytes(attribute->bytes.data, attribute->bytes.size));
    }
}
