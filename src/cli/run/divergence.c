/* cli/run/divergence.c: see divergence.h. */
#include "cli/run/divergence.h"

#include <math.h>
#include <stdlib.h>

#include "backend/model_io.h"
#include "base/memory.h"
#include "comparator/compare/pair.h"
#include "comparator/infer/layerwise.h"
#include "format/data/file.h"
#include "onnx/external/tensor.h"
#include "tensor/compare/validate.h"
#include "tensor/statistics/histogram.h"
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

static void log_node(const struct divergence_report *report, const char *what, uint32_t index)
{
    const struct node *node = &report->model->nodes.items[index];
    struct string_builder text;

    string_init(&text);
    string_add_format(&text, "%s: node '%s' (" TEXT_FORMAT ") | Inputs: ", what, model_node_label(report->model, index),
                      TEXT_ARGS(node->op_type));
    add_names(report->model, node->inputs, &text);
    string_add(&text, " | Outputs: ");
    add_names(report->model, node->outputs, &text);
    log_message(report->log, LOG_ERROR, "%s", text.data);
    string_release(&text);
}

static void log_differing(const struct divergence_report *report, const struct value_list *nodes)
{
    log_message(report->log, LOG_START,
                "First Divergence | Nodes whose outputs differ while all their inputs agree: %zu", nodes->count);
    log_indent(report->log, 1);
    for (size_t i = 0; i < nodes->count; i++)
        log_node(report, i == 0 ? "First divergence" : "Independent divergence", nodes->items[i]);
    if (nodes->count == 0)
        log_message(report->log, LOG_FINISH, "No tensor of the model differs");
    log_indent(report->log, -1);
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

static void log_element(const struct divergence_report *report, const struct node *node, const struct tensor *output,
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
                          TEXT_ARGS(report->model->values.items[model_edge(report->model, node->inputs, i)].name));
        element_to_text_alone(&inputs[i], from, &text);
    }
    log_message(report->log, LOG_ERROR, "%s", text.data);
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

static int log_input(const struct divergence_report *report, const char *label, const struct tensor *input,
                     struct error *err)
{
    struct histogram_range range = HISTOGRAM_RANGE_EMPTY;

    if (log_shows(report->log, LOG_VERBOSE))
        histogram_extend_range(input, &range.minimum, &range.maximum);
    return statistics_log(report->log, label, input, &range, err);
}

static int log_values(const struct divergence_report *report, const struct layerwise_run *run,
                      const struct tensor_list *feed, uint32_t index, bool *found, struct error *err)
{
    const struct model *model = report->model;
    const struct node *node = &model->nodes.items[index];
    struct tensor *inputs = memory_alloc_zero(node->inputs.count, sizeof(*inputs));
    struct validation bad;
    int rc = 0;

    for (size_t k = 0; k < node->inputs.count; k++) {
        if (model_edge(model, node->inputs, k) != VALUE_NONE)
            rc = find_input(run, feed, model_edge(model, node->inputs, k), &inputs[k], err);
        if (rc < 0)
            goto done;
    }
    for (size_t k = 0; k < node->outputs.count && !*found; k++) {
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
                rc = log_input(report, label, &inputs[i], err);
            free(label);
        }
        log_element(report, node, &run->values[value],
                    bad.nans > 0 && (bad.infinities == 0 || bad.first_nan < bad.first_infinity) ? bad.first_nan
                                                                                                : bad.first_infinity,
                    inputs);
    }
done:
    for (size_t k = 0; k < node->inputs.count; k++)
        tensor_release(&inputs[k]);
    free(inputs);
    return rc;
}

static int run_up_to(const struct divergence_report *report, const struct tensor_list *feed, uint32_t node, bool *found,
                     struct error *err)
{
    const struct runner *runner = &report->driver->runners[0];
    struct backend_request request = *report->request;
    struct layerwise plan = {.model = report->model,
                             .backend = report->driver->types,
                             .request = report->request,
                             .bound = (uint64_t)64 << 20};
    struct layerwise_run run;
    double seconds = 0;
    int rc = layerwise_plan(&plan, feed, err);

    if (rc < 0)
        return rc;
    request.command = runner->command;
    layerwise_run_init(&run, &plan, runner->backend, &request);
    for (size_t g = 0; g < plan.count && plan.groups[g].first <= node && rc == 0; g++) {
        struct tensor_list outputs = {0};

        rc = layerwise_step(&run, g, feed, &outputs, &seconds, err);
        tensor_list_release(&outputs);
    }
    if (rc == 0)
        rc = log_values(report, &run, feed, node, found, err);
    layerwise_run_release(&run);
    layerwise_release(&plan);
    return rc;
}

