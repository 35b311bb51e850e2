/* engine/network/spelling.c: see spelling.h. Source: SparseTensorProto in ONNX's published schema. */
#include "engine/network/spelling.h"

#include <string.h>

#include "base/memory.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/rebuild.h"
#include "onnx/external/tensor.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/proto/wire.h"
#include "tensor/values/elements.h"

/* ---- Sparse constants ---- */

enum { SPARSE_INDICES = 2 };

/* Maximum size of a dense constant in bytes: a small file must not request all memory of the machine. */
#define LARGEST_DENSE ((size_t)1 << 30)

struct sparse_constant {
    struct tensor values;  /* the nonzero values */
    struct tensor indices; /* int64: for each value its position, row-major; or one coordinate for each dimension */
    struct shape shape;
};

static int read_sparse_dimensions(struct sparse_constant *constant, const struct wire_field *field)
{
    struct span cursor = field->bytes;
    uint64_t value = field->value;
    bool damaged = false, more = field->type == WIRE_VARINT;

    while (more || (field->type == WIRE_BYTES && wire_next_packed_varint(&cursor, &value, &damaged))) {
        if (constant->shape.rank == TENSOR_MAX_RANK || value > INT64_MAX)
            return ERR_CORRUPT;
        constant->shape.dims[constant->shape.rank++] = (int64_t)value;
        more = false;
    }
    return damaged ? ERR_CORRUPT : 0;
}

static int read_sparse_constant(const struct model *model, struct span message, struct sparse_constant *ret,
                                struct error *err)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    int rc = 0;

    while (rc == 0 && wire_next(&reader, &field))
        if (field.number == SPARSE_TENSOR_VALUES && field.type == WIRE_BYTES && ret->values.data == NULL)
            rc = external_tensor_read(model, field.bytes, &ret->values, err);
        else if (field.number == SPARSE_INDICES && field.type == WIRE_BYTES && ret->indices.data == NULL)
            rc = external_tensor_read(model, field.bytes, &ret->indices, err);
        else if (field.number == SPARSE_TENSOR_DIMS && read_sparse_dimensions(ret, &field) < 0)
            rc = error_set(err, ERR_CORRUPT, "a sparse constant has a damaged shape");
    if (rc == 0 && (ret->values.data == NULL || ret->indices.data == NULL))
        rc = error_set(err, ERR_CORRUPT, "a sparse constant has no values or no positions");
    return rc;
}

/* The row-major index of a value; SIZE_MAX if it is outside of the shape. */
static size_t sparse_value_position(const struct sparse_constant *constant, size_t value)
{
    size_t position = 0, elements = shape_elements(&constant->shape), rank = constant->shape.rank;
    uint64_t coordinate;

    if (constant->indices.shape.rank == 1) {
        elements_to_integers(&constant->indices, value, 1, &coordinate);
        return coordinate < elements ? (size_t)coordinate : SIZE_MAX;
    }
    for (size_t i = 0; i < rank; i++) {
        elements_to_integers(&constant->indices, value * rank + i, 1, &coordinate);
        if (coordinate >= (uint64_t)constant->shape.dims[i])
            return SIZE_MAX;
        position = position * (size_t)constant->shape.dims[i] + (size_t)coordinate;
    }
    return position;
}

static int check_sparse_constant(const struct sparse_constant *constant, struct error *err)
{
    size_t count = tensor_elements(&constant->values), places = tensor_elements(&constant->indices);
    unsigned bits = data_type_bits(constant->values.type);

    if (bits == 0 || bits % 8 != 0)
        return error_set(err, ERR_UNSUPPORTED, "a sparse constant has elements of type %s",
                         data_type_name(constant->values.type));
    if (constant->indices.type != DATA_INT64 || shape_elements(&constant->shape) == SIZE_MAX ||
        (constant->indices.shape.rank == 1 ? places != count : places != count * constant->shape.rank))
        return error_set(err, ERR_CORRUPT, "a sparse constant has positions that do not fit its values or its shape");
    if (tensor_bytes(constant->values.type, shape_elements(&constant->shape)) > LARGEST_DENSE)
        return error_set(err, ERR_UNSUPPORTED, "a sparse constant is larger than 1 GiB when it is written out");
    for (size_t i = 0; i < count; i++)
        if (sparse_value_position(constant, i) == SIZE_MAX)
            return error_set(err, ERR_CORRUPT, "a sparse constant has a value outside of its shape");
    return 0;
}

