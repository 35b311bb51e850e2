/* test_input_shape.c: for which shapes data are made. */
#include "base/memory.h"
#include "comparator/data/input_shape.h"
#include "support/results_fixture.h"

/* What is chosen for one input when the user gave one shape (NULL: none). */
struct choice {
    struct captured_log log;
    struct input_shape_choice result;
    struct error error;
    int rc;
};

static void choose(struct choice *ret, const struct backend_io *input, const char *name, const struct shape *given)
{
    struct data_loader_shape shape = {.name = name};
    struct data_loader_settings settings = {.shapes = &shape, .shape_count = given != NULL};

    if (given != NULL)
        shape.shape = *given;
    captured_log_init(&ret->log);
    ret->rc = input_shape_choose(&settings, NULL, input, &ret->log.log, &ret->result, &ret->error);
}

static void done(struct choice *choice)
{
    captured_log_release(&choice->log);
}

static void fixed_shapes_need_nothing(void **state)
{
    struct backend_io input = input_of("x", DATA_FLOAT32, SHAPE(2, 3));
    struct choice choice;

    choose(&choice, &input, "x", NULL);
    assert_int_equal(choice.rc, 0);
    assert_shape(&choice.result.shape, "(2, 3)");
    assert_string_equal(choice.log.text.data, "");
    done(&choice);
}

static void dynamic_dimensions_become_one_with_a_warning(void **state)
{
    char batch[] = "batch", *symbols[] = {batch, NULL, NULL};
    struct backend_io input = input_of("x", DATA_FLOAT32, SHAPE(-1, -1, 3));
    struct choice choice;

    input.symbols = symbols;
    choose(&choice, &input, "x", NULL);
    assert_shape(&choice.result.shape, "(1, 1, 3)");
    assert_logged(&choice.log,
                  "W Input tensor: x (dtype=float32, shape=('batch', -1, 3)) | Will generate data of shape: "
                  "(1, 1, 3).");
    done(&choice);
}

static void a_shape_of_the_user_is_taken_by_name_or_pattern(void **state)
{
    struct backend_io input = input_of("input.1", DATA_FLOAT32, SHAPE(-1, 3));
    const char *const names[] = {"input.1", "in*", "input.?", "*"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct choice choice;

        choose(&choice, &input, names[i], &SHAPE(4, 3));
        assert_shape(&choice.result.shape, "(4, 3)");
        assert_string_equal(choice.log.text.data, "");
        done(&choice);
    }
    struct choice choice;

    choose(&choice, &input, "INPUT.1", &SHAPE(4, 3));
    assert_shape(&choice.result.shape, "(1, 3)");
    done(&choice);
}

static void an_exact_name_goes_before_a_pattern(void **state)
{
    struct data_loader_shape shapes[] = {{"*", SHAPE(7)}, {"x", SHAPE(8)}};
    struct data_loader_settings settings = {.shapes = shapes, .shape_count = 2};
    struct backend_io input = input_of("x", DATA_FLOAT32, SHAPE(-1));
    struct input_shape_choice choice;

    assert_int_equal(input_shape_choose(&settings, NULL, &input, NULL, &choice, NULL), 0);
    assert_shape(&choice.shape, "(8,)");
}

static void open_dimensions_of_the_user_are_the_models_or_one(void **state)
{
    struct backend_io input = input_of("x", DATA_FLOAT32, SHAPE(-1, 3, -1));
    struct choice choice;

    choose(&choice, &input, "x", &SHAPE(5, -1, -1));
    assert_shape(&choice.result.shape, "(5, 3, 1)");
    assert_logged(&choice.log, "Will generate data of shape: (5, 3, 1)");
    done(&choice);
}

static void a_shape_that_does_not_fit_is_an_error(void **state)
{
    struct backend_io input = input_of("x", DATA_FLOAT32, SHAPE(-1, 3));
    struct choice choice;

    choose(&choice, &input, "x", &SHAPE(1, 4));
    assert_int_equal(choice.rc, ERR_INVALID);
    assert_message_contains(&choice.error,
                            "input 'x': the shape given for it, (1, 4), does not fit the model's, (-1, 3)");
    done(&choice);
    choose(&choice, &input, "x", &SHAPE(1, 3, 1));
    assert_int_equal(choice.rc, ERR_INVALID);
    done(&choice);
    choose(&choice, &input, "x", &SCALAR);
    assert_int_equal(choice.rc, ERR_INVALID);
    done(&choice);
}

