/* comparator/reference/control_flow.c: see control_flow.h. */
#include "comparator/reference/control_flow.h"

#include <stdlib.h>

#include "base/memory.h"
#include "comparator/reference/values.h"
#include "onnx/edit/inline_branches.h"
#include "onnx/edit/inner_graphs.h"
#include "onnx/edit/model.h"
#include "onnx/edit/unroll.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/shrink/bodies.h"

/* Of a Loop or Scan. More would take longer to search than a body is worth. */
#define MOST_ITERATIONS 256

/* Of the model, with copies of bodies. */
#define MOST_NODES 100000

/* Bodies inside of bodies. */
#define MOST_ROUNDS 8

/* What the nodes of the main graph do on all samples. */
struct flow_decisions {
    struct model *model;
    const struct reference_values *values;
    uint8_t *branches;   /* for branches_take() */
    int64_t *iterations; /* for model_unroll_loops() */
    size_t room;         /* nodes that may still be added */
};

static bool is_branch(const struct node *node)
{
    return node_is(node, "If");
}

static bool is_loop(const struct node *node)
{
    return node_is(node, "Loop") || node_is(node, "Scan");
}

bool model_has_control_flow(const struct model *model)
{
    for (size_t i = 0; i < model->nodes.count; i++)
        if (is_branch(&model->nodes.items[i]) || is_loop(&model->nodes.items[i]))
            return true;
    return false;
}

/* ---- Values ---- */

/* What decides on the node: the condition of an If; the count, the condition and collected outputs of a Loop; the first
 * input of a Scan that is cut into slices. */
static void add_deciding_values(const struct model *model, const struct node *node, struct value_list *ret)
{
    size_t states = 0;

    if (is_branch(node) || node_is(node, "Loop"))
        for (size_t i = 0; i < node->inputs.count && i < 2; i++)
            if (node_input(model, node, i) != VALUE_NONE)
                value_list_add(ret, node_input(model, node, i));
    if (!is_loop(node) || !loop_states(node, &states))
        return;
    if (node_is(node, "Loop") && node_output(model, node, states) != VALUE_NONE)
        value_list_add(ret, node_output(model, node, states));
    if (node_is(node, "Scan") && node_input(model, node, states) != VALUE_NONE)
        value_list_add(ret, node_input(model, node, states));
}

/* The value is an integer or boolean of one element, the same in all samples. */
static bool read_agreed(const struct flow_decisions *decisions, uint32_t value, int64_t *ret)
{
    const struct tensor *tensor = value != VALUE_NONE ? reference_values_get(decisions->values, value) : NULL;

    if (tensor == NULL || tensor_elements(tensor) != 1 || !reference_values_agree(decisions->values, value) ||
        (tensor->type != DATA_INT64 && tensor->type != DATA_BOOL))
        return false;
    *ret = tensor->type == DATA_BOOL ? *(const uint8_t *)tensor->data != 0 : *(const int64_t *)tensor->data;
    return true;
}

/* The size of a dimension, the same in all samples. */
static bool read_agreed_size(const struct flow_decisions *decisions, uint32_t value, int64_t axis, int64_t *ret)
{
    size_t samples = reference_values_samples(decisions->values);

    for (size_t i = 0; i < samples; i++) {
        const struct tensor *tensor = value != VALUE_NONE ? reference_values_in(decisions->values, value, i) : NULL;
        int64_t rank = tensor != NULL ? (int64_t)tensor->shape.rank : 0;
        int64_t at = axis < 0 ? axis + rank : axis;

        if (tensor == NULL || at < 0 || at >= rank || (i > 0 && tensor->shape.dims[at] != *ret))
            return false;
        *ret = tensor->shape.dims[at];
    }
    return samples > 0;
}

/* ---- Decisions ---- */

static bool count_scan_iterations(const struct flow_decisions *decisions, const struct node *node, size_t states,
                                  int64_t *ret)
{
    int64_t axis = 0;

    node_attribute_integers(node->message, "scan_input_axes", &axis, 1);
    return read_agreed_size(decisions, node_input(decisions->model, node, states), axis, ret);
}

static bool count_loop_iterations(const struct flow_decisions *decisions, const struct node *node, size_t states,
                                  int64_t *ret)
{
    const struct model *model = decisions->model;
    uint32_t condition = node_input(model, node, 1);
    int64_t goes_on = 1;

    if (condition != VALUE_NONE && !read_agreed(decisions, condition, &goes_on))
        return false;
    if (goes_on == 0) {
        *ret = 0;
        return true;
    }
    if (read_agreed_size(decisions, node_output(model, node, states), 0, ret))
        return true;
    return loop_is_counted(node) && read_agreed(decisions, node_input(model, node, 0), ret);
}

