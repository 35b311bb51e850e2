/* lint/graph.c: problems of a graph that are visible without running it. See lint.h. */
#include "base/memory.h"
#include "lint/lint.h"
#include "onnx/model/subgraph.h"
#include "onnx/proto/value_info.h"

static void check_header(struct lint *lint)
{
    const struct model *model = lint->model;

    if (model->ir_version <= 0)
        lint_add(lint, LINT_RULE_IR_VERSION, NODE_NONE, "The model has no ir_version.");
    if (model->ir_version >= 3 && model->opsets.count == 0)
        lint_add(lint, LINT_RULE_OPSETS, NODE_NONE, "model with IR version >= 3 must specify opset_import for ONNX");
    if (model->graph_name.size == 0)
        lint_add(lint, LINT_RULE_GRAPH_NAME, NODE_NONE, "Field 'name' of 'graph' is required to be non-empty.");
}

static void check_types(struct lint *lint, const struct value_list *values, const char *what)
{
    for (size_t i = 0; i < values->count; i++) {
        const struct value *value = &lint->model->values.items[values->items[i]];
        struct value_type type;

        value_info_decode(value->info, &type);
        if (type.not_a_tensor == NULL && type.element == DATA_UNDEFINED)
            lint_add(lint, LINT_RULE_ELEMENT_TYPE, NODE_NONE, "Graph %s '" TEXT_FORMAT "' has no element type.", what,
                     TEXT_ARGS(value->name));
    }
}

/* Duplicate input names. */
static void check_repeated_inputs(struct lint *lint)
{
    const struct model *model = lint->model;

    for (size_t i = 0; i < model->repeated_inputs.count; i++)
        lint_add(lint, LINT_RULE_REPEATED_INPUT, NODE_NONE,
                 "Graph must be in single static assignment (SSA) form, however '" TEXT_FORMAT
                 "' has been used as graph input names multiple times.",
                 TEXT_ARGS(model->values.items[model->repeated_inputs.items[i]].name));
}

/* Outputs without a source. */
static void check_graph_outputs(struct lint *lint, const struct bitset *given)
{
    const struct model *model = lint->model;

    for (size_t i = 0; i < model->outputs.count; i++) {
        uint32_t value = model->outputs.items[i];

        if (model->values.items[value].producer == NODE_NONE && !bitset_has(given, value))
            lint_add(lint, LINT_RULE_OUTPUT_SOURCE, NODE_NONE,
                     "Graph output '" TEXT_FORMAT "' is neither produced by a node nor an initializer or graph input.",
                     TEXT_ARGS(model->values.items[value].name));
    }
}

/* Checks one tensor that a node or its bodies read. */
static void check_source(struct lint *lint, uint32_t node, uint32_t value, const struct bitset *given)
{
    const struct value *v = &lint->model->values.items[value];

    if (bitset_has(given, value))
        return;
    if (v->producer == NODE_NONE)
        lint_add(lint, LINT_RULE_INPUT_SOURCE, node,
                 "Input '" TEXT_FORMAT "' is neither produced by a node nor an initializer or graph input.",
                 TEXT_ARGS(v->name));
    else if (v->producer >= node)
        lint_add(lint, LINT_RULE_UNSORTED, node,
                 "Nodes in a graph must be topologically sorted, but input '" TEXT_FORMAT
                 "' is produced after this node, by '%s'.",
                 TEXT_ARGS(v->name), lint->labels[v->producer]);
}

static void check_sources(struct lint *lint, uint32_t node, const struct bitset *given)
{
    const struct model *model = lint->model;
    const struct node *n = &model->nodes.items[node];

    for (size_t i = 0; i < n->inputs.count; i++)
        if (model_edge(model, n->inputs, i) != VALUE_NONE)
            check_source(lint, node, model_edge(model, n->inputs, i), given);
    for (size_t i = 0; i < n->captures.count; i++)
        check_source(lint, node, model_edge(model, n->captures, i), given);
}

/* Every tensor must have one source. */
static void check_results(struct lint *lint, uint32_t node, const struct bitset *given)
{
    const struct model *model = lint->model;
    const struct node *n = &model->nodes.items[node];

    for (size_t i = 0; i < n->outputs.count; i++) {
        uint32_t value = model_edge(model, n->outputs, i);
        struct text name = value != VALUE_NONE ? model->values.items[value].name : TEXT("");

        if (value == VALUE_NONE)
            continue;
        if (bitset_has(given, value))
            lint_add(lint, LINT_RULE_MADE_TWICE, node,
                     "Output '" TEXT_FORMAT "' is also an initializer or a graph input.", TEXT_ARGS(name));
        else if (model->values.items[value].producer != node)
            lint_add(lint, LINT_RULE_MADE_TWICE, node,
                     "Output '" TEXT_FORMAT "' is also produced by '%s': every tensor must have one source.",
                     TEXT_ARGS(name), lint->labels[model->values.items[value].producer]);
    }
}

bool lint_check_graph(struct lint *lint)
{
    const struct model *model = lint->model;
    size_t before = lint->report->entries.count;
    struct bitset given SCOPED(bitset_release) = {0};

    check_header(lint);
    check_repeated_inputs(lint);
    check_types(lint, &model->inputs, "input");
    check_types(lint, &model->outputs, "output");
    value_list_to_set(&model->inputs, model->values.count, &given);
    for (size_t i = 0; i < model->initializers.count; i++)
        bitset_add(&given, model->initializers.items[i].value);
    check_graph_outputs(lint, &given);
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        if (model->nodes.items[i].op_type.size == 0)
            lint_add(lint, LINT_RULE_NO_OPERATOR, i, "Field 'op_type' of 'node' is required to be non-empty.");
        check_sources(lint, i, &given);
        check_results(lint, i, &given);
    }
    return lint->report->entries.count == before;
}
