/* onnx/edit/shape_folding.c: see shape_folding.h. */
#include "onnx/edit/shape_folding.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/rebuild.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/value_info.h"
#include "onnx/edit/node.h"
#include "tensor/values/elements.h"

/* Maximum number of nodes between an integer and its origin. */
#define MAX_STEPS 16

/* float32 represents integers up to this exactly. */
#define EXACT_INTEGER 16777216.0

/* ---- Shapes ---- */

/* The dimensions that a Shape node produces; -1: unknown. */
struct known_shape {
    size_t count;
    int64_t dims[TENSOR_MAX_RANK];
};

static bool read_static_shape(const struct model *model, uint32_t value, struct shape *ret)
{
    const struct initializer *initializer = model_dense_initializer(model, value);
    struct tensor_header header;
    struct value_type type;

    if (initializer != NULL && tensor_proto_read(initializer->message, &header, NULL) == 0) {
        *ret = header.shape;
        return true;
    }
    value_info_decode(model->values.items[value].info, &type);
    *ret = type.shape;
    return type.not_a_tensor == NULL && type.has_shape;
}

static bool read_shape_node(const struct model *model, const struct node *node, struct known_shape *ret)
{
    uint32_t input = node_input(model, node, 0);
    struct shape shape;
    int64_t rank, start, end;

    if (!node_is(node, "Shape") || node_has_references(node->message) || input == VALUE_NONE ||
        !read_static_shape(model, input, &shape))
        return false;
    rank = (int64_t)shape.rank;
    start = shape_clamp_bound(node_attribute_integer(node->message, "start", 0), rank);
    end = shape_clamp_bound(node_attribute_integer(node->message, "end", rank), rank);
    ret->count = 0;
    for (int64_t i = start; i < end; i++)
        ret->dims[ret->count++] = shape.dims[i];
    return true;
}

/* The values that a node computes from a shape. */
struct picked {
    struct shape shape;
    int64_t items[TENSOR_MAX_RANK];
};

static bool pick_all_dimensions(const struct known_shape *from, struct picked *ret)
{
    ret->shape = (struct shape){.rank = 1, .dims = {(int64_t)from->count}};
    for (size_t i = 0; i < from->count; i++)
        ret->items[i] = from->dims[i];
    return true;
}

static bool pick_gathered_dimensions(const struct model *model, const struct node *node, const struct known_shape *from,
                                     struct picked *ret)
{
    int64_t indices[TENSOR_MAX_RANK], count = (int64_t)from->count;
    size_t picked;

    if (node_attribute_integer(node->message, "axis", 0) != 0 ||
        !constant_integers(model, node_input(model, node, 1), TENSOR_MAX_RANK, indices, &ret->shape))
        return false;
    picked = shape_elements(&ret->shape);
    for (size_t i = 0; i < picked; i++) {
        if (indices[i] < -count || indices[i] >= count)
            return false;
        ret->items[i] = from->dims[indices[i] < 0 ? indices[i] + count : indices[i]];
    }
    return true;
}

/* A number parameter of a Slice: an input since operator set 10, an attribute before. */
static bool read_slice_number(const struct model *model, const struct node *node, size_t input, const char *attribute,
                              int64_t fallback, int64_t *ret)
{
    uint32_t value = node_input(model, node, input);
    struct shape shape;
    size_t count;

    *ret = fallback;
    if (value != VALUE_NONE)
        return constant_integers(model, value, 1, ret, &shape) && shape_elements(&shape) == 1;
    count = node_attribute_integers(node->message, attribute, ret, 1);
    return count == 1 || (count == 0 && input > 2);
}

static bool pick_sliced_dimensions(const struct model *model, const struct node *node, const struct known_shape *from,
                                   struct picked *ret)
{
    int64_t start, end, axis, step, count = (int64_t)from->count;

    if (!read_slice_number(model, node, 1, "starts", 0, &start) ||
        !read_slice_number(model, node, 2, "ends", 0, &end) || !read_slice_number(model, node, 3, "axes", 0, &axis) ||
        !read_slice_number(model, node, 4, "steps", 1, &step))
        return false;
    if ((axis != 0 && axis != -1) || step != 1)
        return false;
    ret->shape = (struct shape){.rank = 1};
    for (int64_t i = shape_clamp_bound(start, count); i < shape_clamp_bound(end, count); i++)
        ret->items[ret->shape.dims[0]++] = from->dims[i];
    return true;
}

