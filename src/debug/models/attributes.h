/* debug/models/attributes.h: the attributes of a node: their hash, and those that differ between two nodes. */
#ifndef DEBUG_MODELS_ATTRIBUTES_H
#define DEBUG_MODELS_ATTRIBUTES_H

#include "base/hash.h"
#include "base/text/string_builder.h"

/* The hash of all attributes of a NodeProto, in any order. */
struct hash attributes_hash(struct span node);

/* An attribute that differs; a side without it has an empty span. Spans are AttributeProtos. */
struct attribute_difference {
    struct text name;
    struct span a, b;
};

struct attribute_differences {
    struct attribute_difference *items;
    size_t count, capacity;
};

/* Appends the attributes in which two NodeProtos differ. */
void attributes_compare(struct span a, struct span b, struct attribute_differences *ret);

/* Appends "epsilon 0.5, not 1e-12", A's value last. */
void attribute_difference_describe(const struct attribute_difference *difference, struct string_builder *ret);

#endif
