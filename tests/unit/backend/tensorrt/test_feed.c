/* test_feed.c: values for an input in the type that an engine wants. */
#include "support/unit_test.h"

#include <stdint.h>
#include <string.h>

#include "backend/tensorrt/feed.h"

static char n[] = "n", x[] = "x";
static const struct backend_io whole = {.name = n, .type = DATA_INT32, .has_shape = true, .shape = {1, {-1}}};
static const struct backend_io real = {.name = x, .type = DATA_FLOAT32, .has_shape = true, .shape = {2, {2, -1}}};

static void int64_becomes_int32_where_it_fits(void **state)
{
    const int64_t values[] = {-1, INT32_MAX, INT32_MIN};
    const struct shape shape = {1, {3}};
    struct tensor given, room = {0};
    const struct tensor *ret;

    (void)state;
    tensor_borrow(DATA_INT64, &shape, values, sizeof(values), &given);
    assert_int_equal(tensorrt_feed_fit(&whole, &given, &room, &ret, NULL), 0);
    assert_int_equal(ret->type, DATA_INT32);
    assert_int_equal(((const int32_t *)ret->data)[0], -1);
    assert_int_equal(((const int32_t *)ret->data)[1], INT32_MAX);
    assert_int_equal(((const int32_t *)ret->data)[2], INT32_MIN);
    tensor_release(&room);
}

static void int64_beyond_int32_is_refused(void **state)
{
    const int64_t values[] = {(int64_t)INT32_MAX + 1};
    const struct shape shape = {1, {1}};
    struct tensor given, room = {0};
    const struct tensor *ret;
    struct error err = {0};

    (void)state;
    tensor_borrow(DATA_INT64, &shape, values, sizeof(values), &given);
    assert_int_equal(tensorrt_feed_fit(&whole, &given, &room, &ret, &err), ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "'n' holds 2147483648"));
    tensor_release(&room);
}

static void float64_becomes_float32(void **state)
{
    const double values[] = {0.5, -2};
    const struct shape shape = {2, {2, 1}};
    struct tensor given, room = {0};
    const struct tensor *ret;

    (void)state;
    tensor_borrow(DATA_FLOAT64, &shape, values, sizeof(values), &given);
    assert_int_equal(tensorrt_feed_fit(&real, &given, &room, &ret, NULL), 0);
    assert_true(((const float *)ret->data)[0] == 0.5f && ((const float *)ret->data)[1] == -2);
    tensor_release(&room);
}

static void the_same_type_is_passed_as_it_is(void **state)
{
    const float values[] = {1, 2};
    const struct shape shape = {2, {2, 1}};
    struct tensor given, room = {0};
    const struct tensor *ret;

    (void)state;
    tensor_borrow(DATA_FLOAT32, &shape, values, sizeof(values), &given);
    assert_int_equal(tensorrt_feed_fit(&real, &given, &room, &ret, NULL), 0);
    assert_ptr_equal(ret, &given);
}

static void other_types_and_shapes_are_refused(void **state)
{
    const float values[] = {1, 2, 3};
    const struct shape shape = {1, {3}}, other = {2, {3, 1}};
    struct tensor given, room = {0};
    const struct tensor *ret;
    struct error err = {0};

    (void)state;
    tensor_borrow(DATA_FLOAT32, &shape, values, sizeof(values), &given);
    assert_int_equal(tensorrt_feed_fit(&whole, &given, &room, &ret, &err), ERR_UNSUPPORTED);
    assert_string_equal(err.message, "the engine wants int32 for input 'n', and is given float32");
    tensor_borrow(DATA_FLOAT32, &other, values, sizeof(values), &given);
    assert_int_equal(tensorrt_feed_fit(&real, &given, &room, &ret, &err), ERR_INVALID);
    assert_string_equal(err.message, "input 'x' has the shape (3, 1), and the engine wants (2, -1)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(int64_becomes_int32_where_it_fits),
        cmocka_unit_test(int64_beyond_int32_is_refused),
        cmocka_unit_test(float64_becomes_float32),
        cmocka_unit_test(the_same_type_is_passed_as_it_is),
        cmocka_unit_test(other_types_and_shapes_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
