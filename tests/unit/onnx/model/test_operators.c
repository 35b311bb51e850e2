/* The names of ONNX's own operators. */
#include "support/unit_test.h"

#include <stdio.h>
#include <string.h>

#include "onnx/model/operators.h"

static void names_are_found_in_whole(void **state)
{
    assert_true(operator_is_standard(TEXT("Abs")));
    assert_true(operator_is_standard(TEXT("MatMul")));
    assert_true(operator_is_standard(TEXT("MatMulInteger")));
    assert_true(operator_is_standard(TEXT("Xor")));
    assert_false(operator_is_standard(TEXT("Mat")));
    assert_false(operator_is_standard(TEXT("MatMulNBits")));
    assert_false(operator_is_standard(TEXT("")));
}

/* A binary search misses names that are out of order. */
static void every_operator_of_the_installed_schemas_is_found(void **state)
{
    char line[128];
    size_t count = 0;
    FILE *names = popen("/usr/bin/python3 -c 'import onnx.defs as d\n"
                        "for s in d.get_all_schemas_with_history():\n"
                        "    if not s.domain: print(s.name)' 2>/dev/null",
                        "r");

    assert_non_null(names);
    while (fgets(line, sizeof(line), names) != NULL) {
        struct text name = {line, strcspn(line, "\n")};

        if (!operator_is_standard(name))
            fail_msg("%s", line);
        count++;
    }
    pclose(names);
    if (count == 0)
        skip();
}

static void pads_and_shapes_decide_shapes_and_values_do_not(void **state)
{
    const struct node pad = {.op_type = TEXT("Pad")}, slice = {.op_type = TEXT("Slice")};
    const struct node other = {.op_type = TEXT("Reshape"), .domain = TEXT("custom")};

    assert_false(node_input_decides_shape(&pad, 0));
    assert_true(node_input_decides_shape(&pad, 1));
    assert_false(node_input_decides_shape(&pad, 2));
    assert_true(node_input_decides_shape(&pad, 3));
    assert_true(node_input_decides_shape(&slice, 4));
    assert_false(node_input_decides_shape(&slice, 5));
    assert_false(node_input_decides_shape(&other, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found_in_whole),
        cmocka_unit_test(pads_and_shapes_decide_shapes_and_values_do_not),
        cmocka_unit_test(every_operator_of_the_installed_schemas_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
