/* onnx/half/costs.c: see costs.h. */
#include "onnx/half/costs.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onnx/half/half_operators.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/value_info.h"

#define WIDE 4   /* bytes of an element in float32 */
#define NARROW 2 /* in float16 and bfloat16 */

/* In which types a value is read. */
struct type_uses {
    bool wide, narrow;
};

void mixed_precision_elements(const struct model *model, uint64_t *ret)
{
    for (uint32_t i = 0; i < model->values.count; i++) {
        const struct value *value = &model->values.items[i];
        struct tensor_header header;

        if (value_element(model, i) != DATA_FLOAT32)
            ret[i] = 0;
        else if (value->initializer == INITIALIZER_NONE)
            ret[i] = value_info_bytes(value->info) / WIDE;
        else if (tensor_proto_read(model->initializers.items[value->initializer].message, &header, NULL) == 0)
            ret[i] = (uint64_t)shape_elements(&header.shape);
        else
            ret[i] = 0;
    }
}

static bool value_is_wide(const struct model *model, uint32_t value)
{
    return value != VALUE_NONE && value_element(model, value) == DATA_FLOAT32;
}

/* What the node reads and writes, but for what asks for a shape, which reads no element. */
static void add_node_costs(const struct model *model, const struct bitset *low, uint32_t index,
                           const uint64_t *elements, struct type_uses *uses, struct mixed_precision_costs *ret)
{
    const struct node *node = &model->nodes.items[index];
    bool is_low = bitset_has(low, index);

    for (size_t k = 0; k < node_read_count(node); k++) {
        uint32_t value = node_read(model, node, k);
        bool captured = k >= node->inputs.count, narrow = is_low && !captured && node_narrows_input(node, k);

        if (!value_is_wide(model, value) || (!captured && node_takes_any_type(node)))
            continue;
        *(narrow ? &uses[value].narrow : &uses[value].wide) = true;
        if (!captured)
            ret->node_bytes += elements[value] * (narrow ? NARROW : WIDE);
    }
    for (size_t k = 0; k < node->outputs.count; k++) {
        uint32_t value = model_edge(model, node->outputs, k);

        if (value_is_wide(model, value))
            ret->node_bytes += elements[value] * (is_low ? NARROW : WIDE);
    }
}

void mixed_precision_costs(const struct model *model, const struct bitset *low, const uint64_t *elements,
                           struct mixed_precision_costs *ret)
{
    struct type_uses *uses SCOPED_FREE = memory_alloc_zero(model->values.count, sizeof(*uses));

    *ret = (struct mixed_precision_costs){0};
    for (uint32_t i = 0; i < model->nodes.count; i++)
        add_node_costs(model, low, i, elements, uses, ret);
    for (size_t i = 0; i < model->outputs.count; i++)
        if (value_is_wide(model, model->outputs.items[i]))
            uses[model->outputs.items[i]].wide = true;
    for (uint32_t i = 0; i < model->values.count; i++) {
        const struct value *value = &model->values.items[i];
        bool made_low = value->producer != NODE_NONE && bitset_has(low, value->producer);

        if (!value_is_wide(model, i) || (!uses[i].wide && !uses[i].narrow))
            continue;
        ret->unknown += elements[i] == 0;
        if (value->initializer == INITIALIZER_NONE && (made_low ? uses[i].wide : uses[i].narrow)) {
            ret->casts++;
            ret->cast_bytes += elements[i] * (WIDE + NARROW);
        }
    }
}
