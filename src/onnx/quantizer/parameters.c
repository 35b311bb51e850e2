/* onnx/quantizer/parameters.c: see parameters.h. */
#include "onnx/quantizer/parameters.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "onnx/external/tensor.h"
#include "onnx/model/graph_view.h"
#include "onnx/proto/node_attribute.h"
#include "tensor/values/elements.h"

struct parameter_reader {
    struct model *model;
    const struct known_types *known;
    struct arena *arena;
    struct quantizer *quantizer;
};

/* Records a problem, unless there is one already. */
static void __attribute__((format(printf, 2, 3)))
note_parameter_problem(struct parameter_reader *reader, const char *format, ...)
{
    SCOPED_STRING(text);
    va_list arguments;

    if (reader->quantizer->problem != NULL)
        return;
    va_start(arguments, format);
    string_add_format_list(&text, format, arguments);
    va_end(arguments);
    reader->quantizer->problem = arena_strdup(reader->arena, text.data);
    reader->quantizer->problem_kind = format;
}

void quantizer_tensor_type(const struct model *model, const struct known_types *known, uint32_t value,
                           struct value_type *ret)
{
    uint32_t initializer = model->values.items[value].initializer;

    if (initializer != INITIALIZER_NONE)
        graph_view_initializer_type(&model->initializers.items[initializer], ret);
    else
        value_info_decode(known_types_info(known, model, value), ret);
}

/* Reads a constant; false if it is computed or cannot be read. */
static bool read_parameter_constant(struct parameter_reader *reader, uint32_t value, const char *what,
                                    struct tensor *ret)
{
    const struct model *model = reader->model;
    const struct value *v = &model->values.items[value];
    struct error err;

    if (v->initializer == INITIALIZER_NONE) {
        reader->quantizer->dynamic = true;
        return false;
    }
    if (model->initializers.items[v->initializer].sparse) {
        note_parameter_problem(reader, "its %s '" TEXT_FORMAT "' is a sparse tensor, which is not supported", what,
                               TEXT_ARGS(v->name));
        return false;
    }
    if (external_tensor_borrow(reader->model, model->initializers.items[v->initializer].message, ret, &err) < 0) {
        note_parameter_problem(reader, "its %s cannot be read: %s", what, err.message);
        return false;
    }
    if (ret->type == DATA_STRING) {
        note_parameter_problem(reader, "its %s '" TEXT_FORMAT "' is a string tensor", what, TEXT_ARGS(v->name));
        tensor_release(ret);
        return false;
    }
    return true;
}

/* ---- Groups ---- */

/* The constant that a Gather along axis 0 with constant indices reads, and the indices; VALUE_NONE: no such Gather. */
static uint32_t gathered_constant(const struct model *model, uint32_t value, uint32_t *ret_indices)
{
    const struct node *node = value != VALUE_NONE ? model_producer(model, value) : NULL;
    uint32_t from;

    if (node == NULL || !node_is(node, "Gather") || node_attribute_integer(node->message, "axis", 0) != 0)
        return VALUE_NONE;
    from = node_input(model, node, 0);
    *ret_indices = node_input(model, node, 1);
    if (from == VALUE_NONE || *ret_indices == VALUE_NONE || model->values.items[from].initializer == INITIALIZER_NONE ||
        model->values.items[*ret_indices].initializer == INITIALIZER_NONE)
        return VALUE_NONE;
    return from;
}

/* If scales and zero points are gathered for each slice along axis 0: reads the group of each slice, and replaces
 * both parameters by those of the groups. */
static void read_groups(struct parameter_reader *reader, struct quantizer_parameters *parameters)
{
    struct quantizer *quantizer = reader->quantizer;
    uint32_t indices, others = VALUE_NONE, scale, zero_point = VALUE_NONE;
    struct value_type type;
    struct tensor stored;
    int32_t *groups;

    scale = gathered_constant(reader->model, parameters->scale, &indices);
    if (parameters->zero_point != VALUE_NONE)
        zero_point = gathered_constant(reader->model, parameters->zero_point, &others);
    if (scale == VALUE_NONE ||
        (parameters->zero_point != VALUE_NONE && (zero_point == VALUE_NONE || others != indices)) ||
        parameters->block_size != 1 || parameters->axis != 0 || !quantizer->has_shape || quantizer->shape.rank == 0)
        return;
    quantizer_tensor_type(reader->model, reader->known, scale, &type);
    if (!type.has_shape || type.shape.rank == 0 ||
        !read_parameter_constant(reader, indices, "group of scales", &stored))
        return;
    if (elements_arithmetic(stored.type) != ARITHMETIC_INTEGER || stored.shape.rank != 1 ||
        stored.shape.dims[0] != quantizer->shape.dims[0])
        return;
    groups = arena_alloc(reader->arena, (tensor_elements(&stored) + 1) * sizeof(*groups));
    for (size_t i = 0; i < tensor_elements(&stored); i++) {
        uint64_t group;

        elements_to_integers(&stored, i, 1, &group);
        if (group >= (uint64_t)type.shape.dims[0] || group > INT32_MAX)
            return;
        groups[i] = (int32_t)group;
    }
    quantizer->groups = groups;
    parameters->scale = scale;
    parameters->zero_point = zero_point;
}

