/* Nodes that are not needed for the same outputs, and nodes that look as if they were not.
 * tests/cli/surgeon_sanitize.bats compares the outputs of exported models. */
#include "support/made_model.h"
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include "base/memory.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/simplify/simplify.h"

struct simplify_test {
    struct made_model made;
    struct model *model;
};

static void begin(struct simplify_test *test)
{
    *test = (struct simplify_test){0};
    made_init(&test->made, 17);
}

static void state_type(struct simplify_test *test, const char *name, enum data_type type)
{
    struct value_type stated = {.element = type};

    model_set_type(test->model, fixture_value(test->model, name), &stated);
}

static void open_model(struct simplify_test *test)
{
    test->model = made_open(&test->made);
}

/* Simplifies twice, since one walk may prepare another. */
static struct simplify_counts simplify(struct simplify_test *test)
{
    struct simplify_counts counts = {0};
    struct error err = {0};

    for (unsigned i = 0; i < 2; i++) {
        struct unused_names names SCOPED(unused_names_release) = {0};

        unused_names_init(&names, test->model, &test->model->arena);
        if (model_simplify(test->model, &names, &counts, &err) < 0)
            fail_msg("%s", err.message);
    }
    return counts;
}

static void end(struct simplify_test *test)
{
    model_free(test->model);
    made_release(&test->made);
}

static void node(struct simplify_test *test, const char *op_type, const char *inputs, const char *outputs)
{
    made_node(&test->made, "", op_type, inputs, outputs, NULL, 0);
}

/* The integers of the constant that a node reads as its second input. */
static void assert_second_input(const struct model *model, size_t number, const int64_t *expected, size_t count)
{
    const struct node *reader = &model->nodes.items[number];
    const struct initializer *initializer = model_dense_initializer(model, node_input(model, reader, 1));
    struct tensor tensor SCOPED(tensor_release) = {0};

    assert_non_null(initializer);
    assert_int_equal(tensor_proto_decode(initializer->message, &tensor, NULL), 0);
    assert_int_equal(tensor_elements(&tensor), count);
    assert_memory_equal(tensor.data, expected, count * sizeof(expected[0]));
}

/* ---- Equal nodes ---- */

static void a_node_that_repeats_another_one_goes(void **state)
{
    struct simplify_test test;

    begin(&test);
    made_symbolic_input(&test.made, "x", DATA_FLOAT32, "n 4");
    node(&test, "Exp", "x", "a");
    node(&test, "Exp", "x", "b");
    node(&test, "Neg", "a", "c");
    node(&test, "Neg", "b", "d");
    node(&test, "Add", "c d", "y");
    made_output(&test.made, "y");
    open_model(&test);
    assert_int_equal(simplify(&test).equal, 2);
    assert_string_equal(names_of_operators(test.model), "Exp Neg Add");
    end(&test);
}

static void random_numbers_quantizers_and_other_attributes_stay(void **state)
{
    const struct node_attribute axes[] = {INTEGER("axis", 0), INTEGER("axis", 1)};
    const int8_t zero = 0;
    struct simplify_test test;

    begin(&test);
    made_symbolic_input(&test.made, "x", DATA_FLOAT32, "n 4");
    made_constant(&test.made, "scale", MADE_SHAPE(1), 1, 2);
    made_tensor(&test.made, "zero", DATA_INT8, MADE_SHAPE(1), &zero);
    node(&test, "RandomNormalLike", "x", "a");
    node(&test, "RandomNormalLike", "x", "b");
    node(&test, "QuantizeLinear", "x scale zero", "c");
    node(&test, "QuantizeLinear", "x scale zero", "d");
    made_node(&test.made, "", "Softmax", "x", "e", &axes[0], 1);
    made_node(&test.made, "", "Softmax", "x", "f", &axes[1], 1);
    made_output(&test.made, "a");
    made_output(&test.made, "b");
    made_typed_output(&test.made, "c", DATA_INT8);
    made_typed_output(&test.made, "d", DATA_INT8);
    made_output(&test.made, "e");
    made_output(&test.made, "f");
    open_model(&test);
    simplify(&test);
    assert_string_equal(names_of_operators(test.model),
                        "RandomNormalLike RandomNormalLike QuantizeLinear QuantizeLinear Softmax Softmax");
    end(&test);
}

static void outputs_keep_their_names(void **state)
{
    struct simplify_test test;

    begin(&test);
    made_symbolic_input(&test.made, "x", DATA_FLOAT32, "n 4");
    node(&test, "Exp", "x", "a");
    node(&test, "Exp", "x", "b");
    node(&test, "Identity", "a", "c");
    made_output(&test.made, "b");
    made_output(&test.made, "c");
    open_model(&test);
    simplify(&test);
    assert_string_equal(names_of_operators(test.model), "Exp Exp Identity");
    end(&test);
}

