/* debug/models/transfer.c: see transfer.h. */
#include "debug/models/transfer.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/model.h"
#include "onnx/edit/node.h"
#include "onnx/edit/rebuild.h"
#include "onnx/model/unused_names.h"
#include "onnx/proto/attribute.h"
#include "onnx/proto/fields.h"

/* Of A's nodes, 1 / N may be copied: a copy of most of A would agree with A, and say nothing. */
#define COPIED_SHARE 2

struct transfer {
    const struct model_pairing *pairing;
    const uint32_t *equal_in_b;
    struct model *copy;      /* of B */
    struct span_list fields; /* of its nodes: those of B, then those of A */
    struct unused_names names;
    struct text *imported; /* for each value of A: its name in the copy, once it is there */
    size_t copied_nodes;
};

/* ---- Nodes with changes ---- */

/* Copies a node with the name of its n-th input or output (`number`: NODE_INPUT, NODE_OUTPUT) replaced; the inputs in
 * front of one that it does not have are omitted ones. */
static struct span replace_name(struct arena *arena, struct span node, uint32_t number, size_t index, struct text name)
{
    struct wire_reader reader = wire_reader_of(wire_content(node));
    struct wire_field field;
    size_t place = 0;
    SCOPED_STRING(message);

    while (wire_next(&reader, &field))
        if (field.number == number && place++ == index)
            wire_write_text(&message, number, name);
        else
            string_add_bytes(&message, field.whole.data, field.whole.size);
    for (; place <= index; place++)
        wire_write_text(&message, number, place < index ? TEXT("") : name);
    return wire_make_field(arena, GRAPH_NODE, &message);
}

/* Copies a node with an attribute replaced by another one, or without it if `attribute` is empty. */
static struct span replace_attribute(struct arena *arena, struct span node, struct text name, struct span attribute)
{
    struct wire_reader reader = wire_reader_of(wire_content(node));
    struct wire_field field;
    SCOPED_STRING(message);

    while (wire_next(&reader, &field)) {
        struct attribute other = {.name = {NULL, 0}};

        if (field.number == NODE_ATTRIBUTE && field.type == WIRE_BYTES)
            attribute_read(field.bytes, &other);
        if (field.number != NODE_ATTRIBUTE || !text_equal(other.name, name))
            string_add_bytes(&message, field.whole.data, field.whole.size);
    }
    if (attribute.size > 0)
        wire_write_bytes(&message, NODE_ATTRIBUTE, attribute.data, attribute.size);
    return wire_make_field(arena, GRAPH_NODE, &message);
}

/* ---- Tensors of A in the copy ---- */

static int import_value(struct transfer *transfer, uint32_t value, struct text *ret, struct error *err);

static int import_constant(struct transfer *transfer, uint32_t value, struct text *ret, struct error *err)
{
    struct text name = unused_names_make(&transfer->names, transfer->pairing->a.model->values.items[value].name, "");

    *ret = name;
    return model_set_tensor(transfer->copy, model_add_value(transfer->copy, name),
                            &transfer->pairing->a.constants[value], err);
}

static int refuse_node(const struct transfer *transfer, uint32_t node, const char *why, struct error *err)
{
    SCOPED_STRING(label);

    node_describe(transfer->pairing->a.model, node, &label);
    return error_set(err, ERR_UNSUPPORTED, "A's node %s cannot be copied into B: %s", label.data, why);
}

/* Copies a node of A, with new names for its outputs, but `as` for that of `value`, if it is not empty. */
static int import_node(struct transfer *transfer, uint32_t number, uint32_t value, struct text as, struct error *err)
{
    const struct model *a = transfer->pairing->a.model;
    const struct node *node = &a->nodes.items[number];
    struct arena *arena = &transfer->copy->arena;
    struct span field = node_set_name(arena, node->field, unused_names_make(&transfer->names, node->name, "_of_a"));

    if (node->has_subgraphs)
        return refuse_node(transfer, number, "it has bodies", err);
    if (model_opset(a) != model_opset(transfer->pairing->b.model))
        return refuse_node(transfer, number, "the models have different versions of ONNX's operators", err);
    if (++transfer->copied_nodes > a->nodes.count / COPIED_SHARE)
        return refuse_node(transfer, number, "B would consist of A's nodes for the most part", err);
    for (size_t i = 0; i < node->outputs.count; i++) {
        uint32_t output = node_output(a, node, i);

        if (output == VALUE_NONE)
            continue;
        transfer->imported[output] =
            output == value && as.size > 0 ? as : unused_names_make(&transfer->names, a->values.items[output].name, "");
        field = replace_name(arena, field, NODE_OUTPUT, i, transfer->imported[output]);
    }
    for (size_t i = 0; i < node->inputs.count; i++) {
        uint32_t input = node_input(a, node, i);
        struct text name = {NULL, 0};
        int rc = input != VALUE_NONE ? import_value(transfer, input, &name, err) : 0;

        if (rc < 0)
            return rc;
        field = replace_name(arena, field, NODE_INPUT, i, name);
    }
    for (size_t i = 0; i < a->opsets.count; i++)
        if (text_equal(a->opsets.items[i].domain, node->domain))
            model_import_domain(transfer->copy, node->domain, a->opsets.items[i].version);
    *VECTOR_APPEND(&transfer->fields) = field;
    return 0;
}

