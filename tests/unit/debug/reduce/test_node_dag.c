/* Tests of debug/reduce/node_dag.c: names of nodes, and what they have in common. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "debug/reduce/node_dag.h"
#include "support/made_model.h"
#include "support/unit_test.h"

enum { MOST_NODES = 16 };

static void assert_shared(const char *const *names, size_t count, const uint32_t *expected)
{
    struct made_model made;
    struct model *model;
    uint32_t *shared;

    assert_true(count <= MOST_NODES);
    made_init(&made, 13);
    made_input(&made, "t0", MADE_SHAPE(1));
    for (size_t i = 0; i < count; i++) {
        char input[24], output[24];

        snprintf(input, sizeof(input), "t%zu", i);
        snprintf(output, sizeof(output), "t%zu", i + 1);
        made_node(&made, names[i], "Identity", input, output, NULL, 0);
    }
    model = made_open(&made);
    shared = node_dag_shared_scopes(model);
    if (expected == NULL) {
        assert_null(shared);
    } else {
        assert_non_null(shared);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(shared[i], expected[i]);
    }
    free(shared);
    model_free(model);
    made_release(&made);
}

static void scopes_are_the_parts_of_a_name_but_the_last(void **state)
{
    const char *const names[] = {"/layer.3/attn/MatMul", "/layer.3/attn/Softmax",
                                 "/layer.3/mlp/Relu",    "/layer.4/mlp/Relu",
                                 "/head/Gemm",           "/head/Gemm/Add"};

    assert_shared(names, ARRAY_LEN(names), (const uint32_t[]){0, 3, 2, 1, 0, 1});
}

static void separators_before_behind_and_in_a_row_do_not_count(void **state)
{
    const char *const names[] = {"a/b/c", "/a//b/d/", "a.b.e", "//a/b./f"};

    assert_shared(names, ARRAY_LEN(names), (const uint32_t[]){0, 2, 2, 2});
}

static void scope_with_the_same_beginning_is_another_one(void **state)
{
    const char *const names[] = {"/layer1/Relu", "/layer10/Relu", "/layer/Relu"};

    assert_shared(names, ARRAY_LEN(names), (const uint32_t[]){0, 0, 0});
}

static void node_without_a_name_stands_where_the_one_before_it_does(void **state)
{
    const char *const names[] = {"", "a/b/c", "", "", "a/b/d"};

    assert_shared(names, ARRAY_LEN(names), (const uint32_t[]){0, 0, 2, 2, 2});
}

static void names_without_scopes_say_nothing(void **state)
{
    const char *const names[] = {"Conv_0", "", "/Relu_1", "Add_2/"};

    assert_shared(names, ARRAY_LEN(names), NULL);
}

static void graph_of_a_model_knows_its_scopes(void **state)
{
    struct made_model made;
    struct model *model;
    struct dag dag;

    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(1));
    made_node(&made, "a/b", "Identity", "x", "y", NULL, 0);
    made_node(&made, "a/c", "Identity", "y", "z", NULL, 0);
    model = made_open(&made);
    node_dag_init(&dag, model);
    assert_int_equal(dag.count, 2);
    assert_int_equal(dag.shared_scopes[1], 1);
    dag_release(&dag);
    model_free(model);
    made_release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scopes_are_the_parts_of_a_name_but_the_last),
        cmocka_unit_test(separators_before_behind_and_in_a_row_do_not_count),
        cmocka_unit_test(scope_with_the_same_beginning_is_another_one),
        cmocka_unit_test(node_without_a_name_stands_where_the_one_before_it_does),
        cmocka_unit_test(names_without_scopes_say_nothing),
        cmocka_unit_test(graph_of_a_model_knows_its_scopes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
