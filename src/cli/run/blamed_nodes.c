/* cli/run/blamed_nodes.c: see blamed_nodes.h. */
#include "cli/run/blamed_nodes.h"

#include <math.h>
#include <stdlib.h>

#include "backend/model_io.h"
#include "base/memory.h"
#include "comparator/compare/statistics_text.h"
#include "comparator/infer/layerwise.h"
#include "onnx/external/tensor.h"
#include "tensor/compare/validate.h"
#include "tensor/values/element_text.h"
#include "tensor/values/elements.h"

static void add_names(const struct model *model, struct edge_range range, struct string_builder *text)
{
    const char *separator = "";

    string_add_char(text, '[');
    for (size_t i = 0; i < range.count; i++) {
        uint32_t value = model_edge(model, range, i);

        if (value == VALUE_NONE)
            continue;
        string_add_format(text, "%s'" TEXT_FORMAT "'", separator, TEXT_ARGS(model->values.items[value].name));
        separator = ", ";
    }
    string_add_char(text, ']');
}

static void log_node(const struct blamed_nodes *blamed, const char *what, uint32_t index)
{
    const struct node *node = &blamed->model->nodes.items[index];
    struct string_builder text;

    string_init(&text);
    string_add_format(&text, "%s: node '%s' (" TEXT_FORMAT ") | Inputs: ", what, model_node_label(blamed->model, index),
                      TEXT_ARGS(node->op_type));
    add_names(blamed->model, node->inputs, &text);
    string_add(&text, " | Outputs: ");
    add_names(blamed->model, node->outputs, &text);
    log_message(blamed->log, LOG_ERROR, "%s", text.data);
    string_release(&text);
}

void blamed_nodes_log_differing(const struct blamed_nodes *blamed, const struct value_list *nodes)
{
    log_message(blamed->log, LOG_START,
                "First Divergence | Nodes whose outputs differ while all their inputs agree: %zu", nodes->count);
    log_indent(blamed->log, 1);
    for (size_t i = 0; i < nodes->count; i++)
        log_node(blamed, i == 0 ? "First divergence" : "Independent divergence", nodes->items[i]);
    if (nodes->count == 0)
        log_message(blamed->log, LOG_FINISH, "No tensor of the model differs");
    log_indent(blamed->log, -1);
}

/* ---- What went into a node ---- */

/* Operators whose elements depend on the elements at the same place of their inputs alone. */
static bool is_elementwise(struct text operator)
{
    static const char *const operators[] = {
        "Abs",     "Acos", "Acosh", "Add",      "Asin", "Asinh", "Atan",  "Atanh", "Cast",        "Ceil",      "Clip",
        "Cos",     "Cosh", "Div",   "Elu",      "Erf",  "Exp",   "Floor", "Gelu",  "HardSigmoid", "LeakyRelu", "Log",
        "Max",     "Mean", "Min",   "Mod",      "Mul",  "Neg",   "PRelu", "Pow",   "Reciprocal",  "Relu",      "Selu",
        "Sigmoid", "Sin",  "Sinh",  "Softplus", "Sqrt", "Sub",   "Sum",   "Tan",   "Tanh",        "Where",
    };

    for (size_t i = 0; i < ARRAY_LEN(operators); i++)
        if (text_equal_string(operator, operators[i]))
            return true;
    return false;
}

/* The element of `input` that belongs to the one at `position` of the output, when it is spread over its shape. */
static bool find_element(const struct shape *input, const struct shape *position, size_t *ret)
{
    size_t element = 0;

    if (input->rank > position->rank)
        return false;
    for (size_t i = 0; i < input->rank; i++) {
        int64_t at = input->dims[i] == 1 ? 0 : position->dims[position->rank - input->rank + i];

        if (at >= input->dims[i])
            return false;
        element = element * (size_t)input->dims[i] + (size_t)at;
    }
    *ret = element;
    return true;
}

static void log_element(const struct blamed_nodes *blamed, const struct node *node, const struct tensor *output,
                        size_t element, const struct tensor *inputs)
{
    struct string_builder text;
    struct shape position;
    size_t from;

    shape_position(&output->shape, element, &position);
    string_init(&text);
    string_add(&text, "The first bad element, at ");
    shape_to_text(&position, &text);
    string_add(&text, ", is ");
    element_to_text_alone(output, element, &text);
    for (size_t i = 0; i < node->inputs.count && is_elementwise(node->op_type); i++) {
        if (inputs[i].data == NULL || !find_element(&inputs[i].shape, &position, &from))
            continue;
        string_add_format(&text, " | '" TEXT_FORMAT "' there: ",
                          TEXT_ARGS(blamed->model->values.items[model_edge(blamed->model, node->inputs, i)].name));
        element_to_text_alone(&inputs[i], from, &text);
    }
    log_message(blamed->log, LOG_ERROR, "%s", text.data);
    string_release(&text);
}

/* The value of a node's input after its group has run: borrowed, or read from the model. Zeroed when it is not
 * there. */
static int find_input(const struct layerwise_run *run, const struct tensor_list *feed, uint32_t value,
                      struct tensor *ret, struct error *err)
{
    const struct model *model = run->plan->model;
    const struct value *v = &model->values.items[value];
    const struct named_tensor *fed = tensor_list_find(feed, v->name);
    const struct tensor *held = run->values[value].data != NULL || fed == NULL ? &run->values[value] : &fed->tensor;

