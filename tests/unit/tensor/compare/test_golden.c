/* The golden vectors of Polygraphy's comparison functions. Rows that show one of its defects are listed with what is
 * right. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "support/tensor_fixture.h"
#include "tensor/compare/compare.h"
#include "tensor/compare/ranking.h"

/* What a row should have said. */
struct correction {
    const char *id;
    bool passed;
    double absolute, relative; /* maximum, and mean and median too where there is one element */
};

static const struct correction corrections[] = {
    {"int32_wraps_to_1", false, 4294967295.0, 4294967295.0 / 2147483648.0},
    {"int32_wraps_negative", false, 0x1p31, 0x1p31},
    {"int64_wraps_negative", false, 0x1p63, 0x1p63},
    {"uint64_a_lt_b", false, 1, 0.5},
    {"uint64_a_lt_b_atol1", true, 1, 0.5},
    {"empty_mean", true, 0, 0},
    {"empty_quantile", true, 0, 0},
    {"bool_quantile", false, 1, 1},
    {"f64_mean_overflows_f32", true, 1e300, INFINITY},
    {"shape_impossible_allowed", false, 0, 0},
};

static const struct correction *correction_of(const char *id)
{
    for (size_t i = 0; i < ARRAY_LEN(corrections); i++) {
        if (strcmp(corrections[i].id, id) == 0)
            return &corrections[i];
    }
    return NULL;
}

static bool near(double a, double b, double tolerance)
{
    return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= tolerance * fabs(b);
}

static void assert_golden(const char *id, const char *name, const json_t *expected, double actual, double tolerance)
{
    if (!near(actual, golden_number(expected), tolerance))
        fail_msg("%s: %s is %.17g, not %.17g", id, name, actual, golden_number(expected));
}

/* Means are float32 in Polygraphy, and medians of float32 are rounded to it. */
static void assert_golden_differences(const char *id, const json_t *row, const char *kind,
                                      const struct compare_difference *actual, const struct compare_result *result)
{
    char name[32];

    snprintf(name, sizeof(name), "max_%s", kind);
    assert_golden(id, name, json_object_get(row, name), actual->maximum, 0);
    snprintf(name, sizeof(name), "mean_%s", kind);
    assert_golden(id, name, json_object_get(row, name), actual->mean, 2e-7);
    snprintf(name, sizeof(name), "median_%s", kind);
    assert_golden(id, name, json_object_get(row, name), actual->median, 1e-7);
    snprintf(name, sizeof(name), "quantile_%s", kind);
    assert_int_equal(result->has_quantiles, !json_is_null(json_object_get(row, name)));
    if (result->has_quantiles)
        assert_golden(id, name, json_object_get(row, name), actual->quantile, 0);
}

static void assert_corrected(const struct correction *correction, const struct compare_result *result)
{
    const struct compare_difference *differences[] = {&result->absolute, &result->relative};
    const double expected[] = {correction->absolute, correction->relative};

    for (int i = 0; i < 2 && !result->shape_mismatch; i++) {
        if (!near(differences[i]->maximum, expected[i], 0))
            fail_msg("%s: maximum is %.17g, not %.17g", correction->id, differences[i]->maximum, expected[i]);
        if (result->elements == 1)
            assert_true(near(differences[i]->mean, expected[i], 0) && near(differences[i]->median, expected[i], 0));
    }
}

static struct compare_options options_of(const json_t *json)
{
    struct compare_options options = COMPARE_DEFAULTS;
    json_t *value;

    options.want_medians = true;
    if ((value = json_object_get(json, "atol")))
        options.atol = json_number_value(value);
    if ((value = json_object_get(json, "rtol")))
        options.rtol = json_number_value(value);
    if ((value = json_object_get(json, "error_quantile")))
        options.quantile = json_number_value(value);
    if ((value = json_object_get(json, "check_error_stat")))
        assert_true(compare_statistic_parse(text_of(json_string_value(value)), &options.statistic));
    options.infinities_compare_equal = json_is_true(json_object_get(json, "infinities_compare_equal"));
    options.check_shapes = !json_is_false(json_object_get(json, "check_shapes"));
    return options;
}

