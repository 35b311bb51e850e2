/* What ONNX Runtime says of its optimizers, in lines that release 1.30 has written. */
#include "support/unit_test.h"

#include <string.h>

#include "backend/onnxrt/optimizers.h"

static void optimizers_that_change_the_model_are_known_from_the_log(void **state)
{
    static const char *const messages[] = {
        "GraphTransformer ConstantFolding modified: 0 with status: OK",
        "GraphTransformer Level1_RuleBasedTransformer modified: 1 with status: OK",
        "GraphTransformer ConstantFolding modified: 1 with status: OK",
        "GraphTransformer Level1_RuleBasedTransformer modified: 0 with status: OK",
        "GraphTransformer ReshapeFusion modified: 0 with status: OK",
        "Applying graph transformer MatMulAddFusion on step 1",
        "GraphTransformer  modified: 1",
        "GraphTransformer",
        "GraphTransformer cut",
        "",
    };
    struct onnxrt_optimizers optimizers;

    onnxrt_optimizers_init(&optimizers);
    for (size_t i = 0; i < sizeof(messages) / sizeof(*messages); i++)
        onnxrt_optimizers_read(&optimizers, messages[i]);
    assert_int_equal(optimizers.count, 3);
    assert_string_equal(optimizers.items[0].name, "ConstantFolding");
    assert_true(optimizers.items[0].has_changed);
    assert_string_equal(optimizers.items[1].name, "Level1_RuleBasedTransformer");
    assert_true(optimizers.items[1].has_changed);
    assert_string_equal(optimizers.items[2].name, "ReshapeFusion");
    assert_false(optimizers.items[2].has_changed);
    onnxrt_optimizers_release(&optimizers);
}

static void single_rules_have_names(void **state)
{
    const char *const *rules = onnxrt_optimizer_rules("Level2_RuleBasedTransformer");
    struct string_builder instead;

    assert_string_equal(rules[0], "ClipQuantRewrite");
    assert_null(onnxrt_optimizer_rules("ConstantFolding"));
    string_init(&instead);
    assert_true(onnxrt_optimizer_is_known("ClipQuantRewrite", &instead));
    assert_true(onnxrt_optimizer_is_known("NchwcTransformer", &instead));
    assert_int_equal(instead.size, 0);
    assert_false(onnxrt_optimizer_is_known("NchwcTransformers", &instead));
    assert_non_null(strstr(instead.data, "did you mean 'NchwcTransformer'"));
    string_release(&instead);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimizers_that_change_the_model_are_known_from_the_log),
        cmocka_unit_test(single_rules_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
