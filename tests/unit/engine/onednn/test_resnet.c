/* Every tactic that oneDNN has for the layers of a real network, light_resnet50, on random values: convolutions and
 * matrix products against sums in float64, other layers against ONNX Runtime. Skipped without POLYGRAPHY_TEST_MODELS.
 */
#include "support/operator_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/library.h"
#include "base/memory.h"
#include "engine/network/compile.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/value_info.h"

/* The reference implementation of oneDNN takes seconds for a large convolution: those of more products than this are
 * computed by the other ones only. */
#define MOST_PRODUCTS_FOR_REFERENCE 30e6

/* Of the largest value of a result. Sums have up to 4608 terms; what is computed with a wrong one is off by 1e-2. */
#define TOLERANCE 1e-5

struct layer_test {
    const struct network *network;
    const struct layer *layer;
    struct kernel_input *inputs;
    float **values; /* of the inputs, row-major */
    struct kernel_request request;
    struct tactic_list tactics;
    struct shape output;
    double *expected, largest; /* largest: absolute value among those expected */
    double products;
};

static struct tactic_provider *onnxruntime;

/* ---- the layer ---- */

static bool shape_of(const struct network *network, uint32_t value, struct shape *ret, enum data_type *ret_type)
{
    const struct value *described = &network->model->values.items[value];
    struct tensor_header header;
    struct value_type type;
    struct error err;

    if (described->initializer != INITIALIZER_NONE) {
        if (tensor_proto_read(network->model->initializers.items[described->initializer].message, &header, &err) < 0)
            return false;
        *ret = header.shape;
        *ret_type = header.type;
        return true;
    }
    value_info_decode(described->info, &type);
    *ret = type.shape;
    *ret_type = type.element;
    return type.has_shape && shape_is_static(&type.shape);
}

/* Random values for all inputs. False when one is no float32 tensor. */
static bool layer_test_begin(struct layer_test *test, const struct network *network, const struct layer *layer)
{
    *test = (struct layer_test){.network = network, .layer = layer};
    test->inputs = memory_alloc_zero(layer->inputs.count, sizeof(*test->inputs));
    test->values = memory_alloc_zero(layer->inputs.count, sizeof(*test->values));
    test->request = (struct kernel_request){.network = network, .layer = layer, .inputs = test->inputs};
    for (size_t i = 0; i < layer->inputs.count; i++) {
        struct kernel_input *input = &test->inputs[i];
        uint32_t value = layer->inputs.items[i];

        if (value == VALUE_NONE)
            continue;
        if (!shape_of(network, value, &input->shape, &input->type) || input->type != DATA_FLOAT32)
            return false;
        input->present = true;
        test->values[i] = aligned_alloc(64, (shape_elements(&input->shape) * sizeof(float) / 64 + 1) * 64);
        assert_non_null(test->values[i]);
        spread(test->values[i], shape_elements(&input->shape), 1.0f, (uint32_t)i + 1);
        if (network->model->values.items[value].initializer != INITIALIZER_NONE)
            input->constant = test->values[i];
    }
    return true;
}

static void layer_test_end(struct layer_test *test)
{
    for (size_t i = 0; i < test->layer->inputs.count; i++)
        free(test->values[i]);
    tactic_list_release(&test->tactics);
    free(test->values);
    free(test->inputs);
    free(test->expected);
}

/* Runs a tactic of any provider on the values. Gives the result, row-major; to be freed. */
static float *run(const struct layer_test *test, struct tactic_provider *provider, const struct tactic *tactic,
                  struct shape *ret_shape)
{
    const struct layout row_major = {""};
    size_t count = test->layer->inputs.count;
    struct tensor *inputs = memory_alloc_zero(count, sizeof(*inputs)), output = {0};
    void **buffers = memory_alloc_zero(count, sizeof(*buffers)), *memory = NULL;
    struct kernel *kernel = NULL;
    struct error err = {0};
    float *result;

    if (provider->create(provider, &test->request, tactic, &kernel, &err) < 0)
        fail_msg("%s: '%s': %s", test->layer->name, tactic->name, err.message);
    for (size_t i = 0; i < count; i++) {
        const struct kernel_input *input = &test->inputs[i];
        struct operand operand = {.type = input->type, .shape = input->shape};

        if (!input->present || input->constant)
            continue;
        buffers[i] = converted(&operand, &row_major, test->values[i], &tactic->input_layouts[i]);
        tensor_borrow(input->type, &input->shape, buffers[i],
                      layout_bytes(&tactic->input_layouts[i], input->type, &input->shape), &inputs[i]);
    }
    if (kernel->outputs_known) {
        size_t size = layout_bytes(&tactic->output_layouts[0], DATA_FLOAT32, &kernel->output_shapes[0]);

        memory = malloc(size + 1);
        assert_non_null(memory);
        tensor_borrow(DATA_FLOAT32, &kernel->output_shapes[0], memory, size, &output);
    }
    if (kernel->functions->run(kernel, inputs, &output, &err) < 0)
        fail_msg("%s: '%s': %s", test->layer->name, tactic->name, err.message);
    *ret_shape = output.shape;
    result = converted(&(struct operand){.type = DATA_FLOAT32, .shape = output.shape}, &tactic->output_layouts[0],
                       output.data, &row_major);
    kernel_free(kernel);
    tensor_release(&output);
    free(memory);
    for (size_t i = 0; i < count; i++)
        free(buffers[i]);
    free(buffers);
    free(inputs);
    return result;
}

