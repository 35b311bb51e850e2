/* onnx/edit/constants.c: see constants.h. */
#include "onnx/edit/constants.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/edit/node.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/wire.h"
#include "tensor/values/elements.h"

bool constant_integers(const struct model *model, uint32_t value, size_t limit, int64_t *ret, struct shape *ret_shape)
{
    const struct initializer *initializer = model_dense_initializer(model, value);
    struct tensor tensor SCOPED(tensor_release) = {0};
    size_t count;
    bool fits;

    if (initializer == NULL || tensor_proto_decode(initializer->message, &tensor, NULL) < 0)
        return false;
    count = tensor_elements(&tensor);
    fits = data_type_is_integer(tensor.type) && count <= limit;
    for (size_t first = 0; fits && first < count; first += ELEMENTS_RUN)
        elements_to_integers(&tensor, first, elements_in_run(count, first), (uint64_t *)ret + first);
    *ret_shape = tensor.shape;
    return fits;
}

int constant_replace(struct model *model, uint32_t value, const struct tensor *tensor, struct error *err)
{
    model->values.items[value].producer = NODE_NONE;
    return model_set_tensor(model, value, tensor, err);
}

void *model_allocate(struct model *model, size_t size)
{
    void *buffer = malloc(size > 0 ? size : 1);

    if (buffer != NULL)
        *VECTOR_APPEND(&model->buffers) = buffer;
    return buffer;
}

void model_set_initializer(struct model *model, uint32_t value, struct span tensor)
{
    struct value *v = &model->values.items[value];

    if (v->initializer == INITIALIZER_NONE) {
        v->initializer = (uint32_t)model->initializers.count;
        VECTOR_APPEND(&model->initializers);
    }
    model->initializers.items[v->initializer] =
        (struct initializer){.message = tensor, .value = value, .renamed = true};
}

/* Alignment of raw data in bytes, for arrays of any type. */
#define ALIGNMENT 16

/* Sets a TensorProto of `header` and `raw_size` uninitialised bytes of raw data. */
static int set_constant_message(struct model *model, uint32_t value, const struct string_builder *header,
                                size_t raw_size, uint8_t **ret_raw, struct error *err)
{
    size_t padding = (ALIGNMENT - header->size % ALIGNMENT) % ALIGNMENT, before = padding + header->size;
    uint8_t *buffer = raw_size < SIZE_MAX - before ? model_allocate(model, before + raw_size) : NULL;

    if (buffer == NULL)
        return error_set(err, ERR_MEMORY, "%s: not enough memory for tensor '" TEXT_FORMAT "' of %zu bytes",
                         model->display_name, TEXT_ARGS(model->values.items[value].name), raw_size);
    memcpy(buffer + padding, header->data, header->size);
    *ret_raw = buffer + before;
    model_set_initializer(model, value, (struct span){buffer + padding, header->size + raw_size});
    return 0;
}

static bool is_tensor_data(uint32_t number)
{
    static const uint32_t numbers[] = {TENSOR_FLOAT_DATA, TENSOR_INT32_DATA,  TENSOR_STRING_DATA, TENSOR_INT64_DATA,
                                       TENSOR_RAW_DATA,   TENSOR_DOUBLE_DATA, TENSOR_UINT64_DATA};

    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if (numbers[i] == number)
            return true;
    return false;
}

/* `header` has the other fields of the TensorProto. */
static int set_raw_data(struct model *model, uint32_t value, struct string_builder *header, size_t size, void **ret,
                        struct error *err)
{
    uint8_t *raw;
    int rc;

    wire_write_tag(header, TENSOR_RAW_DATA, WIRE_BYTES);
    wire_write_varint(header, size);
    rc = set_constant_message(model, value, header, size, &raw, err);
    if (rc == 0)
        *ret = raw;
    return rc;
}

int model_new_tensor(struct model *model, uint32_t value, enum data_type type, const struct shape *shape, void **ret,
                     struct error *err)
{
    struct tensor tensor = {.type = type, .shape = *shape};
    SCOPED_STRING(header);

    tensor_proto_write_header(&header, model->values.items[value].name, &tensor);
    return set_raw_data(model, value, &header, tensor_bytes(type, shape_elements(shape)), ret, err);
}

int model_add_raw_data(struct model *model, uint32_t value, size_t size, void **ret, struct error *err)
{
    struct wire_reader reader = wire_reader_of(model_dense_initializer(model, value)->message);
    struct wire_field field;
    SCOPED_STRING(header);

    while (wire_next(&reader, &field))
        if (!is_tensor_data(field.number))
            string_add_bytes(&header, field.whole.data, field.whole.size);
    return set_raw_data(model, value, &header, size, ret, err);
}

int model_set_tensor(struct model *model, uint32_t value, const struct tensor *tensor, struct error *err)
{
    SCOPED_STRING(message);
    void *data;
    int rc;

    if (tensor->type != DATA_STRING) {
        rc = model_new_tensor(model, value, tensor->type, &tensor->shape, &data, err);
        if (rc == 0 && tensor->size > 0)
            memcpy(data, tensor->data, tensor->size);
        return rc;
    }
    tensor_proto_write(&message, model->values.items[value].name, tensor);
    rc = set_constant_message(model, value, &message, 0, &(uint8_t *){NULL}, err);
    return rc;
}

void constant_node_write(struct string_builder *out, struct text output, struct span tensor)
{
    SCOPED_STRING(attribute);

    wire_write_text(&attribute, ATTRIBUTE_NAME, TEXT("value"));
    wire_write_bytes(&attribute, ATTRIBUTE_TENSOR, tensor.data, tensor.size);
    wire_write_tag(&attribute, ATTRIBUTE_KIND, WIRE_VARINT);
    wire_write_varint(&attribute, ATTRIBUTE_KIND_TENSOR);
    wire_write_text(out, NODE_OUTPUT, output);
    wire_write_text(out, NODE_NAME, output);
    wire_write_text(out, NODE_OP_TYPE, TEXT("Constant"));
    wire_write_bytes(out, NODE_ATTRIBUTE, attribute.data, attribute.size);
}

void model_remove_initializers(struct model *model, const struct bitset *values)
{
    size_t kept = 0;

    for (size_t i = 0; i < model->initializers.count; i++) {
        struct initializer initializer = model->initializers.items[i];
        bool removed = initializer.value < values->size && bitset_has(values, initializer.value);

        model->values.items[initializer.value].initializer = removed ? INITIALIZER_NONE : (uint32_t)kept;
        if (!removed)
            model->initializers.items[kept++] = initializer;
    }
    model->initializers.count = kept;
}
