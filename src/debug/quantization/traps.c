/* debug/quantization/traps.c: see traps.h. */
#include "debug/quantization/traps.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "debug/quantization/saturation.h"
#include "onnx/external/tensor.h"
#include "onnx/model/model.h"
#include "onnx/model/subgraph.h"
#include "tensor/quantization/levels.h"
#include "tensor/values/elements.h"

/* Tolerance for rounding of the product in float32 and of scales stored in float16. */
#define BIAS_SCALE_TOLERANCE 1e-3

#define LARGEST_OF_7_BITS 64 /* 255 * 64 * 2 < 2^15 */

struct trap_search {
    const struct quantization_subject *subject;
    uint32_t *made_by; /* for each value, the number of the quantizer that dequantizes it, plus one; 0: none */
    struct value_readers readers;
    struct bitset outputs; /* values */
    bool saturates;
    const struct quantization_rewriting *rewriting;
};

/* ---- Who makes and who reads what ---- */

static void look_up(struct trap_search *looking)
{
    const struct model *model = looking->subject->model;
    const struct quantizers *quantizers = &looking->subject->quantizers;

    looking->made_by = memory_alloc_zero(model->values.count + 1, sizeof(*looking->made_by));
    value_readers_init(&looking->readers, model, NULL);
    value_list_to_set(&model->outputs, model->values.count, &looking->outputs);
    for (size_t i = 0; i < quantizers->count; i++)
        for (size_t k = 0; k < quantizers->items[i].dequantize.count; k++) {
            const struct node *node = &model->nodes.items[quantizers->items[i].dequantize.items[k]];

            if (node->outputs.count > 0 && model_edge(model, node->outputs, 0) != VALUE_NONE)
                looking->made_by[model_edge(model, node->outputs, 0)] = (uint32_t)i + 1;
        }
}

/* The quantizer of a node's input at this place; NULL: none. */
static const struct quantizer *read_at(const struct trap_search *looking, const struct node *node, size_t place)
{
    const struct model *model = looking->subject->model;
    uint32_t value = node_input(model, node, place);

    if (value == VALUE_NONE || looking->made_by[value] == 0)
        return NULL;
    return &looking->subject->quantizers.items[looking->made_by[value] - 1];
}

static const struct node *reader_of(const struct trap_search *looking, const struct quantizer *quantizer)
{
    return quantizer->reader != NODE_NONE ? &looking->subject->model->nodes.items[quantizer->reader] : NULL;
}

static bool node_multiplies(const struct node *node)
{
    return node_is(node, "Conv") || node_is(node, "ConvTranspose") || node_is(node, "MatMul") || node_is(node, "Gemm");
}

/* ---- What may be wrong with one ---- */

static bool has_bad_scale(const struct trap_search *looking, const struct quantizer *quantizer)
{
    const float *scales = quantizer->scale.data;

    (void)looking;
    for (size_t i = 0; scales != NULL && i < tensor_elements(&quantizer->scale); i++)
        if (!isfinite(scales[i]) || fabsf(scales[i]) < FLT_MIN ||
            (scales[i] < 0 && quantizer->form != QUANTIZER_STORED))
            return true;
    return false;
}

static bool has_zero_point_out_of_range(const struct trap_search *looking, const struct quantizer *quantizer)
{
    struct levels levels;

    (void)looking;
    if (quantizer->zero_point.data == NULL || !levels_init(&levels, quantizer->type) || !levels.are_integers)
        return false;
    for (size_t i = 0; i < tensor_elements(&quantizer->zero_point); i++) {
        int64_t zero_point = quantizer_zero_point(quantizer, i);

        if (zero_point < levels.lowest || zero_point > levels.highest)
            return true;
    }
    return false;
}

static bool has_zero_point(const struct quantizer *quantizer)
{
    for (size_t i = 0; quantizer->zero_point.data != NULL && i < tensor_elements(&quantizer->zero_point); i++)
        if (quantizer_zero_point(quantizer, i) != 0)
            return true;
    return false;
}

static float scale_at(const struct quantizer *quantizer, size_t i)
{
    return ((const float *)quantizer->scale.data)[tensor_elements(&quantizer->scale) > 1 ? i : 0];
}

