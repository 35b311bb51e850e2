/* What is fused with a node, in plain loops. */
#include "support/unit_test.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "engine/tactic/fused_rest.h"

static void add_operation(struct layer *layer, struct fused_operation operation)
{
    *VECTOR_APPEND(&layer->fused) = operation;
}

static float activated(enum activation activation, float alpha, float beta, float x)
{
    struct layer layer = {0};
    struct shape scalar = {.rank = 0};

    add_operation(&layer, (struct fused_operation){
                              .kind = FUSED_ACTIVATION, .activation = activation, .alpha = alpha, .beta = beta});
    fused_rest_apply(&layer, NULL, &scalar, &x);
    free(layer.fused.items);
    return x;
}

static void assert_near(float value, double expected)
{
    if (!(fabs((double)value - expected) <= 1e-6))
        fail_msg("%g is not %g", (double)value, expected);
}

static void activations_are_what_onnx_defines(void **state)
{
    for (float x = -4; x <= 4; x += 0.5F) {
        double v = (double)x;

        assert_near(activated(ACTIVATION_RELU, 0, 0, x), v > 0 ? v : 0);
        assert_near(activated(ACTIVATION_LEAKY_RELU, 0.25F, 0, x), v > 0 ? v : 0.25 * v);
        assert_near(activated(ACTIVATION_CLIP, -1, INFINITY, x), v > -1 ? v : -1);
        assert_near(activated(ACTIVATION_CLIP, -INFINITY, 2, x), v < 2 ? v : 2);
        assert_near(activated(ACTIVATION_SIGMOID, 0, 0, x), 1 / (1 + exp(-v)));
        assert_near(activated(ACTIVATION_TANH, 0, 0, x), tanh(v));
        assert_near(activated(ACTIVATION_ELU, 0.5F, 0, x), v > 0 ? v : 0.5 * (exp(v) - 1));
        assert_near(activated(ACTIVATION_SWISH, 1, 0, x), v / (1 + exp(-v)));
        assert_near(activated(ACTIVATION_HARD_SWISH, 0, 0, x), v * fmin(fmax(v / 6 + 0.5, 0), 1));
        assert_near(activated(ACTIVATION_GELU_ERF, 0, 0, x), v / 2 * (1 + erf(v / sqrt(2))));
    }
    assert_true(isnan(activated(ACTIVATION_RELU, 0, 0, NAN)));
    assert_true(isnan(activated(ACTIVATION_CLIP, 0, 1, NAN)));
}

static void operands_are_broadcast_and_operations_keep_their_order(void **state)
{
    static const float channels[] = {10, -20}, row[] = {1, 2, 3};
    const struct fused_operand operands[] = {{channels, {.rank = 3, .dims = {2, 1, 1}}},
                                             {row, {.rank = 1, .dims = {3}}}};
    const struct shape shape = {.rank = 4, .dims = {1, 2, 2, 3}};
    struct layer layer = {0};
    float values[12] = {0};

    add_operation(&layer, (struct fused_operation){.kind = FUSED_ADD});
    add_operation(&layer, (struct fused_operation){.kind = FUSED_ACTIVATION, .activation = ACTIVATION_RELU});
    add_operation(&layer, (struct fused_operation){.kind = FUSED_ADD});
    fused_rest_apply(&layer, operands, &shape, values);
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        assert_near(values[i], (i < 6 ? 10 : 0) + (double)(i % 3) + 1);
    free(layer.fused.items);
}

static void operands_that_do_not_fit_are_told(void **state)
{
    const struct shape shape = {.rank = 2, .dims = {2, 3}};

    assert_true(fused_rest_fits(&(struct shape){.rank = 0}, &shape));
    assert_true(fused_rest_fits(&(struct shape){.rank = 2, .dims = {2, 1}}, &shape));
    assert_false(fused_rest_fits(&(struct shape){.rank = 1, .dims = {2}}, &shape));
    assert_false(fused_rest_fits(&(struct shape){.rank = 3, .dims = {1, 2, 3}}, &shape));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activations_are_what_onnx_defines),
        cmocka_unit_test(operands_are_broadcast_and_operations_keep_their_order),
        cmocka_unit_test(operands_that_do_not_fit_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