static void an_unknown_rank_has_to_be_given(void **state)
{
    struct backend_io input = input_of("x", DATA_FLOAT32, SCALAR);
    struct choice choice;

    input.has_shape = false;
    choose(&choice, &input, "x", NULL);
    assert_int_equal(choice.rc, ERR_INVALID);
    assert_message_contains(&choice.error, "input 'x': the model does not tell its rank");
    done(&choice);
    choose(&choice, &input, "x", &SHAPE(2, -1));
    assert_int_equal(choice.rc, 0);
    assert_shape(&choice.result.shape, "(2, 1)");
    done(&choice);
}

static void numbers_that_cannot_be_a_shape_are_values_of_a_shape_tensor(void **state)
{
    struct backend_io input = input_of("shape", DATA_INT64, SHAPE(3));
    struct choice choice;

    choose(&choice, &input, "shape", &SHAPE(1, 2, 3));
    assert_int_equal(choice.rc, 0);
    assert_non_null(choice.result.values);
    assert_shape(&choice.result.shape, "(3,)");
    assert_logged(&choice.log, "W Assuming that input 'shape' is a shape tensor: (1, 2, 3), given as its shape");
    done(&choice);

    input.shape = SHAPE(1);
    choose(&choice, &input, "shape", &SHAPE(4)); /* a shape of (1,) cannot be (4,) */
    assert_non_null(choice.result.values);
    done(&choice);
}

static void numbers_that_can_be_a_shape_are_one(void **state)
{
    struct backend_io input = input_of("index", DATA_INT64, SHAPE(1));
    struct choice choice;

    choose(&choice, &input, "index", &SHAPE(1));
    assert_int_equal(choice.rc, 0);
    assert_null(choice.result.values);
    assert_shape(&choice.result.shape, "(1,)");
    assert_string_equal(choice.log.text.data, "");
    done(&choice);
}

static void only_static_integer_vectors_are_shape_tensors(void **state)
{
    struct backend_io inputs[] = {
        input_of("x", DATA_FLOAT32, SHAPE(2)),
        input_of("x", DATA_INT64, SHAPE(2, 2)),
        input_of("x", DATA_INT64, SHAPE(3)),
        input_of("x", DATA_INT64, SHAPE(-1)),
    };

    for (size_t i = 0; i < ARRAY_LEN(inputs); i++) {
        struct choice choice;

        choose(&choice, &inputs[i], "x", &SHAPE(4, 5));
        assert_int_equal(choice.rc, ERR_INVALID);
        done(&choice);
    }
}

static void names_that_no_input_has_are_reported_once(void **state)
{
    struct data_loader_shape shapes[] = {{"x", SHAPE(1)}, {"y*", SHAPE(1)}, {"z", SHAPE(1)}, {"a*", SHAPE(1)}};
    struct data_loader_range ranges[] = {{"", 0, 1}, {"y1", 0, 1}, {"y*", 0, 1}};
    struct data_loader_settings settings = {.shapes = shapes, .shape_count = 4, .ranges = {ranges, 3}};
    struct backend_io inputs[] = {input_of("x", DATA_FLOAT32, SHAPE(1)), input_of("y1", DATA_FLOAT32, SHAPE(1))};
    struct captured_log log;

    captured_log_init(&log);
    for (int i = 0; i < 2; i++)
        input_names_check(&settings, inputs, 2, &log.log);
    assert_string_equal(log.text.data,
                        "W Extra items in input shapes: ['z', 'a*']. The model's inputs are: ['x', 'y1']\n"
                        "W Extra items in value ranges: ['y*']. The model's inputs are: ['x', 'y1']\n");
    captured_log_release(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_shapes_need_nothing),
        cmocka_unit_test(dynamic_dimensions_become_one_with_a_warning),
        cmocka_unit_test(a_shape_of_the_user_is_taken_by_name_or_pattern),
        cmocka_unit_test(an_exact_name_goes_before_a_pattern),
        cmocka_unit_test(open_dimensions_of_the_user_are_the_models_or_one),
        cmocka_unit_test(a_shape_that_does_not_fit_is_an_error),
        cmocka_unit_test(an_unknown_rank_has_to_be_given),
        cmocka_unit_test(numbers_that_cannot_be_a_shape_are_values_of_a_shape_tensor),
        cmocka_unit_test(numbers_that_can_be_a_shape_are_one),
        cmocka_unit_test(only_static_integer_vectors_are_shape_tensors),
        cmocka_unit_test(names_that_no_input_has_are_reported_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