/* The name that a tensor of A has in the copy. */
static int import_value(struct transfer *transfer, uint32_t value, struct text *ret, struct error *err)
{
    const struct paired_model *a = &transfer->pairing->a;
    uint32_t equal = transfer->equal_in_b[value];
    int rc = 0;

    if (transfer->imported[value].size > 0) {
        *ret = transfer->imported[value];
        return 0;
    }
    if (equal != VALUE_NONE) {
        *ret = transfer->copy->values.items[equal].name;
        return 0;
    }
    if (a->constants[value].type != DATA_UNDEFINED)
        rc = import_constant(transfer, value, &transfer->imported[value], err);
    else if (a->model->values.items[value].producer != NODE_NONE)
        rc = import_node(transfer, a->model->values.items[value].producer, value, (struct text){NULL, 0}, err);
    else
        rc = error_set(err, ERR_UNSUPPORTED, "B has no input for A's '" TEXT_FORMAT "'",
                       TEXT_ARGS(a->model->values.items[value].name));
    *ret = transfer->imported[value];
    return rc;
}

/* ---- Differences ---- */

static int transfer_input(struct transfer *transfer, const struct model_difference *difference, struct error *err)
{
    struct span *field = &transfer->fields.items[difference->node_b];
    struct text name = {NULL, 0};
    int rc = 0;

    if (difference->is_swapped) {
        const struct model *b = transfer->pairing->b.model;
        const struct node *node = &b->nodes.items[difference->node_b];

        for (size_t i = 0; i < 2; i++)
            *field = replace_name(&transfer->copy->arena, *field, NODE_INPUT, i,
                                  b->values.items[node_input(b, node, 1 - i)].name);
        return 0;
    }
    if (difference->value_a != VALUE_NONE)
        rc = import_value(transfer, difference->value_a, &name, err);
    if (rc == 0) /* importing may have moved the list */
        transfer->fields.items[difference->node_b] = replace_name(
            &transfer->copy->arena, transfer->fields.items[difference->node_b], NODE_INPUT, difference->input_b, name);
    return rc;
}

static int transfer_operator(struct transfer *transfer, const struct model_difference *difference, struct error *err)
{
    const struct model *b = transfer->pairing->b.model;
    const struct node *node = &b->nodes.items[difference->node_b];
    struct text name = b->values.items[difference->value_b].name;

    for (size_t i = 0; i < node->outputs.count; i++)
        if (node_output(b, node, i) == difference->value_b)
            transfer->fields.items[difference->node_b] =
                replace_name(&transfer->copy->arena, transfer->fields.items[difference->node_b], NODE_OUTPUT, i,
                             unused_names_make(&transfer->names, name, "_before"));
    return import_node(transfer, difference->node_a, difference->value_a, name, err);
}

static int transfer_difference(struct transfer *transfer, const struct model_difference *difference, struct error *err)
{
    switch (difference->kind) {
    case DIFFERENT_WEIGHT:
    case DIFFERENT_INPUT:
        return transfer_input(transfer, difference, err);
    case DIFFERENT_ATTRIBUTE:
        transfer->fields.items[difference->node_b] =
            replace_attribute(&transfer->copy->arena, transfer->fields.items[difference->node_b],
                              difference->attribute.name, difference->attribute.a);
        return 0;
    case DIFFERENT_OPERATOR:
        return transfer_operator(transfer, difference, err);
    }
    return 0;
}

int model_transfer(const struct model_pairing *pairing, const uint32_t *equal_in_b,
                   const struct model_difference *const *differences, size_t count, struct model **ret,
                   struct error *err)
{
    struct transfer transfer = {.pairing = pairing, .equal_in_b = equal_in_b, .copy = model_copy(pairing->b.model)};
    int rc = 0;

    transfer.imported = memory_alloc_zero(pairing->a.model->values.count + 1, sizeof(*transfer.imported));
    unused_names_init(&transfer.names, transfer.copy, &transfer.copy->arena);
    model_list_nodes(transfer.copy, &transfer.fields);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = transfer_difference(&transfer, differences[i], err);
    if (rc < 0)
        goto done;
    rc = model_set_nodes(transfer.copy, &transfer.fields, err);
    if (rc < 0)
        goto done;
    rc = model_sort_nodes(transfer.copy, err);
done:
    unused_names_release(&transfer.names);
    free(transfer.imported);
    free(transfer.fields.items);
    if (rc < 0)
        model_free(transfer.copy);
    else
        *ret = transfer.copy;
    return rc;
}
