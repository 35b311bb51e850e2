/* Every kind of layer that oneDNN computes, by every tactic, at the sizes where its implementations go astray: batches
 * of 1 to 5, 1 to 3 elements along the other axes, in all ranks; against ONNX Runtime, fused operations against plain
 * loops. One case of many runs each time, by turns; with POLYGRAPHY_TEST_THOROUGH, sixteen times as many. */
#include "support/operator_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/tactic/fused_rest.h"

#define TOLERANCE 2e-5

static struct tactic_provider *onnxruntime;
static size_t case_count;

static int open_providers(void **state)
{
    struct provider_settings settings = {0};
    struct error err = {0};
    int rc = onnxrt_provider_new(&settings, &onnxruntime, &err);

    if (rc < 0 && rc != ERR_MISSING)
        return rc;
    return open_onednn(state);
}

static int close_providers(void **state)
{
    if (onnxruntime)
        onnxruntime->free(onnxruntime);
    return close_onednn(state);
}

/* ---- one case ---- */

/* The result by ONNX Runtime, before fused operations; row-major. */
static void run_node(struct operator_test *test, struct tensor *ret)
{
    struct kernel_input inputs[MAX_OPERANDS] = {0};
    struct kernel_request request = {.network = &test->network, .layer = &test->layer, .inputs = inputs};
    struct tensor tensors[MAX_OPERANDS] = {0}, output = {0}; /* which is the runtime's */
    struct tactic_list tactics = {0};
    struct kernel *kernel = NULL;
    struct error err = {0};

    describe_operands(test, inputs);
    for (size_t i = 0; i < test->operand_count; i++)
        if (inputs[i].present)
            tensor_borrow(inputs[i].type, &inputs[i].shape, test->operands[i].values,
                          tensor_bytes(inputs[i].type, shape_elements(&inputs[i].shape)), &tensors[i]);
    if (onnxruntime->list(onnxruntime, &request, &tactics, &err) < 0 ||
        onnxruntime->create(onnxruntime, &request, &tactics.items[0], &kernel, &err) < 0 ||
        kernel->functions->run(kernel, tensors, &output, &err) < 0 || tensor_copy(&output, ret, &err) < 0)
        fail_msg("%s: %s", test->op_type, err.message);
    tensor_release(&output);
    kernel_free(kernel);
    tactic_list_release(&tactics);
}

static double *expected_of(struct operator_test *test, struct shape *ret_shape)
{
    const struct operand *last = &test->operands[test->operand_count - 1];
    struct fused_operand added = {.data = last->values, .shape = last->shape};
    struct tensor result = {0};
    double *expected;
    float *values;

    run_node(test, &result);
    *ret_shape = result.shape;
    values = tensor_writable(&result);
    fused_rest_apply(&test->layer, &added, &result.shape, values);
    expected = doubles(&result.shape);
    for (size_t i = 0; i < tensor_elements(&result); i++)
        expected[i] = (double)values[i];
    tensor_release(&result);
    return expected;
}

/* Whether it is this case's turn. */
static bool is_due(uint32_t one_of)
{
    uint32_t turn = (uint32_t)case_count++ * 2654435761u >> 16;

    return turn % (getenv("POLYGRAPHY_TEST_THOROUGH") != NULL ? (one_of + 15) / 16 : one_of) == 0;
}

static void check(struct operator_test *test)
{
    struct shape shape;
    double *expected;

    test->may_refuse = true;
    operator_build(test);
    operator_make_layer(test);
    expected = expected_of(test, &shape);
    operator_run_layouts(test, &shape, expected, TOLERANCE);
    free(expected);
    operator_end(test);
}

/* ---- sizes ---- */

