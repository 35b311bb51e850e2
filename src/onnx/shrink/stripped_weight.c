/* onnx/shrink/stripped_weight.c: see stripped_weight.h. */
#include "onnx/shrink/stripped_weight.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/text/number.h"
#include "base/text/string_builder.h"
#include "onnx/edit/model.h"
#include "onnx/model/operators.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/wire.h"
#include "onnx/shrink/sparsity.h"
#include "tensor/generate/mersenne_twister.h"
#include "tensor/values/elements.h"

enum { LONGEST_CHAIN = 16 }; /* nodes between a weight and the operator that multiplies by it; real models have three */

static const char mark[] = "TRT_WEIGHTLESS";
static const char sparse_kind[] = "SPARSE_2_4";
static const char older_mark[] = "polygraphy:stripped";
static const char older_sparse_kind[] = " 2:4:";

/* ---- Selection ---- */

/* Whether an initializer can be stripped and replaced by a proxy. */
static bool initializer_is_strippable(const struct tensor_header *header)
{
    size_t size = tensor_bytes(header->type, shape_elements(&header->shape));

    return size != SIZE_MAX && size > 0 && header->type != DATA_UINT8 &&
           (data_type_is_float(header->type) || data_type_is_integer(header->type) || header->type == DATA_BOOL);
}

static int add_strippable_weight(const struct model *model, uint32_t value, size_t smallest, struct bitset *ret,
                                 struct error *err)
{
    const struct initializer *initializer = model_dense_initializer(model, value);
    struct tensor_header header;

    if (initializer == NULL)
        return 0;
    if (tensor_proto_read(initializer->message, &header, err) < 0)
        return error_context(err, "%s", model->display_name);
    if (initializer_is_strippable(&header) && shape_elements(&header.shape) >= smallest)
        bitset_add(ret, model->values.items[value].initializer);
    return 0;
}

/* Walks back from an operator's input through the allowed nodes to the weight. */
static uint32_t find_weight_origin(const struct model *model, uint32_t value)
{
    static const char *const carriers[] = {"QuantizeLinear", "DequantizeLinear", "Transpose"};

    for (size_t step = 0; value != VALUE_NONE && step < LONGEST_CHAIN; step++) {
        const struct node *node = model_producer(model, value);

        if (node == NULL || node->inputs.count == 0 || !text_is_one_of(node->op_type, carriers, ARRAY_LEN(carriers)))
            break;
        value = model_edge(model, node->inputs, 0);
    }
    return value;
}

