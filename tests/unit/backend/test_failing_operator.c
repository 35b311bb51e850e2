/* Which operator a message of ONNX Runtime is about. */
#include <string.h>

#include "backend/failing_operator.h"
#include "support/unit_test.h"

static void assert_names(const char *message, const char *expected)
{
    struct text found = {0};

    if (!failing_operator(message, &found))
        fail_msg("no operator is found in: %s", message);
    assert_int_equal(found.size, strlen(expected));
    assert_memory_equal(found.data, expected, found.size);
}

static void operators_are_found_in_what_the_runtime_says(void **state)
{
    assert_names("Node (gemm) Op (Gemm) [ShapeInferenceError] Dimension mismatch in unification between 4 and 3",
                 "Gemm");
    assert_names("This is an invalid model. In Node, (\"foo\", Foo, \"\", -1) : (\"a\": tensor(float),) -> (\"f\",) , "
                 "Error No Op registered for Foo with domain_version of 13",
                 "Foo");
    assert_names("Fatal error: com.example:Bar_2(-1) is not a registered function/op", "Bar_2");
    assert_names("Non-zero status code returned while running MatMul node. Name:'m' Status Message: matmul_helper.h",
                 "MatMul");
    assert_names("Could not find an implementation for Conv(11) node with name 'c'", "Conv");
    assert_names("Type Error: Type parameter (T) of Optype (Add) bound to different types in node (a)", "Add");
    assert_names("Type 'tensor(int64)' of input parameter (x) of operator (Relu) in node (r) is invalid", "Relu");
}

static void what_the_runtime_fuses_goes_by_the_first_operator(void **state)
{
    assert_names("Non-zero status code returned while running FusedGemm node. Name:'g'", "Gemm");
    assert_names("Non-zero status code returned while running Fused node. Name:'g'", "Fused");
}

static void other_messages_name_none(void **state)
{
    struct text found;

    assert_false(failing_operator("", &found));
    assert_false(failing_operator("Protobuf parsing failed", &found));
    assert_false(failing_operator(" is not a registered function/op", &found));
    assert_false(failing_operator("while running out of memory", &found));
    assert_false(failing_operator("Op (", &found));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_are_found_in_what_the_runtime_says),
        cmocka_unit_test(what_the_runtime_fuses_goes_by_the_first_operator),
        cmocka_unit_test(other_messages_name_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
