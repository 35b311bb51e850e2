/* onnx/edit/insert.c: see insert.h. */
#include "onnx/edit/insert.h"

#include "base/memory.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/rebuild.h"
#include "onnx/model/unused_names.h"
#include "onnx/model/subgraph.h"
#include "onnx/model/text.h"
#include "onnx/proto/value_info.h"

#define SUFFIX "_polygraphy_surgeon_insert_output"

struct insertion {
    struct model *model;
    struct unused_names names;
    struct rename_map read, made;  /* new names of inputs and outputs of existing nodes */
    struct text *inputs, *outputs; /* of the new node */
    struct node_recipe recipe;     /* with these inputs and outputs */
};

static int find_inserted_tensor(const struct model *model, struct text name, uint32_t *ret, struct error *err)
{
    *ret = name.size > 0 ? model_find_tensor(model, name) : VALUE_NONE;
    if (name.size > 0 && *ret == VALUE_NONE)
        return tensor_refuse_unknown(model, name, err);
    return 0;
}

static int check_recipe_tensors(const struct model *model, const struct node_recipe *recipe, struct error *err)
{
    uint32_t value;
    int rc;

    for (size_t i = 0; i < recipe->input_count; i++) {
        rc = find_inserted_tensor(model, recipe->inputs[i], &value, err);
        if (rc < 0)
            return rc;
    }
    for (size_t i = 0; i < recipe->output_count; i++) {
        rc = find_inserted_tensor(model, recipe->outputs[i], &value, err);
        if (rc < 0)
            return rc;
        for (size_t k = 0; k < i; k++)
            if (value != VALUE_NONE && text_equal(recipe->outputs[i], recipe->outputs[k]))
                return error_set(err, ERR_INVALID, "the new node cannot produce '" TEXT_FORMAT "' twice",
                                 TEXT_ARGS(recipe->outputs[i]));
    }
    return 0;
}

static bool value_is_read(const struct node_recipe *recipe, struct text name)
{
    for (size_t i = 0; i < recipe->input_count; i++)
        if (text_equal(recipe->inputs[i], name))
            return true;
    return false;
}

/* Adds a value with a new name and the type of `value`. */
static uint32_t add_identity_copy(struct insertion *insertion, uint32_t value, struct text name)
{
    struct model *model = insertion->model;
    uint32_t copy = model_add_value(model, name);

    if (model->values.items[value].info.size > 0)
        model->values.items[copy].info = value_info_rename(&model->arena, model->values.items[value].info, name);
    return copy;
}

/* Moves the source of `value` (a node, a constant or an input) to `other`. */
static void hand_over_source(struct insertion *insertion, uint32_t value, uint32_t other)
{
    struct model *model = insertion->model;
    uint32_t initializer = model->values.items[value].initializer;

    rename_map_add(&insertion->made, model->values.items[value].name, model->values.items[other].name);
    for (size_t i = 0; i < model->inputs.count; i++)
        if (model->inputs.items[i] == value)
            model->inputs.items[i] = other;
    if (initializer != INITIALIZER_NONE) {
        struct initializer *moved = &model->initializers.items[initializer];

        *moved =
            (struct initializer){.message = moved->message, .value = other, .sparse = moved->sparse, .renamed = true};
        model->values.items[other].initializer = initializer;
        model->values.items[value].initializer = INITIALIZER_NONE;
    }
}

/* Inserts the new node between `value` and its consumers. Returns the name of its output. */
static struct text split_read_value(struct insertion *insertion, uint32_t value)
{
    struct text name = insertion->model->values.items[value].name;
    struct text other = unused_names_make(&insertion->names, name, SUFFIX);
    uint32_t copy = add_identity_copy(insertion, value, other);

    if (!value_list_has(&insertion->model->outputs, value)) {
        rename_map_add(&insertion->read, name, other);
        return other;
    }
    hand_over_source(insertion, value, copy);
    for (size_t i = 0; i < insertion->recipe.input_count; i++)
        if (text_equal(insertion->inputs[i], name))
            insertion->inputs[i] = other;
    return name;
}

/* Makes the new node the producer of `value`. The former producer keeps its output under an unused name. */
static void take_over_value(struct insertion *insertion, uint32_t value)
{
    struct model *model = insertion->model;
    SCOPED_BITSET(removed);
    size_t kept = 0;

    if (model->values.items[value].producer != NODE_NONE)
        rename_map_add(&insertion->made, model->values.items[value].name,
                       unused_names_make(&insertion->names, model->values.items[value].name, "_unused"));
    for (size_t i = 0; i < model->inputs.count; i++)
        if (model->inputs.items[i] != value)
            model->inputs.items[kept++] = model->inputs.items[i];
    model->inputs.count = kept;
    bitset_init(&removed, model->values.count);
    bitset_add(&removed, value);
    model_remove_initializers(model, &removed);
}

