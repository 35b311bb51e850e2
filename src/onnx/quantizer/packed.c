/* onnx/quantizer/packed.c: see packed.h. */
#include "onnx/quantizer/packed.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/external/tensor.h"
#include "onnx/model/graph_view.h"
#include "onnx/proto/node_attribute.h"
#include "tensor/values/elements.h"

#define MOST_ELEMENTS INT32_MAX /* along an axis: products of two sizes fit 64 bits */

/* ---- Layouts of the operators ---- */

/* Whether the elements of a byte are separate elements of the tensor's declared shape: uint4 and int4. */
static bool type_is_unpacked(enum data_type type)
{
    return type == DATA_UINT4 || type == DATA_INT4;
}

/* The type and shape of a constant; false if the value is not a dense constant. */
static bool constant_type(const struct model *model, uint32_t value, struct value_type *ret)
{
    uint32_t initializer = value != VALUE_NONE ? model->values.items[value].initializer : INITIALIZER_NONE;

    if (initializer == INITIALIZER_NONE || model->initializers.items[initializer].sparse)
        return false;
    graph_view_initializer_type(&model->initializers.items[initializer], ret);
    return ret->not_a_tensor == NULL && ret->has_shape;
}

static const char *check_packed_weight(const struct model *model, const struct packed_weight *weight)
{
    const uint32_t optional[] = {weight->zero_point, weight->groups};
    struct value_type type;

    if (!constant_type(model, weight->data, &type))
        return "its integers are not a dense constant";
    if (type.element != DATA_UINT8 && !type_is_unpacked(type.element))
        return "its integers are not packed in bytes";
    if (!constant_type(model, weight->scale, &type))
        return "its scales are not a dense constant";
    for (size_t i = 0; i < ARRAY_LEN(optional); i++)
        if (optional[i] != VALUE_NONE && !constant_type(model, optional[i], &type))
            return "its zero points or groups are not a dense constant";
    if (weight->bits != 4 && weight->bits != 8)
        return "its integers do not have 4 or 8 bits";
    for (size_t i = 0; i < weight->shape.rank; i++)
        if (weight->shape.dims[i] <= 0 || weight->shape.dims[i] > MOST_ELEMENTS)
            return "its shape is not valid";
    if (weight->block_size <= 0 || weight->block_size > MOST_ELEMENTS || weight->block_size * weight->bits % 8 != 0)
        return "its block size is not valid";
    return NULL;
}

/* MatMulNBits: B is [N, blocks, bytes of a block]; the last block is padded. */
static void find_product_weight(const struct model *model, const struct node *node, struct packed_weight *ret)
{
    int64_t length = node_attribute_integer(node->message, "K", 0);
    int64_t size = ret->block_size = node_attribute_integer(node->message, "block_size", 0);

    ret->bits = (unsigned)node_attribute_integer(node->message, "bits", 4);
    ret->zero_point = node_input(model, node, 3);
    ret->groups = node_input(model, node, 4);
    ret->shape = (struct shape){.rank = 2, .dims = {node_attribute_integer(node->message, "N", 0), length}};
    ret->axis = 1;
    ret->is_turned = true;
    if (length > 0 && size > 0 && length <= MOST_ELEMENTS && size <= MOST_ELEMENTS)
        ret->padded = (size_t)((length + size - 1) / size * size);
}

/* The shape of the elements of a tensor whose last axis is packed. */
static void find_shape_of_rows(const struct model *model, struct packed_weight *ret)
{
    struct value_type type;

    if (!constant_type(model, ret->data, &type) || type.shape.rank == 0)
        return;
    ret->shape = type.shape;
    if (!type_is_unpacked(type.element) && ret->bits == 4 && type.shape.dims[type.shape.rank - 1] <= MOST_ELEMENTS)
        ret->shape.dims[type.shape.rank - 1] *= 2;
    ret->padded = (size_t)ret->shape.dims[type.shape.rank - 1];
}

