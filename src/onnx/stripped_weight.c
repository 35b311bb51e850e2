/* onnx/stripped_weight.c: see stripped_weight.h. */
#include "onnx/stripped_weight.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/number_text.h"
#include "onnx/fields.h"
#include "onnx/sparsity.h"
#include "onnx/wire.h"
#include "tensor/mersenne_twister.h"

static const char mark[] = "polygraphy:stripped";
static const char sparse_mark[] = " 2:4:";

/* ---- What stands in the model ---- */

bool stripped_weight_applies(const struct tensor_header *header)
{
    size_t size = tensor_bytes(header->type, shape_elements(&header->shape));

    return size != SIZE_MAX && size >= STRIPPED_WEIGHT_SMALLEST &&
           (data_type_is_float(header->type) ||
            (data_type_is_integer(header->type) && data_type_bits(header->type) <= 8));
}

struct span stripped_weight_make(struct arena *arena, struct text name, const struct stripped_weight *weight)
{
    struct tensor tensor = {.type = weight->type, .shape = weight->shape};
    struct string_builder message, description;
    struct span made;

    string_init(&message);
    string_init(&description);
    string_add(&description, mark);
    for (unsigned axis = 0; axis < weight->shape.rank; axis++)
        if (weight->sparse_axes >> axis & 1)
            string_add_format(&description, "%s%u", sparse_mark, axis);
    tensor_proto_write_header(&message, name, &tensor);
    wire_write_bytes(&message, TENSOR_DOC_STRING, description.data, description.size);
    made = (struct span){arena_copy(arena, message.data, message.size), message.size};
    string_release(&message);
    string_release(&description);
    return made;
}

static struct text read_description(struct span message)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    struct text description = {"", 0};

    while (wire_next(&reader, &field))
        if (field.number == TENSOR_DOC_STRING && field.type == WIRE_BYTES)
            description = span_text(field.bytes);
    return description;
}

/* Takes `prefix` off the front of `text`. */
static bool skip_prefix(struct text *text, const char *prefix)
{
    size_t size = strlen(prefix);

    if (text->size < size || memcmp(text->data, prefix, size) != 0)
        return false;
    *text = (struct text){text->data + size, text->size - size};
    return true;
}

/* A model is untrusted: the pattern has to be one that the shape allows. */
static bool may_be_sparse(const struct stripped_weight *weight, int64_t axis)
{
    bool type_fits = weight->type == DATA_FLOAT32 || weight->type == DATA_FLOAT16 || weight->type == DATA_BFLOAT16;

    return type_fits && axis >= 0 && axis < (int64_t)weight->shape.rank && weight->shape.dims[axis] % 4 == 0;
}

bool stripped_weight_read(struct span message, struct stripped_weight *ret)
{
    struct text description = read_description(message);
    struct tensor_header header;

    if (!skip_prefix(&description, mark) || tensor_proto_read(message, &header, NULL) < 0 ||
        !stripped_weight_applies(&header) || header.has_raw || header.external)
        return false;
    *ret = (struct stripped_weight){header.type, header.shape, 0};
    while (skip_prefix(&description, sparse_mark)) {
        struct text digits = {description.data, 0};
        int64_t axis;

        while (digits.size < description.size && description.data[digits.size] != ' ')
            digits.size++;
        if (!number_parse_integer(digits, &axis) || !may_be_sparse(ret, axis))
            return false;
        ret->sparse_axes |= (uint32_t)1 << axis;
        description = (struct text){description.data + digits.size, description.size - digits.size};
    }
    return description.size == 0;
}

/* ---- Proxies ---- */

/* The numbers of a floating type are `low` + fraction * `width`. */
struct spread {
    double low, width;
};

static struct spread spread_of(const struct shape *shape)
{
    double inputs = 1, limit;

    if (shape->rank < 2)
        return (struct spread){0.5, 1};
    for (size_t i = 1; i < shape->rank; i++)
        inputs *= (double)shape->dims[i];
    limit = sqrt(3 / inputs); /* numbers evenly spread over [-a, a] have the variance a * a / 3 */
    return (struct spread){-limit, 2 * limit};
}

static void store_number(enum data_type type, double value, size_t element, void *data)
{
    float single = (float)value;
    uint16_t half = type == DATA_FLOAT16 ? float64_to_float16(value) : float32_to_bfloat16(single);

    if (type == DATA_FLOAT64)
        memcpy((char *)data + element * 8, &value, 8);
    else if (type == DATA_FLOAT32)
        memcpy((char *)data + element * 4, &single, 4);
    else
        memcpy((char *)data + element * 2, &half, 2);
}

/* Random bits, for types of a byte and less. Without the highest bit of the exponent an 8-bit float is finite; 0x80 is
 * the NaN of some. */
static void fill_with_bytes(struct mersenne_twister *random, enum data_type type, size_t size, uint8_t *data)
{
    bool is_float8 = data_type_is_float(type) && data_type_bits(type) == 8;

    for (size_t i = 0; i < size; i++) {
        data[i] = (uint8_t)mersenne_twister_next(random);
        if (is_float8)
            data[i] &= 0xbf;
        if (is_float8 && data[i] == 0x80)
            data[i] = 0;
    }
}

void stripped_weight_fill(const struct stripped_weight *weight, struct text name, void *data)
{
    struct spread spread = spread_of(&weight->shape);
    size_t elements = shape_elements(&weight->shape);
    struct mersenne_twister random;

    mersenne_twister_seed(&random, (uint32_t)hash_bytes(name.data, name.size).low);
    if (data_type_bits(weight->type) <= 8)
        fill_with_bytes(&random, weight->type, tensor_bytes(weight->type, elements), data);
    else
        for (size_t i = 0; i < elements; i++)
            store_number(weight->type, spread.low + spread.width * mersenne_twister_next_fraction(&random), i, data);
    for (unsigned axis = 0; axis < weight->shape.rank; axis++)
        if (weight->sparse_axes >> axis & 1)
            sparsity_prune(weight->type, &weight->shape, axis, data);
}
