/* onnx/proto/tensor_proto.c: see tensor_proto.h. */
#include "onnx/proto/tensor_proto.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/number.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/wire.h"

/* The name may follow the damaged field, so it is searched here. */
static int refuse_damaged_tensor(struct span message, const char *what, struct error *err)
{
    struct text name = wire_find_text(message, TENSOR_NAME);

    return error_set(err, ERR_CORRUPT, "tensor '" TEXT_FORMAT "' %s", TEXT_ARGS(name), what);
}

/* The readers below return a problem, to be appended to the tensor's name in a message, or NULL. */

static const char *add_tensor_dimension(struct tensor_header *header, uint64_t dimension)
{
    if (header->shape.rank == TENSOR_MAX_RANK)
        return "has too many dimensions";
    if ((int64_t)dimension < 0)
        return "has a negative dimension";
    header->shape.dims[header->shape.rank++] = (int64_t)dimension;
    return NULL;
}

static const char *read_tensor_dimensions(const struct wire_field *field, struct tensor_header *header)
{
    struct span cursor = field->bytes;
    uint64_t dimension;
    bool bad = false;
    const char *wrong = NULL;

    if (field->type == WIRE_VARINT)
        return add_tensor_dimension(header, field->value);
    while (wrong == NULL && wire_next_packed_varint(&cursor, &dimension, &bad))
        wrong = add_tensor_dimension(header, dimension);
    return bad ? "has damaged dimensions" : wrong;
}

static const char *read_external_entry(struct span message, struct tensor_header *header)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    struct text key = {"", 0}, value = {"", 0};
    int64_t number;

    while (wire_next(&reader, &field)) {
        if (field.number == ENTRY_KEY && field.type == WIRE_BYTES)
            key = span_text(field.bytes);
        else if (field.number == ENTRY_VALUE && field.type == WIRE_BYTES)
            value = span_text(field.bytes);
    }
    if (reader.damaged)
        return "has a damaged reference to external data";
    if (text_equal_string(key, "location")) {
        header->place.location = value;
        return NULL;
    }
    if (!text_equal_string(key, "offset") && !text_equal_string(key, "length"))
        return NULL;
    if (!number_parse_integer(value, &number) || number < 0)
        return "has external data whose offset or length is not a number";
    if (key.data[0] == 'o') {
        header->place.offset = (uint64_t)number;
    } else {
        header->place.length = (uint64_t)number;
        header->place.has_length = true;
    }
    return NULL;
}

int tensor_proto_read(struct span message, struct tensor_header *ret, struct error *err)
{
    struct tensor_header header = {.name = {"", 0}};
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    const char *wrong = NULL;

    while (wrong == NULL && wire_next(&reader, &field)) {
        if (field.number == TENSOR_NAME && field.type == WIRE_BYTES)
            header.name = span_text(field.bytes);
        else if (field.number == TENSOR_DATA_TYPE && field.type == WIRE_VARINT)
            header.type = field.value < DATA_TYPE_COUNT ? (enum data_type)field.value : DATA_UNDEFINED;
        else if (field.number == TENSOR_DIMS)
            wrong = read_tensor_dimensions(&field, &header);
        else if (field.number == TENSOR_RAW_DATA && field.type == WIRE_BYTES) {
            header.raw = field.bytes;
            header.has_raw = true;
        } else if (field.number == TENSOR_DATA_LOCATION && field.type == WIRE_VARINT)
            header.external = field.value == DATA_LOCATION_EXTERNAL;
        else if (field.number == TENSOR_EXTERNAL_DATA && field.type == WIRE_BYTES)
            wrong = read_external_entry(field.bytes, &header);
        else if (field.number == TENSOR_SEGMENT)
            wrong = "is split into segments, which no runtime supports";
    }
    if (reader.damaged)
        wrong = "is damaged";
    if (wrong != NULL)
        return refuse_damaged_tensor(message, wrong, err);
    *ret = header;
    return 0;
}

/* The field with the non-raw data of a type (onnx.proto3, TensorProto). */
static uint32_t find_typed_field(enum data_type type)
{
    switch (type) {
    case DATA_FLOAT32:
    case DATA_COMPLEX64:
        return TENSOR_FLOAT_DATA;
    case DATA_FLOAT64:
    case DATA_COMPLEX128:
        return TENSOR_DOUBLE_DATA;
    case DATA_INT64:
        return TENSOR_INT64_DATA;
    case DATA_UINT32:
    case DATA_UINT64:
        return TENSOR_UINT64_DATA;
    default:
        return TENSOR_INT32_DATA;
    }
}

/* Appends elements of a typed field to a tensor's buffer. */
struct element_sink {
    enum data_type type;
    uint8_t *data;
    size_t size, used; /* bytes */
};

static bool store_element(struct element_sink *sink, const void *element, size_t size)
{
    if (sink->size - sink->used < size)
        return false;
    if (size > 0)
        memcpy(sink->data + sink->used, element, size);
    sink->used += size;
    return true;
}

