/* engine/network/branch_decision.c: see branch_decision.h. */
#include "engine/network/branch_decision.h"

#include <stdlib.h>

#include "backend/model_io.h"
#include "backend/onnxrt/settings.h"
#include "backend/subgraph_session.h"
#include "base/memory.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/rebuild.h"
#include "onnx/model/unused_names.h"
#include "onnx/model/operators.h"
#include "onnx/proto/value_info.h"
#include "onnx/edit/node.h"

struct branch_decision {
    struct model *model;
    const struct folding_settings *folding;
    const struct sample_source *sample;
    struct bitset nodes;          /* the If nodes */
    struct value_list conditions; /* each once */
    struct tensor_list values;    /* of the conditions, in their order */
    struct unused_names names;
    struct span_list fields; /* of the new nodes */
    struct value_list *guards;
};

/* ---- Selection of If nodes ---- */

static bool value_is_initializer(const struct model *model, uint32_t value)
{
    return model->values.items[value].producer == NODE_NONE &&
           model->values.items[value].initializer != INITIALIZER_NONE;
}

/* Whether an input may determine a branch: not of a floating type. */
static bool value_is_control_input(const struct model *model, uint32_t value)
{
    struct value_type type;

    value_info_decode(model->values.items[value].info, &type);
    return type.not_a_tensor == NULL && (data_type_is_integer(type.element) || type.element == DATA_BOOL);
}

/* Whether a value depends on constants, sizes and control inputs only. */
static bool node_is_control(const struct model *model, uint32_t value)
{
    struct value_list pending SCOPED_ITEMS = {0};
    SCOPED_BITSET(seen);
    bool control = true;

    bitset_init(&seen, model->values.count);
    value_list_add(&pending, value);
    while (control && pending.count > 0) {
        uint32_t next = pending.items[--pending.count];
        const struct node *node = model_producer(model, next);

        if (node == NULL) {
            control = value_is_initializer(model, next) || value_is_control_input(model, next);
        } else if (!node_is(node, "Shape") && !node_is(node, "Size")) {
            control = !node->has_subgraphs && node_is_foldable(model, NULL, node);
            value_list_add_edges(model, node->inputs, &seen, &pending);
        }
    }
    return control;
}

static void find_condition_nodes(struct branch_decision *decision)
{
    const struct model *model = decision->model;
    struct bitset control SCOPED(bitset_release) = {0}, other SCOPED(bitset_release) = {0}; /* visited values */

    bitset_init(&control, model->values.count);
    bitset_init(&other, model->values.count);
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];
        uint32_t condition =
            node_is(node, "If") && node->inputs.count == 1 ? model_edge(model, node->inputs, 0) : VALUE_NONE;

        if (condition == VALUE_NONE || value_is_initializer(model, condition) || bitset_has(&other, condition))
            continue;
        if (!bitset_has(&control, condition) && !node_is_control(model, condition)) {
            bitset_add(&other, condition);
            continue;
        }
        bitset_add(&decision->nodes, i);
        if (!bitset_has(&control, condition))
            value_list_add(&decision->conditions, condition);
        bitset_add(&control, condition);
    }
}

/* ---- Values of the conditions ---- */

static int compute_condition(struct branch_decision *decision, const struct tensor_list *feed, struct error *err)
{
    const struct folding_settings *folding = decision->folding;
    struct onnxrt_settings settings = *onnxrt_settings_of(&folding->request);
    struct backend_request request = folding->request;
    struct subgraph_session session;
    struct subgraph part SCOPED(subgraph_release) = {0};
    int rc;

    subgraph_init_whole(&part, decision->model);
    value_list_assign(&part.outputs, &decision->conditions);
    subgraph_clean(&part, NULL, NULL, NULL);
    settings.execution = (struct onnxrt_execution){0};
    request.settings = &settings;
    rc = subgraph_session_open(&session, &part, folding->backend, &request, err);
    if (rc == 0)
        rc = subgraph_session_run(&session, feed, &decision->values, err);
    subgraph_session_close(&session);
    return rc < 0 ? error_context(err, "cannot compute the conditions of If nodes") : 0;
}

static int find_condition_values(struct branch_decision *decision, struct error *err)
{
    const struct model *model = decision->model;
    const struct sample_source *sample = decision->sample;
    struct backend_io *inputs = model_io_new(model, NULL, &model->inputs);
    struct tensor_list feed SCOPED(tensor_list_release) = {0};
    int rc = 0;

    if (model->inputs.count > 0)
        rc = sample->feed(sample->context, inputs, model->inputs.count, 0, &feed, err);
    if (rc == 0)
        rc = compute_condition(decision, &feed, err);
    for (size_t i = 0; rc == 0 && i < decision->values.count; i++)
        if (decision->values.items[i].tensor.type != DATA_BOOL || decision->values.items[i].tensor.size != 1)
            rc = error_set(err, ERR_CORRUPT, "%s: the condition '%s' of an If node is not one boolean",
                           model->display_name, decision->values.items[i].name);
    model_io_free(inputs, model->inputs.count);
    return rc;
}