/* Looks for the iteration in which it happened. */
static int show_values(const struct divergence_report *report, uint32_t node, struct error *err)
{
    struct backend_io *inputs = model_io_new(report->model, NULL, &report->model->inputs);
    size_t count = report->model->inputs.count;
    bool found = false;
    int rc = 0;

    for (int64_t i = 0; i < data_loader_iterations(report->loader) && !found; i++) {
        struct tensor_list feed = {0};

        rc = data_loader_feed(report->loader, inputs, count, i, &feed, err);
        if (rc == 0)
            rc = run_up_to(report, &feed, node, &found, err);
        tensor_list_release(&feed);
        if (rc < 0)
            goto done;
    }
    if (!found)
        log_message(report->log, LOG_WARNING, "It did not happen again when the node was run once more");
done:
    model_io_free(inputs, count);
    return rc;
}

static int log_invalid(const struct divergence_report *report, const struct value_list *nodes, struct error *err)
{
    int rc = 0;

    log_message(report->log, LOG_START, "First NaN or Infinity | Nodes that make them of inputs without: %zu",
                nodes->count);
    log_indent(report->log, 1);
    for (size_t i = 0; i < nodes->count && rc == 0; i++) {
        log_node(report, i == 0 ? "First NaN or infinity" : "Independent NaN or infinity", nodes->items[i]);
        log_indent(report->log, 1);
        if (i == 0)
            rc = show_values(report, nodes->items[i], err);
        log_indent(report->log, -1);
    }
    if (nodes->count == 0)
        log_message(report->log, LOG_FINISH, "No node of the model makes any");
    log_indent(report->log, -1);
    return rc;
}

/* ---- The model as it is, once more ---- */

static int load_file(void *data, struct log *log, struct backend_request *ret, struct model **ret_model,
                     struct error *err)
{
    (void)log, (void)ret_model, (void)err;
    *ret = *(const struct backend_request *)data;
    return 0;
}

static bool has_invalid(const struct run_results *results)
{
    struct validation found;

    for (size_t r = 0; r < results->count; r++)
        for (size_t i = 0; i < results->items[r].count; i++)
            for (size_t k = 0; k < results->items[r].items[i].outputs.count; k++) {
                tensor_validate(&results->items[r].items[i].outputs.items[k].tensor, &found);
                if (found.nans + found.infinities > 0)
                    return true;
            }
    return false;
}

/* As run compares: with the results of --load-outputs, and rankings where --postprocess wants them. */
static int compare_again(const struct driver_settings *driver, struct run_results *results, bool *ret_matched,
                         struct error *err)
{
    struct comparison_settings comparison = driver->comparison;
    int rc;

    comparison.strict = true;
    comparison.require_all = false;
    comparison.divergence = NULL;
    comparison.on_compared = NULL;
    for (size_t i = 0; i < driver->load_count; i++) {
        rc = data_file_add_results(results, driver->load_outputs[i], err);
        if (rc < 0)
            return rc;
    }
    for (size_t r = 0; r < results->count; r++)
        for (size_t i = 0; i < results->items[r].count; i++) {
            rc =
                top_k_replace(&results->items[r].items[i].outputs, driver->postprocess, driver->postprocess_count, err);
            if (rc < 0)
                return rc;
        }
    return results->count > 1 ? comparison_run(results, &comparison, ret_matched, err) : 0;
}

/* Marking outputs keeps a runtime from fusing nodes, which may be what made the difference, or hide it. */
static int check_again(const struct divergence_report *report, struct error *err)
{
    const struct driver_settings *driver = report->driver;
    struct backend_request file = *report->request;
    struct driver_settings settings = {.runners = driver->runners,
                                       .count = driver->count,
                                       .load = load_file,
                                       .load_data = &file,
                                       .keep_outputs = true,
                                       .comparison = driver->comparison};
    struct run_results results = {0};
    bool matched = true, comparable, invalid;
    int rc;

    file.model_path = report->path;
    settings.comparison.divergence = NULL;
    settings.comparison.on_compared = NULL;
    rc = driver_run(&settings, report->loader, &results, &matched, err);
    if (rc < 0 && (rc != ERR_INVALID || results.count == 0))
        goto done;
    invalid = has_invalid(&results);
    rc = compare_again(driver, &results, &matched, err);
    comparable = rc != ERR_INVALID || results.count < 2;
    if (rc < 0 && comparable)
        goto done;
    rc = 0;
    if (results.count > 1)
        log_message(report->log, LOG_INFO,
                    "Re-checked without the extra outputs, which can change the result: the model's own outputs %s",
                    !comparable ? "have no counterparts of their names"
                    : matched   ? "match"
                                : "differ");
    if (report->driver->validate)
        log_message(
            report->log, LOG_INFO,
            "Re-checked without the extra outputs, which can change the result: the model's own outputs hold %s",
            invalid ? "NaN or infinities" : "neither NaN nor infinities");
done:
    run_results_release(&results);
    return rc;
}

int divergence_report(const struct divergence_report *report, const struct first_divergence *divergence,
                      struct error *err)
{
    struct value_list differing = {0}, invalid = {0};
    int rc = 0;

    first_divergence_find(divergence, report->model, &differing, &invalid);
    if (divergence->compared.count > 0)
        log_differing(report, &differing);
    if (report->driver->validate)
        rc = log_invalid(report, &invalid, err);
    if (rc == 0)
        rc = check_again(report, err);
    free(differing.items);
    free(invalid.items);
    return rc;
}
