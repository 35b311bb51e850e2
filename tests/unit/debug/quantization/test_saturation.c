/* test_saturation.c: which models may have 8-bit products. */
#include "support/made_model.h"
#include "support/unit_test.h"

#include "base/memory.h"
#include "debug/quantization/saturation.h"

static void products_need_quantized_tensors_and_a_node_that_multiplies(void **state)
{
    static const struct {
        const char *first, *second;
        bool expected;
    } cases[] = {
        {"QuantizeLinear", "MatMul", true},
        {"DequantizeLinear", "Conv", true},
        {"DynamicQuantizeLinear", "ConvInteger", true},
        {"QLinearMatMul", "Relu", true},
        {"MatMulInteger", "Relu", true},
        {"com.microsoft.QAttention", "Relu", true},
        {"com.microsoft.DynamicQuantizeLSTM", "Relu", true},
        {"QuantizeLinear", "Add", false},
        {"com.microsoft.QLinearAdd", "Relu", false},
        {"MatMul", "Gemm", false},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct made_model made;
        struct model *model;

        made_init(&made, 13);
        made_input(&made, "x", MADE_SHAPE(2, 2));
        made_node(&made, "", cases[i].first, "x", "h", NULL, 0);
        made_node(&made, "", cases[i].second, "h", "y", NULL, 0);
        made_output(&made, "y");
        model = made_open(&made);
        if (saturation_is_possible(model) != cases[i].expected)
            fail_msg("%s, %s", cases[i].first, cases[i].second);
        model_free(model);
        made_release(&made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_need_quantized_tensors_and_a_node_that_multiplies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