/* ---- Neutral nodes ---- */

static void nodes_that_return_an_input_go(void **state)
{
    const struct node_attribute to[] = {INTEGER("to", DATA_FLOAT64), INTEGER("to", DATA_FLOAT32)};
    const int64_t last = -1;
    struct simplify_test test;

    begin(&test);
    made_symbolic_input(&test.made, "x", DATA_FLOAT32, "n 4");
    made_constant(&test.made, "zeros", MADE_SHAPE(4), 0, 0);
    made_constant(&test.made, "one", MADE_SHAPE(1), 1, 1);
    made_integers(&test.made, "axis", &last, 1);
    node(&test, "Add", "zeros x", "a");
    node(&test, "Mul", "a one", "b");
    made_node(&test.made, "", "Cast", "b", "c", &to[0], 1);
    made_node(&test.made, "", "Cast", "c", "d", &to[1], 1);
    node(&test, "Unsqueeze", "d axis", "e");
    node(&test, "Squeeze", "e axis", "f");
    node(&test, "Identity", "f", "g");
    node(&test, "Exp", "g", "y");
    made_output(&test.made, "y");
    open_model(&test);
    state_type(&test, "b", DATA_FLOAT32);
    state_type(&test, "c", DATA_FLOAT64);
    simplify(&test);
    assert_string_equal(names_of_operators(test.model), "Exp");
    assert_int_equal(node_input(test.model, &test.model->nodes.items[0], 0), model_find_tensor(test.model, TEXT("x")));
    end(&test);
}

static void nodes_that_change_something_stay(void **state)
{
    const struct node_attribute to[] = {INTEGER("to", DATA_FLOAT16), INTEGER("to", DATA_FLOAT32)};
    const int64_t shift[] = {0, 1, 0, -1}, start[] = {-1}, end_of_all[] = {INT64_MIN}, axis[] = {1}, back[] = {-1};
    struct simplify_test test;

    begin(&test);
    made_symbolic_input(&test.made, "x", DATA_FLOAT32, "n 4");
    made_constant(&test.made, "zeros", MADE_SHAPE(2, 1, 1), 0, 0);
    made_integers(&test.made, "shift", shift, 4);
    made_integers(&test.made, "start", start, 1);
    made_integers(&test.made, "end", end_of_all, 1);
    made_integers(&test.made, "axis", axis, 1);
    made_integers(&test.made, "back", back, 1);
    made_constant(&test.made, "one", MADE_SHAPE(1), 1, 1);
    made_node(&test.made, "", "Cast", "x", "a", &to[0], 1);
    made_node(&test.made, "", "Cast", "a", "b", &to[1], 1);
    node(&test, "Pad", "b shift", "c");                 /* moves the elements within the same shape */
    node(&test, "Slice", "c start end axis back", "d"); /* reverses them */
    node(&test, "Sub", "one d", "e");
    node(&test, "Add", "e zeros", "f"); /* repeats them */
    node(&test, "Squeeze", "f", "y");   /* n may be 1 */
    made_output(&test.made, "y");
    open_model(&test);
    state_type(&test, "x", DATA_FLOAT32);
    state_type(&test, "a", DATA_FLOAT16);
    simplify(&test);
    assert_string_equal(names_of_operators(test.model), "Cast Cast Pad Slice Sub Add Squeeze");
    end(&test);
}

/* ---- Sizes ---- */

/* Reshapes a tensor with the sizes of x to `parts`: its first sizes n and m, which nodes compute, and `heads`. */
static void make_computed_shape(struct simplify_test *test, const char *sizes, const char *parts)
{
    const struct node_attribute axis = INTEGER("axis", 0);
    const int64_t zero = 0, one = 1, heads[] = {2};

    begin(test);
    made_symbolic_input(&test->made, "x", DATA_FLOAT32, sizes);
    made_integers(&test->made, "zero", &zero, 1);
    made_integers(&test->made, "one", &one, 1);
    made_integers(&test->made, "heads", heads, 1);
    node(test, "Relu", "x", "r");
    node(test, "Shape", "x", "shape");
    made_node(&test->made, "", "Gather", "shape zero", "n", &axis, 1);
    made_node(&test->made, "", "Gather", "shape one", "m", &axis, 1);
    made_node(&test->made, "", "Concat", parts, "all", &axis, 1);
    node(test, "Reshape", "r all", "y");
    made_output(&test->made, "y");
    open_model(test);
}