/* Stored constants may have negative scales: ONNX Runtime's quantizer to 4 bits writes them, because the lowest level
 * is farther from zero than the highest one. */
static void read_scale_values(struct parameter_reader *reader, uint32_t value)
{
    struct quantizer *quantizer = reader->quantizer;
    struct value_type type;
    struct tensor stored;
    size_t count;
    const float *scales;
    float *aligned;

    if (value == VALUE_NONE) {
        note_parameter_problem(reader, "it has no scale");
        return;
    }
    quantizer_tensor_type(reader->model, reader->known, value, &type);
    quantizer->scale_type = type.not_a_tensor == NULL ? type.element : DATA_UNDEFINED;
    if (!read_parameter_constant(reader, value, "scale", &stored))
        return;
    count = tensor_elements(&stored);
    if (stored.type != DATA_FLOAT32 && stored.type != DATA_FLOAT16 && stored.type != DATA_BFLOAT16) {
        note_parameter_problem(reader, "its scale has the invalid type %s", data_type_name(stored.type));
        return;
    }
    if (count == 0) {
        note_parameter_problem(reader, "its scale has no elements");
        return;
    }
    scales = stored.data;
    if (stored.type != DATA_FLOAT32 || (uintptr_t)stored.data % sizeof(*scales) != 0) {
        scales = aligned = arena_alloc(reader->arena, count * sizeof(*aligned));
        elements_to_float32(&stored, 0, count, aligned);
    }
    tensor_borrow(DATA_FLOAT32, &stored.shape, scales, count * sizeof(*scales), &quantizer->scale);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(scales[i]) || !(scales[i] > 0 || (scales[i] < 0 && quantizer->form == QUANTIZER_STORED))) {
            note_parameter_problem(reader, "scale %zu of %zu is %g: scales must be finite and larger than 0", i + 1,
                                   count, (double)scales[i]);
            return;
        }
}

static bool is_quantized_type(enum data_type type)
{
    return (data_type_is_integer(type) && data_type_bits(type) <= 16) || type == DATA_INT32 ||
           (data_type_is_float(type) && data_type_bits(type) <= 8);
}

/* Checks the type of the zero point, which is that of the integers. */
static void check_zero_point_type(struct parameter_reader *reader, enum data_type zero_point)
{
    struct quantizer *quantizer = reader->quantizer;

    if (zero_point != DATA_UNDEFINED && quantizer->type == DATA_UNDEFINED)
        quantizer->type = zero_point;
    else if (zero_point != DATA_UNDEFINED && quantizer->type != zero_point)
        note_parameter_problem(reader, "its zero point is %s, its integers are %s", data_type_name(zero_point),
                               data_type_name(quantizer->type));
    if (quantizer->type == DATA_UNDEFINED && !quantizer->dynamic)
        note_parameter_problem(reader, "the type of its integers is unknown");
    else if (quantizer->type != DATA_UNDEFINED && !is_quantized_type(quantizer->type))
        note_parameter_problem(reader, "%s is not a quantized type", data_type_name(quantizer->type));
}

static void read_zero_point(struct parameter_reader *reader, uint32_t value)
{
    struct quantizer *quantizer = reader->quantizer;
    struct tensor stored;
    size_t count;
    int32_t *points;
    bool any = false;

    if (value == VALUE_NONE || !read_parameter_constant(reader, value, "zero point", &stored)) {
        check_zero_point_type(reader, DATA_UNDEFINED);
        return;
    }
    check_zero_point_type(reader, stored.type);
    count = tensor_elements(&stored);
    if (quantizer->scale.data != NULL && count != tensor_elements(&quantizer->scale)) {
        note_parameter_problem(reader, "it has %zu zero points for %zu scales", count,
                               tensor_elements(&quantizer->scale));
        return;
    }
    if (!is_quantized_type(stored.type) || quantizer->scale.data == NULL)
        return;
    points = arena_alloc(reader->arena, count * sizeof(*points));
    for (size_t first = 0; first < count; first += ELEMENTS_RUN) {
        double run[ELEMENTS_RUN];
        size_t size = elements_in_run(count, first);

        elements_to_float64(&stored, first, size, run);
        for (size_t i = 0; i < size; i++) {
            points[first + i] = isfinite(run[i]) ? (int32_t)run[i] : 1;
            any |= points[first + i] != 0 || run[i] != 0;
        }
    }
    if (any && data_type_is_float(stored.type))
        note_parameter_problem(reader, "its zero point is not 0, which %s requires", data_type_name(stored.type));
    tensor_borrow(DATA_INT32, &quantizer->scale.shape, points, count * sizeof(*points), &quantizer->zero_point);
}

