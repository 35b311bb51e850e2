/* onnx/proto/value_info.c: see value_info.h. */
#include "onnx/proto/value_info.h"

#include "onnx/proto/fields.h"
#include "onnx/proto/wire.h"

static void decode_shape_dimension(struct span message, int64_t *ret, struct text *ret_symbol)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;

    *ret = -1;
    *ret_symbol = (struct text){"", 0};
    while (wire_next(&reader, &field)) {
        if (field.number == DIMENSION_VALUE && field.type == WIRE_VARINT && (int64_t)field.value >= 0)
            *ret = (int64_t)field.value;
        else if (field.number == DIMENSION_PARAMETER && field.type == WIRE_BYTES)
            *ret_symbol = (struct text){(const char *)field.bytes.data, field.bytes.size};
    }
}

static void decode_tensor_shape(struct span message, struct value_type *type)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;

    type->has_shape = true;
    type->shape.rank = 0;
    while (wire_next(&reader, &field)) {
        if (field.number != SHAPE_DIMENSION || field.type != WIRE_BYTES)
            continue;
        if (type->shape.rank == TENSOR_MAX_RANK) {
            type->has_shape = false;
            return;
        }
        decode_shape_dimension(field.bytes, &type->shape.dims[type->shape.rank], &type->symbols[type->shape.rank]);
        type->shape.rank++;
    }
    if (reader.damaged)
        type->has_shape = false;
}

static void decode_tensor_type(struct span message, struct value_type *type)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;

    while (wire_next(&reader, &field)) {
        if (field.number == TENSOR_TYPE_ELEMENT && field.type == WIRE_VARINT)
            type->element = field.value < DATA_TYPE_COUNT ? (enum data_type)field.value : DATA_UNDEFINED;
        else if (field.number == TENSOR_TYPE_SHAPE && field.type == WIRE_BYTES)
            decode_tensor_shape(field.bytes, type);
    }
}

static void decode_value_type(struct span message, struct value_type *type)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;

    while (wire_next(&reader, &field)) {
        switch (field.number) {
        case TYPE_TENSOR:
            if (field.type == WIRE_BYTES)
                decode_tensor_type(field.bytes, type);
            break;
        case TYPE_SEQUENCE:
            type->not_a_tensor = "sequence";
            break;
        case TYPE_MAP:
            type->not_a_tensor = "map";
            break;
        case TYPE_OPAQUE:
            type->not_a_tensor = "opaque";
            break;
        case TYPE_SPARSE_TENSOR:
            type->not_a_tensor = "sparse tensor";
            break;
        case TYPE_OPTIONAL:
            type->not_a_tensor = "optional";
            break;
        default:
            break;
        }
    }
}

void value_info_decode(struct span info, struct value_type *ret)
{
    struct wire_reader reader = wire_reader_of(info);
    struct span bytes;

    ret->not_a_tensor = NULL;
    ret->element = DATA_UNDEFINED;
    ret->has_shape = false;
    ret->shape.rank = 0;
    while (wire_next_bytes(&reader, VALUE_INFO_TYPE, &bytes))
        decode_value_type(bytes, ret);
}

bool value_type_is_complete(const struct value_type *type)
{
    return type->not_a_tensor != NULL || (type->element != DATA_UNDEFINED && type->has_shape);
}

static void write_type_shape(struct string_builder *out, const struct value_type *type)
{
    SCOPED_STRING(dimension);

    for (size_t i = 0; i < type->shape.rank; i++) {
        string_clear(&dimension);
        if (type->shape.dims[i] >= 0)
            wire_write_integer(&dimension, DIMENSION_VALUE, type->shape.dims[i]);
        else if (type->symbols[i].size > 0)
            wire_write_text(&dimension, DIMENSION_PARAMETER, type->symbols[i]);
        wire_write_bytes(out, SHAPE_DIMENSION, dimension.data, dimension.size);
    }
}

size_t value_info_bytes(struct span info)
{
    struct value_type type;

    value_info_decode(info, &type);
    if (type.not_a_tensor != NULL || !type.has_shape || !shape_is_static(&type.shape) ||
        data_type_bits(type.element) == 0)
        return 0;
    return tensor_bytes(type.element, shape_elements(&type.shape));
}

struct span value_info_make(struct arena *arena, struct text name, const struct value_type *type)
{
    SCOPED_STRING(shape);
    SCOPED_STRING(tensor);
    SCOPED_STRING(kind);
    SCOPED_STRING(info);

    wire_write_text(&info, VALUE_INFO_NAME, name);
    if (type != NULL) {
        wire_write_integer(&tensor, TENSOR_TYPE_ELEMENT, type->element);
        if (type->has_shape) {
            write_type_shape(&shape, type);
            wire_write_bytes(&tensor, TENSOR_TYPE_SHAPE, shape.data, shape.size);
        }
        wire_write_bytes(&kind, TYPE_TENSOR, tensor.data, tensor.size);
        wire_write_bytes(&info, VALUE_INFO_TYPE, kind.data, kind.size);
    }
    return wire_keep(arena, &info);
}

struct span value_info_rename(struct arena *arena, struct span info, struct text name)
{
    SCOPED_STRING(copy);

    wire_write_text(&copy, VALUE_INFO_NAME, name);
    wire_copy_without(&copy, info, VALUE_INFO_NAME);
    return wire_keep(arena, &copy);
}