/* Stores one varint. Small types use its low bits; 4-bit elements are packed two in a byte, as in raw data. */
static bool store_varint(struct element_sink *sink, uint64_t value)
{
    unsigned bits = data_type_bits(sink->type);

    return store_element(sink, &value, bits >= 8 ? bits / 8 : 1);
}

static bool store_typed_field(struct element_sink *sink, const struct wire_field *field)
{
    struct span cursor = field->bytes;
    uint64_t value;
    bool bad = false;

    if (field->number == TENSOR_FLOAT_DATA || field->number == TENSOR_DOUBLE_DATA) {
        size_t size = field->number == TENSOR_FLOAT_DATA ? 4 : 8;

        if (field->type == WIRE_BYTES)
            return store_element(sink, field->bytes.data, field->bytes.size);
        return field->type == (size == 4 ? WIRE_FIXED32 : WIRE_FIXED64) && store_element(sink, &field->value, size);
    }
    if (field->type != WIRE_BYTES)
        return field->type == WIRE_VARINT && store_varint(sink, field->value);
    while (wire_next_packed_varint(&cursor, &value, &bad))
        if (!store_varint(sink, value))
            return false;
    return !bad;
}

static int decode_typed_fields(struct span message, const struct tensor_header *header, struct tensor *ret,
                               struct error *err)
{
    struct tensor tensor;
    struct element_sink sink = {.type = header->type};
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    size_t size = tensor_bytes(header->type, shape_elements(&header->shape));
    bool fits = true;
    int rc;

    /* A varint has at least one byte, so eight times the message is the largest valid size: refuse before
     * allocating. */
    if (size == SIZE_MAX || size / 8 > message.size)
        return refuse_damaged_tensor(message, "has less data than its shape requires", err);
    rc = tensor_allocate(header->type, &header->shape, &tensor, err);
    if (rc < 0)
        return rc;
    sink.data = tensor_writable(&tensor);
    sink.size = tensor.size;
    while (fits && wire_next(&reader, &field))
        if (field.number == find_typed_field(header->type))
            fits = store_typed_field(&sink, &field);
    if (!fits || sink.used != sink.size) {
        tensor_release(&tensor);
        return refuse_damaged_tensor(message, "has data that do not fit its shape", err);
    }
    *ret = tensor;
    return 0;
}

static int decode_string_fields(struct span message, const struct tensor_header *header, struct tensor *ret,
                                struct error *err)
{
    struct {
        struct text *items;
        size_t count, capacity;
    } texts = {NULL, 0, 0};
    struct wire_reader reader = wire_reader_of(message);
    struct span bytes;
    int rc;

    while (wire_next_bytes(&reader, TENSOR_STRING_DATA, &bytes))
        *VECTOR_APPEND(&texts) = span_text(bytes);
    if (texts.count != shape_elements(&header->shape))
        rc = refuse_damaged_tensor(message, "has more or fewer strings than its shape requires", err);
    else
        rc = tensor_set_strings(&header->shape, texts.items, ret, err);
    free(texts.items);
    return rc;
}

int tensor_proto_decode(struct span message, struct tensor *ret, struct error *err)
{
    struct tensor_header header;
    int rc = tensor_proto_read(message, &header, err);

    if (rc < 0)
        return rc;
    if (header.type == DATA_UNDEFINED)
        return refuse_damaged_tensor(message, "has an unknown data type", err);
    if (header.external)
        return error_set(err, ERR_UNSUPPORTED, "tensor '" TEXT_FORMAT "' has external data", TEXT_ARGS(header.name));
    if (header.type == DATA_STRING)
        return decode_string_fields(message, &header, ret, err);
    if (!header.has_raw)
        return decode_typed_fields(message, &header, ret, err);
    if (tensor_bytes(header.type, shape_elements(&header.shape)) != header.raw.size)
        return refuse_damaged_tensor(message, "has data that do not fit its shape", err);
    tensor_borrow(header.type, &header.shape, header.raw.data, header.raw.size, ret);
    return 0;
}

void tensor_proto_write_header(struct string_builder *out, struct text name, const struct tensor *tensor)
{
    for (size_t i = 0; i < tensor->shape.rank; i++)
        wire_write_integer(out, TENSOR_DIMS, tensor->shape.dims[i]);
    wire_write_integer(out, TENSOR_DATA_TYPE, tensor->type);
    wire_write_text(out, TENSOR_NAME, name);
    if (tensor->type == DATA_STRING) {
        const struct text *texts = tensor->data;

        for (size_t i = 0; i < tensor_elements(tensor); i++)
            wire_write_text(out, TENSOR_STRING_DATA, texts[i]);
    }
}

void tensor_proto_write(struct string_builder *out, struct text name, const struct tensor *tensor)
{
    tensor_proto_write_header(out, name, tensor);
    if (tensor->type != DATA_STRING)
        wire_write_bytes(out, TENSOR_RAW_DATA, tensor->data, tensor->size);
}