/* ---- what it should be ---- */

struct window {
    int64_t strides[2], pads[4], dilations[2], group;
};

/* Adds the products of one input channel and one tap to one output channel. */
static void add_tap(const struct window *window, const struct shape *input, const struct shape *output,
                    const float *from, double weight, const int64_t *tap, double *to)
{
    int64_t width = input->dims[3];

    for (int64_t y = 0; y < output->dims[2]; y++) {
        int64_t row = y * window->strides[0] + tap[0] - window->pads[0];

        if (row < 0 || row >= input->dims[2])
            continue;
        for (int64_t x = 0; x < output->dims[3]; x++) {
            int64_t column = x * window->strides[1] + tap[1] - window->pads[1];

            if (column >= 0 && column < width)
                to[y * output->dims[3] + x] += (double)from[row * width + column] * weight;
        }
    }
}

static void convolve(struct layer_test *test)
{
    const struct shape *input = &test->inputs[0].shape, *weights = &test->inputs[1].shape, *output = &test->output;
    struct span node = test->network->model->nodes.items[test->layer->nodes.items[0]].message;
    struct window window = {.strides = {1, 1}, .group = node_attribute_integer(node, "group", 1)};
    int64_t inputs = input->dims[2] * input->dims[3], outputs = output->dims[2] * output->dims[3];
    int64_t taps = weights->dims[2] * weights->dims[3], tap[2];

    node_attribute_integers(node, "strides", window.strides, 2);
    node_attribute_integers(node, "pads", window.pads, 4);
    assert_int_equal(window.group, 1);
    for (int64_t o = 0; o < output->dims[1]; o++)
        for (int64_t c = 0; c < input->dims[1]; c++)
            for (int64_t t = 0; t < taps; t++) {
                tap[0] = t / weights->dims[3];
                tap[1] = t % weights->dims[3];
                add_tap(&window, input, output, test->values[0] + c * inputs,
                        (double)test->values[1][(o * input->dims[1] + c) * taps + t], tap,
                        test->expected + o * outputs);
            }
    test->products = (double)(outputs * output->dims[1] * input->dims[1] * taps);
}

/* Gemm with transB, as the network has it. */
static void multiply(struct layer_test *test)
{
    const struct shape *a = &test->inputs[0].shape;
    struct span node = test->network->model->nodes.items[test->layer->nodes.items[0]].message;
    int64_t inner = a->dims[1], columns = test->output.dims[1];
    bool transposed = node_attribute_integer(node, "transB", 0) != 0;

    for (int64_t i = 0; i < a->dims[0]; i++)
        for (int64_t j = 0; j < columns; j++)
            for (int64_t k = 0; k < inner; k++)
                test->expected[i * columns + j] +=
                    (double)test->values[0][i * inner + k] *
                    (double)test->values[1][transposed ? j * inner + k : k * columns + j];
}

/* The bias, which is the node's third input, and what is fused. */
static void finish(struct layer_test *test)
{
    const struct node *node = &test->network->model->nodes.items[test->layer->nodes.items[0]];
    size_t count = shape_elements(&test->output), channels = (size_t)test->output.dims[1];
    size_t plane = count / channels;

    for (size_t i = 0; i < count && node->inputs.count > 2; i++)
        test->expected[i] += (double)test->values[2][i / plane];
    for (size_t f = 0; f < test->layer->fused.count; f++) {
        const struct fused_operation *fused = &test->layer->fused.items[f];

        for (size_t i = 0; i < count; i++) {
            if (fused->kind == FUSED_ADD) {
                assert_int_equal(shape_elements(&test->inputs[fused->operand].shape), count);
                test->expected[i] += (double)test->values[fused->operand][i];
            } else {
                assert_int_equal(fused->activation, ACTIVATION_RELU);
                test->expected[i] = fmax(test->expected[i], 0.0);
            }
        }
    }
}