static void connect_new_node(struct insertion *insertion, const struct node_recipe *recipe)
{
    for (size_t i = 0; i < recipe->input_count; i++)
        insertion->inputs[i] = recipe->inputs[i];
    for (size_t i = 0; i < recipe->output_count; i++) {
        struct text name = recipe->outputs[i];
        uint32_t value = name.size > 0 ? model_find_value(insertion->model, name) : VALUE_NONE;

        insertion->outputs[i] = name;
        if (value == VALUE_NONE)
            continue;
        if (value_is_read(recipe, name))
            insertion->outputs[i] = split_read_value(insertion, value);
        else
            take_over_value(insertion, value);
    }
}

/* The index of the new node: after all producers of its inputs. */
static size_t find_node_place(const struct model *model, const struct node_recipe *recipe)
{
    size_t place = 0;

    for (size_t i = 0; i < recipe->input_count; i++) {
        uint32_t value = recipe->inputs[i].size > 0 ? model_find_value(model, recipe->inputs[i]) : VALUE_NONE;
        uint32_t producer = value != VALUE_NONE ? model->values.items[value].producer : NODE_NONE;

        if (producer != NODE_NONE && producer >= place)
            place = producer + 1;
    }
    return place;
}

static int list_inserted_nodes(struct insertion *insertion, size_t place, struct span added, struct span_list *ret,
                               struct error *err)
{
    struct model *model = insertion->model;

    for (size_t i = 0; i <= model->nodes.count; i++) {
        struct span field;
        int rc;

        if (i == place)
            *VECTOR_APPEND(ret) = added;
        if (i == model->nodes.count)
            break;
        rc = node_rename(&model->arena, model->nodes.items[i].field, &insertion->read, &insertion->made, &field, err);
        if (rc < 0)
            return rc;
        *VECTOR_APPEND(ret) = field;
    }
    return 0;
}

int model_insert_node(struct model *model, const struct node_recipe *recipe, uint32_t *ret_node, struct error *err)
{
    struct insertion insertion = {.model = model, .recipe = *recipe};
    struct span_list fields SCOPED_ITEMS = {0};
    struct span added;
    size_t place;
    int rc = check_recipe_tensors(model, recipe, err);

    if (rc < 0)
        return rc;
    unused_names_init(&insertion.names, model, &model->arena);
    rename_map_init(&insertion.read);
    rename_map_init(&insertion.made);
    insertion.recipe.inputs = insertion.inputs =
        arena_alloc_zero(&model->arena, recipe->input_count + 1, sizeof(struct text));
    insertion.recipe.outputs = insertion.outputs =
        arena_alloc_zero(&model->arena, recipe->output_count + 1, sizeof(struct text));
    place = find_node_place(model, recipe);
    connect_new_node(&insertion, recipe);
    added = node_build(&model->arena, &insertion.recipe);
    rc = list_inserted_nodes(&insertion, place, added, &fields, err);
    if (rc < 0)
        goto done;
    rc = model_set_nodes(model, &fields, err);
    if (rc < 0)
        goto done;
    rc = model_sort_nodes(model, err);
    if (rc < 0)
        goto done;
    for (uint32_t i = 0; i < model->nodes.count; i++)
        if (model->nodes.items[i].field.data == added.data)
            *ret_node = i;
done:
    unused_names_release(&insertion.names);
    rename_map_release(&insertion.read);
    rename_map_release(&insertion.made);
    return rc;
}

static bool node_reads_any(const struct model *model, struct edge_range range, const struct bitset *values)
{
    for (size_t i = 0; i < range.count; i++)
        if (model_edge(model, range, i) != VALUE_NONE && bitset_has(values, model_edge(model, range, i)))
            return true;
    return false;
}

/* The nodes are in order: one walk is enough. */
void model_add_descendants(const struct model *model, uint32_t node, struct bitset *ret)
{
    for (uint32_t i = node; i < model->nodes.count; i++) {
        const struct node *n = &model->nodes.items[i];

        if (i != node && !node_reads_any(model, n->inputs, ret) && !node_reads_any(model, n->captures, ret))
            continue;
        for (size_t k = 0; k < n->outputs.count; k++)
            if (model_edge(model, n->outputs, k) != VALUE_NONE)
                bitset_add(ret, model_edge(model, n->outputs, k));
    }
}
