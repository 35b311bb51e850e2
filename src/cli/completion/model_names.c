/* cli/completion/model_names.c: see model_names.h. */
#include "cli/completion/model_names.h"

#include "base/text/string_builder.h"
#include "onnx/model/model.h"

struct listing {
    const struct model *model;
    struct string_builder name, shape, description;
    void (*visit)(void *data, const struct model_name *name);
    void *data;
};

/* Whether all characters of a name can be printed unchanged on one line. */
static bool is_plain(struct text text)
{
    SCOPED_STRING(visible);
    bool plain = text.size > 0;

    for (size_t i = 0; plain && i < text.size; i++)
        plain = (unsigned char)text.data[i] >= ' ';
    if (plain)
        string_add_visible(&visible, text);
    plain = plain && text_equal(text, (struct text){visible.data, visible.size});
    return plain;
}

static void visit_plain_name(struct listing *listing, struct text name, bool has_shape)
{
    struct model_name found;

    if (!is_plain(name))
        return;
    string_clear(&listing->name);
    string_add_text(&listing->name, name);
    found.name = listing->name.data;
    found.shape = has_shape ? listing->shape.data : NULL;
    found.description = listing->description.size > 0 ? listing->description.data : "";
    listing->visit(listing->data, &found);
}

static void visit_node(struct listing *listing, const struct node *node)
{
    string_clear(&listing->description);
    if (is_plain(node->op_type))
        string_add_text(&listing->description, node->op_type);
    visit_plain_name(listing, node->name, false);
}

/* "float32 [N,3]" as a description, "[1,3]" as a value. */
static void describe_type(struct listing *listing, const struct value_type *type)
{
    string_add(&listing->description, data_type_name(type->element));
    if (!type->has_shape)
        return;
    string_add(&listing->description, " [");
    string_add(&listing->shape, "[");
    for (size_t i = 0; i < type->shape.rank; i++) {
        const char *comma = i > 0 ? "," : "";
        int64_t size = type->shape.dims[i];

        string_add_format(&listing->shape, "%s%lld", comma, size >= 0 ? (long long)size : 1);
        string_add(&listing->description, comma);
        if (size >= 0)
            string_add_integer(&listing->description, size);
        else
            string_add_text(&listing->description, is_plain(type->symbols[i]) ? type->symbols[i] : TEXT("?"));
    }
    string_add(&listing->description, "]");
    string_add(&listing->shape, "]");
}

static void visit_value(struct listing *listing, const struct value *value)
{
    struct value_type type = {.element = DATA_UNDEFINED};

    string_clear(&listing->description);
    string_clear(&listing->shape);
    if (value->info.size > 0)
        value_info_decode(value->info, &type);
    if (type.not_a_tensor != NULL)
        string_add(&listing->description, type.not_a_tensor);
    else if (type.element != DATA_UNDEFINED)
        describe_type(listing, &type);
    else if (value->producer != NODE_NONE && is_plain(listing->model->nodes.items[value->producer].op_type))
        string_add_text(&listing->description, listing->model->nodes.items[value->producer].op_type);
    visit_plain_name(listing, value->name, listing->shape.size > 0);
}

static void visit_values(struct listing *listing, const struct value_list *values)
{
    for (size_t i = 0; i < values->count; i++)
        visit_value(listing, &listing->model->values.items[values->items[i]]);
}

static void visit_model(struct listing *listing, enum option_names naming)
{
    const struct model *model = listing->model;

    switch (naming) {
    case OPTION_NO_NAMES:
    case OPTION_COMMAND_NAMES:
        break;
    case OPTION_OUTPUT_NAMES:
        visit_values(listing, &model->outputs);
        break;
    case OPTION_TENSOR_NAMES:
        visit_values(listing, &model->inputs);
        for (size_t i = 0; i < model->values.count; i++)
            if (model->values.items[i].producer != NODE_NONE)
                visit_value(listing, &model->values.items[i]);
        break;
    case OPTION_INPUT_NAMES:
        visit_values(listing, &model->inputs);
        break;
    case OPTION_NODE_NAMES:
        for (size_t i = 0; i < model->nodes.count; i++)
            visit_node(listing, &model->nodes.items[i]);
        break;
    }
}

void model_names_each(const char *path, enum option_names naming,
                      void (*visit_name)(void *data, const struct model_name *name), void *data)
{
    struct listing listing = {.visit = visit_name, .data = data};
    struct model *model;
    struct error ignored;

    if (model_open(path, NULL, &model, &ignored) < 0)
        return;
    listing.model = model;
    string_init(&listing.name);
    string_init(&listing.shape);
    string_init(&listing.description);
    visit_model(&listing, naming);
    string_release(&listing.name);
    string_release(&listing.shape);
    string_release(&listing.description);
    model_free(model);
}
