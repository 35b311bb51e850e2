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

/* Nodes to blame that the log names. */
enum { MOST_NODES = 10 };

static void add_edge_names(const struct model *model, struct edge_range range, struct string_builder *text)
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

static void log_node(const struct divergence_report *report, const char *what, const struct blamed_node *blamed)
{
    const struct node *node = &report->model->nodes.items[blamed->node];
    SCOPED_STRING(text);

    string_add_format(&text, "%s: node '%s' (" TEXT_FORMAT ") | Inputs: ", what,
                      model_node_label(report->model, blamed->node), TEXT_ARGS(node->op_type));
    add_edge_names(report->model, node->inputs, &text);
    string_add(&text, " | Outputs: ");
    add_edge_names(report->model, node->outputs, &text);
    if (blamed->before > 0)
        string_add_format(&text, " | Or %zu node%s before it, whose outputs were not compared", blamed->before,
                          blamed->before > 1 ? "s" : "");
    if (blamed->behind > 0)
        string_add_format(&text, " | Bad as well behind it: %zu node%s", blamed->behind, blamed->behind > 1 ? "s" : "");
    log_message(report->log, LOG_ERROR, "%s", text.data);
}

/* The rest of a list that has been cut. */
static void log_others(const struct divergence_report *report, size_t count)
{
    if (count > MOST_NODES)
        log_message(report->log, LOG_ERROR, "... and %zu more such nodes; --json FILE lists them all",
                    count - MOST_NODES);
}

static void log_differing(const struct divergence_report *report, const struct blamed_nodes *nodes)
{
    log_message(report->log, LOG_START,
                "First Divergence | Nodes whose outputs differ while all their inputs agree: %zu", nodes->count);
    log_indent(report->log, 1);
    for (size_t i = 0; i < nodes->count && i < MOST_NODES; i++)
        log_node(report, i == 0 ? "First divergence" : "Independent divergence", &nodes->items[i]);
    log_others(report, nodes->count);
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

    return text_is_one_of(operator, operators, ARRAY_LEN(operators));
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
                        size_t element, const struct tensor *inputs, struct divergence_findings *ret)
{
    SCOPED_STRING(text);
    struct shape position;
    size_t from;

    shape_position(&output->shape, element, &position);
    string_add(&text, "The first bad element, at ");
    shape_to_text(&position, &text);
    string_add(&text, ", is ");
    element_to_text_alone(output, element, &text);
    ret->bad_shape = output->shape;
    ret->bad_element = element;
    element_value_read(output, element, &ret->bad_value);
    for (size_t i = 0; i < node->inputs.count && is_elementwise(node->op_type); i++) {
        struct input_element *input;

        if (inputs[i].data == NULL || !find_element(&inputs[i].shape, &position, &from))
            continue;
        input = VECTOR_APPEND(&ret->inputs);
        input->input = model_edge(report->model, node->inputs, i);
        element_value_read(&inputs[i], from, &input->value);
        string_add_format(&text,
                          " | '" TEXT_FORMAT "' there: ", TEXT_ARGS(report->model->values.items[input->input].name));
        element_to_text_alone(&inputs[i], from, &text);
    }
    log_message(report->log, LOG_ERROR, "%s", text.data);
}

/* A node's input, of `values` that were computed: borrowed, or read from the model. Zeroed when it is not
 * there. */
