/* Operators in float64 against values that mpmath has computed with 60 digits (tests/golden/float64/make_vectors.py),
 * and the rounding of runtimes that store tensors in smaller types. */
#include "support/unit_test.h"

#include <math.h>
#include <string.h>

#include "backend/exact/exact.h"
#include "format/data/file.h"
#include "support/made_model.h"

#define FOLDER "tests/golden/float64/"

struct vectors {
    struct model *model;
    struct feed_dicts inputs, expected;
};

static void load_vectors(struct vectors *ret)
{
    struct error err;

    *ret = (struct vectors){0};
    assert_int_equal(model_open(FOLDER "operators.onnx", NULL, &ret->model, &err), 0);
    assert_int_equal(data_file_add_inputs(&ret->inputs, FOLDER "inputs.npz", &err), 0);
    assert_int_equal(data_file_add_inputs(&ret->expected, FOLDER "expected.npz", &err), 0);
}

static void release_vectors(struct vectors *vectors)
{
    model_free(vectors->model);
    feed_dicts_release(&vectors->inputs);
    feed_dicts_release(&vectors->expected);
}

static struct tensor_list evaluate_vectors(const struct vectors *vectors, enum data_type type, bool backwards)
{
    const struct exact_options options = {.type = type, .backwards = backwards};
    struct tensor_list ret = {0};
    struct error err;
    int rc = exact_evaluate(vectors->model, &vectors->inputs.items[0], &options, &ret, &err);

    if (rc < 0)
        fail_msg("%s", err.message);
    return ret;
}

/* The largest difference, relative to the larger one of the element and a thousandth of the largest element. */
static double largest_error(const struct tensor *got, const struct tensor *expected)
{
    const double *a = got->data, *b = expected->data;
    double scale = 0, ret = 0;

    assert_true(shape_equal(&got->shape, &expected->shape));
    assert_int_equal(got->type, DATA_FLOAT64);
    for (size_t i = 0; i < tensor_elements(got); i++)
        scale = fmax(scale, fabs(b[i]));
    for (size_t i = 0; i < tensor_elements(got); i++)
        if (a[i] != b[i])
            ret = fmax(ret, fabs(a[i] - b[i]) / fmax(fabs(b[i]), scale / 1000));
    return ret;
}

static void operators_agree_with_values_of_sixty_digits(void **state)
{
    struct vectors vectors;
    struct tensor_list outputs;
    size_t checked = 0;

    load_vectors(&vectors);
    outputs = evaluate_vectors(&vectors, DATA_FLOAT64, false);
    for (size_t i = 0; i < outputs.count; i++) {
        const struct named_tensor *expected =
            tensor_list_find(&vectors.expected.items[0], text_of(outputs.items[i].name));
        double error;

        assert_non_null(expected);
        error = largest_error(&outputs.items[i].tensor, &expected->tensor);
        if (!(error < 1e-12))
            fail_msg("%s: error %g", outputs.items[i].name, error);
        checked++;
    }
    assert_true(checked > 60);
    tensor_list_release(&outputs);
    release_vectors(&vectors);
}

static double error_of_case(const struct vectors *vectors, const char *name, enum data_type type, bool backwards)
{
    struct tensor_list outputs = evaluate_vectors(vectors, type, backwards);
    double ret = largest_error(&tensor_list_find(&outputs, text_of(name))->tensor,
                               &tensor_list_find(&vectors->expected.items[0], text_of(name))->tensor);

    tensor_list_release(&outputs);
    return ret;
}

static void smaller_types_round_as_much_as_they_have_digits(void **state)
{
    struct vectors vectors;
    double single, half;

    load_vectors(&vectors);
    single = error_of_case(&vectors, "MatMul", DATA_FLOAT32, false);
    half = error_of_case(&vectors, "MatMul", DATA_FLOAT16, false);
    assert_true(single > 1e-9 && single < 1e-4);
    assert_true(half > 100 * single);
    assert_true(error_of_case(&vectors, "Sigmoid", DATA_FLOAT32, false) < 1e-7);
    release_vectors(&vectors);
}

static void another_order_of_summing_rounds_differently(void **state)
{
    struct vectors vectors;
    struct tensor_list forwards, backwards;

    load_vectors(&vectors);
    forwards = evaluate_vectors(&vectors, DATA_FLOAT32, false);
    backwards = evaluate_vectors(&vectors, DATA_FLOAT32, true);
    assert_false(tensor_identical(&tensor_list_find(&forwards, text_of("MatMul"))->tensor,
                                  &tensor_list_find(&backwards, text_of("MatMul"))->tensor));
    assert_true(tensor_identical(&tensor_list_find(&forwards, text_of("Exp"))->tensor,
                                 &tensor_list_find(&backwards, text_of("Exp"))->tensor));
    tensor_list_release(&forwards);
    tensor_list_release(&backwards);
    release_vectors(&vectors);
}

/* The error of a model of one node whose input is `shape` zeros. */
static int evaluate_node_error(const char *operator, const char * inputs, struct error *err)
{
    const struct exact_options options = {.type = DATA_FLOAT64};
    static const float zeros[12];
    struct tensor_list feed = {0}, ret = {0};
    struct made_model made;
    struct model *model;
    int rc;

    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(3, 4));
    made_node(&made, "the node", operator, inputs, "y", NULL, 0);
    made_output(&made, "y");
    model = made_open(&made);
    for (size_t i = 0; i < model->inputs.count; i++) {
        struct tensor x;

        tensor_borrow(DATA_FLOAT32, &(struct shape){.rank = 2, .dims = {3, 4}}, zeros, sizeof(zeros), &x);
        tensor_list_add(&feed, text_of("x"), &x);
    }
    rc = exact_evaluate(model, &feed, &options, &ret, err);
    tensor_list_release(&ret);
    tensor_list_release(&feed);
    model_free(model);
    made_release(&made);
    return rc;
}

static void what_is_not_known_is_named(void **state)
{
    struct error err;

    assert_int_equal(evaluate_node_error("Hardmax", "x", &err), ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "'the node' (Hardmax)"));
}

static void shapes_that_do_not_fit_are_errors(void **state)
{
    struct error err;

    assert_int_equal(evaluate_node_error("MatMul", "x x", &err), ERR_INVALID);
    assert_int_equal(evaluate_node_error("Conv", "x x", &err), ERR_INVALID);
    assert_int_equal(evaluate_node_error("MaxPool", "x", &err), ERR_INVALID);
    assert_int_equal(evaluate_node_error("Reshape", "x x", &err), ERR_INVALID);
    assert_int_equal(evaluate_node_error("Add", "x", &err), 0);
    assert_int_equal(evaluate_node_error("BatchNormalization", "x x x x x", &err), ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_agree_with_values_of_sixty_digits),
        cmocka_unit_test(smaller_types_round_as_much_as_they_have_digits),
        cmocka_unit_test(another_order_of_summing_rounds_differently),
        cmocka_unit_test(what_is_not_known_is_named),
        cmocka_unit_test(shapes_that_do_not_fit_are_errors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
