/* onnx/shrink/attributes.c: see attributes.h. */
#include "onnx/shrink/attributes.h"

#include "base/memory.h"
#include "onnx/model/captures.h"
#include "onnx/proto/attribute.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/wire.h"

/* Source: the ONNX operator reference, attributes marked "(required)", in all versions of the operators. `op_type`
 * NULL: any operator. */
static bool attribute_is_required(const struct node *node, struct text name)
{
    static const struct {
        const char *op_type, *attribute;
    } required[] = {
        {"Cast", "to"},
        {"Concat", "axis"},
        {"ConcatFromSequence", "axis"},
        {NULL, "kernel_shape"}, /* required for pooling; convolutions can infer it, but little is gained */
        {"LRN", "size"},
        {"DepthToSpace", "blocksize"},
        {"SpaceToDepth", "blocksize"},
        {"Einsum", "equation"},
        {"BitShift", "direction"},
        {"RandomNormal", "shape"},
        {"RandomUniform", "shape"},
        {"Scan", "num_scan_inputs"},
        {NULL, "hidden_size"},
        {"Pad", "pads"},
        {"Slice", "starts"},
        {"Slice", "ends"},
        {"Unsqueeze", "axes"},
        {"TopK", "k"},
        {"Tile", "repeats"},
        {"Upsample", "scales"},
        {"GroupNormalization", "num_groups"},
        {"GridSample", "shape"},
    };
    bool is_standard = domain_is_standard(node->domain);

    if (is_standard && text_equal_string(node->op_type, "Constant"))
        return true;
    for (size_t i = 0; is_standard && i < ARRAY_LEN(required); i++)
        if ((required[i].op_type == NULL || text_equal_string(node->op_type, required[i].op_type)) &&
            text_equal_string(name, required[i].attribute))
            return true;
    return false;
}

static bool optional_attribute_is_listed(const struct optional_attribute_list *list, size_t first, struct text name)
{
    for (size_t i = first; i < list->count; i++)
        if (text_equal(list->items[i].name, name))
            return true;
    return false;
}

void attributes_list_optional(const struct model *model, struct optional_attribute_list *ret)
{
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];
        struct wire_reader reader = wire_reader_of(node->message);
        size_t first = ret->count;
        struct wire_field field;

        while (wire_next(&reader, &field)) {
            struct attribute attribute;

            if (field.number != NODE_ATTRIBUTE || field.type != WIRE_BYTES || captures_attribute_has_graph(field.bytes))
                continue;
            attribute_read(field.bytes, &attribute);
            if (!attribute_is_required(node, attribute.name) &&
                !optional_attribute_is_listed(ret, first, attribute.name))
                *VECTOR_APPEND(ret) = (struct optional_attribute){i, attribute.name};
        }
    }
}

/* The attributes of one node, consecutive in a list. */
struct dropped_attributes {
    const struct optional_attribute_list *list;
    const uint8_t *dropped;
    size_t first, end;
};

static bool attribute_is_dropped(const struct dropped_attributes *part, struct span message)
{
    struct attribute attribute;

    attribute_read(message, &attribute);
    for (size_t i = part->first; i < part->end; i++)
        if (part->dropped[i] && text_equal(part->list->items[i].name, attribute.name))
            return true;
    return false;
}

/* Only the node's bytes change: names and edges in the index stay. */
static void rewrite_without_attribute(struct model *model, struct node *node, const struct dropped_attributes *part)
{
    struct wire_reader reader = wire_reader_of(node->message);
    SCOPED_STRING(message);
    struct wire_field field;

    while (wire_next(&reader, &field))
        if (field.number != NODE_ATTRIBUTE || field.type != WIRE_BYTES || !attribute_is_dropped(part, field.bytes))
            string_add_bytes(&message, field.whole.data, field.whole.size);
    node->field = wire_make_field(&model->arena, GRAPH_NODE, &message);
    node->message = wire_content(node->field);
}

void attributes_drop(struct model *model, const struct optional_attribute_list *list, const uint8_t *dropped)
{
    struct dropped_attributes part = {.list = list, .dropped = dropped};

    for (; part.first < list->count; part.first = part.end) {
        uint32_t node = list->items[part.first].node;
        bool any = false;

        for (part.end = part.first; part.end < list->count && list->items[part.end].node == node; part.end++)
            any |= dropped[part.end] != 0;
        if (any)
            rewrite_without_attribute(model, &model->nodes.items[node], &part);
    }
}