static void a_computed_shape_becomes_a_constant(void **state)
{
    const int64_t expected[] = {0, 0, 2, 2};
    struct simplify_test test;

    make_computed_shape(&test, "batch sequence 4", "n m heads heads");
    assert_int_equal(simplify(&test).reshapes, 1);
    assert_string_equal(names_of_operators(test.model), "Relu Reshape");
    assert_second_input(test.model, 1, expected, ARRAY_LEN(expected));
    end(&test);
}

/* With a batch of 0, Reshape refuses -1. */
static void a_size_that_may_be_zero_allows_no_inferred_one(void **state)
{
    struct simplify_test test;

    make_computed_shape(&test, "batch sequence 4", "n heads m heads");
    simplify(&test);
    assert_string_equal(names_of_operators(test.model), "Relu Shape Gather Gather Concat Reshape");
    end(&test);
}

static void sizes_of_the_same_name_are_one(void **state)
{
    const int64_t zero = 0;

    for (unsigned same = 0; same < 2; same++) {
        struct simplify_test test;

        begin(&test);
        made_symbolic_input(&test.made, "x", DATA_FLOAT32, "n 4");
        made_symbolic_input(&test.made, "z", DATA_FLOAT32, same ? "n 2" : "m 2");
        made_integers(&test.made, "zero", &zero, 1);
        node(&test, "Shape", "x", "a");
        node(&test, "Shape", "z", "b");
        node(&test, "Gather", "a zero", "c");
        node(&test, "Gather", "b zero", "d");
        node(&test, "Mul", "c d", "y");
        made_typed_output(&test.made, "y", DATA_INT64);
        open_model(&test);
        state_type(&test, "c", DATA_INT64);
        state_type(&test, "d", DATA_INT64);
        simplify(&test);
        assert_string_equal(names_of_operators(test.model),
                            same ? "Shape Gather Mul" : "Shape Shape Gather Gather Mul");
        end(&test);
    }
}

static void static_sizes_become_constants(void **state)
{
    struct simplify_test test;

    begin(&test);
    made_symbolic_input(&test.made, "x", DATA_FLOAT32, "3 4");
    node(&test, "Shape", "x", "a");
    node(&test, "Mul", "a a", "b");
    node(&test, "Neg", "b", "y");
    made_typed_output(&test.made, "y", DATA_INT64);
    open_model(&test);
    state_type(&test, "a", DATA_INT64);
    state_type(&test, "b", DATA_INT64);
    simplify(&test);
    assert_string_equal(names_of_operators(test.model), "Neg");
    end(&test);
}

/* ---- Rows of reshapes ---- */

static void a_row_of_reshapes_becomes_one(void **state)
{
    const int64_t inner[] = {0}, outer[] = {1, -1}, order[] = {0, 2, 1}, flat[] = {0, 4};
    struct simplify_test test;

    begin(&test);
    made_symbolic_input(&test.made, "x", DATA_FLOAT32, "n");
    made_symbolic_input(&test.made, "z", DATA_FLOAT32, "n 1 4");
    made_integers(&test.made, "inner", inner, 1);
    made_integers(&test.made, "outer", outer, 2);
    made_integers(&test.made, "flat", flat, 2);
    node(&test, "Unsqueeze", "x inner", "a");
    node(&test, "Unsqueeze", "a outer", "b"); /* 1, 1, n, 1 */
    made_node(
        &test.made, "", "Transpose", "z", "c",
        &(struct node_attribute){.name = TEXT("perm"), .kind = ATTRIBUTE_KIND_INTEGERS, .integers = order, .count = 3},
        1);
    node(&test, "Reshape", "c flat", "d");
    made_output(&test.made, "b");
    made_output(&test.made, "d");
    open_model(&test);
    assert_int_equal(simplify(&test).reshapes, 2);
    assert_string_equal(names_of_operators(test.model), "Unsqueeze Reshape");
    assert_second_input(test.model, 0, (const int64_t[]){0, 1, 3}, 3);
    assert_second_input(test.model, 1, flat, 2);
    end(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_that_repeats_another_one_goes),
        cmocka_unit_test(random_numbers_quantizers_and_other_attributes_stay),
        cmocka_unit_test(outputs_keep_their_names),
        cmocka_unit_test(nodes_that_return_an_input_go),
        cmocka_unit_test(nodes_that_change_something_stay),
        cmocka_unit_test(a_computed_shape_becomes_a_constant),
        cmocka_unit_test(a_size_that_may_be_zero_allows_no_inferred_one),
        cmocka_unit_test(sizes_of_the_same_name_are_one),
        cmocka_unit_test(static_sizes_become_constants),
        cmocka_unit_test(a_row_of_reshapes_becomes_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
