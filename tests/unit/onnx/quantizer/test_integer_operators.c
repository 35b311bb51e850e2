/* Which inputs and outputs of operators on integers are integers, and where their scales and zero points are: as the
 * documents of ONNX and ONNX Runtime list inputs. */
#include "support/made_model.h"
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include "base/memory.h"
#include "onnx/quantizer/integer_operators.h"

/* "0(1 2) 3(4 5)@0 >0(6 7)": input 0 with scale 1 and zero point 2, input 3 with one for each slice along axis 0,
 * output 0; "8!" is a bias. */
static void add_operand(struct string_builder *text, const struct integer_operand *operand)
{
    string_add(text, text->size > 0 ? " " : "");
    string_add_format(text, "%s%u", operand->is_output ? ">" : "", (unsigned)operand->place);
    if (operand->scale != OPERAND_OMITTED || operand->zero_point != OPERAND_OMITTED)
        string_add_format(text, "(%d %d)", operand->scale, operand->zero_point);
    if (operand->has_axis)
        string_add_format(text, "@%d", (int)operand->axis);
    if (operand->is_bias)
        string_add(text, "!");
    if (operand->computed)
        string_add(text, "?");
    if (operand->bits != NULL)
        string_add_format(text, " in %s, %s", operand->bits, operand->block_size);
}

static void operands_are_where_the_documents_say(void **state)
{
    static const struct {
        const char *op_type, *operands;
    } cases[] = {
        {"QLinearConv", "0(1 2) 3(4 5)@0 8! >0(6 7)"},
        {"com.microsoft.QLinearConv", "0(1 2) 3(4 5)@0 8! >0(6 7)"},
        {"QLinearMatMul", "0(1 2) 3(4 5)@-1 >0(6 7)"},
        {"ConvInteger", "0(-1 2) 1(-1 3)@0"},
        {"MatMulInteger", "0(-1 2) 1(-1 3)@-1"},
        {"DynamicQuantizeLinear", ">0?"},
        {"com.microsoft.QLinearAdd", "0(1 2) 3(4 5) >0(6 7)"},
        {"com.microsoft.QLinearMul", "0(1 2) 3(4 5) >0(6 7)"},
        {"com.microsoft.QLinearAveragePool", "0(1 2) >0(3 4)"},
        {"com.microsoft.QLinearGlobalAveragePool", "0(1 2) >0(3 4)"},
        {"com.microsoft.QLinearReduceMean", "0(1 2) >0(3 4)"},
        {"com.microsoft.QLinearLeakyRelu", "0(1 2) >0(3 4)"},
        {"com.microsoft.QLinearSigmoid", "0(1 2) >0(3 4)"},
        {"com.microsoft.QLinearSoftmax", "0(1 2) >0(3 4)"},
        {"com.microsoft.QLinearWhere", "1(2 3) 4(5 6) >0(7 8)"},
        {"com.microsoft.QLinearConcat", ">0(0 1) 2(3 4) 5(6 7) 8(9 10)"},
        {"com.microsoft.QGemm", "0(1 2) 3(4 5)@-1 6! >0(7 8)"},
        {"com.microsoft.MatMulIntegerToFloat", "0(2 4) 1(3 5)@-1"},
        {"com.microsoft.DynamicQuantizeMatMul", "1(2 3)@-1"},
        {"com.microsoft.QAttention", "0(3 6) 1(4 7)@-1"},
        {"com.microsoft.MatMulNBits", "1(2 3) in bits, block_size"},
        {"com.microsoft.GatherBlockQuantized", "0(2 3) in bits, block_size"},
        {"com.microsoft.QMoE", "2(3 11) in expert_weight_bits, block_size "
                               "5(6 12) in expert_weight_bits, block_size 8(9 13) in expert_weight_bits, block_size"},
        {"QLinearAdd", ""}, /* of ONNX, there is none */
        {"Conv", ""},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct made_model made;
        struct integer_operand operand;
        struct string_builder text;
        struct model *model;

        made_init(&made, 21);
        made_node(&made, "n", cases[i].op_type, "a b c d e f g h i j k", "y", NULL, 0);
        made_output(&made, "y");
        model = made_open(&made);
        string_init(&text);
        string_add(&text, "");
        for (size_t k = 0; integer_operand_of(&model->nodes.items[0], k, &operand); k++)
            add_operand(&text, &operand);
        assert_string_equal(text.data, cases[i].operands);
        assert_int_equal(node_is_on_integers(&model->nodes.items[0]), text.size > 0);
        string_release(&text);
        model_free(model);
        made_release(&made);
    }
}

static void a_transposed_weight_has_its_channels_first(void **state)
{
    struct made_model made;
    struct integer_operand operand;
    struct model *model;

    made_init(&made, 13);
    made_node(&made, "n", "com.microsoft.QGemm", "a b c d e f", "y", &INTEGER("transB", 1), 1);
    made_output(&made, "y");
    model = made_open(&made);
    assert_true(integer_operand_of(&model->nodes.items[0], 1, &operand));
    assert_int_equal(operand.axis, 0);
    model_free(model);
    made_release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_are_where_the_documents_say),
        cmocka_unit_test(a_transposed_weight_has_its_channels_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