static const char *find_embedding(const struct model *model, const struct node *node, struct packed_weight *ret)
{
    int64_t axis = node_attribute_integer(node->message, "quantize_axis", 1);

    ret->bits = (unsigned)node_attribute_integer(node->message, "bits", 4);
    ret->zero_point = node_input(model, node, 3);
    ret->block_size = node_attribute_integer(node->message, "block_size", 128);
    find_shape_of_rows(model, ret);
    if (axis < 0)
        axis += (int64_t)ret->shape.rank;
    if (ret->shape.rank > 0 && (axis < 0 || axis >= (int64_t)ret->shape.rank))
        return "its quantize_axis is out of range";
    ret->axis = (size_t)axis;
    return NULL;
}

/* QMoE: [experts, rows, columns], with a scale for each block of a row, or for each row. */
static const char *find_expert_weight(const struct model *model, const struct node *node, size_t place,
                                      struct packed_weight *ret)
{
    enum { FIRST_ZERO_POINT = 11, FIRST_WEIGHT = 2, INPUTS_OF_WEIGHT = 3 };

    ret->bits = (unsigned)node_attribute_integer(node->message, "expert_weight_bits", 4);
    ret->zero_point = node_input(model, node, FIRST_ZERO_POINT + (place - FIRST_WEIGHT) / INPUTS_OF_WEIGHT);
    find_shape_of_rows(model, ret);
    if (ret->shape.rank == 0)
        return NULL;
    if (ret->shape.rank != 3)
        return "it is not a matrix for each expert";
    ret->axis = 2;
    ret->block_size = node_attribute_integer(node->message, "block_size", 0);
    if (ret->block_size == 0)
        ret->block_size = ret->shape.dims[2];
    return NULL;
}

const char *packed_weight_find(const struct model *model, const struct node *node, size_t place,
                               struct packed_weight *ret)
{
    bool is_embedding = text_equal_string(node->op_type, "GatherBlockQuantized");
    const char *why = NULL;

    *ret = (struct packed_weight){.data = node_input(model, node, place),
                                  .scale = node_input(model, node, is_embedding ? 2 : place + 1),
                                  .zero_point = VALUE_NONE,
                                  .groups = VALUE_NONE};
    if (is_embedding)
        why = find_embedding(model, node, ret);
    else if (text_equal_string(node->op_type, "QMoE"))
        why = find_expert_weight(model, node, place, ret);
    else
        find_product_weight(model, node, ret);
    return why != NULL ? why : check_packed_weight(model, ret);
}

/* ---- Elements ---- */

static unsigned packed_element(const uint8_t *bytes, unsigned bits, size_t index)
{
    return bits == 8 ? bytes[index] : bytes[index / 2] >> (index % 2 * 4) & 15;
}

/* The buffer was cleared. */
static void store_packed(uint8_t *bytes, unsigned bits, size_t index, unsigned element)
{
    if (bits == 8)
        bytes[index] = (uint8_t)element;
    else
        bytes[index / 2] |= (uint8_t)((element & 15) << (index % 2 * 4));
}

struct unpacking {
    struct model *model;
    const struct packed_weight *weight;
    struct unpacked_weight *ret;
    struct shape parameters; /* of scales and zero points, in the order in which they are stored */
    size_t rows, length;     /* of the parameters */
    unsigned subtracted;     /* from each stored element */
    const char *why_not;
};

static int borrow_constant(const struct unpacking *unpacking, uint32_t value, struct tensor *ret, struct error *err)
{
    struct model *model = unpacking->model;

    return external_tensor_borrow(model, model->initializers.items[model->values.items[value].initializer].message, ret,
                                  err);
}

/* The index in the result of element `column` of row `row`. */
static size_t turned_index(const struct unpacking *unpacking, size_t row, size_t column, size_t rows, size_t columns)
{
    return unpacking->weight->is_turned ? column * rows + row : row * columns + column;
}

static int allocate_result(const struct unpacking *unpacking, enum data_type type, const struct shape *shape,
                           struct tensor *ret, struct error *err)
{
    struct shape turned = *shape;
    int rc;

    if (unpacking->weight->is_turned) {
        turned.dims[0] = shape->dims[1];
        turned.dims[1] = shape->dims[0];
    }
    rc = tensor_allocate(type, &turned, ret, err);
    if (rc == 0)
        memset(tensor_writable(ret), 0, ret->size);
    return rc;
}

