/* engine/network/sum_spelling.c: see sum_spelling.h. */
#include "engine/network/sum_spelling.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onnx/edit/rebuild.h"
#include "onnx/model/constants.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/wire.h"

static bool is_sum_of_two(const struct model *model, const struct node *node)
{
    return node_is(node, "Sum") && node->inputs.count == 2 && model_edge(model, node->inputs, 0) != VALUE_NONE &&
           model_edge(model, node->inputs, 1) != VALUE_NONE;
}

/* The node, as an Add. */
static struct span respell(struct model *model, struct span node)
{
    struct wire_reader reader = wire_reader_of(node);
    struct wire_field part;
    struct string_builder message, field;
    struct span result;

    string_init(&message);
    string_init(&field);
    while (wire_next(&reader, &part))
        if (part.number != NODE_OP_TYPE)
            string_add_bytes(&message, part.whole.data, part.whole.size);
    wire_write_text(&message, NODE_OP_TYPE, TEXT("Add"));
    wire_write_bytes(&field, GRAPH_NODE, message.data, message.size);
    result = (struct span){arena_copy(&model->arena, field.data, field.size), field.size};
    string_release(&message);
    string_release(&field);
    return result;
}

int model_respell_sums(struct model *model, struct error *err)
{
    struct span_list fields = {0};
    bool any = false;
    int rc = 0;

    for (size_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];
        bool is_sum = is_sum_of_two(model, node);

        *VECTOR_APPEND(&fields) = is_sum ? respell(model, node->message) : node->field;
        any |= is_sum;
    }
    if (any)
        rc = model_set_nodes(model, &fields, err);
    free(fields.items);
    return rc;
}
