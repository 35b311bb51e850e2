/* cli/debug/model_pair.c: see model_pair.h. */
#include "cli/debug/model_pair.h"

#include "base/memory.h"
#include "onnx/edit/model.h"
#include "onnx/edit/rebuild.h"

int model_pair_open(const char *path, const char *external_folder, struct model **ret, struct error *err)
{
    int rc = model_open(path, external_folder, ret, err);

    if (rc == 0)
        rc = model_lower_constants(*ret, err);
    return rc == 0 ? model_sort_nodes(*ret, err) : rc;
}

static const struct result_column difference_columns[] = {
    {"kind", "Kind", RESULT_TEXT, false},         {"node_a", NULL, RESULT_TEXT, false},
    {"node_b", NULL, RESULT_TEXT, false},         {"tensor_a", NULL, RESULT_TEXT, false},
    {"tensor_b", NULL, RESULT_TEXT, false},       {"difference", "Difference in B", RESULT_TEXT, false},
    {"equal_elements", NULL, RESULT_FLAG, false},
};

static const struct result_table difference_table = {
    .key = "differences",
    .title = "Differences of paired nodes",
    .line = "Differences of paired nodes",
    .log_rows = 20,
    .columns = difference_columns,
    .column_count = ARRAY_LEN(difference_columns),
};

static const struct result_column node_columns[] = {
    {"node", "Node", RESULT_TEXT, false},
    {"op_type", "Operator", RESULT_TEXT, false},
};

static const struct result_table only_in_a_table = {
    .key = "only_in_a",
    .title = "Nodes of A without a partner",
    .line = "Nodes of A without a partner",
    .log_rows = 10,
    .columns = node_columns,
    .column_count = ARRAY_LEN(node_columns),
};

static const struct result_table only_in_b_table = {
    .key = "only_in_b",
    .title = "Nodes of B without a partner",
    .line = "Nodes of B without a partner",
    .log_rows = 10,
    .columns = node_columns,
    .column_count = ARRAY_LEN(node_columns),
};

/* What equal nodes may compute differently. */
static void add_uncompared_meaning(const struct model_pairing *pairing, struct result *ret)
{
    const struct model *a = pairing->a.model, *b = pairing->b.model;

    if (model_opset(a) != model_opset(b))
        result_add_line(ret, RESULT_NOTE,
                        "A uses version %lld of ONNX's operators, B version %lld: equal nodes may compute other values",
                        (long long)model_opset(a), (long long)model_opset(b));
    if (a->function_count + b->function_count > 0)
        result_add_line(ret, RESULT_NOT_TESTED, "functions of the models: their nodes are not compared");
    if (pairing->a.sparse_constants + pairing->b.sparse_constants > 0)
        result_add_line(ret, RESULT_NOT_TESTED, "sparse constants: their elements are not compared");
}

static const char *name_of_value(struct arena *arena, const struct model *model, uint32_t value)
{
    return value != VALUE_NONE ? arena_text(arena, model->values.items[value].name) : NULL;
}

static void add_unpaired_nodes(const struct paired_model *side, const struct result_table *table, struct result *ret)
{
    SCOPED_ARENA(arena);

    result_begin_table(ret, table);
    for (uint32_t i = 0; i < side->model->nodes.count; i++) {
        if (side->nodes[i] != NODE_NONE)
            continue;
        result_add_row(ret,
                       (const struct result_cell[]){{.text = model_node_label(side->model, i)},
                                                    {.text = arena_text(&arena, side->model->nodes.items[i].op_type)}});
    }
}

void model_pair_add_tables(const struct model_pairing *pairing, const struct model_differences *differences,
                           struct result *ret)
{
    struct model *a = pairing->a.model, *b = pairing->b.model;
    SCOPED_ARENA(arena);

    result_begin_table(ret, &difference_table);
    for (size_t i = 0; i < differences->count; i++) {
        const struct model_difference *difference = &differences->items[i];

        result_add_row(ret, (const struct result_cell[]){{.text = model_difference_kind_name(difference->kind)},
                                                         {.text = model_node_label(a, difference->node_a)},
                                                         {.text = model_node_label(b, difference->node_b)},
                                                         {.text = name_of_value(&arena, a, difference->value_a)},
                                                         {.text = name_of_value(&arena, b, difference->value_b)},
                                                         {.text = difference->sentence},
                                                         {.number = difference->is_harmless}});
    }
    add_unpaired_nodes(&pairing->a, &only_in_a_table, ret);
    add_unpaired_nodes(&pairing->b, &only_in_b_table, ret);
    add_uncompared_meaning(pairing, ret);
    result_add_count(ret, "nodes_of_a", a->nodes.count);
    result_add_count(ret, "nodes_of_b", b->nodes.count);
    result_add_count(ret, "paired_nodes", pairing->paired_nodes);
}