/* Integer kernels add the bias to the sum of products and ignore its scale. */
static bool has_wrong_bias_scale(const struct trap_search *looking, const struct quantizer *quantizer)
{
    const struct node *node = reader_of(looking, quantizer);
    const struct quantizer *input, *weight;
    size_t count, weights;

    if (quantizer->role != QUANTIZER_BIAS || node == NULL || !node_multiplies(node) || quantizer->scale.data == NULL)
        return false;
    input = read_at(looking, node, 0);
    weight = read_at(looking, node, 1);
    if (input == NULL || weight == NULL || input->scale.data == NULL || weight->scale.data == NULL ||
        tensor_elements(&input->scale) != 1)
        return false;
    count = tensor_elements(&quantizer->scale);
    weights = tensor_elements(&weight->scale);
    if (count == 0 || weights == 0 || (count > 1 && weights > 1 && count != weights))
        return false;
    for (size_t i = 0; i < (count > weights ? count : weights); i++) {
        double product = (double)scale_at(input, 0) * (double)scale_at(weight, i);

        if (fabs((double)scale_at(quantizer, i) - product) > BIAS_SCALE_TOLERANCE * product)
            return true;
    }
    return false;
}

/* Two products of an unsigned 8-bit and a 7-bit number fit into 16 bits. */
static bool has_7_bits(const struct trap_search *looking, const struct quantizer *quantizer)
{
    struct model *model = looking->subject->model;
    uint32_t initializer = model->values.items[quantizer->integers].initializer;
    struct tensor stored;
    double run[ELEMENTS_RUN];

    if (initializer == INITIALIZER_NONE || model->initializers.items[initializer].sparse ||
        external_tensor_borrow(model, model->initializers.items[initializer].message, &stored, NULL) < 0)
        return false;
    for (size_t first = 0, total = tensor_elements(&stored); first < total; first += ELEMENTS_RUN) {
        size_t count = elements_in_run(total, first);

        elements_to_float64(&stored, first, count, run);
        for (size_t i = 0; i < count; i++)
            if (fabs(run[i]) > LARGEST_OF_7_BITS)
                return false;
    }
    return true;
}

/* Two products of an unsigned and a signed 8-bit number may not fit into the 16 bits in which they are added. */
static bool may_saturate(const struct trap_search *looking, const struct quantizer *quantizer)
{
    const struct node *node = reader_of(looking, quantizer);
    const struct quantizer *input;

    if (!looking->saturates || quantizer->role != QUANTIZER_WEIGHT || quantizer->type != DATA_INT8 || node == NULL ||
        !node_multiplies(node) || quantizer->reader_input != 1)
        return false;
    input = read_at(looking, node, 0);
    return input != NULL && input->type == DATA_UINT8 && !has_7_bits(looking, quantizer);
}

static bool is_asymmetric(const struct quantizer *quantizer)
{
    return (data_type_is_integer(quantizer->type) && !data_type_is_signed(quantizer->type)) ||
           has_zero_point(quantizer);
}

static bool is_asymmetric_weight(const struct trap_search *looking, const struct quantizer *quantizer)
{
    (void)looking;
    return quantizer->role == QUANTIZER_WEIGHT && is_asymmetric(quantizer);
}

static bool is_asymmetric_activation(const struct trap_search *looking, const struct quantizer *quantizer)
{
    (void)looking;
    return quantizer->role == QUANTIZER_ACTIVATION && is_asymmetric(quantizer);
}

