/* onnx/model/mark_outputs.c: see mark_outputs.h. */
#include "onnx/model/mark_outputs.h"

#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "onnx/model/text.h"

static bool value_is_tensor(const struct subgraph *subgraph, uint32_t value)
{
    struct value_type type;

    subgraph_type(subgraph, value, &type);
    return type.not_a_tensor == NULL;
}

/* What selects outputs of nodes: without pattern and operator, all of them. */
struct output_filter {
    const char *pattern;  /* of the tensor's name; NULL: any */
    const char *operator; /* NULL: any but Constant */
};

static bool node_is_selected(const struct node *node, const struct output_filter *filter)
{
    if (filter->operator== NULL)
        return !node_is(node, "Constant");
    return node->op_type.size == strlen(filter->operator) &&
           strncasecmp(node->op_type.data, filter->operator, node->op_type.size) == 0;
}

/* Appends the selected outputs that are not in `listed` to `ret`, in the order of nodes, and adds them to the set.
 * Values that are not tensors go to `ret_skipped` (may be NULL). Returns whether anything was selected. */
static bool add_outputs(const struct subgraph *subgraph, const struct output_filter *filter, struct bitset *listed,
                        struct value_list *ret, struct value_list *ret_skipped)
{
    const struct model *model = subgraph->model;
    bool any = false;

    BITSET_EACH (i, &subgraph->nodes) {
        const struct node *node = &model->nodes.items[i];

        for (size_t k = 0; k < node->outputs.count && node_is_selected(node, filter); k++) {
            uint32_t value = model_edge(model, node->outputs, k);
            bool is_tensor;

            if (value == VALUE_NONE ||
                (filter->pattern != NULL &&
                 !text_matches_pattern(model->values.items[value].name, text_of(filter->pattern))))
                continue;
            is_tensor = value_is_tensor(subgraph, value);
            any |= is_tensor;
            if (bitset_has(listed, value))
                continue;
            bitset_add(listed, value);
            if (is_tensor)
                value_list_add(ret, value);
            else if (ret_skipped != NULL)
                value_list_add(ret_skipped, value);
        }
    }
    return any;
}

void outputs_mark_all(struct subgraph *subgraph, struct value_list *ret_skipped)
{
    const struct model *model = subgraph->model;
    struct value_list before SCOPED_ITEMS = subgraph->outputs;
    SCOPED_BITSET(listed);

    bitset_init(&listed, model->values.count);
    subgraph->outputs = (struct value_list){0};
    add_outputs(subgraph, &(struct output_filter){0}, &listed, &subgraph->outputs, ret_skipped);
    for (size_t i = 0; i < before.count; i++)
        if (model->values.items[before.items[i]].producer == NODE_NONE)
            value_list_add(&subgraph->outputs, before.items[i]);
}

struct missing_names {
    struct string_builder list;
    const char *first;
};

static void add_missing_name(struct missing_names *missing, const char *name)
{
    string_add_format(&missing->list, "%s'%s'", missing->first != NULL ? ", " : "", name);
    if (missing->first == NULL)
        missing->first = name;
}

/* Returns an error if any names are missing, with suggestions for the first one. */
static int refuse_missing_names(const struct subgraph *subgraph, const struct missing_names *missing, const char *what,
                                const char *hint, struct error *err)
{
    SCOPED_STRING(close);

    if (missing->first == NULL)
        return 0;
    tensor_suggestion(&close, subgraph->model, text_of(missing->first));
    return error_set(err, ERR_INVALID, "The following %s were not found in the model: [%s] (%s): %s%s", what,
                     missing->list.data, subgraph->model->display_name, hint, close.data);
}

bool output_name_is_pattern(const char *name)
{
    return strpbrk(name, "*?[") != NULL;
}

int outputs_mark_named(struct subgraph *subgraph, const char *const *names, size_t count, struct error *err)
{
    struct value_list outputs SCOPED_ITEMS = {0};
    struct missing_names missing = {0};
    SCOPED_BITSET(listed);
    int rc;

    string_init(&missing.list);
    bitset_init(&listed, subgraph->model->values.count);
    for (size_t i = 0; i < count; i++) {
        uint32_t value = model_find_tensor(subgraph->model, text_of(names[i]));

        if (value == VALUE_NONE) {
            if (!output_name_is_pattern(names[i]) ||
                !add_outputs(subgraph, &(struct output_filter){.pattern = names[i]}, &listed, &outputs, NULL))
                add_missing_name(&missing, names[i]);
        } else if (!bitset_has(&listed, value)) {
            bitset_add(&listed, value);
            value_list_add(&outputs, value);
        }
    }
    rc = refuse_missing_names(subgraph, &missing, "outputs", "'--onnx-outputs mark all' shows which tensors there are",
                              err);
    if (rc == 0)
        value_list_assign(&subgraph->outputs, &outputs);
    string_release(&missing.list);
    return rc;
}

/* ", did you mean 'Softmax'?" or, if no operator is similar, nothing. */
static void suggest_operators(const struct model *model, const char *wanted, struct string_builder *ret)
{
    struct close_names close;

    close_names_start(&close, text_of(wanted));
    for (size_t i = 0; i < model->nodes.count; i++)
        close_names_offer(&close, model->nodes.items[i].op_type);
    close_names_add_to(&close, ret);
}