static bool pick_dimensions(const struct model *model, const struct node *node, struct picked *ret)
{
    const struct node *before = model_producer(model, node_input(model, node, 0));
    struct known_shape known;

    if (read_shape_node(model, node, &known))
        return pick_all_dimensions(&known, ret);
    if (before == NULL || node_has_references(node->message) || !read_shape_node(model, before, &known))
        return false;
    if (node_is(node, "Gather"))
        return pick_gathered_dimensions(model, node, &known, ret);
    return node_is(node, "Slice") && pick_sliced_dimensions(model, node, &known, ret);
}

int model_fold_shapes(struct model *model, size_t *count, struct error *err)
{
    for (size_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];
        uint32_t output = node_output(model, node, 0);
        struct picked picked;
        struct tensor tensor;
        bool known;
        int rc;

        if (output == VALUE_NONE || model->values.items[output].producer != i || !pick_dimensions(model, node, &picked))
            continue;
        known = true;
        for (size_t k = 0; k < shape_elements(&picked.shape); k++)
            known = known && picked.items[k] >= 0;
        if (!known)
            continue;
        tensor_borrow(DATA_INT64, &picked.shape, picked.items, shape_elements(&picked.shape) * sizeof(int64_t),
                      &tensor);
        rc = constant_replace(model, output, &tensor, err);
        if (rc < 0)
            return rc;
        ++*count;
    }
    return 0;
}

/* ---- Casts ---- */

/* An arithmetic node between casts, and its replacement. */
struct elision {
    uint32_t operands[2]; /* integers, or constants in floating point */
    enum data_type type;  /* of the integers */
    uint32_t cast;        /* node: the cast back */
    bool floating[2];     /* operand is a floating-point constant */
};

struct read_counts {
    uint32_t *count; /* number of reads of each value: by nodes, by bodies, or as an output */
    uint32_t *node;  /* a consumer */
};

static void count_value_uses(const struct model *model, struct read_counts *uses)
{
    uses->count = memory_alloc_zero(model->values.count + 1, sizeof(*uses->count));
    uses->node = memory_alloc_zero(model->values.count + 1, sizeof(*uses->node));
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        const struct edge_range ranges[] = {model->nodes.items[i].inputs, model->nodes.items[i].captures};

        for (size_t r = 0; r < ARRAY_LEN(ranges); r++)
            for (size_t k = 0; k < ranges[r].count; k++) {
                uint32_t value = model_edge(model, ranges[r], k);

                if (value == VALUE_NONE)
                    continue;
                uses->count[value]++;
                uses->node[value] = i;
            }
    }
    for (size_t i = 0; i < model->outputs.count; i++)
        uses->count[model->outputs.items[i]] += 2; /* its name must stay */
}

static bool value_comes_from_shapes(const struct model *model, uint32_t value, unsigned steps)
{
    static const char *const moving[] = {"Gather", "Slice", "Squeeze", "Unsqueeze", "Identity", "Reshape"};
    const struct node *node = model_producer(model, value);

    if (node == NULL || steps == 0)
        return false;
    if (node_is(node, "Shape") || node_is(node, "Size"))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(moving); i++)
        if (node_is(node, moving[i]))
            return value_comes_from_shapes(model, node_input(model, node, 0), steps - 1);
    return false;
}

static enum data_type value_element_type(const struct model *model, uint32_t value)
{
    struct value_type type;

    value_info_decode(model->values.items[value].info, &type);
    return type.not_a_tensor == NULL ? type.element : DATA_UNDEFINED;
}

static bool value_is_float_constant(const struct model *model, uint32_t value, struct tensor *ret)
{
    const struct initializer *initializer = model_dense_initializer(model, value);
    size_t count;
    double items[ELEMENTS_RUN];

    if (initializer == NULL || tensor_proto_decode(initializer->message, ret, NULL) < 0)
        return false;
    count = tensor_elements(ret);
    if (data_type_is_float(ret->type) && count <= ELEMENTS_RUN) {
        bool exact = true;

        elements_to_float64(ret, 0, count, items);
        for (size_t i = 0; i < count; i++)
            exact = exact && fabs(items[i]) <= EXACT_INTEGER && items[i] == floor(items[i]);
        if (exact)
            return true;
    }
    tensor_release(ret);
    return false;
}

/* An operand: a cast from integers that come from shapes, or a constant of whole numbers. */
static bool read_elided_operand(const struct model *model, uint32_t value, struct elision *ret, size_t i)
{
    const struct node *cast = model_producer(model, value);
    struct tensor constant;
    uint32_t source;

    if (value == VALUE_NONE)
        return false;
    ret->operands[i] = value;
    ret->floating[i] = value_is_float_constant(model, value, &constant);
    if (ret->floating[i]) {
        tensor_release(&constant);
        return true;
    }
    if (cast == NULL || !node_is(cast, "Cast"))
        return false;
    source = node_input(model, cast, 0);
    if (source == VALUE_NONE || !value_comes_from_shapes(model, source, MAX_STEPS))
        return false;
    ret->operands[i] = source;
    return true;
}

