/* What a report remembers of comparisons, and how it tells of single elements. */
#include <math.h>
#include <stdlib.h>

#include "comparator/compare/run_report.h"
#include "support/tensor_fixture.h"

static const char *element_as_json(struct tensor tensor, size_t element)
{
    static struct json_writer json;
    struct element_value value;

    json_writer_release(&json);
    json_writer_init(&json);
    json.compact = true;
    element_value_read(&tensor, element, &value);
    element_value_write(&value, &json);
    element_value_release(&value);
    return json.text.data;
}

static void elements_are_told_exactly(void **state)
{
    const int64_t large[] = {INT64_MIN, 9007199254740993};
    const uint64_t beyond[] = {UINT64_MAX, 5};
    const float numbers[] = {NAN, -INFINITY, 0.5F};
    const struct text words[] = {TEXT("a \"quoted\" word")};

    assert_string_equal(element_as_json(VECTOR_OF(DATA_INT64, large), 0), "-9223372036854775808");
    assert_string_equal(element_as_json(VECTOR_OF(DATA_INT64, large), 1), "9007199254740993");
    assert_string_equal(element_as_json(VECTOR_OF(DATA_UINT64, beyond), 0), "1.8446744073709552e+19");
    assert_string_equal(element_as_json(VECTOR_OF(DATA_UINT64, beyond), 1), "5");
    assert_string_equal(element_as_json(tensor_of(DATA_BOOL, SHAPE(2), "\0\1"), 1), "true");
    assert_string_equal(element_as_json(tensor_of(DATA_INT4, SHAPE(2), "\xf1"), 1), "-1");
    assert_string_equal(element_as_json(VECTOR_OF(DATA_FLOAT32, numbers), 0), "NaN");
    assert_string_equal(element_as_json(VECTOR_OF(DATA_FLOAT32, numbers), 1), "-Infinity");
    assert_string_equal(element_as_json(VECTOR_OF(DATA_FLOAT32, numbers), 2), "0.5");
    assert_string_equal(element_as_json(tensor_of(DATA_STRING, SHAPE(1), words), 0), "\"a \\\"quoted\\\" word\"");
}

static char name[] = "x";

/* Compares "x", of one element, with a tolerance of 1. */
static void add(struct run_report *report, size_t iteration, float a, float b)
{
    struct named_tensor first = {.name = name, .tensor = tensor_of(DATA_FLOAT32, SHAPE(1), &a)};
    struct named_tensor second = {.name = name, .tensor = tensor_of(DATA_FLOAT32, SHAPE(1), &b)};
    struct comparison_criteria criteria = {.simple = COMPARE_DEFAULTS};
    struct compare_result result;

    criteria.simple.atol = 1;
    assert_int_equal(compare_outputs(&first.tensor, &second.tensor, &criteria.simple, &result, NULL), 0);
    run_report_add_comparison(report, &(struct compared_outputs){COMPARISON_SIMPLE, "A", "B", iteration, &first,
                                                                 &second, &criteria, &result});
}

static void worst_comparison_stands_for_a_tensor(void **state)
{
    struct tensor_summaries tensors = {0};
    struct run_report report;

    run_report_init(&report);
    add(&report, 0, 1, 1.5F);
    add(&report, 1, 1, 4);
    add(&report, 2, 8, 6);
    add(&report, 3, 1, 1);
    run_report_summarize(&report, &tensors);
    assert_int_equal(tensors.count, 1);
    assert_int_equal(tensors.items[0].worst->iteration, 1);
    assert_true(compared_norm_error(tensors.items[0].worst) == 0.75);
    free(tensors.items);

    tensors = (struct tensor_summaries){0};
    add(&report, 4, NAN, 1);
    add(&report, 5, 1, 100);
    run_report_summarize(&report, &tensors);
    assert_int_equal(tensors.items[0].worst->iteration, 4);
    assert_true(isnan(compared_norm_error(tensors.items[0].worst)));
    free(tensors.items);
    run_report_release(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_told_exactly),
        cmocka_unit_test(worst_comparison_stands_for_a_tensor),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
