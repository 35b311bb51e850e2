/* test_outputs.c: what a command has left against what the model says. */
#include "support/unit_test.h"

#include <math.h>
#include <string.h>

#include "backend/command/outputs.h"
#include "base/memory.h"
#include "support/captured_log.h"

/* A model with outputs "a", [?, 2] of float32, and "b", of which nothing is known. */
static const struct backend_io known[] = {
    {.name = (char *)"a", .type = DATA_FLOAT32, .has_shape = true, .shape = {2, {-1, 2}}},
    {.name = (char *)"b"},
};
static const struct command_outputs outputs = {known, ARRAY_LEN(known)};
static const char *const names[] = {"b", "a"};
static const struct words wanted = {names, ARRAY_LEN(names)};

static const float numbers[4] = {1, NAN, INFINITY, 0};

static void add(struct tensor_list *list, const char *name, enum data_type type, const struct shape *shape)
{
    struct tensor tensor;

    tensor_borrow(type, shape, numbers, tensor_bytes(type, shape_elements(shape)), &tensor);
    tensor_list_add(list, text_of(name), &tensor);
}

static int take(struct tensor_list *come, struct log *log, struct tensor_list *ret, struct error *error)
{
    int rc = command_outputs_take(&outputs, &wanted, come, log, ret, error);

    tensor_list_release(come);
    return rc;
}

static void outputs_come_in_the_order_that_is_wanted(void **state)
{
    struct tensor_list come = {0}, ret = {0};

    (void)state;
    add(&come, "a", DATA_FLOAT32, &(struct shape){2, {2, 2}});
    add(&come, "b", DATA_INT8, &(struct shape){0});
    assert_int_equal(take(&come, NULL, &ret, NULL), 0);
    assert_int_equal(ret.count, 2);
    assert_string_equal(ret.items[0].name, "b");
    assert_string_equal(ret.items[1].name, "a");
    assert_true(isnan(((const float *)ret.items[1].tensor.data)[1])); /* values are nobody's business here */
    tensor_list_release(&ret);
}

static void a_missing_output_is_an_error_that_lists_both_sides(void **state)
{
    struct tensor_list come = {0}, ret = {0};
    struct error error = {0};

    (void)state;
    add(&come, "b", DATA_INT8, &(struct shape){0});
    add(&come, "output_0", DATA_INT8, &(struct shape){0});
    assert_int_equal(take(&come, NULL, &ret, &error), ERR_BACKEND);
    assert_int_equal(error.foreign_code, COMMAND_LEFT_TOO_FEW);
    assert_string_equal(error.message, "it left no output 'a'; came: 'b', 'output_0'; expected: 'b', 'a'");
    assert_int_equal(ret.count, 0);
}

static void an_output_of_another_model_is_an_error(void **state)
{
    struct tensor_list come = {0}, ret = {0};
    struct error error = {0};

    (void)state;
    add(&come, "a", DATA_FLOAT32, &(struct shape){2, {1, 2}});
    add(&come, "b", DATA_INT8, &(struct shape){0});
    add(&come, "c", DATA_INT8, &(struct shape){0});
    assert_int_equal(take(&come, NULL, &ret, &error), ERR_BACKEND);
    assert_int_equal(error.foreign_code, COMMAND_LEFT_STRANGERS);
    assert_non_null(strstr(error.message, "it left 'c', which is no output of the model"));
}

static void a_wrong_shape_is_an_error_where_the_model_tells_it(void **state)
{
    const struct shape wrong[] = {{2, {1, 3}}, {1, {2}}, {3, {1, 1, 2}}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct tensor_list come = {0}, ret = {0};
        struct error error = {0};

        add(&come, "a", DATA_FLOAT32, &wrong[i]);
        add(&come, "b", DATA_INT8, &(struct shape){0});
        assert_int_equal(take(&come, NULL, &ret, &error), ERR_BACKEND);
        assert_int_equal(error.foreign_code, COMMAND_LEFT_WRONG_SHAPE);
        assert_non_null(strstr(error.message, "; the model says (-1, 2)"));
    }
}

static void another_type_is_said(void **state)
{
    struct tensor_list come = {0}, ret = {0};
    struct captured_log log;

    (void)state;
    captured_log_init(&log);
    add(&come, "a", DATA_INT8, &(struct shape){2, {2, 2}});
    add(&come, "b", DATA_INT8, &(struct shape){0});
    assert_int_equal(take(&come, &log.log, &ret, NULL), 0);
    assert_non_null(strstr(log.text.data, "Output 'a' came as int8; the model says float32"));
    tensor_list_release(&ret);
    captured_log_release(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_come_in_the_order_that_is_wanted),
        cmocka_unit_test(a_missing_output_is_an_error_that_lists_both_sides),
        cmocka_unit_test(an_output_of_another_model_is_an_error),
        cmocka_unit_test(a_wrong_shape_is_an_error_where_the_model_tells_it),
        cmocka_unit_test(another_type_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