int outputs_mark_operators(struct subgraph *subgraph, const char *const *operators, size_t count, struct error *err)
{
    struct value_list outputs SCOPED_ITEMS = {0};
    struct missing_names missing = {0};
    SCOPED_BITSET(listed);
    SCOPED_STRING(close);
    int rc = 0;

    string_init(&missing.list);
    bitset_init(&listed, subgraph->model->values.count);
    for (size_t i = 0; i < count; i++)
        if (!add_outputs(subgraph, &(struct output_filter){.operator = operators[i]}, &listed, &outputs, NULL))
            add_missing_name(&missing, operators[i]);
    if (missing.first != NULL) {
        suggest_operators(subgraph->model, missing.first, &close);
        rc = error_set(err, ERR_INVALID, "%s has no nodes with these operators: [%s]%s", subgraph->model->display_name,
                       missing.list.data, close.data);
    } else {
        value_list_assign(&subgraph->outputs, &outputs);
    }
    string_release(&missing.list);
    return rc;
}

static int add_barrier(struct subgraph *subgraph, uint32_t value, struct value_list *ret_added, struct error *err)
{
    if (value_list_has(&subgraph->outputs, value))
        return 0;
    if (!value_is_tensor(subgraph, value))
        return error_set(err, ERR_INVALID,
                         "'" TEXT_FORMAT
                         "' of %s is not a tensor and cannot become an output, so fusions across it cannot be disabled",
                         TEXT_ARGS(subgraph->model->values.items[value].name), subgraph->model->display_name);
    value_list_add(&subgraph->outputs, value);
    if (ret_added != NULL)
        value_list_add(ret_added, value);
    return 0;
}

/* Only outputs of nodes can be fused across; other values are skipped. */
static int add_barrier_to_value(struct subgraph *subgraph, const char *name, struct value_list *ret_added,
                                struct error *err)
{
    uint32_t value = model_find_tensor(subgraph->model, text_of(name));

    return value != VALUE_NONE && subgraph->model->values.items[value].producer != NODE_NONE &&
                   value_is_tensor(subgraph, value)
               ? add_barrier(subgraph, value, ret_added, err)
               : 0;
}

int outputs_add_barriers(struct subgraph *subgraph, struct words names, struct value_list *ret_added, struct error *err)
{
    struct missing_names missing = {0};
    int rc = 0;

    string_init(&missing.list);
    for (size_t i = 0; i < names.count && rc == 0; i++) {
        uint32_t value = model_find_tensor(subgraph->model, text_of(names.items[i]));

        if (value == VALUE_NONE && *names.items[i] == NAME_MAY_MISS)
            rc = add_barrier_to_value(subgraph, names.items[i] + 1, ret_added, err);
        else if (value == VALUE_NONE)
            add_missing_name(&missing, names.items[i]);
        else
            rc = add_barrier(subgraph, value, ret_added, err);
    }
    if (rc == 0)
        rc = refuse_missing_names(subgraph, &missing, "tensors", "so fusions across them cannot be disabled", err);
    string_release(&missing.list);
    return rc;
}

/* Adds the outputs that match a pattern to the set. Returns whether there are any. */
static bool exclude_matching(const struct subgraph *subgraph, const char *pattern, struct bitset *excluded)
{
    bool any = false;

    for (size_t i = 0; i < subgraph->outputs.count; i++) {
        uint32_t value = subgraph->outputs.items[i];

        if (!text_matches_pattern(subgraph->model->values.items[value].name, text_of(pattern)))
            continue;
        bitset_add(excluded, value);
        any = true;
    }
    return any;
}

int outputs_exclude(struct subgraph *subgraph, const char *const *names, size_t count, struct error *err)
{
    size_t value_count = subgraph->model->values.count;
    struct value_list kept SCOPED_ITEMS = {0};
    struct bitset outputs SCOPED(bitset_release) = {0};
    SCOPED_BITSET(excluded);
    struct missing_names missing = {0};
    int rc;

    string_init(&missing.list);
    value_list_to_set(&subgraph->outputs, value_count, &outputs);
    bitset_init(&excluded, value_count);
    for (size_t i = 0; i < count; i++) {
        uint32_t value = model_find_value(subgraph->model, text_of(names[i]));

        if (value != VALUE_NONE && bitset_has(&outputs, value))
            bitset_add(&excluded, value);
        else if (!output_name_is_pattern(names[i]) || !exclude_matching(subgraph, names[i], &excluded))
            add_missing_name(&missing, names[i]);
    }
    rc = refuse_missing_names(subgraph, &missing, "outputs", "only outputs can be excluded", err);
    if (rc < 0)
        goto done;
    for (size_t i = 0; i < subgraph->outputs.count; i++)
        if (!bitset_has(&excluded, subgraph->outputs.items[i]))
            value_list_add(&kept, subgraph->outputs.items[i]);
    if (kept.count == 0 && subgraph->outputs.count > 0) {
        rc = error_set(err, ERR_INVALID, "%s: every output was excluded: leave at least one",
                       subgraph->model->display_name);
        goto done;
    }
    value_list_assign(&subgraph->outputs, &kept);
done:
    string_release(&missing.list);
    return rc;
}
