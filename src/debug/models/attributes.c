/* debug/models/attributes.c: see attributes.h. */
#include "debug/models/attributes.h"

#include <string.h>

#include "onnx/proto/attribute.h"
#include "onnx/proto/fields.h"

#define MOST_LISTED_ELEMENTS 8

/* Of a decoded value, so that encodings of a list do not matter. */
static struct hash hash_attribute_value(const struct attribute *attribute)
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

struct hash attributes_hash(struct span node)
{
    struct wire_reader reader = wire_reader_of(node);
    struct hash ret = {0};
    struct span message;

    while (wire_next_bytes(&reader, NODE_ATTRIBUTE, &message)) {
        struct attribute attribute;
        struct hash hash;

        attribute_read(message, &attribute);
        hash = hash_combine(hash_bytes(attribute.name.data, attribute.name.size), hash_attribute_value(&attribute));
        ret.low += hash.low;
        ret.high += hash.high;
    }
    return ret;
}

static bool find_attribute_named(struct span node, struct text name, struct attribute *ret)
{
    struct wire_reader reader = wire_reader_of(node);
    bool found = false;
    struct span message;

    while (wire_next_bytes(&reader, NODE_ATTRIBUTE, &message)) {
        struct attribute attribute;

        attribute_read(message, &attribute);
        if (!text_equal(attribute.name, name))
            continue;
        *ret = attribute;
        found = true;
    }
    return found;
}

void attributes_compare(struct span a, struct span b, struct attribute_differences *ret)
{
    struct wire_reader reader_a = wire_reader_of(a), reader_b = wire_reader_of(b);
    struct attribute attribute, other;
    struct span message;

    while (wire_next_bytes(&reader_b, NODE_ATTRIBUTE, &message)) {
        bool is_in_a;

        attribute_read(message, &attribute);
        is_in_a = find_attribute_named(a, attribute.name, &other);
        if (is_in_a && hash_equal(hash_attribute_value(&attribute), hash_attribute_value(&other)))
            continue;
        *VECTOR_APPEND(ret) = (struct attribute_difference){
            attribute.name, is_in_a ? other.message : (struct span){NULL, 0}, attribute.message};
    }
    while (wire_next_bytes(&reader_a, NODE_ATTRIBUTE, &message)) {
        attribute_read(message, &attribute);
        if (!find_attribute_named(b, attribute.name, &other))
            *VECTOR_APPEND(ret) =
                (struct attribute_difference){attribute.name, attribute.message, (struct span){NULL, 0}};
    }
}

static void describe_list(const struct attribute *attribute, struct string_builder *ret)
{
    struct attribute_walk walk = attribute_walk(attribute);
    int64_t integer;
    float number;

    string_add_char(ret, '[');
    for (size_t i = 0; i <= MOST_LISTED_ELEMENTS; i++) {
        const char *before = i == 0 ? "" : ", ";

        if (attribute->type == ATTRIBUTE_MANY_INTEGERS ? !attribute_next_integer(&walk, &integer)
                                                       : !attribute_next_float(&walk, &number))
            break;
        if (i == MOST_LISTED_ELEMENTS)
            string_add(ret, ", ...");
        else if (attribute->type == ATTRIBUTE_MANY_INTEGERS)
            string_add_format(ret, "%s%lld", before, (long long)integer);
        else
            string_add_format(ret, "%s%.8g", before, (double)number);
    }
    string_add_char(ret, ']');
}

static void describe_value(struct span message, struct string_builder *ret)
{
    struct attribute attribute;

    attribute_read(message, &attribute);
    switch (attribute.type) {
    case ATTRIBUTE_ONE_FLOAT:
        string_add_format(ret, "%.8g", (double)attribute.number);
        break;
    case ATTRIBUTE_ONE_INTEGER:
        string_add_format(ret, "%lld", (long long)attribute.integer);
        break;
    case ATTRIBUTE_ONE_STRING:
        string_add_format(ret, "'" TEXT_FORMAT "'", TEXT_ARGS(span_text(attribute.bytes)));
        break;
    case ATTRIBUTE_MANY_INTEGERS:
    case ATTRIBUTE_MANY_FLOATS:
        describe_list(&attribute, ret);
        break;
    default:
        string_add(ret, "a tensor or a body");
    }
}

void attribute_difference_describe(const struct attribute_difference *difference, struct string_builder *ret)
{
    SCOPED_STRING(a);
    SCOPED_STRING(b);

    string_add_format(ret, TEXT_FORMAT " ", TEXT_ARGS(difference->name));
    if (difference->b.size == 0) {
        string_add(ret, "is not set; A has ");
        describe_value(difference->a, ret);
        return;
    }
    describe_value(difference->b, &b);
    if (difference->a.size == 0) {
        string_add_format(ret, "%s, which A does not set", b.data);
        return;
    }
    describe_value(difference->a, &a);
    if (strcmp(a.data, b.data) == 0) /* tensors, or numbers that differ beyond the digits of the text */
        string_add(ret, "differs from A's");
    else
        string_add_format(ret, "%s, not %s", b.data, a.data);
}
