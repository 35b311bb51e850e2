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

/* ---- Hostile sizes and attributes ---- */

#define INTEGERS(attribute, ...)                                                                                       \
    (struct node_attribute)                                                                                            \
    {                                                                                                                  \
        .name = TEXT(attribute), .kind = ATTRIBUTE_KIND_INTEGERS, .integers = (const int64_t[]){__VA_ARGS__},          \
        .count = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)                                                    \
    }

/* A node whose float32 inputs are zeros. */
struct node_of_zeros {
    const char *op_type, *outputs;
    struct shape inputs[5]; /* the last one has rank 0 */
    struct node_attribute attributes[4];
    const int64_t *last_input; /* an integer that is a constant; NULL: none */
    int expected;
};

static void add_zeros(const char *name, const struct shape *shape, struct tensor_list *feed)
{
    struct tensor tensor;
    struct error err;

    assert_int_equal(tensor_allocate(DATA_FLOAT32, shape, &tensor, &err), 0);
    memset(tensor_writable(&tensor), 0, tensor.size);
    tensor_list_add(feed, text_of(name), &tensor);
}

static struct model *make_node_of_zeros(const struct node_of_zeros *node, struct made_model *made,
                                        struct tensor_list *feed)
{
    size_t attributes = 0;
    SCOPED_STRING(inputs);

    made_init(made, 13);
    for (size_t i = 0; node->inputs[i].rank > 0; i++) {
        char name[] = {(char)('a' + i), '\0'};

        made_input(made, name, node->inputs[i]);
        add_zeros(name, &node->inputs[i], feed);
        string_add_format(&inputs, "%s%s", i > 0 ? " " : "", name);
    }
    if (node->last_input != NULL) {
        made_integers(made, "last", node->last_input, 1);
        string_add(&inputs, " last");
    }
    while (attributes < 4 && node->attributes[attributes].name.size > 0)
        attributes++;
    made_node(made, "", node->op_type, inputs.data, node->outputs != NULL ? node->outputs : "y", node->attributes,
              attributes);
    made_output(made, "y");
    return made_open(made);
}

/* Evaluates the node; `ret_shape` is that of output y, of rank 0 after an error. */
static int evaluate_zeros(const struct node_of_zeros *node, struct shape *ret_shape, struct error *err)
{
    const struct exact_options options = {.type = DATA_FLOAT64};
    struct tensor_list feed = {0}, ret = {0};
    struct made_model made;
    struct model *model = make_node_of_zeros(node, &made, &feed);
    int rc = exact_evaluate(model, &feed, &options, &ret, err);

    *ret_shape = rc == 0 ? ret.items[0].tensor.shape : (struct shape){0};
    tensor_list_release(&ret);
    tensor_list_release(&feed);
    model_free(model);
    made_release(&made);
    return rc;
}

static void assert_results(const struct node_of_zeros *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct error err = {0};
        struct shape shape;
        int rc = evaluate_zeros(&nodes[i], &shape, &err);

        if (rc != nodes[i].expected)
            fail_msg("%s, case %zu: %d instead of %d (%s)", nodes[i].op_type, i, rc, nodes[i].expected, err.message);
    }
}

#define ASSERT_RESULTS(nodes) assert_results(nodes, sizeof(nodes) / sizeof(*(nodes)))

#define HUGE_SIZE ((int64_t)1 << 40)
#define LARGE_SIZE ((int64_t)1 << 30)

static void sizes_of_an_einsum_are_compared_and_multiplied_safely(void **state)
{
    const struct shape large = MADE_SHAPE(65536), none = MADE_SHAPE(0), three = MADE_SHAPE(3);
    const struct node_of_zeros nodes[] = {
        {.op_type = "Einsum",
         .inputs = {none, three},
         .attributes = {STRING("equation", "i,i->i")},
         .expected = ERR_UNSUPPORTED},
        {.op_type = "Einsum",
         .inputs = {three, none},
         .attributes = {STRING("equation", "i,i->i")},
         .expected = ERR_UNSUPPORTED},
        {.op_type = "Einsum", .inputs = {none, none}, .attributes = {STRING("equation", "i,i->")}, .expected = 0},
        {.op_type = "Einsum",
         .inputs = {three},
         .attributes = {STRING("equation", "i->ij")},
         .expected = ERR_UNSUPPORTED},
        {.op_type = "Einsum", .attributes = {STRING("equation", "->")}, .expected = ERR_INVALID},
        {.op_type = "Einsum",
         .inputs = {large, large, large, large},
         .attributes = {STRING("equation", "a,b,c,d->")},
         .expected = ERR_UNSUPPORTED},
    };

    ASSERT_RESULTS(nodes);
}

