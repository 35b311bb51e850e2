/* onnx/shrink/stand_in_weights.c: see stand_in_weights.h. */
#include "onnx/shrink/stand_in_weights.h"

#include <math.h>
#include <string.h>

#include "base/container/bitset.h"
#include "base/hash.h"
#include "base/memory.h"
#include "onnx/edit/constants.h"
#include "onnx/external/tensor.h"
#include "onnx/model/captures.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/wire.h"
#include "tensor/generate/mersenne_twister.h"
#include "tensor/statistics/statistics.h"
#include "tensor/values/elements.h"

/* ---- Selection ---- */

/* Operators with floating inputs that are parameters rather than data. */
static bool takes_parameters(struct text op_type)
{
    static const char *const names[] = {
        "Resize",         "Upsample",    "Range",         "OneHot",           "NonMaxSuppression", "Dropout",
        "QuantizeLinear", "QLinearConv", "QLinearMatMul", "DequantizeLinear", "FakeQuantize",      "MelWeightMatrix",
    };

    return text_is_one_of(op_type, names, ARRAY_LEN(names));
}

static bool noise_type_is_supported(enum data_type type)
{
    return type == DATA_FLOAT32 || type == DATA_FLOAT64 || type == DATA_FLOAT16 || type == DATA_BFLOAT16;
}

/* Appends `initializer` if it is a weight. */
static int add_replaceable_weight(struct model *model, const struct initializer *initializer, struct weight_list *ret,
                                  struct error *err)
{
    struct tensor_header header;
    struct statistics statistics;
    struct tensor tensor SCOPED(tensor_release) = {0};
    int rc = tensor_proto_read(initializer->message, &header, err);

    if (rc < 0)
        return rc;
    if (!noise_type_is_supported(header.type) || shape_elements(&header.shape) < 2)
        return 0;
    rc = external_tensor_read(model, initializer->message, &tensor, err);
    if (rc < 0)
        return rc;
    rc = statistics_compute(&tensor, &statistics, err);
    if (rc == 0 && statistics.minimum != statistics.maximum)
        *VECTOR_APPEND(ret) = (struct weight){.value = initializer->value,
                                              .bytes = tensor.size,
                                              .mean = statistics.mean,
                                              .deviation = statistics.standard_deviation,
                                              .minimum = statistics.minimum,
                                              .maximum = statistics.maximum};
    return rc;
}

int weights_list(struct model *model, struct weight_list *ret, struct error *err)
{
    SCOPED_BITSET(used);
    SCOPED_BITSET(parameters);
    int rc = 0;

    bitset_init(&used, model->values.count);
    bitset_init(&parameters, model->values.count);
    VECTOR_EACH (const struct node, node, model->nodes) {
        model_add_edges_to(model, node->inputs, takes_parameters(node->op_type) ? &parameters : &used);
        model_add_edges_to(model, node->captures, &used);
    }
    for (size_t i = 0; rc == 0 && i < model->initializers.count; i++) {
        const struct initializer *initializer = &model->initializers.items[i];

        if (!initializer->sparse && initializer->narrowed.size == 0 && bitset_has(&used, initializer->value) &&
            !bitset_has(&parameters, initializer->value))
            rc = add_replaceable_weight(model, initializer, ret, err);
    }
    return rc;
}

/* ---- Tensors in attributes, bodies and functions ---- */

static size_t count_node_tensors(struct span node, unsigned depth);

static size_t count_replaceable_tensor(struct span message)
{
    struct tensor_header header;

    return tensor_proto_read(message, &header, NULL) == 0 && data_type_is_float(header.type) &&
           shape_elements(&header.shape) > 1;
}

static size_t count_graph_tensors(struct span graph, unsigned depth)
{
    struct wire_reader reader = wire_reader_of(graph);
    struct wire_field field;
    size_t count = 0;

    while (wire_next(&reader, &field))
        if (field.number == GRAPH_NODE && field.type == WIRE_BYTES)
            count += count_node_tensors(field.bytes, depth);
        else if (field.number == GRAPH_INITIALIZER && field.type == WIRE_BYTES)
            count += count_replaceable_tensor(field.bytes);
    return count;
}

static size_t count_attribute_tensors(struct span attribute, unsigned depth)
{
    struct wire_reader reader = wire_reader_of(attribute);
    struct wire_field field;
    size_t count = 0;

    while (wire_next(&reader, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == ATTRIBUTE_TENSOR || field.number == ATTRIBUTE_TENSORS)
            count += count_replaceable_tensor(field.bytes);
        else if ((field.number == ATTRIBUTE_GRAPH || field.number == ATTRIBUTE_GRAPHS) && depth < BODY_MAX_DEPTH)
            count += count_graph_tensors(field.bytes, depth + 1);
    }
    return count;
}

static size_t count_node_tensors(struct span node, unsigned depth)
{
    struct wire_reader reader = wire_reader_of(node);
    struct span attribute;
    size_t count = 0;

    while (wire_next_bytes(&reader, NODE_ATTRIBUTE, &attribute))
        count += count_attribute_tensors(attribute, depth);
    return count;
}

size_t weights_count_inside(const struct model *model)
{
    size_t count = 0, place = 0;
    struct span function;

    for (size_t i = 0; i < model->nodes.count; i++)
        count += count_node_tensors(model->nodes.items[i].message, 0);
    while (model_next_function(model, &place, &function)) {
        struct wire_reader reader = wire_reader_of(function);
        struct span node;

        while (wire_next_bytes(&reader, FUNCTION_NODE, &node))
            count += count_node_tensors(node, 0);
    }
    return count;
}

/* ---- Replacement values ---- */

/* A uniform distribution spans sqrt(3) standard deviations on each side of its mean. Values are clipped to the weight's
 * range: weights that are never negative, such as variances, must stay so. Statistics that are not finite are replaced
 * by mean 0 and deviation 1. */
static void fill_weight_with_noise(const struct weight *weight, struct text name, enum data_type type, size_t elements,
                                   void *data)
{
    bool known =
        isfinite(weight->mean) && isfinite(weight->deviation) && isfinite(weight->minimum) && isfinite(weight->maximum);
    double mean = known ? weight->mean : 0, deviation = known ? weight->deviation : 1;
    double minimum = known ? weight->minimum : -1, maximum = known ? weight->maximum : 1;
    struct mersenne_twister random;

    mersenne_twister_seed(&random, (uint32_t)hash_bytes(name.data, name.size).low);
    for (size_t i = 0; i < elements; i++) {
        double number = mean + sqrt(3) * deviation * (2 * mersenne_twister_next_fraction(&random) - 1);

        element_store_float(type, fmin(fmax(number, minimum), maximum), i, data);
    }
}

int weight_replace(struct model *model, const struct weight *weight, enum stand_in kind, struct error *err)
{
    const struct value *value = &model->values.items[weight->value];
    struct text name = value->name;
    struct tensor_header header;
    size_t elements;
    void *data;
    int rc;

    if (kind == STAND_IN_NONE)
        return 0;
    rc = tensor_proto_read(model->initializers.items[value->initializer].message, &header, err);
    if (rc == 0)
        rc = model_new_tensor(model, weight->value, header.type, &header.shape, &data, err);
    if (rc < 0)
        return rc;
    elements = shape_elements(&header.shape);
    if (kind == STAND_IN_ZEROS)
        memset(data, 0, tensor_bytes(header.type, elements));
    else if (kind == STAND_IN_NOISE)
        fill_weight_with_noise(weight, name, header.type, elements, data);
    else
        for (size_t i = 0; i < elements; i++)
            element_store_float(header.type, 1, i, data);
    return 0;
}
