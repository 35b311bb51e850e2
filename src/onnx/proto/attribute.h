/* onnx/proto/attribute.h: one attribute of a node, read from its AttributeProto.
 *
 *   attribute_read(field.bytes, &attribute);
 *   if (attribute.type == ATTRIBUTE_MANY_INTEGERS)
 *       for (walk = attribute_walk(&attribute); attribute_next_integer(&walk, &value);)
 */
#ifndef ONNX_PROTO_ATTRIBUTE_H
#define ONNX_PROTO_ATTRIBUTE_H

#include "base/hash.h"
#include "onnx/proto/wire.h"

/* AttributeProto.AttributeType; the published schema calls INTEGER "INT" and so on. */
enum attribute_type {
    ATTRIBUTE_UNDEFINED = 0,
    ATTRIBUTE_ONE_FLOAT = 1,
    ATTRIBUTE_ONE_INTEGER = 2,
    ATTRIBUTE_ONE_STRING = 3,
    ATTRIBUTE_ONE_TENSOR = 4,
    ATTRIBUTE_ONE_GRAPH = 5,
    ATTRIBUTE_MANY_FLOATS = 6,
    ATTRIBUTE_MANY_INTEGERS = 7,
    ATTRIBUTE_MANY_STRINGS = 8,
    ATTRIBUTE_MANY_TENSORS = 9,
    ATTRIBUTE_MANY_GRAPHS = 10,
    ATTRIBUTE_ONE_SPARSE_TENSOR = 11,
    ATTRIBUTE_MANY_SPARSE_TENSORS = 12,
    ATTRIBUTE_ONE_TYPE = 13,
    ATTRIBUTE_MANY_TYPES = 14,
};

struct attribute {
    struct text name;
    struct text reference;    /* in a function: the function's attribute that gives the value; else size 0 */
    enum attribute_type type; /* derived from the fields if an old model omits it */
    struct span message;
    float number;
    int64_t integer;
    struct span bytes; /* of a single string, tensor, graph, sparse tensor or type */
};

/* Decodes an AttributeProto. Damaged or missing fields read as empty: loading the model has reported damage before. */
void attribute_read(struct span message, struct attribute *ret);

/* Iterator over the elements of a list. Each of the functions below is for lists of its kind, attribute_next_bytes()
 * for all that are not numbers. */
struct attribute_walk {
    struct wire_reader reader;
    struct span packed; /* rest of a packed field */
    uint32_t number;    /* field number of the elements */
};

struct attribute_walk attribute_walk(const struct attribute *attribute);
bool attribute_next_float(struct attribute_walk *walk, float *ret);
bool attribute_next_integer(struct attribute_walk *walk, int64_t *ret);
bool attribute_next_bytes(struct attribute_walk *walk, struct span *ret);

/* The hash of an attribute's type and value, without its name: equal for different encodings of a list of numbers. */
struct hash attribute_value_hash(const struct attribute *attribute);

#endif
