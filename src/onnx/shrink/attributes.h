/* onnx/shrink/attributes.h: removes optional attributes of nodes, so that their defaults apply. */
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

/* Appends the optional attributes of the model's nodes, each name of a node once, except bodies and attributes that
 * standard ONNX operators require. For operators of other domains only the runtime knows whether an attribute is
 * required. */
void attributes_list_optional(const struct model *model, struct optional_attribute_list *ret);

/* Drops attributes `list->items[i]` where `dropped[i]` is not 0. The list is that of this model or of its original. */
void attributes_drop(struct model *model, const struct optional_attribute_list *list, const uint8_t *dropped);

#endif