static int unpack_integers(struct unpacking *unpacking, struct error *err)
{
    const struct packed_weight *weight = unpacking->weight;
    size_t columns = (size_t)weight->shape.dims[weight->shape.rank - 1];
    size_t rows = shape_elements(&weight->shape) / columns;
    bool has_zero_point = weight->zero_point != VALUE_NONE;
    enum data_type type = weight->bits == 4 ? DATA_UINT4 : DATA_UINT8;
    struct tensor stored;
    uint8_t *bytes;
    int rc = borrow_constant(unpacking, weight->data, &stored, err);

    if (rc < 0)
        return rc;
    if (rows > stored.size * 8 / weight->bits / weight->padded ||
        stored.size != (rows * weight->padded * weight->bits + 7) / 8) {
        unpacking->why_not = "the size of its integers does not match the attributes of its operator";
        return 0;
    }
    if (type_is_unpacked(stored.type))
        type = stored.type;
    else if (!has_zero_point) {
        type = weight->bits == 4 ? DATA_INT4 : DATA_INT8;
        unpacking->subtracted = 1U << (weight->bits - 1);
    }
    rc = allocate_result(unpacking, type, &weight->shape, &unpacking->ret->integers, err);
    if (rc < 0)
        return rc;
    bytes = tensor_writable(&unpacking->ret->integers);
    for (size_t row = 0; row < rows; row++)
        for (size_t i = 0; i < columns; i++)
            store_packed(bytes, weight->bits, turned_index(unpacking, row, i, rows, columns),
                         packed_element(stored.data, weight->bits, row * weight->padded + i) - unpacking->subtracted);
    return 0;
}

static int unpack_scales(struct unpacking *unpacking, struct error *err)
{
    struct tensor stored;
    size_t width;
    uint8_t *to;
    int rc = borrow_constant(unpacking, unpacking->weight->scale, &stored, err);

    if (rc < 0)
        return rc;
    if (elements_arithmetic(stored.type) != ARITHMETIC_FLOAT32 || data_type_bits(stored.type) < 16 ||
        tensor_elements(&stored) != unpacking->rows * unpacking->length) {
        unpacking->why_not = "the type or the number of its scales is not valid";
        return 0;
    }
    rc = allocate_result(unpacking, stored.type, &unpacking->parameters, &unpacking->ret->scale, err);
    if (rc < 0)
        return rc;
    width = data_type_bits(stored.type) / 8;
    to = tensor_writable(&unpacking->ret->scale);
    for (size_t row = 0; row < unpacking->rows; row++)
        for (size_t i = 0; i < unpacking->length; i++)
            memcpy(to + turned_index(unpacking, row, i, unpacking->rows, unpacking->length) * width,
                   (const uint8_t *)stored.data + (row * unpacking->length + i) * width, width);
    return 0;
}

/* MatMulNBits accepts zero points of the scales' type. */
static unsigned float_zero_point(struct unpacking *unpacking, const struct tensor *stored, size_t index)
{
    double value;

    elements_to_float64(stored, index, 1, &value);
    if (value >= 0 && value < (double)(1U << unpacking->weight->bits) && value == floor(value)) /* NOLINT: exact */
        return (unsigned)value;
    unpacking->why_not = "a zero point is not an integer of its type";
    return 0;
}

