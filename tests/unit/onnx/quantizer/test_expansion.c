/* Operators with packed weights as DequantizeLinear and operators on floats, and back. */
#include <string.h>

#include "onnx/edit/constants.h"
#include "onnx/edit/model.h"
#include "onnx/quantizer/expansion.h"
#include "support/made_model.h"
#include "support/unit_test.h"

struct expanded {
    struct made_model made;
    struct model *model;
    struct expansion expansion;
    struct quantizers quantizers;
};

static void expand(struct expanded *expanded)
{
    struct error err = {0};

    made_output(&expanded->made, "y");
    expanded->model = made_open(&expanded->made);
    if (expansion_make(expanded->model, &expanded->expansion, &err) < 0)
        fail_msg("%s", err.message);
    quantizers_find(expanded->model, NULL, &expanded->quantizers);
    expansion_name_quantizers(&expanded->expansion, expanded->model, &expanded->quantizers);
}

static void release(struct expanded *expanded)
{
    quantizers_release(&expanded->quantizers);
    expansion_release(&expanded->expansion);
    model_free(expanded->model);
    made_release(&expanded->made);
}

static void assert_operators(const struct model *model, const char *expected)
{
    SCOPED_STRING(text);

    string_add(&text, "");
    for (size_t i = 0; i < model->nodes.count; i++) {
        string_add(&text, i > 0 ? " " : "");
        string_add_text(&text, model->nodes.items[i].op_type);
    }
    assert_string_equal(text.data, expected);
}

static void undo(const struct expanded *expanded, struct model *model)
{
    struct error err = {0};

    if (expansion_undo(&expanded->expansion, model, &err) < 0)
        fail_msg("%s", err.message);
}

static void add_weight(struct made_model *made)
{
    static const uint8_t bytes[64];
    float scales[4] = {1, 2, 3, 4};

    made_tensor(made, "b", DATA_UINT8, MADE_SHAPE(2, 2, 8), bytes);
    made_tensor(made, "s", DATA_FLOAT32, MADE_SHAPE(4), scales);
}

static void add_product(struct made_model *made, const char *name, const char *inputs, const char *output)
{
    const struct node_attribute attributes[] = {INTEGER("K", 32), INTEGER("N", 2), INTEGER("bits", 4),
                                                INTEGER("block_size", 16)};

    made_node(made, name, "com.microsoft.MatMulNBits", inputs, output, attributes, 4);
}

static void a_product_is_expanded_and_restored(void **state)
{
    struct expanded expanded;
    struct model *copy;

    made_init(&expanded.made, 17);
    made_input(&expanded.made, "x", MADE_SHAPE(1, 32));
    made_constant(&expanded.made, "bias", MADE_SHAPE(2), -1, 1);
    add_weight(&expanded.made);
    add_product(&expanded.made, "mm", "x b s - - bias", "h");
    made_node(&expanded.made, "relu", "Relu", "h", "y", NULL, 0);
    expand(&expanded);
    assert_operators(expanded.model, "DequantizeLinear MatMul Add Relu");
    assert_int_equal(expanded.quantizers.count, 1);
    assert_string_equal(expanded.quantizers.items[0].name, "b");
    assert_null(expanded.quantizers.items[0].problem);
    assert_int_equal(expanded.quantizers.items[0].block_size, 16);
    assert_int_equal(expanded.quantizers.items[0].role, QUANTIZER_WEIGHT);
    assert_true(text_equal_string(expanded.model->nodes.items[1].name, "mm"));
    copy = model_copy(expanded.model);
    undo(&expanded, copy);
    assert_operators(copy, "MatMulNBits Relu");
    assert_operators(expanded.model, "DequantizeLinear MatMul Add Relu");
    model_free(copy);
    release(&expanded);
}

/* A restored operator would have the old scales. */
static void with_other_scales_an_operator_is_not_restored(void **state)
{
    const float others[] = {5, 6, 7, 8};
    struct tensor scales;
    struct expanded expanded;
    struct model *copy;

    made_init(&expanded.made, 21);
    made_input(&expanded.made, "x", MADE_SHAPE(1, 32));
    add_weight(&expanded.made);
    add_product(&expanded.made, "mm", "x b s", "y");
    expand(&expanded);
    copy = model_copy(expanded.model);
    tensor_borrow(DATA_FLOAT32, &MADE_SHAPE(2, 2), others, sizeof(others), &scales);
    assert_int_equal(model_set_tensor(copy, expanded.expansion.weights.items[0].scale, &scales, NULL), 0);
    undo(&expanded, copy);
    assert_operators(copy, "DequantizeLinear MatMul");
    model_free(copy);
    release(&expanded);
}

