/* debug/models/attributes.c: see attributes.h. */
#include "debug/models/attributes.h"

#include <string.h>

#include "onnx/proto/attribute.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/node_attribute.h"

#define MOST_LISTED_ELEMENTS 8

struct hash attributes_hash(struct span node)
{
    struct wire_reader reader = wire_reader_of(node);
    struct hash ret = {0};
    struct span message;

    while (wire_next_bytes(&reader, NODE_ATTRIBUTE, &message)) {
        struct attribute attribute;
        struct hash hash;

        attribute_read(message, &attribute);
        hash = hash_combine(hash_bytes(attribute.name.data, attribute.name.size), attribute_value_hash(&attribute));
        ret.low += hash.low;
        ret.high += hash.high;
    }
    return ret;
}

void attributes_compare(struct span a, struct span b, struct attribute_differences *ret)
{
    struct wire_reader reader_a = wire_reader_of(a), reader_b = wire_reader_of(b);
    struct attribute attribute, other;
    struct span message, found;

    while (wire_next_bytes(&reader_b, NODE_ATTRIBUTE, &message)) {
        found = (struct span){NULL, 0};
        attribute_read(message, &attribute);
        if (node_attribute_find_text(a, attribute.name, &found)) {
            attribute_read(found, &other);
            if (hash_equal(attribute_value_hash(&attribute), attribute_value_hash(&other)))
                continue;
        }
        *VECTOR_APPEND(ret) = (struct attribute_difference){attribute.name, found, message};
    }
    while (wire_next_bytes(&reader_a, NODE_ATTRIBUTE, &message)) {
        attribute_read(message, &attribute);
        if (!node_attribute_find_text(b, attribute.name, &found))
            *VECTOR_APPEND(ret) = (struct attribute_difference){attribute.name, message, (struct span){NULL, 0}};
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