int stripped_weight_find(const struct model *model, struct bitset *ret, struct error *err)
{
    static const char *const multipliers[] = {"Conv", "ConvTranspose", "Gemm", "MatMul"};
    int rc = 0;

    VECTOR_EACH (const struct node, node, model->nodes) {
        bool multiplies = text_is_one_of(node->op_type, multipliers, ARRAY_LEN(multipliers));
        bool slices = text_equal_string(node->op_type, "Slice");
        size_t count = slices && node->inputs.count > 1 ? 1 : node->inputs.count;

        if (!multiplies && !slices && !text_equal_string(node->op_type, "Gather") &&
            operator_is_standard(node->op_type))
            continue;
        for (size_t k = 0; k < count && rc == 0; k++) {
            uint32_t value = model_edge(model, node->inputs, k);

            rc = multiplies ? add_strippable_weight(model, find_weight_origin(model, value), 1, ret, err)
                            : add_strippable_weight(model, value, STRIPPED_TABLE_SMALLEST, ret, err);
        }
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- The marks in the model ---- */

struct span stripped_weight_make(struct arena *arena, struct text name, const struct stripped_weight *weight)
{
    struct tensor tensor = {.type = weight->type, .shape = weight->shape};
    SCOPED_STRING(message);
    SCOPED_STRING(description);

    string_add_format(&description, "%s/%s", mark, weight->sparse ? sparse_kind : "");
    tensor_proto_write_header(&message, name, &tensor);
    wire_write_bytes(&message, TENSOR_DOC_STRING, description.data, description.size);
    return wire_keep(arena, &message);
}

/* The parts of a TensorProto that show whether it is a stripped weight. */
struct traces {
    struct text description;
    bool has_raw, has_values;
};

/* Polygraphy empties raw_data but keeps data in typed fields; readers then use raw_data. */
static struct traces read_strip_traces(struct span message)
{
    struct wire_reader reader = wire_reader_of(message);
    struct traces traces = {.description = TEXT("")};
    struct wire_field field;
    bool has_typed = false;

    while (wire_next(&reader, &field))
        switch (field.number) {
        case TENSOR_DOC_STRING:
            if (field.type == WIRE_BYTES)
                traces.description = span_text(field.bytes);
            break;
        case TENSOR_RAW_DATA:
            traces.has_raw = true;
            traces.has_values = field.bytes.size > 0;
            break;
        case TENSOR_FLOAT_DATA:
        case TENSOR_INT32_DATA:
        case TENSOR_STRING_DATA:
        case TENSOR_INT64_DATA:
        case TENSOR_DOUBLE_DATA:
        case TENSOR_UINT64_DATA:
            has_typed = true;
            break;
        default:
            break;
        }
    if (!traces.has_raw)
        traces.has_values = has_typed;
    return traces;
}

/* Removes `prefix` from the start of `text`. */
static bool skip_text_prefix(struct text *text, const char *prefix)
{
    size_t size = strlen(prefix);

    if (text->size < size || memcmp(text->data, prefix, size) != 0)
        return false;
    *text = (struct text){text->data + size, text->size - size};
    return true;
}

/* A model is untrusted: the shape must allow the pattern. */
static bool tensor_may_be_sparse(const struct stripped_weight *weight, int64_t axis)
{
    bool type_fits = weight->type == DATA_FLOAT32 || weight->type == DATA_FLOAT16 || weight->type == DATA_BFLOAT16;

    return type_fits && axis >= 0 && axis < (int64_t)weight->shape.rank && weight->shape.dims[axis] % 4 == 0;
}

/* Reads the axes after the mark of older versions. */
static bool read_strip_axes(struct text rest, struct stripped_weight *weight)
{
    while (skip_text_prefix(&rest, older_sparse_kind)) {
        struct text digits = {rest.data, 0};
        int64_t axis;

        while (digits.size < rest.size && rest.data[digits.size] != ' ')
            digits.size++;
        if (!number_parse_integer(digits, &axis) || !tensor_may_be_sparse(weight, axis))
            return false;
        weight->sparse_axes |= (uint32_t)1 << axis;
        rest = (struct text){rest.data + digits.size, rest.size - digits.size};
    }
    return rest.size == 0;
}

/* Reads the kind after Polygraphy's mark. */
static bool read_strip_kind(struct text rest, struct stripped_weight *weight)
{
    skip_text_prefix(&rest, "/");
    weight->sparse = text_equal_string(rest, sparse_kind);
    return weight->sparse || rest.size == 0;
}

int stripped_weight_read(struct span message, struct stripped_weight *ret, struct error *err)
{
    struct traces traces = read_strip_traces(message);
    struct text rest = traces.description;
    bool older = skip_text_prefix(&rest, older_mark);
    struct tensor_header header;
    struct stripped_weight weight;

    if ((!older && !skip_text_prefix(&rest, mark)) || traces.has_values)
        return 0;
    if (tensor_proto_read(message, &header, err) < 0)
        return ERR_CORRUPT;
    if (header.external)
        return 0;
    weight = (struct stripped_weight){.type = header.type, .shape = header.shape};
    if (!(older ? read_strip_axes(rest, &weight) : read_strip_kind(rest, &weight)))
        return error_set(err, ERR_INVALID,
                         "weight '" TEXT_FORMAT "' has no values, and its mark '" TEXT_FORMAT
                         "' is unknown for %s of its shape: it cannot be replaced by a proxy",
                         TEXT_ARGS(header.name), TEXT_ARGS(traces.description), data_type_name(header.type));
    if (!initializer_is_strippable(&header))
        return error_set(err, ERR_INVALID,
                         "weight '" TEXT_FORMAT "' is marked as stripped, but values of type %s cannot be generated",
                         TEXT_ARGS(header.name), data_type_name(header.type));
    *ret = weight;
    return 1;
}

static bool text_ends_with_mark(struct text description)
{
    size_t size = sizeof(mark) - 1;

    return description.size >= size && memcmp(description.data + description.size - size, mark, size) == 0 &&
           (description.size == size || description.data[description.size - size - 1] == '-');
}

void stripped_model_mark(struct model *model)
{
    struct text description = model_description(model);
    SCOPED_STRING(text);

    if (text_ends_with_mark(description))
        return;
    string_add_format(&text, TEXT_FORMAT "%s%s", TEXT_ARGS(description), description.size > 0 ? "-" : "", mark);
    model_set_description(model, (struct text){text.data, text.size});
}

/* ---- Proxies ---- */

/* Numbers of a floating type are `low` + fraction * `width`. */
struct spread {
    double low, width;
};

static struct spread find_weight_spread(const struct shape *shape)
{
    double inputs = 1, limit;

    if (shape->rank < 2)
        return (struct spread){0.5, 1};
    for (size_t i = 1; i < shape->rank; i++)
        inputs *= (double)shape->dims[i];
    limit = sqrt(3 / inputs); /* the uniform distribution over [-a, a] has the variance a * a / 3 */
    return (struct spread){-limit, 2 * limit};
}

/* Stores the first or the last index of an axis. */
static void store_index_number(enum data_type type, bool last, size_t element, void *data)
{
    int64_t value = data_type_is_signed(type) ? -(int64_t)last : (int64_t)last;
    size_t size = data_type_bits(type) / 8;

    memcpy((char *)data + element * size, &value, size);
}

/* Fills with random bits, for types of at most a byte. An 8-bit float is finite if the highest exponent bit is 0; 0x80
 * is NaN in some types. */
static void fill_weight_with_bytes(struct mersenne_twister *random, enum data_type type, size_t size, uint8_t *data)
{
    bool is_float8 = data_type_is_float(type) && data_type_bits(type) == 8;

    for (size_t i = 0; i < size; i++) {
        data[i] = (uint8_t)mersenne_twister_next(random);
        if (type == DATA_BOOL)
            data[i] &= 1;
        if (is_float8)
            data[i] &= 0xbf;
        if (is_float8 && data[i] == 0x80)
            data[i] = 0;
    }
}

void stripped_weight_fill(const struct stripped_weight *weight, struct text name, void *data)
{
    struct spread spread = find_weight_spread(&weight->shape);
    size_t elements = shape_elements(&weight->shape);
    struct mersenne_twister random;

    mersenne_twister_seed(&random, (uint32_t)hash_bytes(name.data, name.size).low);
    if (data_type_bits(weight->type) <= 8)
        fill_weight_with_bytes(&random, weight->type, tensor_bytes(weight->type, elements), data);
    else if (data_type_is_integer(weight->type))
        for (size_t i = 0; i < elements; i++)
            store_index_number(weight->type, mersenne_twister_next(&random) & 1, i, data);
    else
        for (size_t i = 0; i < elements; i++)
            element_store_float(weight->type, spread.low + spread.width * mersenne_twister_next_fraction(&random), i,
                                data);
    for (unsigned axis = 0; axis < weight->shape.rank; axis++)
        if (weight->sparse_axes >> axis & 1)
            sparsity_prune(weight->type, &weight->shape, axis, data);
}