static void nodes_with_one_weight_have_one_quantizer(void **state)
{
    struct expanded expanded;

    made_init(&expanded.made, 17);
    made_input(&expanded.made, "x", MADE_SHAPE(1, 32));
    add_weight(&expanded.made);
    add_product(&expanded.made, "first", "x b s", "g");
    add_product(&expanded.made, "second", "x b s", "h");
    made_node(&expanded.made, "sum", "Add", "g h", "y", NULL, 0);
    expand(&expanded);
    assert_operators(expanded.model, "DequantizeLinear MatMul DequantizeLinear MatMul Add");
    assert_int_equal(expanded.quantizers.count, 1);
    assert_int_equal(expanded.quantizers.items[0].dequantize.count, 2);
    undo(&expanded, expanded.model);
    assert_operators(expanded.model, "MatMulNBits MatMulNBits Add");
    release(&expanded);
}

/* The scales of the groups, next to the group of each row. */
static void groups_gather_scales(void **state)
{
    int32_t groups[32];
    struct expanded expanded;
    const struct quantizer *quantizer;
    struct scale_layout layout;

    for (int i = 0; i < 32; i++)
        groups[i] = i % 2;
    made_init(&expanded.made, 17);
    made_input(&expanded.made, "x", MADE_SHAPE(1, 32));
    made_tensor(&expanded.made, "g", DATA_INT32, MADE_SHAPE(32), groups);
    add_weight(&expanded.made);
    add_product(&expanded.made, "mm", "x b s - g", "y");
    expand(&expanded);
    assert_operators(expanded.model, "Gather DequantizeLinear MatMul");
    quantizer = &expanded.quantizers.items[0];
    assert_null(quantizer->problem);
    assert_false(quantizer->dynamic);
    assert_true(shape_equal(&quantizer->scale.shape, &MADE_SHAPE(2, 2)));
    assert_true(scale_layout_of(quantizer, &MADE_SHAPE(32, 2), &layout));
    assert_false(scale_layout_of(quantizer, &MADE_SHAPE(30, 2), &layout));
    assert_int_equal(scale_layout_index(&layout, 2 * 2 + 1), 1); /* row 2, column 1: group 0 */
    assert_int_equal(scale_layout_index(&layout, 3 * 2 + 1), 3); /* row 3: group 1 */
    undo(&expanded, expanded.model);
    assert_operators(expanded.model, "MatMulNBits");
    release(&expanded);
}

static void add_experts(struct made_model *made)
{
    static const uint8_t bytes[256];
    float scales[64];
    const struct node_attribute attributes[] = {INTEGER("expert_weight_bits", 4), INTEGER("k", 1),
                                                STRING("activation_type", "relu")};

    for (size_t i = 0; i < ARRAY_LEN(scales); i++)
        scales[i] = 1;
    made_input(made, "x", MADE_SHAPE(1, 16));
    made_input(made, "r", MADE_SHAPE(1, 2));
    made_tensor(made, "b", DATA_UINT8, MADE_SHAPE(2, 16, 8), bytes);
    made_tensor(made, "s", DATA_FLOAT32, MADE_SHAPE(2, 16), scales);
    made_node(made, "moe", "com.microsoft.QMoE", "x r b s - b s", "y", attributes, 3);
}

static void experts_are_expanded_where_the_operator_set_has_blocks(void **state)
{
    struct expanded expanded;

    made_init(&expanded.made, 21);
    add_experts(&expanded.made);
    expand(&expanded);
    assert_operators(expanded.model, "DequantizeLinear DequantizeLinear MoE");
    assert_int_equal(expanded.model->nodes.items[2].inputs.count, 5);
    release(&expanded);

    made_init(&expanded.made, 20);
    add_experts(&expanded.made);
    expand(&expanded);
    assert_operators(expanded.model, "QMoE");
    assert_string_equal(expanded.quantizers.items[0].problem, "its operator is only expanded from operator set 21 on");
    release(&expanded);
}

/* What cannot be unpacked stays, and says why. */
static void a_node_that_does_not_match_its_weight_stays(void **state)
{
    struct expanded expanded;

    made_init(&expanded.made, 17);
    made_input(&expanded.made, "x", MADE_SHAPE(1, 32));
    made_constant(&expanded.made, "b", MADE_SHAPE(2, 2, 8), 0, 1);
    made_constant(&expanded.made, "s", MADE_SHAPE(4), 0, 1);
    add_product(&expanded.made, "mm", "x b s", "y");
    expand(&expanded);
    assert_operators(expanded.model, "MatMulNBits");
    assert_string_equal(expanded.quantizers.items[0].problem, "its integers are not packed in bytes");
    release(&expanded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_product_is_expanded_and_restored),
        cmocka_unit_test(with_other_scales_an_operator_is_not_restored),
        cmocka_unit_test(nodes_with_one_weight_have_one_quantizer),
        cmocka_unit_test(groups_gather_scales),
        cmocka_unit_test(experts_are_expanded_where_the_operator_set_has_blocks),
        cmocka_unit_test(a_node_that_does_not_match_its_weight_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
