/* onnx/shrink/attributes.h: nodes without attributes that they can do without, whose defaults hold then. */
#ifndef ONNX_SHRINK_ATTRIBUTES_H
#define ONNX_SHRINK_ATTRIBUTES_H

#include "onnx/model/model.h"

struct optional_attribute {
    uint32_t node;
    struct text name;
};

struct optional_attribute_list {
    struct optional_attribute *items;
    size_t count, capacity;
};

/* Appends the attributes of the model's nodes, each name of a node once, without bodies and those that ONNX's operators
 * are known to insist on. Whether an operator of another domain can do without is for the runtime to say. */
void attributes_list_optional(const struct model *model, struct optional_attribute_list *ret);

/* Drops attributes `list->items[i]` where `dropped[i]` is not 0. The list is that of this model, or of one that it is a
 * copy of. */
void attributes_drop(struct model *model, const struct optional_attribute_list *list, const uint8_t *dropped);

#endif