static void expect(struct layer_test *test)
{
    enum data_type type;

    assert_true(shape_of(test->network, test->layer->outputs.items[0], &test->output, &type));
    test->expected = doubles(&test->output);
    if (test->layer->kind == LAYER_CONVOLUTION || test->layer->kind == LAYER_MATMUL) {
        (test->layer->kind == LAYER_CONVOLUTION ? convolve : multiply)(test);
        finish(test);
    } else {
        struct tactic_list tactics = {0};
        struct error err = {0};
        struct shape shape;
        float *values;

        assert_int_equal(onnxruntime->list(onnxruntime, &test->request, &tactics, &err), 0);
        assert_true(tactics.count > 0);
        values = run(test, onnxruntime, &tactics.items[0], &shape);
        assert_true(shape_equal(&shape, &test->output));
        for (size_t i = 0; i < shape_elements(&shape); i++)
            test->expected[i] = (double)values[i];
        free(values);
        tactic_list_release(&tactics);
    }
    for (size_t i = 0; i < shape_elements(&test->output); i++)
        test->largest = fmax(test->largest, fabs(test->expected[i]));
}

/* ---- all tactics ---- */

static void check_tactic(const struct layer_test *test, const struct tactic *tactic)
{
    double worst = 0;
    struct shape shape;
    float *values = run(test, onednn, tactic, &shape);

    assert_true(shape_equal(&shape, &test->output));
    for (size_t i = 0; i < shape_elements(&shape); i++) {
        double error = fabs((double)values[i] - test->expected[i]) / test->largest;

        worst = fmax(worst, isnan(error) ? INFINITY : error);
    }
    free(values);
    note_error(tactic->name, worst);
    if (!(worst <= TOLERANCE))
        fail_msg("%s: '%s' is wrong by %g of the largest value", test->layer->name, tactic->name, worst);
}

/* Whether an earlier layer computes the same on the same shapes. */
static bool is_repeated(const struct network *network, size_t number)
{
    const struct layer *layer = &network->layers.items[number];

    for (size_t i = 0; i < number; i++) {
        const struct layer *other = &network->layers.items[i];
        struct shape a, b;
        enum data_type type;
        bool same = other->kind == layer->kind && other->inputs.count == layer->inputs.count &&
                    other->fused.count == layer->fused.count;

        for (size_t j = 0; same && j < layer->inputs.count; j++)
            same = (layer->inputs.items[j] == VALUE_NONE) == (other->inputs.items[j] == VALUE_NONE) &&
                   (layer->inputs.items[j] == VALUE_NONE ||
                    (shape_of(network, layer->inputs.items[j], &a, &type) &&
                     shape_of(network, other->inputs.items[j], &b, &type) && shape_equal(&a, &b)));
        if (same && shape_of(network, layer->outputs.items[0], &a, &type) &&
            shape_of(network, other->outputs.items[0], &b, &type) && shape_equal(&a, &b))
            return true;
    }
    return false;
}

static size_t check_layer(const struct network *network, const struct layer *layer)
{
    struct layer_test test;
    struct error err = {0};
    size_t count = 0;

    if (layer_test_begin(&test, network, layer)) {
        assert_int_equal(onednn->list(onednn, &test.request, &test.tactics, &err), 0);
        count = test.tactics.count;
        if (count > 0)
            expect(&test);
    }
    for (size_t i = 0; i < count; i++) {
        if (test.products > MOST_PRODUCTS_FOR_REFERENCE && strncmp(test.tactics.items[i].name, "ref:", 4) == 0)
            continue;
        check_tactic(&test, &test.tactics.items[i]);
    }
    layer_test_end(&test);
    return count;
}

static void every_tactic_of_every_layer_is_right(void **state)
{
    const char *models = getenv("POLYGRAPHY_TEST_MODELS");
    struct network_settings settings = {.folding = {.backend = &onnxrt_backend}};
    struct network *network = NULL;
    struct model *model = NULL;
    struct error err = {0};
    size_t layers = 0, tactics = 0;
    char path[1024];

    REQUIRE_ONEDNN();
    snprintf(path, sizeof(path), "%s/onnx_light/light_resnet50.onnx", models ? models : "");
    if (!onnxruntime || model_open(path, NULL, &model, &err) == ERR_MISSING)
        skip();
    assert_non_null(model);
    if (network_build(model, &settings, &network, &err) < 0)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < network->layers.count; i++) {
        size_t count = is_repeated(network, i) ? 0 : check_layer(network, &network->layers.items[i]);

        tactics += count;
        layers += count > 0;
    }
    print_message("%zu tactics of %zu different layers\n", tactics, layers);
    assert_true(layers > 20 && tactics > 200);
    network_free(network);
}

static int open_providers(void **state)
{
    struct provider_settings settings = {0};
    struct error err = {0};
    int rc = onnxrt_provider_new(&settings, &onnxruntime, &err);

    if (rc < 0)
        print_message("%s\n", err.message);
    return rc < 0 && rc != ERR_MISSING ? rc : open_onednn(state);
}

static int close_providers(void **state)
{
    if (onnxruntime)
        onnxruntime->free(onnxruntime);
    return close_onednn(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tactic_of_every_layer_is_right),
    };

    return cmocka_run_group_tests(tests, open_providers, close_providers);
}