/* ---- The new nodes ---- */

static struct text value_name_of(const struct branch_decision *decision, uint32_t value)
{
    return decision->model->values.items[value].name;
}

static struct text guard_name(const struct branch_decision *decision, uint32_t condition, const char *suffix)
{
    return text_of(
        arena_printf(&decision->model->arena, TEXT_FORMAT "%s", TEXT_ARGS(value_name_of(decision, condition)), suffix));
}

/* Adds a node with a new output of the same name, which becomes an output of the model. */
static struct text add_guard_node(struct branch_decision *decision, struct text label, const char *op_type,
                                  const struct text *inputs, size_t input_count, const struct node_attribute *attribute)
{
    struct model *model = decision->model;
    struct text output = unused_names_make(&decision->names, label, "");
    struct node_recipe recipe = {.op_type = text_of(op_type),
                                 .name = label,
                                 .inputs = inputs,
                                 .input_count = input_count,
                                 .outputs = &output,
                                 .output_count = 1,
                                 .attributes = attribute,
                                 .attribute_count = attribute != NULL};
    uint32_t value = model_add_value(model, output);

    *VECTOR_APPEND(&decision->fields) = node_build(&model->arena, &recipe);
    value_list_add(&model->outputs, value);
    value_list_add(decision->guards, value);
    return output;
}

/* Adds nodes that fail if the condition differs: they read element 0 of a one-element tensor, or else element 1, which
 * does not exist. */
static int add_guard(struct branch_decision *decision, const char *label, uint32_t condition, uint32_t decided,
                     struct error *err)
{
    struct node_attribute to = {.name = TEXT("to"), .kind = ATTRIBUTE_KIND_INTEGER, .integer = DATA_INT64};
    struct shape one = {.rank = 1, .dims = {1}};
    struct text inputs[2] = {value_name_of(decision, condition), value_name_of(decision, decided)};
    struct model *model = decision->model;
    uint32_t table = model_add_value(model, unused_names_make(&decision->names, inputs[1], "_table"));
    struct tensor tensor;
    int64_t zero = 0;
    int rc;

    tensor_borrow(DATA_INT64, &one, &zero, sizeof(zero), &tensor);
    rc = model_set_tensor(model, table, &tensor, err);
    if (rc < 0)
        return rc;
    inputs[1] = add_guard_node(decision, guard_name(decision, condition, "_differs"), "Xor", inputs, 2, NULL);
    inputs[1] = add_guard_node(decision, guard_name(decision, condition, "_index"), "Cast", &inputs[1], 1, &to);
    inputs[0] = value_name_of(decision, table);
    add_guard_node(decision, text_of(label), "Gather", inputs, 2, NULL);
    return 0;
}

static int decide_branch_node(struct branch_decision *decision, uint32_t number, struct error *err)
{
    struct model *model = decision->model;
    uint32_t condition = model_edge(model, model->nodes.items[number].inputs, 0);
    const struct named_tensor *value = tensor_list_find(&decision->values, value_name_of(decision, condition));
    bool taken = *(const unsigned char *)value->tensor.data != 0;
    uint32_t decided =
        model_add_value(model, unused_names_make(&decision->names, value_name_of(decision, condition), "_decided"));
    struct rename_map inputs SCOPED(rename_map_release) = {0};
    struct span field;
    int rc = model_set_tensor(model, decided, &value->tensor, err);

    if (rc == 0)
        rc = add_guard(decision,
                       arena_printf(&model->arena, "%s takes its %s branch in this engine",
                                    model_node_label(model, number), taken ? "then" : "else"),
                       condition, decided, err);
    if (rc < 0)
        return rc;
    rename_map_add(&inputs, value_name_of(decision, condition), value_name_of(decision, decided));
    rc = node_rename(&model->arena, model->nodes.items[number].field, &inputs, NULL, &field, err);
    if (rc == 0)
        *VECTOR_APPEND(&decision->fields) = field;
    return rc;
}

int branches_decide(struct model *model, const struct folding_settings *folding, const struct sample_source *sample,
                    struct value_list *guards, bool *ret_any, struct error *err)
{
    struct branch_decision decision = {.model = model, .folding = folding, .sample = sample, .guards = guards};
    int rc = 0;

    bitset_init(&decision.nodes, model->nodes.count);
    find_condition_nodes(&decision);
    *ret_any = decision.conditions.count > 0;
    if (!*ret_any)
        goto done;
    rc = find_condition_values(&decision, err);
    if (rc < 0)
        goto done;
    unused_names_init(&decision.names, model, &model->arena);
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        if (bitset_has(&decision.nodes, i))
            rc = decide_branch_node(&decision, i, err);
        else
            *VECTOR_APPEND(&decision.fields) = model->nodes.items[i].field;
        if (rc < 0)
            goto done;
    }
    rc = model_set_nodes(model, &decision.fields, err);
done:
    unused_names_release(&decision.names);
    tensor_list_release(&decision.values);
    bitset_release(&decision.nodes);
    free(decision.conditions.items);
    free(decision.fields.items);
    return rc;
}