static bool find_cast_elision(const struct model *model, const struct node *node, const struct read_counts *uses,
                              struct elision *ret)
{
    uint32_t output = node_output(model, node, 0);

    if ((!node_is(node, "Add") && !node_is(node, "Sub") && !node_is(node, "Mul")) || node->inputs.count != 2 ||
        output == VALUE_NONE || uses->count[output] != 1)
        return false;
    ret->cast = uses->node[output];
    if (!node_is(&model->nodes.items[ret->cast], "Cast") ||
        node_output(model, &model->nodes.items[ret->cast], 0) == VALUE_NONE)
        return false;
    ret->type = (enum data_type)node_attribute_integer(model->nodes.items[ret->cast].message, "to", DATA_UNDEFINED);
    if (ret->type != DATA_INT64 && ret->type != DATA_INT32)
        return false;
    for (size_t i = 0; i < 2; i++)
        if (!read_elided_operand(model, node_input(model, node, i), ret, i) ||
            (!ret->floating[i] && value_element_type(model, ret->operands[i]) != ret->type))
            return false;
    return !ret->floating[0] || !ret->floating[1];
}

/* Creates an integer constant of the same numbers, with a new name. */
static int make_integer_constant(struct model *model, struct unused_names *names, struct elision *elision, size_t i,
                                 struct error *err)
{
    struct tensor from, to;
    double items[ELEMENTS_RUN];
    struct text name = model->values.items[elision->operands[i]].name;
    int rc;

    if (!value_is_float_constant(model, elision->operands[i], &from))
        return 0;
    name = unused_names_make(names, name, elision->type == DATA_INT64 ? "_int64" : "_int32");
    rc = tensor_allocate(elision->type, &from.shape, &to, err);
    if (rc == 0) {
        elements_to_float64(&from, 0, tensor_elements(&from), items);
        for (size_t k = 0; k < tensor_elements(&from); k++)
            if (elision->type == DATA_INT64)
                ((int64_t *)tensor_writable(&to))[k] = (int64_t)items[k];
            else
                ((int32_t *)tensor_writable(&to))[k] = (int32_t)items[k];
        elision->operands[i] = model_add_value(model, name);
        rc = model_set_tensor(model, elision->operands[i], &to, err);
        tensor_release(&to);
    }
    tensor_release(&from);
    return rc;
}

/* Replaces the operation and the cast back by the operation on integers. */
static int elide_node_casts(struct model *model, struct unused_names *names, uint32_t node, struct elision *elision,
                            struct span *fields, struct error *err)
{
    const struct node *n = &model->nodes.items[node];
    struct node_recipe recipe = {.op_type = n->op_type, .name = n->name, .input_count = 2, .output_count = 1};
    struct text inputs[2], output;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < 2; i++)
        if (elision->floating[i])
            rc = make_integer_constant(model, names, elision, i, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < 2; i++)
        inputs[i] = model->values.items[elision->operands[i]].name;
    output = model->values.items[node_output(model, &model->nodes.items[elision->cast], 0)].name;
    recipe.inputs = inputs;
    recipe.outputs = &output;
    fields[node] = node_build(&model->arena, &recipe);
    fields[elision->cast].size = 0;
    return 0;
}

int model_elide_casts(struct model *model, struct unused_names *names, size_t *count, struct error *err)
{
    size_t nodes = model->nodes.count, elided = 0;
    struct span *fields SCOPED_FREE = memory_alloc_zero(nodes + 1, sizeof(*fields));
    struct span_list kept SCOPED_ITEMS = {0};
    struct read_counts uses;
    int rc = 0;

    count_value_uses(model, &uses);
    for (size_t i = 0; i < nodes; i++)
        fields[i] = model->nodes.items[i].field;
    for (uint32_t i = 0; rc == 0 && i < nodes; i++) {
        struct elision elision;

        if (!find_cast_elision(model, &model->nodes.items[i], &uses, &elision))
            continue;
        rc = elide_node_casts(model, names, i, &elision, fields, err);
        elided++;
    }
    for (size_t i = 0; i < nodes; i++)
        if (fields[i].size > 0)
            *VECTOR_APPEND(&kept) = fields[i];
    if (rc == 0 && elided > 0)
        rc = model_set_nodes(model, &kept, err);
    *count += elided;
    free(uses.count);
    free(uses.node);
    return rc;
}
