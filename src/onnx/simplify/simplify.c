/* onnx/simplify/simplify.c: see simplify.h. */
#include "onnx/simplify/simplify.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/node.h"
#include "onnx/edit/rebuild.h"
#include "onnx/model/operators.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/wire.h"
#include "onnx/simplify/neutral_nodes.h"
#include "onnx/simplify/reshapes.h"
#include "onnx/simplify/symbolic_sizes.h"

#define SMALL_CONSTANT 4096 /* bytes: larger constants are not compared */

struct simplification {
    struct model *model;
    struct unused_names *names;
    struct simplify_counts *counts;
    struct symbolic_sizes sizes;
    size_t value_count;     /* before new ones */
    uint32_t *same_as;      /* for each value an equal one before it, or itself */
    struct bitset pinned;   /* values that must keep their names: outputs, and what bodies use */
    struct span *fields;    /* of each node */
    struct name_map by_key; /* nodes and constants by what they are computed of; tensors of sizes by their elements */
    struct arena keys;
    struct string_builder key; /* that is being made */
};

static void pin_values(struct simplification *work)
{
    const struct model *model = work->model;

    bitset_init(&work->pinned, model->values.count);
    for (size_t i = 0; i < model->outputs.count; i++)
        bitset_add(&work->pinned, model->outputs.items[i]);
    for (size_t i = 0; i < model->nodes.count; i++)
        model_add_edges_to(model, model->nodes.items[i].captures, &work->pinned);
}

/* ---- Equal tensors ---- */

static void add_to_key(struct simplification *work, const void *data, size_t size)
{
    string_add_bytes(&work->key, data, size);
}

/* The first value with the key that was made; `value` itself if it is that. Empties the key. */
static uint32_t find_by_key(struct simplification *work, uint32_t value)
{
    struct text key = {work->key.data, work->key.size};
    uint32_t found = name_map_find(&work->by_key, key);

    if (found == NAME_MAP_NONE) {
        found = value;
        name_map_add(&work->by_key, (struct text){arena_copy(&work->keys, key.data, key.size), key.size}, value);
    }
    string_clear(&work->key);
    return found;
}

static void merge_constants(struct simplification *work)
{
    const struct model *model = work->model;

    VECTOR_EACH (const struct initializer, initializer, model->initializers) {
        struct tensor tensor SCOPED(tensor_release) = {0};
        uint32_t value = initializer->value;

        if (initializer->sparse || initializer->narrowed.size > 0 || initializer->message.size > SMALL_CONSTANT ||
            model->values.items[value].info_of_input || bitset_has(&work->pinned, value) ||
            tensor_proto_decode(initializer->message, &tensor, NULL) < 0 || tensor.type == DATA_STRING)
            continue;
        string_add_format(&work->key, "constant %d %zu", (int)tensor.type, tensor.shape.rank);
        add_to_key(work, tensor.shape.dims, tensor.shape.rank * sizeof(tensor.shape.dims[0]));
        add_to_key(work, tensor.data, tensor.size);
        work->same_as[value] = find_by_key(work, value);
    }
}

/* The operator, its attributes, its inputs, and which outputs there are. */
static void make_node_key(struct simplification *work, const struct node *node)
{
    struct wire_reader reader = wire_reader_of(node->message);
    struct wire_field field;

    string_add_format(&work->key, "node " TEXT_FORMAT " ", TEXT_ARGS(node->op_type));
    for (size_t i = 0; i < node->inputs.count; i++) {
        uint32_t value = model_edge(work->model, node->inputs, i);

        value = value != VALUE_NONE ? work->same_as[value] : value;
        add_to_key(work, &value, sizeof(value));
    }
    for (size_t i = 0; i < node->outputs.count; i++)
        string_add_char(&work->key, model_edge(work->model, node->outputs, i) != VALUE_NONE ? '1' : '0');
    while (wire_next(&reader, &field))
        if (field.number == NODE_ATTRIBUTE)
            add_to_key(work, field.whole.data, field.whole.size);
}