static int find_input(const struct model *model, const struct tensor *values, const struct tensor_list *feed,
                      uint32_t value, struct tensor *ret, struct error *err)
{
    const struct value *v = &model->values.items[value];
    const struct named_tensor *fed = tensor_list_find(feed, v->name);
    const struct tensor *held = values[value].data != NULL || fed == NULL ? &values[value] : &fed->tensor;

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

static int log_values(const struct divergence_report *report, const struct tensor *values,
                      const struct tensor_list *feed, uint32_t index, struct divergence_findings *ret,
                      struct error *err)
{
    const struct model *model = report->model;
    const struct node *node = &model->nodes.items[index];
    struct tensor *inputs = memory_alloc_zero(node->inputs.count, sizeof(*inputs));
    struct validation bad;
    int rc = 0;

    for (size_t k = 0; k < node->inputs.count; k++) {
        if (model_edge(model, node->inputs, k) != VALUE_NONE)
            rc = find_input(model, values, feed, model_edge(model, node->inputs, k), &inputs[k], err);
        if (rc < 0)
            goto done;
    }
    for (size_t k = 0; k < node->outputs.count && !ret->seen_again; k++) {
        uint32_t value = model_edge(model, node->outputs, k);

        if (value == VALUE_NONE || values[value].data == NULL)
            continue;
        tensor_validate(&values[value], &bad);
        if (bad.nans + bad.infinities == 0)
            continue;
        ret->seen_again = true;
        ret->bad_output = value;
        for (size_t i = 0; i < node->inputs.count && rc == 0; i++) {
            struct text name = inputs[i].data != NULL ? model->values.items[model_edge(model, node->inputs, i)].name
                                                      : (struct text){"", 0};
            char *label SCOPED_FREE = memory_copy(name.data, name.size);

            if (inputs[i].data != NULL && elements_arithmetic(inputs[i].type) != ARITHMETIC_NONE)
                rc = log_input(report, label, &inputs[i], err);
        }
        log_element(report, node, &values[value],
                    bad.nans > 0 && (bad.infinities == 0 || bad.first_nan < bad.first_infinity) ? bad.first_nan
                                                                                                : bad.first_infinity,
                    inputs, ret);
    }
done:
    for (size_t k = 0; k < node->inputs.count; k++)
        tensor_release(&inputs[k]);
    free(inputs);
    return rc;
}

static int run_up_to(const struct divergence_report *report, const struct tensor_list *feed, uint32_t node,
                     struct divergence_findings *ret, struct error *err)
{
    const struct runner *runner = &report->driver->runners[0];
    const struct backend_request request = runner_request(runner, report->request);
    struct layerwise plan = {.model = report->model,
                             .backend = report->driver->types,
                             .request = report->request,
                             .bound = (uint64_t)64 << 20};
    struct layerwise_run run;
    double seconds = 0;
    int rc = layerwise_plan(&plan, feed, err);

    if (rc < 0)
        return rc;
    layerwise_run_init(&run, &plan, runner->backend, &request);
    for (size_t g = 0; g < plan.count && plan.groups[g].first <= node && rc == 0; g++) {
        struct tensor_list outputs SCOPED(tensor_list_release) = {0};

        rc = layerwise_step(&run, g, feed, &outputs, &seconds, err);
    }
    if (rc == 0)
        rc = log_values(report, run.values, feed, node, ret, err);
    layerwise_run_release(&run);
    layerwise_release(&plan);
    return rc;
}

/* Looks in the results for the iteration in which it happened. */
static int show_held_values(const struct divergence_report *report, uint32_t node, struct divergence_findings *ret,
                            struct error *err)
{
    const struct model *model = report->model;
    const struct run_results *results = report->results;
    const struct tensor_list nothing_fed = {0};
    struct tensor *values = memory_alloc_zero(model->values.count, sizeof(*values));
    int rc = 0;

    for (size_t r = 0; r < results->count && rc == 0 && !ret->seen_again; r++)
        for (size_t i = 0; i < results->items[r].count && rc == 0 && !ret->seen_again; i++) {
            for (uint32_t v = 0; v < model->values.count; v++) {
                const struct named_tensor *held =
                    tensor_list_find(&results->items[r].items[i].outputs, model->values.items[v].name);

                values[v] = held != NULL ? held->tensor : (struct tensor){0};
            }
            rc = log_values(report, values, &nothing_fed, node, ret, err);
        }
    free(values);
    return rc;
}

/* Looks for the iteration in which it happened. */
static int show_values(const struct divergence_report *report, uint32_t node, struct divergence_findings *ret,
                       struct error *err)
{
    struct backend_io *inputs = model_io_new(report->model, NULL, &report->model->inputs);
    size_t count = report->model->inputs.count;
    int rc = 0;

    for (int64_t i = 0; i < data_loader_iterations(report->loader) && !ret->seen_again; i++) {
        struct tensor_list feed = {0};

        rc = data_loader_feed(report->loader, inputs, count, i, &feed, err);
        if (rc == 0)
            rc = run_up_to(report, &feed, node, ret, err);
        tensor_list_release(&feed);
        if (rc < 0)
            goto done;
    }
    if (!ret->seen_again)
        log_message(report->log, LOG_WARNING, "It did not happen again when the node was run again");
done:
    model_io_free(inputs, count);
    return rc;
}

static int log_invalid(const struct divergence_report *report, struct divergence_findings *ret, struct error *err)
{
    const struct blamed_nodes *nodes = &ret->invalid;
    int rc = 0;

    log_message(report->log, LOG_START, "First NaN or Infinity | Nodes that make them of inputs without: %zu",
                nodes->count);
    log_indent(report->log, 1);
    for (size_t i = 0; i < nodes->count && i < MOST_NODES && rc == 0; i++) {
        log_node(report, i == 0 ? "First NaN or infinity" : "Independent NaN or infinity", &nodes->items[i]);
        log_indent(report->log, 1);
        if (i == 0)
            rc = report->results != NULL ? show_held_values(report, nodes->items[i].node, ret, err)
                                         : show_values(report, nodes->items[i].node, ret, err);
        log_indent(report->log, -1);
    }
    log_others(report, nodes->count);
    if (nodes->count == 0)
        log_message(report->log, LOG_FINISH, "No node of the model makes any");
    log_indent(report->log, -1);
    return rc;
}

/* ---- Re-run of the unchanged model ---- */

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
        rc = data_file_add_results_from(results, driver->load_outputs[i], driver->first_loaded, err);
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

bool divergence_is_hidden(const struct divergence_findings *findings)
{
    return findings->compared && findings->differing.count == 0 && findings->rechecked && findings->comparable &&
           !findings->matched;
}

/* Marking outputs keeps a runtime from fusing nodes, which may be what made the difference, or hide it. */
static int check_again(const struct divergence_report *report, struct divergence_findings *ret, struct error *err)
{
    const struct driver_settings *driver = report->driver;
    struct backend_request file = *report->request;
    struct driver_settings settings = {.runners = driver->runners,
                                       .count = driver->count,
                                       .load = load_file,
                                       .load_data = &file,
                                       .sequential = true,
                                       .keep_outputs = true,
                                       .comparison = driver->comparison};
    struct run_results results SCOPED(run_results_release) = {0};
    int rc;

    file.model.path = report->path;
    settings.comparison.divergence = NULL;
    settings.comparison.on_compared = NULL;
    ret->matched = true;
    rc = driver_run(&settings, report->loader, &results, &ret->matched, err);
    if (rc < 0 && (rc != ERR_INVALID || results.count == 0))
        return rc;
    ret->finds_invalid = has_invalid(&results);
    rc = compare_again(driver, &results, &ret->matched, err);
    ret->comparable = rc != ERR_INVALID || results.count < 2;
    if (rc < 0 && ret->comparable)
        return rc;
    ret->comparable &= results.count > 1;
    ret->rechecked = true;
    rc = 0;
    if (results.count > 1)
        log_message(report->log, LOG_INFO,
                    "Re-checked without the extra outputs, which can change the result: the model's own outputs %s",
                    !ret->comparable ? "have no counterparts of their names"
                    : ret->matched   ? "match"
                                     : "differ");
    if (divergence_is_hidden(ret))
        log_message(report->log, LOG_ERROR,
                    "    The extra outputs hide the difference: they keep nodes apart that are computed together, and "
                    "wrongly, say. `debug reduce --mode minimal` finds out which ones");
    if (report->driver->validate)
        log_message(
            report->log, LOG_INFO,
            "Re-checked without the extra outputs, which can change the result: the model's own outputs hold %s",
            ret->finds_invalid ? "NaN or infinities" : "neither NaN nor infinities");
    return rc;
}

/* Not every runtime gives out every tensor. */
static void log_unknown(const struct divergence_report *report, const struct first_divergence *divergence)
{
    SCOPED_STRING(names);
    size_t count;

    count = first_divergence_list_unknown(divergence, report->model, &names);
    if (count > 0)
        log_message(report->log, LOG_WARNING,
                    "%zu tensor%s of the model %s passed over, since no two results hold %s: [%s]", count,
                    count > 1 ? "s" : "", count > 1 ? "were" : "was", count > 1 ? "them" : "it", names.data);
}

int divergence_report(const struct divergence_report *report, const struct first_divergence *divergence,
                      struct divergence_findings *ret, struct error *err)
{
    int rc = 0;

    ret->compared = divergence->compared.count > 0;
    ret->validated = report->driver->validate;
    first_divergence_find(divergence, report->model, &ret->differing, &ret->invalid);
    if (report->results != NULL && ret->compared)
        log_unknown(report, divergence);
    if (ret->compared)
        log_differing(report, &ret->differing);
    if (ret->validated)
        rc = log_invalid(report, ret, err);
    if (rc < 0 || report->results == NULL)
        return rc < 0 ? rc : check_again(report, ret, err);
    log_message(report->log, LOG_INFO,
                "Not re-checked without the extra outputs, which can change the result: compare what the runners make "
                "of the model's own outputs, too");
    return 0;
}

/* ---- For other programs ---- */

void divergence_findings_release(struct divergence_findings *findings)
{
    for (size_t i = 0; i < findings->inputs.count; i++)
        element_value_release(&findings->inputs.items[i].value);
    element_value_release(&findings->bad_value);
    free(findings->inputs.items);
    free(findings->differing.items);
    free(findings->invalid.items);
    *findings = (struct divergence_findings){0};
}

/* In malloc'd memory; "" for an input that is left out. */
static struct text name_of_value(const struct model *model, uint32_t value)
{
    return value != VALUE_NONE ? model->values.items[value].name : TEXT("");
}

static void write_names(const char *key, const struct model *model, struct edge_range range, struct json_writer *json)
{
    json_writer_begin_array_member(json, key);
    for (size_t i = 0; i < range.count; i++)
        json_writer_text(json, name_of_value(model, model_edge(model, range, i)));
    json_writer_end_array(json);
}

/* Members of a node to blame, in an object that is open. */
static void write_blamed(const struct blamed_node *blamed, const struct model *model, const struct model *file,
                         struct json_writer *json)
{
    const struct node *node = &model->nodes.items[blamed->node];
    bool is_known = false;

    for (size_t i = 0; i < node->outputs.count && !is_known; i++) {
        struct text name = name_of_value(model, model_edge(model, node->outputs, i));
        char *output SCOPED_FREE = memory_copy(name.data, name.size);

        is_known = output[0] != '\0';
        if (is_known)
            run_report_write_node(file, output, json);
    }
    write_names("inputs", model, node->inputs, json);
    write_names("outputs", model, node->outputs, json);
    json_writer_add_count(json, "behind", blamed->behind);
    json_writer_add_count(json, "before", blamed->before);
}

/* Of the first output that mismatches. */
static void write_mismatch(const struct blamed_node *blamed, const struct model *model, const struct run_report *report,
                           struct json_writer *json)
{
    const struct node *node = &model->nodes.items[blamed->node];
    bool is_written = false;

    for (size_t i = 0; i < node->outputs.count && !is_written; i++) {
        struct text name = name_of_value(model, model_edge(model, node->outputs, i));
        char *output SCOPED_FREE = memory_copy(name.data, name.size);

        is_written = run_report_write_mismatch(report, output, json);
    }
}

static void write_bad_element(const struct divergence_findings *findings, const struct model *model,
                              struct json_writer *json)
{
    if (!json_writer_begin_object_or_null(json, "element", findings->seen_again))
        return;
    json_writer_add_text(json, "output", name_of_value(model, findings->bad_output));
    json_writer_key(json, "position");
    element_position_write(&findings->bad_shape, findings->bad_element, json);
    json_writer_key(json, "value");
    element_value_write(&findings->bad_value, json);
    json_writer_begin_array_member(json, "inputs");
    for (size_t i = 0; i < findings->inputs.count; i++) {
        json_writer_begin_object(json);
        json_writer_add_text(json, "input", name_of_value(model, findings->inputs.items[i].input));
        json_writer_key(json, "value");
        element_value_write(&findings->inputs.items[i].value, json);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
    json_writer_end_object(json);
}

static void write_flag_or_null(const char *key, bool is_known, bool flag, struct json_writer *json)
{
    if (json_writer_key_or_null(json, key, is_known))
        json_writer_boolean(json, flag);
}

void divergence_findings_write(const struct divergence_findings *findings, const struct model *model,
                               const struct model *file, const struct run_report *report, struct json_writer *json)
{
    json_writer_begin_object(json);
    json_writer_begin_array_member(json, "nodes");
    for (size_t i = 0; i < findings->differing.count; i++) {
        json_writer_begin_object(json);
        write_blamed(&findings->differing.items[i], model, file, json);
        write_mismatch(&findings->differing.items[i], model, report, json);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
    json_writer_begin_array_member(json, "invalid");
    for (size_t i = 0; i < findings->invalid.count; i++) {
        json_writer_begin_object(json);
        write_blamed(&findings->invalid.items[i], model, file, json);
        if (i == 0)
            write_bad_element(findings, model, json);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
    if (json_writer_begin_object_or_null(json, "recheck", findings->rechecked)) {
        write_flag_or_null("passed", findings->comparable, findings->matched, json);
        write_flag_or_null("finite", findings->validated, !findings->finds_invalid, json);
        json_writer_end_object(json);
    }
    json_writer_end_object(json);
}