static void decide_node(struct flow_decisions *decisions, size_t i)
{
    const struct node *node = &decisions->model->nodes.items[i];
    int64_t number;
    size_t states, added;
    bool is_known;

    if (is_branch(node)) {
        /* a condition that is a constant already belongs to a branch that cannot be inlined */
        if (read_agreed(decisions, node_input(decisions->model, node, 0), &number) &&
            model_dense_initializer(decisions->model, node_input(decisions->model, node, 0)) == NULL)
            decisions->branches[i] = number != 0 ? 1 : 2;
        return;
    }
    if (!is_loop(node) || !loop_states(node, &states))
        return;
    is_known = node_is(node, "Scan") ? count_scan_iterations(decisions, node, states, &number)
                                     : count_loop_iterations(decisions, node, states, &number);
    if (!is_known || number < 0 || number > MOST_ITERATIONS)
        return;
    added = (size_t)number * node_count_inner_nodes(node);
    if (added > decisions->room)
        return;
    decisions->room -= added;
    decisions->iterations[i] = number;
}

/* ---- Rounds ---- */

/* Takes branches, else unrolls loops: each renumbers the nodes. */
static int apply_decisions(struct flow_decisions *decisions, size_t *count, struct error *err)
{
    struct model *model = decisions->model;
    size_t before = *count;
    int rc = branches_take(model, decisions->branches, count, err);

    return rc < 0 || *count > before ? rc : model_unroll_loops(model, decisions->iterations, count, err);
}

/* `why`: why the model does not run, so that nothing is decided. */
static int inline_round(struct model *model, const struct sample_run *run, size_t *count, struct error *why,
                        struct error *err)
{
    size_t nodes = model_count_nodes(model);
    struct flow_decisions decisions = {.model = model, .room = nodes < MOST_NODES ? MOST_NODES - nodes : 0};
    struct reference_values *values = NULL;
    struct value_list wanted SCOPED_ITEMS = {0};
    struct subgraph whole;
    int rc = 0, recorded = 0;

    subgraph_init_whole(&whole, model);
    reference_values_new(&whole, run->backend, run->request, run->loader, run->log, &values);
    decisions.values = values;
    decisions.branches = memory_alloc_zero(model->nodes.count + 1, sizeof(*decisions.branches));
    decisions.iterations = memory_alloc_zero(model->nodes.count + 1, sizeof(*decisions.iterations));
    for (size_t i = 0; i < model->nodes.count; i++)
        add_deciding_values(model, &model->nodes.items[i], &wanted);
    if (wanted.count > 0)
        recorded = reference_values_record(values, &wanted, why);
    for (size_t i = 0; recorded == 0 && i < model->nodes.count; i++) {
        decisions.iterations[i] = NOT_UNROLLED;
        decide_node(&decisions, i);
    }
    subgraph_release(&whole); /* before nodes are renumbered */
    if (recorded == 0)
        rc = apply_decisions(&decisions, count, err);
    reference_values_free(values);
    free(decisions.branches);
    free(decisions.iterations);
    return rc;
}

/* Of conditions that are constants by now. */
static int inline_decided_branches(struct model *model, size_t *count, struct error *err)
{
    struct unused_names names SCOPED(unused_names_release) = {0};

    unused_names_init(&names, model, &model->arena);
    return model_inline_branches(model, &names, count, err);
}

int control_flow_inline(struct model *model, const struct sample_run *run, size_t *ret_count, struct error *err)
{
    size_t before = SIZE_MAX;
    struct error why = {0};
    int rc;

    *ret_count = 0;
    model->edition++;
    for (int round = 0; round < MOST_ROUNDS && *ret_count != before; round++) {
        before = *ret_count;
        rc = inline_decided_branches(model, ret_count, err);
        if (rc == 0 && model_has_control_flow(model))
            rc = inline_round(model, run, ret_count, &why, err);
        if (rc < 0)
            return rc;
        if (why.code != 0 && why.code != ERR_INTERRUPTED && *ret_count > 0)
            return 0; /* the nodes of bodies need not run with all that is known of their inputs */
        if (why.code != 0)
            return error_set(err, why.code, "%s", why.message);
        rc = model_lower_constants(model, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}
