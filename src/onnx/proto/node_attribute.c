/* onnx/proto/node_attribute.c: see node_attribute.h. */
#include "onnx/proto/node_attribute.h"

#include "onnx/proto/attribute.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/wire.h"

bool node_attribute_find_text(struct span node, struct text name, struct span *ret)
{
    struct wire_reader reader = wire_reader_of(node);
    struct wire_field field;
    bool found = false;

    while (wire_next(&reader, &field)) {
        if (field.number != NODE_ATTRIBUTE || field.type != WIRE_BYTES ||
            !text_equal(wire_find_text(field.bytes, ATTRIBUTE_NAME), name))
            continue;
        *ret = field.bytes;
        found = true;
    }
    return found;
}

bool node_attribute_find(struct span node, const char *name, struct span *ret)
{
    return node_attribute_find_text(node, text_of(name), ret);
}

bool node_attribute_read(struct span node, const char *name, struct attribute *ret)
{
    struct span message;

    if (!node_attribute_find(node, name, &message))
        return false;
    attribute_read(message, ret);
    return true;
}

static bool read_bytes_of_type(struct span node, const char *name, enum attribute_type type, struct span *ret)
{
    struct attribute attribute;

    if (!node_attribute_read(node, name, &attribute))
        return false;
    *ret = attribute.bytes;
    return attribute.type == type;
}

bool node_attribute_graph(struct span node, const char *name, struct span *ret)
{
    return read_bytes_of_type(node, name, ATTRIBUTE_ONE_GRAPH, ret);
}

int64_t node_attribute_integer(struct span node, const char *name, int64_t fallback)
{
    struct span attribute = {NULL, 0};
    struct wire_reader reader;
    struct wire_field field;
    int64_t value = 0; /* protobuf omits zeros */

    if (!node_attribute_find(node, name, &attribute))
        return fallback;
    reader = wire_reader_of(attribute);
    while (wire_next(&reader, &field))
        if (field.number == ATTRIBUTE_INTEGER && field.type == WIRE_VARINT)
            value = (int64_t)field.value;
    return value;
}

float node_attribute_float(struct span node, const char *name, float fallback)
{
    struct attribute attribute;

    return node_attribute_read(node, name, &attribute) ? attribute.number : fallback;
}

bool node_attribute_text(struct span node, const char *name, struct span *ret)
{
    return read_bytes_of_type(node, name, ATTRIBUTE_ONE_STRING, ret);
}

struct text node_attribute_text_or(struct span node, const char *name, const char *fallback)
{
    struct span bytes;

    return node_attribute_text(node, name, &bytes) ? span_text(bytes) : text_of(fallback);
}

bool node_attribute_is(struct span node, const char *name, const char *value)
{
    struct span bytes;

    return node_attribute_text(node, name, &bytes) && text_equal_string(span_text(bytes), value);
}

size_t node_attribute_integers(struct span node, const char *name, int64_t *ret, size_t limit)
{
    struct span attribute = {NULL, 0};
    struct wire_reader reader;
    struct wire_field field;
    size_t count = 0;

    if (!node_attribute_find(node, name, &attribute))
        return 0;
    reader = wire_reader_of(attribute);
    while (wire_next(&reader, &field)) {
        struct span cursor = field.bytes;
        uint64_t value = field.value;
        bool damaged = false;

        if (field.number != ATTRIBUTE_INTEGERS)
            continue;
        if (field.type == WIRE_VARINT && count++ < limit)
            ret[count - 1] = (int64_t)value;
        while (field.type == WIRE_BYTES && wire_next_packed_varint(&cursor, &value, &damaged))
            if (count++ < limit)
                ret[count - 1] = (int64_t)value;
    }
    return count;
}

struct span node_attribute_tensor(struct span node, const char *name)
{
    struct span attribute = {NULL, 0}, tensor = {NULL, 0};
    struct wire_reader reader;
    struct span bytes;

    if (!node_attribute_find(node, name, &attribute))
        return tensor;
    reader = wire_reader_of(attribute);
    while (wire_next_bytes(&reader, ATTRIBUTE_TENSOR, &bytes))
        tensor = bytes;
    return tensor;
}

bool node_has_references(struct span node)
{
    struct wire_reader reader = wire_reader_of(node);
    struct attribute attribute;
    struct span message;

    while (wire_next_bytes(&reader, NODE_ATTRIBUTE, &message)) {
        attribute_read(message, &attribute);
        if (attribute.reference.size > 0)
            return true;
    }
    return false;
}
