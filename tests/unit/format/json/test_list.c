/* Arrays as people write them into JSON. */
#include "support/unit_test.h"

#include <math.h>
#include <string.h>

#include "format/json/list.h"

static int read_text(const char *json, struct tensor *ret, struct error *err)
{
    struct json_reader reader;
    int rc = json_reader_open_memory(&reader, json, strlen(json), "test.json", err);

    if (rc < 0)
        return rc;
    rc = json_list_read(&reader, reader.root, ret, err);
    json_reader_release(&reader);
    return rc;
}

static struct tensor tensor_of(const char *json)
{
    struct tensor tensor;
    struct error error = {0};

    if (read_text(json, &tensor, &error) < 0)
        fail_msg("%s: %s", json, error.message);
    return tensor;
}

static void assert_refused(const char *json, int code, const char *part)
{
    struct tensor tensor;
    struct error error = {0};

    assert_int_equal(read_text(json, &tensor, &error), code);
    assert_message_contains(&error, part);
}

static void integers_stay_integers(void **state)
{
    static const int64_t expected[] = {1, 2, 3, -4, INT64_MAX, 6};
    struct tensor tensor = tensor_of("[[1, 2, 3], [-4, 9223372036854775807, 6]]");

    assert_int_equal(tensor.type, DATA_INT64);
    assert_true(shape_equal(&tensor.shape, &(struct shape){2, {2, 3}}));
    assert_memory_equal(tensor.data, expected, sizeof(expected));
    tensor_release(&tensor);
}

static void one_fraction_makes_all_floats(void **state)
{
    struct tensor tensor = tensor_of("[1, 2.5, NaN, -Infinity]");
    const double *values = tensor.data;

    assert_int_equal(tensor.type, DATA_FLOAT64);
    assert_true(values[0] == 1 && values[1] == 2.5 && isnan(values[2]) && values[3] == -INFINITY);
    tensor_release(&tensor);
}

static void booleans_and_strings_are_arrays_too(void **state)
{
    struct tensor booleans = tensor_of("[[true], [false]]"), strings = tensor_of("[\"a\", \"b\\u0000c\", \"@d\"]");
    const struct text *texts = strings.data;

    assert_int_equal(booleans.type, DATA_BOOL);
    assert_memory_equal(booleans.data, "\1\0", 2);
    assert_int_equal(strings.type, DATA_STRING);
    assert_int_equal(texts[1].size, 3);
    assert_true(text_equal_string(texts[2], "@d"));
    tensor_release(&booleans);
    tensor_release(&strings);
}

static void empty_lists_have_a_shape(void **state)
{
    struct tensor tensor = tensor_of("[[], []]");

    assert_int_equal(tensor.type, DATA_FLOAT64);
    assert_true(shape_equal(&tensor.shape, &(struct shape){2, {2, 0}}));
    tensor_release(&tensor);
}

static void ragged_lists_are_refused_with_their_place(void **state)
{
    assert_refused("[[1, 2], [3]]", ERR_CORRUPT,
                   "the list at [1] has 1 item(s), but the first list of its dimension has 2");
    assert_refused("[[[1], [2]], [[3], [4, 5]]]", ERR_CORRUPT, "at [1][1] has 2 item(s)");
    assert_refused("[[1], 2]", ERR_CORRUPT, "at [1] is a value");
    assert_refused("[1, [2]]", ERR_CORRUPT, "at [1] is a list");
}

static void what_is_no_array_of_one_type_is_refused(void **state)
{
    assert_refused("[1, true]", ERR_CORRUPT, "1 of 2 items are booleans");
    assert_refused("[\"a\", 1]", ERR_CORRUPT, "1 of 2 items are strings");
    assert_refused("[1, null]", ERR_CORRUPT, "at [1] is neither a number");
    assert_refused("[[1, {}]]", ERR_CORRUPT, "at [0][1] is neither a number");
    assert_refused("[9007199254740993, 0.5]", ERR_CORRUPT, "at [0] is an integer that float64 cannot represent");
    assert_refused("[9223372036854775807, 0.5]", ERR_CORRUPT, "at [0] is an integer that float64 cannot represent");
    assert_refused("[9223372036854775808]", ERR_CORRUPT, "too big integer");
}

static void lists_deeper_than_tensors_are_refused(void **state)
{
    char json[2 * (TENSOR_MAX_RANK + 1) + 1];

    memset(json, '[', TENSOR_MAX_RANK + 1);
    memset(json + TENSOR_MAX_RANK + 1, ']', TENSOR_MAX_RANK + 1);
    json[sizeof(json) - 1] = '\0';
    assert_refused(json, ERR_UNSUPPORTED, "more than 32 deep");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_stay_integers),
        cmocka_unit_test(one_fraction_makes_all_floats),
        cmocka_unit_test(booleans_and_strings_are_arrays_too),
        cmocka_unit_test(empty_lists_have_a_shape),
        cmocka_unit_test(ragged_lists_are_refused_with_their_place),
        cmocka_unit_test(what_is_no_array_of_one_type_is_refused),
        cmocka_unit_test(lists_deeper_than_tensors_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