/* Calls `visit` with each shape of `first_rank` to `last_rank`: channels come second. */
static void each_shape(size_t first_rank, size_t last_rank, void (*visit)(struct shape shape))
{
    static const int64_t channels[] = {1, 3, 8, 16, 17};
    static const int64_t extents[][3] = {{1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {1, 1, 3}, {2, 1, 1}, {3, 1, 2}, {1, 2, 1}};

    for (size_t rank = first_rank; rank <= last_rank; rank++)
        for (int64_t batch = 1; batch <= 5; batch++)
            for (size_t channel = 0; channel < ARRAY_LEN(channels); channel++)
                for (size_t extent = 0; extent < (rank > 2 ? ARRAY_LEN(extents) : 1); extent++) {
                    struct shape shape = {.rank = rank, .dims = {batch, channels[channel]}};

                    for (size_t i = 2; i < rank; i++)
                        shape.dims[i] = extents[extent][(i - 2) % 3];
                    visit(shape);
                }
}

static struct shape ones(size_t rank)
{
    struct shape shape = {.rank = rank};

    for (size_t i = 0; i < rank; i++)
        shape.dims[i] = 1;
    return shape;
}

#define REQUIRE_BOTH()                                                                                                 \
    do {                                                                                                               \
        if (!onednn || !onnxruntime)                                                                                   \
            skip();                                                                                                    \
    } while (0)

static const struct {
    enum activation activation;
    float alpha, beta;
} fused[] = {{ACTIVATION_NONE, 0, 0},
             {ACTIVATION_RELU, 0, 0},
             {ACTIVATION_LEAKY_RELU, 0.25f, 0},
             {ACTIVATION_CLIP, -0.5f, 0.75f}};

static void fuse(struct operator_test *test, size_t which)
{
    test->fused = fused[which].activation;
    test->fused_alpha = fused[which].alpha;
    test->fused_beta = fused[which].beta;
}

/* ---- kinds of layers ---- */

static void check_activations(struct shape shape)
{
    static const struct {
        const char *op_type;
        enum activation activation;
    } activations[] = {{"Relu", ACTIVATION_RELU},         {"Sigmoid", ACTIVATION_SIGMOID}, {"Tanh", ACTIVATION_TANH},
                       {"Softplus", ACTIVATION_SOFTPLUS}, {"Abs", ACTIVATION_ABS},         {"Exp", ACTIVATION_EXP}};

    for (size_t i = 0; i < ARRAY_LEN(activations); i++) {
        struct operator_test test;

        if (!is_due(32))
            continue;
        operator_begin(&test, LAYER_ACTIVATION, activations[i].op_type, 13);
        test.activation = activations[i].activation;
        operator_input(&test, shape, 3);
        check(&test);
    }
}

static void activations_are_right_at_small_sizes(void **state)
{
    REQUIRE_BOTH();
    each_shape(2, 6, check_activations);
}

enum { FOLLOWERS = 8 };

/* The other operand: of a shape that broadcasts to this one. */
static struct shape follower(struct shape shape, size_t which)
{
    struct shape result = ones(shape.rank);

    switch (which) {
    case 0:
        return shape;
    case 1: /* (1, channels, 1, ...) */
        result.dims[1] = shape.dims[1];
        return result;
    case 2: /* (channels, 1, ...) */
        result.rank--;
        result.dims[0] = shape.dims[1];
        return result;
    case 3:
        return (struct shape){0};
    case 4: /* the last dimension */
        return SHAPE(shape.dims[shape.rank - 1]);
    case 5: /* (batch, 1, ...) */
        result.dims[0] = shape.dims[0];
        return result;
    case 6: /* (batch, channels, 1, ...) */
        result.dims[0] = shape.dims[0];
        result.dims[1] = shape.dims[1];
        return result;
    default: /* (1, 1, ...) */
        shape.dims[0] = shape.dims[1] = 1;
        return shape;
    }
}

static void check_binary(struct shape shape)
{
    static const char *const op_types[] = {"Add", "Sub", "Mul", "Div", "Max"};

    for (size_t i = 0; i < ARRAY_LEN(op_types) * FOLLOWERS * 6; i++) {
        const char *op_type = op_types[i % ARRAY_LEN(op_types)];
        size_t which = i / ARRAY_LEN(op_types) % FOLLOWERS, way = i / ARRAY_LEN(op_types) / FOLLOWERS;
        struct operator_test test;

        if (!is_due(128) || (way > 2 && strcmp(op_type, "Add") != 0))
            continue;
        operator_begin(&test, LAYER_BINARY, op_type, 13);
        operator_input(&test, way == 2 ? follower(shape, which) : shape, 3);
        operator_input(&test, way == 2 ? shape : follower(shape, which), 3);
        test.operands[1].constant = way == 1 || way == 4 || strcmp(op_type, "Max") == 0;
        fuse(&test, way > 2 ? way - 2 : 0);
        check(&test);
    }
}

static void sums_and_products_are_right_at_small_sizes(void **state)
{
    REQUIRE_BOTH();
    each_shape(2, 6, check_binary);
}

static void check_batch_normalization(struct shape shape)
{
    for (size_t i = 0; i < 2 * ARRAY_LEN(fused); i++) {
        struct operator_test test;

        if (!is_due(16))
            continue;
        operator_begin(&test, LAYER_BATCH_NORMALIZATION, "BatchNormalization", 15);
        operator_input(&test, shape, 3);
        for (size_t k = 1; k < 5; k++) {
            float *values = operator_input(&test, SHAPE(shape.dims[1]), 1);

            test.operands[k].constant = i % 2 == 0;
            for (int64_t c = 0; k == 4 && c < shape.dims[1]; c++)
                values[c] = fabsf(values[c]) + 0.1f; /* a variance */
        }
        fuse(&test, i / 2);
        check(&test);
    }
}

static void batch_normalizations_are_right_at_small_sizes(void **state)
{
    REQUIRE_BOTH();
    each_shape(2, 5, check_batch_normalization);
}

static void check_layer_normalization(struct shape shape)
{
    for (size_t axis = 0; axis < shape.rank; axis++) {
        struct shape parameter = {.rank = shape.rank - axis};
        struct operator_test test;

        if (!is_due(8))
            continue;
        for (size_t i = axis; i < shape.rank; i++)
            parameter.dims[i - axis] = shape.dims[i];
        operator_begin(&test, LAYER_LAYER_NORMALIZATION, "LayerNormalization", 17);
        operator_attribute(&test, INTEGER("axis", (int64_t)axis));
        operator_input(&test, shape, 3);
        operator_constant(&test, parameter, 1);
        operator_constant(&test, parameter, 1);
        check(&test);
    }
}

static void layer_normalizations_are_right_at_small_sizes(void **state)
{
    REQUIRE_BOTH();
    each_shape(2, 5, check_layer_normalization);
}

static void check_softmax(struct shape shape)
{
    for (size_t i = 0; i < 4 * shape.rank; i++) {
        struct operator_test test;

        if (!is_due(32))
            continue;
        operator_begin(&test, LAYER_SOFTMAX, i % 2 == 0 ? "Softmax" : "LogSoftmax", i / 2 % 2 == 0 ? 13 : 11);
        operator_attribute(&test, INTEGER("axis", (int64_t)(i / 4)));
        operator_input(&test, shape, 3);
        check(&test);
    }
}

static void softmax_is_right_at_small_sizes(void **state)
{
    REQUIRE_BOTH();
    each_shape(2, 5, check_softmax);
}

static void check_lrn(struct shape shape)
{
    for (int64_t size = 1; size <= 5; size += 2) {
        struct operator_test test;

        if (!is_due(4))
            continue;
        operator_begin(&test, LAYER_LRN, "LRN", 13);
        operator_attribute(&test, INTEGER("size", size));
        operator_attribute(&test, FLOAT("alpha", 0.5f));
        operator_input(&test, shape, 3);
        check(&test);
    }
}

static void lrn_is_right_at_small_sizes(void **state)
{
    REQUIRE_BOTH();
    each_shape(4, 4, check_lrn); /* ONNX Runtime has no others */
}

/* The axes are the bits of a number. */
static void check_reduction(struct shape shape)
{
    static const char *const op_types[] = {"ReduceMean", "ReduceSum", "ReduceProd",
                                           "ReduceL1",   "ReduceL2",  "ReduceSumSquare"};

    for (size_t bits = 1; bits < (size_t)1 << shape.rank; bits++)
        for (size_t i = 0; i < 2 * ARRAY_LEN(op_types); i++) {
            int64_t axes[TENSOR_MAX_RANK];
            struct operator_test test;
            size_t count = 0;

            if (!is_due(128))
                continue;
            for (size_t axis = 0; axis < shape.rank; axis++)
                if (bits >> axis & 1)
                    axes[count++] = (int64_t)axis;
            operator_begin(&test, LAYER_REDUCTION, op_types[i / 2], 11);
            operator_attribute(&test, INTEGER("keepdims", (int64_t)(i % 2)));
            operator_attribute(&test, integers("axes", axes, count));
            operator_input(&test, shape, 1.25f);
            check(&test);
        }
}

static void reductions_are_right_at_small_sizes(void **state)
{
    REQUIRE_BOTH();
    each_shape(2, 4, check_reduction);
}

static void check_pooling(struct shape shape)
{
    static const char *const op_types[] = {"MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"};
    static const int64_t kernels[][3] = {{1, 1, 1}, {2, 2, 2}, {3, 3, 3}}, steps[][3] = {{1, 1, 1}, {2, 2, 2}};
    static const int64_t pads[][6] = {{0}, {0, 0, 0, 1, 1, 1}, {1, 1, 1, 1, 1, 1}};

    for (size_t i = 0; i < 16; i++) {
        size_t spatial = shape.rank - 2, kernel = i / 4 % 3;
        int64_t around[6];
        struct operator_test test;

        if (!is_due(32) || (i % 4 > 1 && i > 3))
            continue;
        operator_begin(&test, LAYER_POOLING, op_types[i % 4], 12);
        operator_input(&test, shape, 3);
        if (i % 4 < 2) {
            for (size_t k = 0; k < spatial; k++) {
                around[k] = pads[kernel][0];
                around[k + spatial] = pads[kernel][5];
            }
            operator_attribute(&test, integers("kernel_shape", kernels[kernel], spatial));
            operator_attribute(&test, integers("strides", steps[i / 8], spatial));
            operator_attribute(&test, integers("pads", around, 2 * spatial));
            if (i % 4 == 1)
                operator_attribute(&test, INTEGER("count_include_pad", (int64_t)(i / 8)));
        }
        check(&test);
    }
}

static void pooling_is_right_at_small_sizes(void **state)
{
    REQUIRE_BOTH();
    each_shape(3, 5, check_pooling);
}

static void check_concatenation(struct shape shape)
{
    for (size_t axis = 0; axis < shape.rank; axis++) {
        struct shape other = shape;
        struct operator_test test;

        if (!is_due(16))
            continue;
        other.dims[axis]++;
        operator_begin(&test, LAYER_CONCATENATION, "Concat", 13);
        operator_attribute(&test, INTEGER("axis", (int64_t)axis));
        operator_input(&test, shape, 3);
        operator_input(&test, other, 3);
        operator_input(&test, shape, 3);
        check(&test);
    }
}

static void concatenations_are_right_at_small_sizes(void **state)
{
    REQUIRE_BOTH();
    each_shape(2, 6, check_concatenation);
}

/* `bits`: 1: 3 x 3 with padding, not 1 x 1. 2: a group for each channel. 4: a bias. 8: steps of 2. 16: something is
 * added to the result. 32 and 64: an activation. */
static void check_one_convolution(struct shape shape, bool transposed, size_t bits, int64_t outputs)
{
    static const int64_t three[] = {3, 3, 3}, one[] = {1, 1, 1}, two[] = {2, 2, 2}, pads[] = {1, 1, 1, 1, 1, 1};
    size_t spatial = shape.rank - 2;
    int64_t channels = shape.dims[1], groups = bits & 2 ? channels : 1;
    struct shape weights = {.rank = shape.rank};
    struct operator_test test;

    if (groups > 1)
        outputs = channels;
    weights.dims[0] = transposed ? channels : outputs;
    weights.dims[1] = (transposed ? outputs : channels) / groups;
    for (size_t i = 2; i < shape.rank; i++)
        weights.dims[i] = bits & 1 ? 3 : 1;
    operator_begin(&test, transposed ? LAYER_DECONVOLUTION : LAYER_CONVOLUTION, transposed ? "ConvTranspose" : "Conv",
                   13);
    operator_attribute(&test, INTEGER("group", groups));
    operator_attribute(&test, integers("kernel_shape", bits & 1 ? three : one, spatial));
    operator_attribute(&test, integers("strides", bits & 8 ? two : one, spatial));
    if (bits & 1)
        operator_attribute(&test, integers("pads", pads, 2 * spatial));
    operator_input(&test, shape, 1);
    operator_constant(&test, weights, 1);
    if (bits & 4)
        operator_constant(&test, SHAPE(outputs), 1);
    if (bits & 16 && !(bits & 4) && outputs != 5) { /* a bias by another name */
        struct shape result = ones(shape.rank - (outputs == 1 ? 0 : 1));

        result.dims[shape.rank == result.rank ? 1 : 0] = outputs;
        operator_constant(&test, result, 1);
        test.adds = true;
    } else if (bits & 16 && !transposed) {
        struct shape result = shape;

        result.dims[1] = outputs;
        for (size_t i = 2; i < shape.rank && bits & 8; i++)
            result.dims[i] = (shape.dims[i] - 1) / 2 + 1;
        operator_input(&test, result, 1);
        test.adds = true;
    }
    fuse(&test, bits >> 5);
    check(&test);
}

static void check_convolution(struct shape shape)
{
    static const int64_t outputs[] = {1, 5, 16};

    for (size_t bits = 0; bits < 128; bits++)
        for (size_t i = 0; i < ARRAY_LEN(outputs); i++)
            for (int transposed = 0; transposed < 2; transposed++)
                if (is_due(2048) && (bits % 4 == bits / 8 % 4 || i == 0)) /* a part of so many */
                    check_one_convolution(shape, transposed != 0, bits, outputs[i]);
}

static void convolutions_are_right_at_small_sizes(void **state)
{
    REQUIRE_BOTH();
    each_shape(3, 5, check_convolution);
}

static void check_resize(struct shape shape)
{
    for (int linear = 0; linear < 2; linear++) {
        struct operator_test test;
        float *scales;

        if (!is_due(8) || (linear && shape.rank != 4)) /* ONNX Runtime has no others */
            continue;
        operator_begin(&test, LAYER_RESIZE, "Resize", 13);
        operator_attribute(&test, STRING("mode", linear ? "linear" : "nearest"));
        operator_attribute(&test, STRING("coordinate_transformation_mode", linear ? "half_pixel" : "asymmetric"));
        operator_attribute(&test, STRING("nearest_mode", "floor"));
        operator_input(&test, shape, 3);
        operator_omitted(&test);
        scales = operator_constant(&test, SHAPE((int64_t)shape.rank), 1);
        for (size_t i = 0; i < shape.rank; i++)
            scales[i] = i < 2 ? 1 : 2;
        check(&test);
    }
}

static void resizing_is_right_at_small_sizes(void **state)
{
    REQUIRE_BOTH();
    each_shape(3, 5, check_resize);
}

static void check_product(struct shape shape)
{
    static const int64_t columns[] = {1, 5, 16};
    size_t last = shape.rank - 1;

    for (size_t i = 0; i < 8 * ARRAY_LEN(columns) * ARRAY_LEN(fused); i++) {
        struct shape second = {.rank = 2, .dims = {shape.dims[last], columns[i / 8 % ARRAY_LEN(columns)]}};
        struct operator_test test;

        if (!is_due(512))
            continue;
        if (i % 4 > 1) {
            second = shape;
            second.dims[last - 1] = shape.dims[last];
            second.dims[last] = columns[i / 8 % ARRAY_LEN(columns)];
        }
        operator_begin(&test, LAYER_MATMUL, "MatMul", 13);
        operator_input(&test, shape, 1);
        operator_input(&test, second, 1);
        test.operands[1].constant = i % 2 == 0;
        if (i % 8 > 3) {
            operator_constant(&test, SHAPE(second.dims[second.rank - 1]), 1);
            test.adds = true;
        }
        fuse(&test, i / 8 / ARRAY_LEN(columns));
        check(&test);
    }
}

static void check_gemm(struct shape shape)
{
    static const int64_t columns[] = {1, 5, 16};

    for (size_t bits = 0; bits < 8 * 6 * ARRAY_LEN(columns); bits++) {
        int64_t n = columns[bits / 48], rows = shape.dims[bits & 1], depth = shape.dims[bits & 1 ? 0 : 1];
        struct shape third[] = {{0}, SHAPE(n), SHAPE(rows, 1), SHAPE(1, n), SHAPE(rows, n), SHAPE(1)};
        size_t which = bits / 8 % 6;
        struct operator_test test;

        if (!is_due(64))
            continue;
        operator_begin(&test, LAYER_MATMUL, "Gemm", 13);
        operator_attribute(&test, INTEGER("transA", (int64_t)(bits & 1)));
        operator_attribute(&test, INTEGER("transB", (int64_t)(bits >> 1 & 1)));
        if (bits & 4) {
            operator_attribute(&test, FLOAT("alpha", 0.5f));
            operator_attribute(&test, FLOAT("beta", 2));
        }
        operator_input(&test, shape, 1);
        operator_constant(&test, bits & 2 ? SHAPE(n, depth) : SHAPE(depth, n), 1);
        if (which > 0)
            operator_constant(&test, third[which], 1);
        fuse(&test, bits % ARRAY_LEN(fused));
        check(&test);
    }
}

static void products_are_right_at_small_sizes(void **state)
{
    REQUIRE_BOTH();
    each_shape(2, 5, check_product);
    each_shape(2, 2, check_gemm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activations_are_right_at_small_sizes),
        cmocka_unit_test(sums_and_products_are_right_at_small_sizes),
        cmocka_unit_test(batch_normalizations_are_right_at_small_sizes),
        cmocka_unit_test(layer_normalizations_are_right_at_small_sizes),
        cmocka_unit_test(softmax_is_right_at_small_sizes),
        cmocka_unit_test(lrn_is_right_at_small_sizes),
        cmocka_unit_test(reductions_are_right_at_small_sizes),
        cmocka_unit_test(pooling_is_right_at_small_sizes),
        cmocka_unit_test(concatenations_are_right_at_small_sizes),
        cmocka_unit_test(convolutions_are_right_at_small_sizes),
        cmocka_unit_test(resizing_is_right_at_small_sizes),
        cmocka_unit_test(products_are_right_at_small_sizes),
    };

    return cmocka_run_group_tests(tests, open_providers, close_providers);
}
