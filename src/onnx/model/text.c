/* onnx/model/text.c: see text.h. */
#include "onnx/model/text.h"

#include "base/text/names.h"

static void add_dimension_text(struct string_builder *out, const struct value_type *type, size_t i)
{
    if (type->shape.dims[i] >= 0)
        string_add_integer(out, type->shape.dims[i]);
    else if (type->symbols[i].size > 0)
        string_add_format(out, "'" TEXT_FORMAT "'", TEXT_ARGS(type->symbols[i]));
    else
        string_add(out, "-1");
}

static void add_dimensions_text(struct string_builder *out, const struct value_type *type)
{
    for (size_t i = 0; i < type->shape.rank; i++) {
        if (i > 0)
            string_add(out, ", ");
        add_dimension_text(out, type, i);
    }
}

void tensor_line(struct string_builder *out, struct text name, const struct value_type *type)
{
    string_add_text(out, name);
    if (type->not_a_tensor != NULL) {
        string_add_format(out, " [%s]", type->not_a_tensor);
        return;
    }
    if (type->element == DATA_UNDEFINED && !type->has_shape)
        return;
    string_add(out, " [");
    if (type->element != DATA_UNDEFINED) {
        string_add(out, "dtype=");
        string_add(out, data_type_name(type->element));
    }
    if (type->has_shape) {
        string_add(out, type->element != DATA_UNDEFINED ? ", shape=(" : "shape=(");
        add_dimensions_text(out, type);
        string_add(out, type->shape.rank == 1 ? ",)" : ")");
    }
    string_add(out, "]");
}

void tensor_block(struct string_builder *out, const struct subgraph *subgraph, const struct value_list *values)
{
    string_add(out, "{");
    for (size_t i = 0; i < values->count; i++) {
        struct text name = subgraph->model->values.items[values->items[i]].name;
        struct value_type type;

        subgraph_type(subgraph, values->items[i], &type);
        if (i > 0)
            string_add(out, ",\n ");
        tensor_line(out, name, &type);
    }
    string_add(out, "}");
}

void variable_list_text(struct string_builder *out, const struct subgraph *subgraph, const struct value_list *values)
{
    string_add(out, "[");
    for (size_t i = 0; i < values->count; i++) {
        struct text name = subgraph->model->values.items[values->items[i]].name;
        struct value_type type;

        subgraph_type(subgraph, values->items[i], &type);
        string_add_format(out, "%sVariable (" TEXT_FORMAT "): (shape=", i > 0 ? ", " : "", TEXT_ARGS(name));
        if (type.has_shape) {
            string_add(out, "[");
            add_dimensions_text(out, &type);
            string_add(out, "]");
        } else {
            string_add(out, "None");
        }
        string_add_format(out, ", dtype=%s)", type.element != DATA_UNDEFINED ? data_type_name(type.element) : "None");
    }
    string_add(out, "]");
}

void tensor_suggestion(struct string_builder *out, const struct model *model, struct text wanted)
{
    struct close_names close;

    close_names_start(&close, wanted);
    for (size_t i = 0; i < model->values.count; i++)
        if (model_find_tensor(model, model->values.items[i].name) != VALUE_NONE)
            close_names_offer(&close, model->values.items[i].name);
    close_names_add_to(&close, out);
}

int tensor_refuse_unknown(const struct model *model, struct text name, struct error *err)
{
    SCOPED_STRING(close);

    tensor_suggestion(&close, model, name);
    return error_set(err, ERR_INVALID, "Tensor: " TEXT_FORMAT " does not exist in the model%s", TEXT_ARGS(name),
                     close.size > 0 ? close.data : ".");
}

static size_t count_initializers(const struct subgraph *subgraph)
{
    const struct model *model = subgraph->model;
    SCOPED_BITSET(used);
    size_t count = subgraph->frozen.count;

    bitset_init(&used, model->values.count);
    subgraph_used_values(subgraph, &used);
    for (size_t i = 0; i < subgraph->frozen.count; i++)
        bitset_remove(&used, subgraph->frozen.items[i].value);
    for (size_t i = 0; i < subgraph->inputs.count; i++)
        bitset_remove(&used, subgraph->inputs.items[i]);
    for (size_t i = 0; i < model->initializers.count; i++)
        count += bitset_has(&used, model->initializers.items[i].value);
    return count;
}

void model_headline(struct string_builder *out, const struct model *model)
{
    bool others = false;

    string_add_format(out, "Name: " TEXT_FORMAT " | ONNX Opset: %lld", TEXT_ARGS(model->graph_name),
                      (long long)model_opset(model));
    VECTOR_EACH (const struct opset_import, import, model->opsets) {
        if (domain_is_standard(import->domain))
            continue;
        string_add_format(out, "%s'" TEXT_FORMAT "': %lld", others ? ", " : " | Other Opsets: {",
                          TEXT_ARGS(import->domain), (long long)import->version);
        others = true;
    }
    string_add(out, others ? "}" : "");
}

void subgraph_summary(struct string_builder *out, const struct subgraph *subgraph)
{
    model_headline(out, subgraph->model);
    string_add_format(out, "\n\n---- %zu Graph Input(s) ----\n", subgraph->inputs.count);
    tensor_block(out, subgraph, &subgraph->inputs);
    string_add_format(out, "\n\n---- %zu Graph Output(s) ----\n", subgraph->outputs.count);
    tensor_block(out, subgraph, &subgraph->outputs);
    string_add_format(out, "\n\n---- %zu Initializer(s) ----\n\n---- %zu Node(s) ----\n", count_initializers(subgraph),
                      bitset_count(&subgraph->nodes));
}

void subgraph_log_summary(struct log *log, const char *title, const struct subgraph *subgraph)
{
    SCOPED_STRING(text);

    subgraph_summary(&text, subgraph);
    log_message(log, LOG_INFO, "%s\n%s\n", title, text.data);
}