/* The axis counted from the front; -1 if it is invalid. */
static int64_t axis_from_front(struct parameter_reader *reader, int64_t axis)
{
    const struct quantizer *quantizer = reader->quantizer;
    int64_t rank = (int64_t)quantizer->shape.rank;

    if (!quantizer->has_shape) {
        if (axis < 0)
            note_parameter_problem(reader, "its axis %lld counts from the end of a tensor of unknown rank",
                                   (long long)axis);
        return axis < 0 ? -1 : axis;
    }
    if (axis < -rank || axis >= rank) {
        note_parameter_problem(reader, "its axis %lld is out of range for a tensor of rank %lld", (long long)axis,
                               (long long)rank);
        return -1;
    }
    return axis < 0 ? axis + rank : axis;
}

/* One scale for each block: `scale` has the tensor's rank, and is shorter along the axis only. */
static void check_block_size(struct parameter_reader *reader)
{
    struct quantizer *quantizer = reader->quantizer;
    const struct shape *scale = &quantizer->scale.shape, *shape = &quantizer->shape;

    if (quantizer->axis < 0 || quantizer->scale.data == NULL)
        return;
    if ((quantizer->has_shape && scale->rank != shape->rank) || quantizer->axis >= (int64_t)scale->rank) {
        note_parameter_problem(reader, "its scale has rank %zu, which does not fit blocks along axis %lld", scale->rank,
                               (long long)quantizer->axis);
        return;
    }
    for (size_t i = 0; quantizer->has_shape && i < shape->rank; i++) {
        int64_t size = shape->dims[i];

        if (quantizer->groups != NULL && i == (size_t)quantizer->axis)
            continue;
        if (size >= 0 && i == (size_t)quantizer->axis)
            size = size / quantizer->block_size + (size % quantizer->block_size != 0);
        if (size >= 0 && size != scale->dims[i]) {
            note_parameter_problem(reader, "its scale has %lld elements along axis %zu instead of %lld",
                                   (long long)scale->dims[i], i, (long long)size);
            return;
        }
    }
}

static void read_quantization_axis(struct parameter_reader *reader, const struct quantizer_parameters *parameters)
{
    struct quantizer *quantizer = reader->quantizer;
    size_t count = quantizer->scale.data != NULL ? tensor_elements(&quantizer->scale) : 1;

    quantizer->axis = -1;
    quantizer->block_size = parameters->block_size;
    if (parameters->block_size < 0) {
        quantizer->block_size = 0;
        note_parameter_problem(reader, "its blocks have %lld elements", (long long)parameters->block_size);
        return;
    }
    if (parameters->block_size > 0) {
        quantizer->axis = axis_from_front(reader, parameters->axis);
        check_block_size(reader);
        return;
    }
    if (count <= 1)
        return;
    if (!parameters->has_axis || quantizer->scale.shape.rank != 1) {
        note_parameter_problem(reader, "its %zu scales have rank %zu, but no axis or blocks assign them to elements",
                               count, quantizer->scale.shape.rank);
        return;
    }
    quantizer->axis = axis_from_front(reader, parameters->axis);
    if (quantizer->axis >= 0 && quantizer->has_shape && quantizer->shape.dims[quantizer->axis] >= 0 &&
        quantizer->shape.dims[quantizer->axis] != (int64_t)count)
        note_parameter_problem(reader, "it has %zu scales for %lld slices along axis %lld", count,
                               (long long)quantizer->shape.dims[quantizer->axis], (long long)quantizer->axis);
}

void quantizer_read_parameters(struct model *model, const struct known_types *known,
                               const struct quantizer_parameters *parameters, struct arena *arena,
                               struct quantizer *quantizer)
{
    struct parameter_reader reader = {model, known, arena, quantizer};
    uint32_t initializer = model->values.items[quantizer->tensor].initializer;
    struct quantizer_parameters constants = *parameters;
    struct value_type type;

    quantizer_tensor_type(model, known, quantizer->tensor, &type);
    if (type.not_a_tensor != NULL)
        note_parameter_problem(&reader, "its input is not a tensor but a %s", type.not_a_tensor);
    if (initializer != INITIALIZER_NONE && model->initializers.items[initializer].sparse)
        note_parameter_problem(&reader, "it is a sparse tensor, which is not supported");
    quantizer->has_shape = type.not_a_tensor == NULL && type.has_shape;
    if (quantizer->has_shape)
        quantizer->shape = type.shape;
    read_groups(&reader, &constants);
    read_scale_values(&reader, constants.scale);
    read_zero_point(&reader, constants.zero_point);
    read_quantization_axis(&reader, &constants);
}