static void check_simple(const char *id, const json_t *row)
{
    struct tensor a = golden_tensor(json_object_get(row, "a")), b = golden_tensor(json_object_get(row, "b"));
    struct compare_options options = options_of(json_object_get(row, "options"));
    const struct correction *correction = correction_of(id);
    struct error error = {0};
    struct compare_result result;

    if (compare_outputs(&a, &b, &options, &result, &error) < 0)
        fail_msg("%s: %s", id, error.message);
    bool expected = correction ? correction->passed : json_is_true(json_object_get(row, "passed"));
    if (result.passed != expected)
        fail_msg("%s: passed is %d", id, result.passed);
    if (correction) {
        assert_corrected(correction, &result);
    } else if (json_object_get(row, "max_absdiff")) {
        assert_golden_differences(id, row, "absdiff", &result.absolute, &result);
        assert_golden_differences(id, row, "reldiff", &result.relative, &result);
    } else {
        assert_true(result.shape_mismatch);
    }
    tensor_release(&a);
    tensor_release(&b);
}

static void check_indices(const char *id, const json_t *row)
{
    struct tensor a = golden_tensor(json_object_get(row, "a")), b = golden_tensor(json_object_get(row, "b"));
    json_t *tolerance = json_object_get(json_object_get(row, "options"), "index_tolerance");
    bool expected = json_is_true(json_object_get(row, "passed"));
    struct error error = {0};
    struct indices_result result;

    if (strcmp(id, "tol_ge_row") == 0)
        expected = false; /* a row is not accepted unseen */
    if (strcmp(id, "scalar") == 0)
        expected = true; /* a scalar is a row of one */
    if (compare_indices(&a, &b, (size_t)json_integer_value(tolerance), &result, &error) < 0)
        fail_msg("%s: %s", id, error.message);
    if (result.passed != expected)
        fail_msg("%s: passed is %d", id, result.passed);
    tensor_release(&a);
    tensor_release(&b);
}

static void comparisons_are_those_of_all_golden_vectors(void **state)
{
    json_t *vectors = golden_vectors("compare_golden.json"), *row;
    size_t i, simple = 0, indices = 0, corrected = 0;

    json_array_foreach (json_object_get(vectors, "compare"), i, row) {
        const char *id = json_string_value(json_object_get(row, "id"));
        if (strcmp(json_string_value(json_object_get(row, "func")), "simple") == 0) {
            check_simple(id, row);
            corrected += correction_of(id) != NULL;
            simple++;
        } else {
            check_indices(id, row);
            indices++;
        }
    }
    assert_int_equal(simple, 67);
    assert_int_equal(indices, 11);
    assert_int_equal(corrected, ARRAY_LEN(corrections));
    json_decref(vectors);
}

static void compare_positions(const json_t *expected, const int64_t **positions)
{
    json_t *item;
    size_t i;

    json_array_foreach (expected, i, item) {
        if (json_is_array(item))
            compare_positions(item, positions);
        else
            assert_int_equal(*(*positions)++, json_integer_value(item));
    }
}

static void largest_values_are_those_of_all_golden_vectors(void **state)
{
    json_t *vectors = golden_vectors("compare_golden.json"), *row;
    json_t *defect = json_pack("[i, i]", 2, 0); /* negation wraps for uint8 0 and for int8 -128 */
    size_t i, corrected = 0;

    json_array_foreach (json_object_get(vectors, "top_k"), i, row) {
        const char *id = json_string_value(json_object_get(row, "id"));
        bool is_defect = strcmp(id, "uint8") == 0 || strcmp(id, "int8_min") == 0;
        struct tensor tensor = golden_tensor(json_object_get(row, "array")), result;

        assert_int_equal(top_k(&tensor, json_integer_value(json_object_get(row, "k")),
                               json_integer_value(json_object_get(row, "axis")), &result, NULL),
                         0);
        const int64_t *positions = result.data;
        compare_positions(is_defect ? defect : json_object_get(row, "indices"), &positions);
        assert_int_equal(positions - (const int64_t *)result.data, tensor_elements(&result));
        corrected += is_defect;
        tensor_release(&tensor);
        tensor_release(&result);
    }
    assert_int_equal(i, 6);
    assert_int_equal(corrected, 2);
    json_decref(defect);
    json_decref(vectors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comparisons_are_those_of_all_golden_vectors),
        cmocka_unit_test(largest_values_are_those_of_all_golden_vectors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