static bool is_activation(const struct node *node)
{
    static const char *const names[] = {"Relu",      "Clip", "LeakyRelu", "PRelu", "Sigmoid",
                                        "HardSwish", "Tanh", "Elu",       "Gelu",  "HardSigmoid"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (node_is(node, names[i]))
            return true;
    return false;
}

static bool prevents_fusion(const struct trap_search *looking, const struct quantizer *quantizer)
{
    const struct model *model = looking->subject->model;
    uint32_t producer = model->values.items[quantizer->tensor].producer, value;

    if (quantizer->form != QUANTIZER_PAIR || producer == NODE_NONE || quantizer->dequantize.count != 1 ||
        !node_multiplies(&model->nodes.items[producer]) ||
        value_read_count(&looking->readers, quantizer->tensor) != 1 || bitset_has(&looking->outputs, quantizer->tensor))
        return false;
    value = model_edge(model, model->nodes.items[quantizer->dequantize.items[0]].outputs, 0);
    return value != VALUE_NONE && value_read_count(&looking->readers, value) == 1 &&
           !bitset_has(&looking->outputs, value) &&
           is_activation(&model->nodes.items[value_read_at(&looking->readers, value, 0).node]);
}

static size_t index_of(const struct trap_search *looking, const struct quantizer *quantizer)
{
    return (size_t)(quantizer - looking->subject->quantizers.items);
}

static bool is_kept_in_float(const struct trap_search *looking, const struct quantizer *quantizer)
{
    return looking->rewriting->known && bitset_has(&looking->rewriting->dequantized, index_of(looking, quantizer));
}

static bool is_removed(const struct trap_search *looking, const struct quantizer *quantizer)
{
    return looking->rewriting->known && bitset_has(&looking->rewriting->gone, index_of(looking, quantizer));
}

/* ---- All of them ---- */

static const struct {
    bool (*is)(const struct trap_search *looking, const struct quantizer *quantizer);
    const char *key, *what, *why, *remedy;
} kinds[] = {
    {has_bad_scale, "bad-scale", "a scale is 0, negative, too small for a normal number, or not finite",
     "the scaled values become 0 or infinite", "quantize again, with calibration data that reach this tensor"},
    {has_zero_point_out_of_range, "zero-point-out-of-range", "a zero point is outside of the range of its type",
     "runtimes clip it, or reject the model", "quantize again"},
    {has_wrong_bias_scale, "bias-scale", "the scale of a bias is not the input's scale times the weight's",
     "integer kernels add the bias to the sum of products without rescaling it, so it is too large or too small",
     "use input scale * weight scale, or leave the bias in float32"},
    {may_saturate, "saturation", SATURATION_CAUSE, "pairs of products are added in 16 bits", SATURATION_FIXES},
    {is_removed, "removed-by-runtime", "ONNX Runtime removed it or merged it with another quantizer",
     "the running model rounds differently there than the model file and the table",
     "if the outputs differ because of that, find the optimizer with polygraphy debug passes MODEL --atol TOLERANCE"},
    {is_kept_in_float, "kept-in-float",
     "a layer reads it in float, because ONNX Runtime found no integer kernel for the layer",
     "rounding costs accuracy there, and saves no time", "quantize all inputs and outputs of the layer, or none"},
    {prevents_fusion, "prevents-fusion", "a quantizer separates a layer from its activation",
     "the two cannot be fused, and part of the range is spent on values that a Relu or Clip then clips",
     "quantize after the activation"},
    {is_asymmetric_weight, "asymmetric-weight", "a weight has an unsigned type or a zero point",
     "TensorRT only accepts signed types without zero points", "quantize weights symmetrically, as int8"},
    {is_asymmetric_activation, "asymmetric-activation", "an activation has an unsigned type or a zero point",
     "TensorRT only accepts signed types without zero points",
     "for TensorRT, quantize activations symmetrically, as int8"},
};

void quantization_traps_find(const struct quantization_subject *subject, bool saturates,
                             const struct quantization_rewriting *rewriting, struct quantization_traps *ret)
{
    struct trap_search looking = {.subject = subject, .saturates = saturates, .rewriting = rewriting};

    *ret = (struct quantization_traps){0};
    look_up(&looking);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct quantization_trap trap = {
            .key = kinds[i].key, .what = kinds[i].what, .why = kinds[i].why, .remedy = kinds[i].remedy};

        for (size_t k = 0; k < subject->quantizers.count; k++)
            if (kinds[i].is(&looking, &subject->quantizers.items[k]))
                *VECTOR_APPEND(&trap.quantizers) = k;
        if (trap.quantizers.count > 0)
            *VECTOR_APPEND(&ret->list) = trap;
    }
    free(looking.made_by);
    value_readers_release(&looking.readers);
    bitset_release(&looking.outputs);
}

void quantization_traps_release(struct quantization_traps *traps)
{
    for (size_t i = 0; i < traps->list.count; i++)
        free(traps->list.items[i].quantizers.items);
    free(traps->list.items);
    *traps = (struct quantization_traps){0};
}
