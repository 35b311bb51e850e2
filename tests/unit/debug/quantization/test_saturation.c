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
        int block_size; /* of the first */
    } cases[] = {
        {"QuantizeLinear", "MatMul", true, 0},
        {"DequantizeLinear", "Conv", true, 0},
        {"DynamicQuantizeLinear", "ConvInteger", true, 0},
        {"QLinearMatMul", "Relu", true, 0},
        {"MatMulInteger", "Relu", true, 0},
        {"com.microsoft.QAttention", "Relu", true, 0},
        {"com.microsoft.DynamicQuantizeLSTM", "Relu", true, 0},
        {"QuantizeLinear", "Add", false, 0},
        {"com.microsoft.QLinearAdd", "Relu", false, 0},
        {"MatMul", "Gemm", false, 0},
        {"DequantizeLinear", "MatMul", false, 32},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct node_attribute block = INTEGER("block_size", cases[i].block_size);
        struct made_model made;
        struct model *model;

        made_init(&made, 13);
        made_input(&made, "x", MADE_SHAPE(2, 2));
        made_node(&made, "", cases[i].first, "x", "h", &block, cases[i].block_size > 0);
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