/* Nothing is allocated for them, but loops over the other dimensions would run for years. */
static void empty_tensors_with_large_dimensions_end_soon(void **state)
{
    const int64_t none = 0, large = LARGE_SIZE;
    const struct node_of_zeros nodes[] = {
        {.op_type = "TopK",
         .outputs = "y i",
         .inputs = {MADE_SHAPE(HUGE_SIZE, 0)},
         .last_input = &none,
         .expected = ERR_UNSUPPORTED},
        {.op_type = "TopK",
         .outputs = "y i",
         .inputs = {MADE_SHAPE(LARGE_SIZE, 0)},
         .last_input = &none,
         .expected = 0},
        {.op_type = "TopK",
         .outputs = "y i",
         .inputs = {MADE_SHAPE(LARGE_SIZE, 0)},
         .attributes = {INTEGER("axis", 0)},
         .last_input = &large,
         .expected = 0},
        {.op_type = "Softmax", .inputs = {MADE_SHAPE(HUGE_SIZE, 0)}, .expected = ERR_UNSUPPORTED},
        {.op_type = "MatMul", .inputs = {MADE_SHAPE(HUGE_SIZE, 0), MADE_SHAPE(0, 0)}, .expected = ERR_UNSUPPORTED},
        {.op_type = "LSTM",
         .inputs = {MADE_SHAPE(HUGE_SIZE, 1 << 20, 0), MADE_SHAPE(1, 0, 0), MADE_SHAPE(1, 0, 0)},
         .expected = ERR_UNSUPPORTED},
        {.op_type = "LSTM",
         .inputs = {MADE_SHAPE(4, 2, 3), MADE_SHAPE(1, 0, 3), MADE_SHAPE(1, 0, 0)},
         .expected = ERR_INVALID},
        {.op_type = "RNN",
         .inputs = {MADE_SHAPE(0, 2 * LARGE_SIZE, 1), MADE_SHAPE(1, 1, 1), MADE_SHAPE(1, 1, 1)},
         .expected = ERR_UNSUPPORTED},
    };

    ASSERT_RESULTS(nodes);
}

#define MOST ((int64_t)1 << 31)

static void windows_of_any_size_are_measured_safely(void **state)
{
    const struct shape line = MADE_SHAPE(1, 1, 4), kernel = MADE_SHAPE(1, 1, 2);
    const struct node_of_zeros nodes[] = {
        {.op_type = "MaxPool",
         .inputs = {MADE_SHAPE(1, 1, 1, 1, 1)},
         .attributes = {INTEGERS("kernel_shape", MOST, MOST, MOST), INTEGERS("strides", MOST, MOST, MOST),
                        INTEGERS("pads", MOST, MOST, MOST, MOST, MOST, MOST)},
         .expected = ERR_UNSUPPORTED},
        {.op_type = "ConvTranspose",
         .inputs = {line, kernel},
         .attributes = {INTEGERS("output_padding", INT64_MAX)},
         .expected = ERR_UNSUPPORTED},
        {.op_type = "ConvTranspose",
         .inputs = {line, kernel},
         .attributes = {INTEGERS("output_padding", -1)},
         .expected = ERR_UNSUPPORTED},
        {.op_type = "ConvTranspose",
         .inputs = {line, kernel},
         .attributes = {INTEGERS("output_padding", 1)},
         .expected = ERR_UNSUPPORTED},
        {.op_type = "ConvTranspose",
         .inputs = {line, kernel},
         .attributes = {INTEGERS("output_padding", 1), INTEGERS("dilations", 2)},
         .expected = 0},
    };

    ASSERT_RESULTS(nodes);
}

/* A convolution of these sizes would have 9989 elements. */
static void a_transposed_convolution_is_judged_by_its_own_size(void **state)
{
    const struct node_of_zeros node = {.op_type = "ConvTranspose",
                                       .inputs = {MADE_SHAPE(1, 1, 5000), MADE_SHAPE(1, 1, 8000)},
                                       .attributes = {INTEGERS("pads", 6494, 6494)}};
    struct shape shape;
    struct error err;

    assert_int_equal(evaluate_zeros(&node, &shape, &err), 0);
    assert_true(shape_equal(&shape, &MADE_SHAPE(1, 1, 11)));
}

static void outputs_that_an_operator_does_not_have_are_refused(void **state)
{
    const struct node_of_zeros node = {
        .op_type = "Relu", .outputs = "y z", .inputs = {MADE_SHAPE(3)}, .expected = ERR_UNSUPPORTED};

    assert_results(&node, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_agree_with_values_of_sixty_digits),
        cmocka_unit_test(smaller_types_round_as_much_as_they_have_digits),
        cmocka_unit_test(another_order_of_summing_rounds_differently),
        cmocka_unit_test(what_is_not_known_is_named),
        cmocka_unit_test(shapes_that_do_not_fit_are_errors),
        cmocka_unit_test(sizes_of_an_einsum_are_compared_and_multiplied_safely),
        cmocka_unit_test(empty_tensors_with_large_dimensions_end_soon),
        cmocka_unit_test(windows_of_any_size_are_measured_safely),
        cmocka_unit_test(a_transposed_convolution_is_judged_by_its_own_size),
        cmocka_unit_test(outputs_that_an_operator_does_not_have_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