static int make_dense_tensor(struct model *model, uint32_t value, const struct sparse_constant *constant,
                             struct error *err)
{
    size_t width = data_type_bits(constant->values.type) / 8;
    void *data;
    int rc = check_sparse_constant(constant, err);

    if (rc == 0)
        rc = model_new_tensor(model, value, constant->values.type, &constant->shape, &data, err);
    if (rc < 0)
        return rc;
    memset(data, 0, tensor_bytes(constant->values.type, shape_elements(&constant->shape)));
    for (size_t i = 0; i < tensor_elements(&constant->values); i++)
        memcpy((char *)data + sparse_value_position(constant, i) * width,
               (const char *)constant->values.data + i * width, width);
    return 0;
}

/* Replaces `value` by the dense form of a SparseTensorProto. */
static int replace_sparse(struct model *model, uint32_t value, struct span message, struct error *err)
{
    struct sparse_constant constant = {0};
    int rc = read_sparse_constant(model, message, &constant, err);

    if (rc == 0)
        rc = make_dense_tensor(model, value, &constant, err);
    if (rc < 0)
        error_context(err, "%s: '" TEXT_FORMAT "'", model->display_name, TEXT_ARGS(model->values.items[value].name));
    tensor_release(&constant.values);
    tensor_release(&constant.indices);
    return rc;
}

/* Whether a node is a Constant with a sparse value, which `ret` gets. */
static bool node_is_sparse_constant(const struct model *model, const struct node *node, struct span *ret)
{
    struct attribute attribute;

    if (!node_is(node, "Constant") || node->outputs.count != 1 || model_edge(model, node->outputs, 0) == VALUE_NONE ||
        !node_attribute_read(node->message, "sparse_value", &attribute))
        return false;
    *ret = attribute.bytes;
    return attribute.type == ATTRIBUTE_ONE_SPARSE_TENSOR;
}

static int replace_sparse_nodes(struct model *model, struct error *err)
{
    struct span_list kept SCOPED_ITEMS = {0};
    size_t count = model->nodes.count;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct node *node = &model->nodes.items[i];
        struct span message;

        if (node_is_sparse_constant(model, node, &message))
            rc = replace_sparse(model, model_edge(model, node->outputs, 0), message, err);
        else
            *VECTOR_APPEND(&kept) = node->field;
    }
    if (rc == 0 && kept.count < count)
        rc = model_set_nodes(model, &kept, err);
    return rc;
}

int model_make_constants_dense(struct model *model, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < model->initializers.count; i++)
        if (model->initializers.items[i].sparse)
            rc = replace_sparse(model, model->initializers.items[i].value, model->initializers.items[i].message, err);
    return rc == 0 ? replace_sparse_nodes(model, err) : rc;
}

/* ---- Sums ---- */

static bool node_is_sum_of_two(const struct model *model, const struct node *node)
{
    return node_is(node, "Sum") && node->inputs.count == 2 && model_edge(model, node->inputs, 0) != VALUE_NONE &&
           model_edge(model, node->inputs, 1) != VALUE_NONE;
}

/* Converts the node to an Add. */
static struct span respell_sum(struct model *model, struct span node)
{
    SCOPED_STRING(message);

    wire_copy_without(&message, node, NODE_OP_TYPE);
    wire_write_text(&message, NODE_OP_TYPE, TEXT("Add"));
    return wire_make_field(&model->arena, GRAPH_NODE, &message);
}

int model_respell_sums(struct model *model, struct error *err)
{
    struct span_list fields SCOPED_ITEMS = {0};
    bool any = false;
    int rc = 0;

    VECTOR_EACH (const struct node, node, model->nodes) {
        bool is_sum = node_is_sum_of_two(model, node);

        *VECTOR_APPEND(&fields) = is_sum ? respell_sum(model, node->message) : node->field;
        any |= is_sum;
    }
    if (any)
        rc = model_set_nodes(model, &fields, err);
    return rc;
}