/* Packed like the integers, each row in bytes of its own; or of a type with an element for each. */
static int unpack_zero_points(struct unpacking *unpacking, struct error *err)
{
    const struct packed_weight *weight = unpacking->weight;
    size_t rows = unpacking->rows, length = unpacking->length, count = rows * length;
    size_t in_row = length, padded; /* without and with what fills the last byte */
    struct tensor stored;
    bool is_float;
    int rc;

    if (weight->zero_point == VALUE_NONE)
        return 0;
    rc = borrow_constant(unpacking, weight->zero_point, &stored, err);
    if (rc < 0)
        return rc;
    is_float = elements_arithmetic(stored.type) == ARITHMETIC_FLOAT32;
    if (length == 1 && weight->shape.rank == 3 && stored.shape.rank == 2) /* one for each row of an expert */
        in_row = (size_t)weight->shape.dims[1];
    padded = in_row + (stored.type == DATA_UINT8 && weight->bits == 4 ? in_row % 2 : 0);
    if (is_float ? tensor_elements(&stored) != count
                 : (stored.type != DATA_UINT8 && !type_is_unpacked(stored.type)) ||
                       stored.size != (count / in_row * padded * weight->bits + 7) / 8) {
        unpacking->why_not = "the type or the number of its zero points is not valid";
        return 0;
    }
    rc = allocate_result(unpacking, unpacking->ret->integers.type, &unpacking->parameters, &unpacking->ret->zero_point,
                         err);
    for (size_t row = 0; rc == 0 && row < rows; row++)
        for (size_t i = 0; i < length; i++) {
            size_t index = row * length + i;

            store_packed(tensor_writable(&unpacking->ret->zero_point), weight->bits,
                         turned_index(unpacking, row, i, rows, length),
                         is_float
                             ? float_zero_point(unpacking, &stored, index)
                             : packed_element(stored.data, weight->bits, index / in_row * padded + index % in_row));
        }
    return rc;
}

/* The group of each slice, unless all are in order. */
static int unpack_groups(struct unpacking *unpacking, struct error *err)
{
    const struct packed_weight *weight = unpacking->weight;
    struct unpacked_weight *ret = unpacking->ret;
    size_t count = (size_t)weight->shape.dims[weight->axis];
    struct tensor stored;
    bool in_order = true;
    int64_t *groups;
    int rc;

    if (weight->groups == VALUE_NONE)
        return 0;
    rc = borrow_constant(unpacking, weight->groups, &stored, err);
    if (rc < 0)
        return rc;
    if (elements_arithmetic(stored.type) != ARITHMETIC_INTEGER || tensor_elements(&stored) != count) {
        unpacking->why_not = "the type or the number of its groups is not valid";
        return 0;
    }
    rc = tensor_allocate(DATA_INT64, &(struct shape){.rank = 1, .dims = {(int64_t)count}}, &ret->groups, err);
    if (rc < 0)
        return rc;
    groups = tensor_writable(&ret->groups);
    for (size_t i = 0; i < count; i++) {
        elements_to_integers(&stored, i, 1, (uint64_t *)&groups[i]);
        if (groups[i] < 0 || groups[i] >= (int64_t)unpacking->length)
            unpacking->why_not = "a group is out of range";
        in_order &= groups[i] == (int64_t)i / weight->block_size;
    }
    if (in_order)
        tensor_release(&ret->groups);
    return 0;
}

int packed_weight_unpack(struct model *model, const struct packed_weight *weight, struct unpacked_weight *ret,
                         const char **ret_why, struct error *err)
{
    static int (*const parts[])(struct unpacking *, struct error *) = {unpack_integers, unpack_scales,
                                                                       unpack_zero_points, unpack_groups};
    struct unpacking unpacking = {.model = model, .weight = weight, .ret = ret, .parameters = weight->shape};
    int64_t *length = &unpacking.parameters.dims[weight->axis];
    int rc = 0;

    *ret = (struct unpacked_weight){.block_size = weight->block_size,
                                    .axis = weight->is_turned ? 1 - (int64_t)weight->axis : (int64_t)weight->axis};
    *length = (*length + weight->block_size - 1) / weight->block_size;
    if (shape_elements(&weight->shape) == SIZE_MAX) {
        *ret_why = "its shape is not valid";
        return 0;
    }
    unpacking.length = (size_t)unpacking.parameters.dims[weight->shape.rank - 1];
    unpacking.rows = shape_elements(&unpacking.parameters) / unpacking.length;
    for (size_t i = 0; i < ARRAY_LEN(parts) && rc == 0 && unpacking.why_not == NULL; i++)
        rc = parts[i](&unpacking, err);
    if (rc < 0 || unpacking.why_not != NULL)
        unpacked_weight_release(ret);
    *ret_why = unpacking.why_not;
    return rc;
}

void unpacked_weight_release(struct unpacked_weight *weight)
{
    tensor_release(&weight->integers);
    tensor_release(&weight->scale);
    tensor_release(&weight->zero_point);
    tensor_release(&weight->groups);
    *weight = (struct unpacked_weight){0};
}