/* Replaces the outputs of a node by those of an equal one before it. True if there is one. */
static bool merge_node(struct simplification *work, uint32_t number)
{
    const struct model *model = work->model;
    const struct node *node = &model->nodes.items[number], *before;
    uint32_t first = node_output(model, node, 0), equal;

    if (!domain_is_standard(node->domain) || node->has_subgraphs || first == VALUE_NONE ||
        !node_is_foldable(model, NULL, node))
        return false;
    make_node_key(work, node);
    equal = find_by_key(work, first);
    if (equal == first)
        return false;
    for (size_t i = 0; i < node->outputs.count; i++) {
        uint32_t value = model_edge(model, node->outputs, i);

        if (value != VALUE_NONE && bitset_has(&work->pinned, value))
            return false;
    }
    before = model_producer(model, equal); /* NULL: its only output has become a constant */
    for (size_t i = 0; i < node->outputs.count; i++) {
        uint32_t value = model_edge(model, node->outputs, i);

        if (value != VALUE_NONE)
            work->same_as[value] = work->same_as[before != NULL ? model_edge(model, before->outputs, i) : equal];
    }
    work->counts->equal += node->outputs.count;
    return true;
}

/* ---- Tensors of sizes ---- */

/* The type, if it is one of those of shapes. */
static enum data_type read_size_type(const struct model *model, uint32_t value)
{
    struct value_type type;

    value_info_decode(model->values.items[value].info, &type);
    return type.not_a_tensor == NULL && (type.element == DATA_INT64 || type.element == DATA_INT32) ? type.element
                                                                                                   : DATA_UNDEFINED;
}

static bool read_constant_shape(const struct simplification *work, const struct fact *fact, struct shape *ret)
{
    *ret = (struct shape){.rank = fact->rank};
    for (size_t i = 0; i < fact->rank; i++)
        if (!dimension_is_constant(&work->sizes.system, fact->dims[i], &ret->dims[i]))
            return false;
    return true;
}

static int set_integers(struct simplification *work, uint32_t value, enum data_type type, const struct shape *shape,
                        const int64_t *numbers, struct error *err)
{
    size_t count = shape_elements(shape);
    int32_t narrow[FACT_MOST_NUMBERS];
    struct tensor tensor;

    for (size_t i = 0; i < count; i++)
        narrow[i] = (int32_t)numbers[i];
    if (type == DATA_INT32)
        tensor_borrow(type, shape, narrow, count * sizeof(narrow[0]), &tensor);
    else
        tensor_borrow(type, shape, (void *)numbers, count * sizeof(numbers[0]), &tensor);
    return constant_replace(work->model, value, &tensor, err);
}

static void make_sizes_key(struct simplification *work, const struct fact *fact, enum data_type type)
{
    string_add_format(&work->key, "sizes %d %zu", (int)type, fact->rank);
    for (size_t i = 0; i < fact->number_count; i++) {
        struct dimension number = dimension_normalize(&work->sizes.system, fact->numbers[i]);

        string_add_format(&work->key, " %lld", (long long)number.constant);
        for (size_t k = 0; k < number.count; k++)
            string_add_format(&work->key, "+%lld*%u", (long long)number.terms[k].factor, number.terms[k].variable);
    }
}

/* Replaces a tensor of sizes by a constant, or by an earlier tensor with the same sizes. `*ret`: it did. */
static int replace_sizes(struct simplification *work, const struct node *node, bool *ret, struct error *err)
{
    uint32_t value = node_output(work->model, node, 0), equal;
    const struct fact *fact = &work->sizes.pass.facts[value];
    enum data_type type = read_size_type(work->model, value);
    int64_t numbers[FACT_MOST_NUMBERS];
    struct shape shape;
    size_t count;

    *ret = false;
    if (node->outputs.count != 1 || type == DATA_UNDEFINED || !fact->has_numbers || fact->is_real || fact->rank > 1 ||
        !read_constant_shape(work, fact, &shape) || shape_elements(&shape) != fact->number_count)
        return 0;
    for (size_t i = 0; i < fact->number_count; i++)
        if (!fact->numbers[i].known)
            return 0;
    if (pass_constants(&work->sizes.pass, fact, numbers, &count)) {
        *ret = true;
        work->counts->sizes++;
        return set_integers(work, value, type, &shape, numbers, err);
    }
    make_sizes_key(work, fact, type);
    equal = find_by_key(work, value);
    *ret = equal != value;
    work->counts->sizes += *ret;
    work->same_as[value] = work->same_as[equal];
    return 0;
}

/* ---- Reshapes ---- */

