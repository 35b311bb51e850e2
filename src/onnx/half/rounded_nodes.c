/* onnx/half/rounded_nodes.c: see rounded_nodes.h. */
#include "onnx/half/rounded_nodes.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onnx/edit/rebuild.h"
#include "onnx/half/half_operators.h"
#include "onnx/edit/node.h"

struct rounding {
    struct model *model;
    const struct bitset *rounded;
    enum data_type half;
    struct unused_names *names;
    struct text *copies; /* by value: the name of its rounded copy; size 0: none yet */
    struct span_list fields;
};

static void add_rounding_cast(struct rounding *rounding, struct text from, struct text to, enum data_type type)
{
    *VECTOR_APPEND(&rounding->fields) = cast_node_build(&rounding->model->arena, rounding->names, from, to, type);
}

static void add_rounding(struct rounding *rounding, struct text from, struct text to)
{
    struct text narrow =
        unused_names_make(rounding->names, from, rounding->half == DATA_BFLOAT16 ? "_bfloat16" : "_float16");

    add_rounding_cast(rounding, from, narrow, rounding->half);
    add_rounding_cast(rounding, narrow, to, DATA_FLOAT32);
}

static bool value_is_rounded(const struct rounding *rounding, uint32_t value)
{
    uint32_t producer = rounding->model->values.items[value].producer;

    return producer != NODE_NONE && bitset_has(rounding->rounded, producer);
}

/* Rounds the inputs of the node. */
static void round_node_inputs(struct rounding *rounding, const struct node *node, struct rename_map *ret)
{
    const struct model *model = rounding->model;

    for (size_t i = 0; i < node->inputs.count; i++) {
        uint32_t value = model_edge(model, node->inputs, i);

        if (value == VALUE_NONE || !node_narrows_input(node, i) || value_element(model, value) != DATA_FLOAT32 ||
            value_is_rounded(rounding, value))
            continue;
        struct text name = model->values.items[value].name;
        if (rounding->copies[value].size == 0) {
            rounding->copies[value] = unused_names_make(rounding->names, name, "_rounded");
            add_rounding(rounding, name, rounding->copies[value]);
        }
        rename_map_add(ret, name, rounding->copies[value]);
    }
}

/* Renames the outputs of the node; the old names are used for the rounded outputs. */
static void rename_node_outputs(struct rounding *rounding, const struct node *node, struct rename_map *ret,
                                struct text *ret_exact)
{
    for (size_t i = 0; i < node->outputs.count; i++) {
        uint32_t value = model_edge(rounding->model, node->outputs, i);

        ret_exact[i].size = 0;
        if (value == VALUE_NONE || value_element(rounding->model, value) != DATA_FLOAT32)
            continue;
        struct text name = rounding->model->values.items[value].name;
        ret_exact[i] = unused_names_make(rounding->names, name, "_exact");
        rename_map_add(ret, name, ret_exact[i]);
    }
}

static int round_one_node(struct rounding *rounding, uint32_t index, struct error *err)
{
    const struct node *node = &rounding->model->nodes.items[index];
    struct text *exact SCOPED_FREE = memory_alloc_zero(node->outputs.count, sizeof(*exact));
    struct rename_map inputs SCOPED(rename_map_release) = {0};
    struct rename_map outputs SCOPED(rename_map_release) = {0};
    struct span field;

    round_node_inputs(rounding, node, &inputs);
    rename_node_outputs(rounding, node, &outputs, exact);
    int rc = node_rename(&rounding->model->arena, node->field, &inputs, &outputs, &field, err);
    if (rc == 0)
        *VECTOR_APPEND(&rounding->fields) = field;
    for (size_t i = 0; rc == 0 && i < node->outputs.count; i++)
        if (exact[i].size > 0)
            add_rounding(rounding, exact[i],
                         rounding->model->values.items[model_edge(rounding->model, node->outputs, i)].name);
    return rc;
}

int model_round_nodes(struct model *model, const struct bitset *rounded, enum data_type half,
                      struct unused_names *names, struct error *err)
{
    struct rounding rounding = {.model = model,
                                .rounded = rounded,
                                .half = half,
                                .names = names,
                                .copies = memory_alloc_zero(model->values.count, sizeof(*rounding.copies))};
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < model->nodes.count; i++) {
        if (bitset_has(rounded, i))
            rc = round_one_node(&rounding, i, err);
        else
            *VECTOR_APPEND(&rounding.fields) = model->nodes.items[i].field;
    }
    if (rc == 0)
        rc = model_set_nodes(model, &rounding.fields, err);
    free(rounding.fields.items);
    free(rounding.copies);
    return rc;
}