    if (held->data != NULL)
        tensor_borrow(held->type, &held->shape, held->data, held->size, ret);
    else if (v->initializer != INITIALIZER_NONE && !model->initializers.items[v->initializer].sparse)
        return external_tensor_read_constant(model, &model->initializers.items[v->initializer], ret, err);
    return 0;
}

static int log_input(const struct blamed_nodes *blamed, const char *label, const struct tensor *input,
                     struct error *err)
{
    double minimum = INFINITY, maximum = -INFINITY;

    if (log_shows(blamed->log, LOG_VERBOSE))
        histogram_extend_range(input, &minimum, &maximum);
    return statistics_log(blamed->log, label, input, LOG_VERBOSE, minimum, maximum, err);
}

static int log_values(const struct blamed_nodes *blamed, const struct layerwise_run *run,
                      const struct tensor_list *feed, uint32_t index, bool *found, struct error *err)
{
    const struct model *model = blamed->model;
    const struct node *node = &model->nodes.items[index];
    struct tensor *inputs = memory_alloc_zero(node->inputs.count, sizeof(*inputs));
    struct validation bad;
    int rc = 0;

    for (size_t k = 0; k < node->inputs.count && rc == 0; k++)
        if (model_edge(model, node->inputs, k) != VALUE_NONE)
            rc = find_input(run, feed, model_edge(model, node->inputs, k), &inputs[k], err);
    for (size_t k = 0; k < node->outputs.count && rc == 0 && !*found; k++) {
        uint32_t value = model_edge(model, node->outputs, k);

        if (value == VALUE_NONE || run->values[value].data == NULL)
            continue;
        tensor_validate(&run->values[value], &bad);
        if (bad.nans + bad.infinities == 0)
            continue;
        *found = true;
        for (size_t i = 0; i < node->inputs.count && rc == 0; i++) {
            struct text name = inputs[i].data != NULL ? model->values.items[model_edge(model, node->inputs, i)].name
                                                      : (struct text){"", 0};
            char *label = memory_copy(name.data, name.size);

            if (inputs[i].data != NULL && elements_arithmetic(inputs[i].type) != ARITHMETIC_NONE)
                rc = log_input(blamed, label, &inputs[i], err);
            free(label);
        }
        log_element(blamed, node, &run->values[value],
                    bad.nans > 0 && (bad.infinities == 0 || bad.first_nan < bad.first_infinity) ? bad.first_nan
                                                                                                : bad.first_infinity,
                    inputs);
    }
    for (size_t k = 0; k < node->inputs.count; k++)
        tensor_release(&inputs[k]);
    free(inputs);
    return rc;
}

static int run_up_to(const struct blamed_nodes *blamed, const struct tensor_list *feed, uint32_t node, bool *found,
                     struct error *err)
{
    struct layerwise plan;
    struct layerwise_run run;
    double seconds = 0;
    int rc = layerwise_plan(&plan, blamed->model, blamed->backend, blamed->request, feed, (uint64_t)64 << 20, err);

    if (rc < 0)
        return rc;
    layerwise_run_init(&run, &plan, blamed->request);
    for (size_t g = 0; g < plan.count && plan.groups[g].first <= node && rc == 0; g++) {
        struct tensor_list outputs = {0};

        rc = layerwise_step(&run, g, feed, &outputs, &seconds, err);
        tensor_list_release(&outputs);
    }
    if (rc == 0)
        rc = log_values(blamed, &run, feed, node, found, err);
    layerwise_run_release(&run);
    layerwise_release(&plan);
    return rc;
}

/* Looks for the iteration in which it happened. */
static int show_values(const struct blamed_nodes *blamed, uint32_t node, struct error *err)
{
    struct subgraph whole;
    struct backend_io *inputs;
    size_t count = blamed->model->inputs.count;
    bool found = false;
    int rc = 0;

    subgraph_init_whole(&whole, blamed->model);
    inputs = model_io_new(whole.model, whole.known, &whole.inputs);
    subgraph_release(&whole);
    for (int64_t i = 0; i < data_loader_iterations(blamed->loader) && rc == 0 && !found; i++) {
        struct tensor_list feed = {0};

        rc = data_loader_feed(blamed->loader, inputs, count, i, &feed, err);
        if (rc == 0)
            rc = run_up_to(blamed, &feed, node, &found, err);
        tensor_list_release(&feed);
    }
    model_io_free(inputs, count);
    if (rc == 0 && !found)
        log_message(blamed->log, LOG_WARNING, "It did not happen again when the node was run once more");
    return rc;
}

int blamed_nodes_log_invalid(const struct blamed_nodes *blamed, const struct value_list *nodes, struct error *err)
{
    int rc = 0;

    log_message(blamed->log, LOG_START, "First NaN or Infinity | Nodes that make them of inputs without: %zu",
                nodes->count);
    log_indent(blamed->log, 1);
    for (size_t i = 0; i < nodes->count && rc == 0; i++) {
        log_node(blamed, i == 0 ? "First NaN or infinity" : "Independent NaN or infinity", nodes->items[i]);
        log_indent(blamed->log, 1);
        if (i == 0)
            rc = show_values(blamed, nodes->items[i], err);
        log_indent(blamed->log, -1);
    }
    if (nodes->count == 0)
        log_message(blamed->log, LOG_FINISH, "No node of the model makes any");
    log_indent(blamed->log, -1);
    return rc;
}