/* Replaces a row of reshapes that ends with this node by one node, or its computed shape by a constant. */
static int replace_reshape(struct simplification *work, uint32_t number, struct error *err)
{
    struct model *model = work->model;
    const struct node *node = &model->nodes.items[number];
    struct text inputs[2], output = model->values.items[node_output(model, node, 0)].name;
    struct node_recipe recipe = {.name = node->name, .inputs = inputs, .outputs = &output, .output_count = 1};
    struct node_attribute axes = {.name = TEXT("axes"), .kind = ATTRIBUTE_KIND_INTEGERS};
    struct reshape_plan plan;
    struct tensor numbers;
    uint32_t constant;
    int rc;

    if (!reshape_plan_find(&work->sizes, node, work->same_as, &plan))
        return 0;
    work->counts->reshapes++;
    inputs[0] = model->values.items[plan.input].name;
    recipe.op_type = plan.unsqueezes ? TEXT("Unsqueeze") : TEXT("Reshape");
    if (plan.unsqueezes && model_opset(model) < 13) {
        axes.integers = plan.numbers;
        axes.count = plan.count;
        recipe.attributes = &axes;
        recipe.attribute_count = 1;
        recipe.input_count = 1;
    } else {
        tensor_borrow(DATA_INT64, &(struct shape){.rank = 1, .dims = {(int64_t)plan.count}}, plan.numbers,
                      plan.count * sizeof(plan.numbers[0]), &numbers);
        inputs[1] = unused_names_make(work->names, output, plan.unsqueezes ? "_axes" : "_shape");
        constant = model_add_value(model, inputs[1]);
        rc = model_set_tensor(model, constant, &numbers, err);
        if (rc < 0)
            return rc;
        recipe.input_count = 2;
    }
    work->fields[number] = node_build(&model->arena, &recipe);
    return 0;
}

/* ---- The walk ---- */

static int simplify_node(struct simplification *work, uint32_t number, struct error *err)
{
    const struct node *node = &work->model->nodes.items[number];
    uint32_t output = node_output(work->model, node, 0), source;
    bool done = false;
    int rc;

    if (output == VALUE_NONE)
        return 0;
    if (!bitset_has(&work->pinned, output)) {
        source = neutral_node_source(&work->sizes, node, work->same_as);
        if (source != VALUE_NONE) {
            work->same_as[output] = source;
            work->counts->neutral++;
            return 0;
        }
        if (merge_node(work, number))
            return 0;
        rc = replace_sizes(work, node, &done, err);
        if (rc < 0 || done)
            return rc;
    }
    return replace_reshape(work, number, err);
}

/* Writes the nodes with the values that replace others. */
static int apply_replacements(struct simplification *work, struct error *err)
{
    struct model *model = work->model;
    struct span_list fields SCOPED_ITEMS = {0};
    struct rename_map names;
    int rc = 0;

    rename_map_init(&names);
    for (uint32_t i = 0; i < work->value_count; i++)
        if (work->same_as[i] != i)
            rename_map_add(&names, model->values.items[i].name, model->values.items[work->same_as[i]].name);
    for (size_t i = 0; rc == 0 && i < model->nodes.count; i++) {
        uint32_t output = node_output(model, &model->nodes.items[i], 0);

        if (output != VALUE_NONE && model->values.items[output].producer != i)
            continue; /* it has become a constant */
        rc = node_rename(&model->arena, work->fields[i], &names, NULL, VECTOR_APPEND(&fields), err);
    }
    rename_map_release(&names);
    return rc < 0 ? rc : model_set_nodes(model, &fields, err);
}

int model_simplify(struct model *model, struct unused_names *names, struct simplify_counts *counts, struct error *err)
{
    struct simplification work = {.model = model, .names = names, .counts = counts, .value_count = model->values.count};
    int rc = 0;

    string_init(&work.key);
    symbolic_sizes_init(&work.sizes, model);
    pin_values(&work);
    work.same_as = memory_alloc_zero(model->values.count + 1, sizeof(*work.same_as));
    work.fields = memory_alloc_zero(model->nodes.count + 1, sizeof(*work.fields));
    for (uint32_t i = 0; i < model->values.count; i++)
        work.same_as[i] = i;
    for (size_t i = 0; i < model->nodes.count; i++)
        work.fields[i] = model->nodes.items[i].field;
    if (work.sizes.pass.has_conflict) /* the model does not run, and facts contradict each other */
        goto done;
    merge_constants(&work);
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        rc = simplify_node(&work, i, err);
        if (rc < 0)
            goto done;
    }
    rc = apply_replacements(&work, err);
    if (rc == 0)
        rc = model_remove_unneeded_nodes(model, err);
done:
    symbolic_sizes_release(&work.sizes);
    bitset_release(&work.pinned);
    name_map_release(&work.by_key);
    arena_release(&work.keys);
    string_release(&work.key);
    free(work.same_as);
    free(work.fields);
    return rc;
}
