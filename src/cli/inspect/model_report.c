/* cli/inspect/model_report.c: see model_report.h. */
#include "cli/inspect/model_report.h"

#include <stdlib.h>

#include "base/memory.h"
#include "cli/options/groups.h"
#include "onnx/model/graph_view.h"

struct operator_count {
    struct text name;
    size_t count;
};

static int by_count(const void *a, const void *b)
{
    const struct operator_count *first = a, *second = b;

    return (first->count < second->count) - (first->count > second->count);
}

static void add_operators(struct report *report, const struct model *model)
{
    static const char *const columns[] = {"operator", "nodes"};
    struct {
        struct operator_count *items;
        size_t count, capacity;
    } operators = {0};
    SCOPED_NAME_MAP(numbers);

    for (size_t i = 0; i < model->nodes.count; i++) {
        struct text name = model->nodes.items[i].op_type;
        uint32_t number = name_map_add(&numbers, name, (uint32_t)operators.count);

        if (number == operators.count)
            *VECTOR_APPEND(&operators) = (struct operator_count){name, 0};
        operators.items[number].count++;
    }
    if (operators.count > 0)
        qsort(operators.items, operators.count, sizeof(*operators.items), by_count);
    report_begin_table(report, "Operators", columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < operators.count; i++) {
        char *name SCOPED_FREE = memory_copy(operators.items[i].name.data, operators.items[i].name.size);

        report_add_row(report, (struct report_cell[]){{.text = name}, {.number = (double)operators.items[i].count}});
    }
    free(operators.items);
}

static void add_weights(struct report *report, struct model *model)
{
    static const char *const columns[] = {"weight", "type", "shape", "elements"};
    SCOPED_STRING(shape);

    report_begin_table(report, "Weights", columns, ARRAY_LEN(columns));
    VECTOR_EACH (const struct initializer, initializer, model->initializers) {
        struct text text = model->values.items[initializer->value].name;
        char *name SCOPED_FREE = memory_copy(text.data, text.size);
        struct value_type type;

        graph_view_initializer_type(initializer, &type);
        string_clear(&shape);
        if (type.has_shape)
            shape_to_text(&type.shape, &shape);
        report_add_row(report, (struct report_cell[]){
                                   {.text = name},
                                   {.text = data_type_name(type.element)},
                                   {.text = shape.size > 0 ? shape.data : ""},
                                   {.number = type.has_shape ? (double)shape_elements(&type.shape) : NAN},
                               });
    }
}

static void add_count(struct string_builder *out, size_t count, const char *what, const char *separator)
{
    string_add_format(out, "%zu %s%s%s", count, what, count == 1 ? "" : "s", separator);
}

int inspect_model_report(const struct command_context *context, const struct report_values *values, const char *path,
                         struct model *model, struct error *err)
{
    SCOPED_STRING(sizes);
    struct report *report;

    report = report_begin(context, values, "inspect model", path);
    if (report == NULL)
        return 0;
    add_count(&sizes, model->nodes.count, "node", ", ");
    add_count(&sizes, model->inputs.count, "input", ", ");
    add_count(&sizes, model->outputs.count, "output", " and ");
    add_count(&sizes, model->initializers.count, "weight", "");
    report_set_verdict(report, REPORT_UNKNOWN, "The model has %s", sizes.data);
    report_add_network(report, model);
    add_operators(report, model);
    add_weights(report, model);
    return report_finish(context, values, report, err);
}
