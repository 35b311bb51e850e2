/* test_pairing.c: which nodes of two models correspond, and how their weights relate. */
#include "support/made_model.h"
#include "support/unit_test.h"

#include "debug/models/differences.h"

struct pair_of_models {
    struct made_model made[2];
    struct model *models[2];
    struct model_pairing pairing;
    struct model_differences differences;
};

/* Two branches with weights, whose difference is the output; names of the second model begin with `prefix`. */
static void make_branches(struct made_model *made, const char *prefix, bool swapped)
{
    const char *names[] = {"x", "v", "w", "p", "q", "y"};
    const char *n[ARRAY_LEN(names)];

    made_init(made, 17);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        n[i] = arena_printf(&made->arena, "%s%s", prefix, names[i]);
    made_input(made, n[0], MADE_SHAPE(2, 3));
    made_constant(made, n[1], MADE_SHAPE(3, 3), 0, 1);
    made_constant(made, n[2], MADE_SHAPE(3, 3), -1, 0);
    made_node(made, "", "MatMul", arena_printf(&made->arena, "%s %s", n[0], n[1]), n[3], NULL, 0);
    made_node(made, "", "MatMul", arena_printf(&made->arena, "%s %s", n[0], n[2]), n[4], NULL, 0);
    made_node(made, "", "Sub", arena_printf(&made->arena, "%s %s", n[swapped ? 4 : 3], n[swapped ? 3 : 4]), n[5], NULL,
              0);
    made_output(made, n[5]);
}

static void compare_branches(struct pair_of_models *pair, bool swapped)
{
    make_branches(&pair->made[0], "", false);
    make_branches(&pair->made[1], "z", swapped);
    for (size_t i = 0; i < 2; i++)
        pair->models[i] = made_open(&pair->made[i]);
    assert_int_equal(model_pairing_make(pair->models[0], pair->models[1], &pair->pairing, NULL), 0);
    pair->differences = (struct model_differences){0};
    model_differences_find(&pair->pairing, &pair->differences);
}

static void release_pair_of_models(struct pair_of_models *pair)
{
    model_differences_release(&pair->differences);
    model_pairing_release(&pair->pairing);
    for (size_t i = 0; i < 2; i++) {
        model_free(pair->models[i]);
        made_release(&pair->made[i]);
    }
}

static void equal_models_with_other_names_are_paired_without_differences(void **state)
{
    struct pair_of_models pair;

    (void)state;
    compare_branches(&pair, false);
    assert_int_equal(pair.pairing.paired_nodes, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(pair.pairing.b.nodes[i], i);
    assert_int_equal(pair.differences.count, 0);
    release_pair_of_models(&pair);
}

static void exchanged_inputs_are_one_difference_and_branches_keep_their_partners(void **state)
{
    struct pair_of_models pair;

    (void)state;
    compare_branches(&pair, true);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(pair.pairing.b.nodes[i], i);
    assert_int_equal(pair.differences.count, 1);
    assert_int_equal(pair.differences.items[0].kind, DIFFERENT_INPUT);
    assert_true(pair.differences.items[0].is_swapped);
    release_pair_of_models(&pair);
}

static const float matrix[] = {1, 2, 3, 4, 5, 6};

/* The relation of another weight to `matrix`. */
static struct weight_relation relate_to_matrix(struct shape shape, const float *values)
{
    struct weight_relation ret;
    struct tensor a, b;

    tensor_borrow(DATA_FLOAT32, &MADE_SHAPE(2, 3), matrix, sizeof(matrix), &a);
    tensor_borrow(DATA_FLOAT32, &shape, values, sizeof(matrix), &b);
    weight_relate(&a, &b, &ret);
    return ret;
}

static void weights_are_related(void **state)
{
    struct weight_relation relation;

    (void)state;
    assert_int_equal(relate_to_matrix(MADE_SHAPE(2, 3), matrix).kind, WEIGHT_IS_EQUAL);
    assert_int_equal(relate_to_matrix(MADE_SHAPE(3, 2), matrix).kind, WEIGHT_IS_RESHAPED);
    assert_int_equal(relate_to_matrix(MADE_SHAPE(3, 2), (const float[]){1, 4, 2, 5, 3, 6}).kind, WEIGHT_IS_TRANSPOSED);
    relation = relate_to_matrix(MADE_SHAPE(2, 3), (const float[]){-2, -4, -6, -8, -10, -12});
    assert_int_equal(relation.kind, WEIGHT_IS_SCALED);
    assert_float_equal(relation.scale, -2, 0);
    relation = relate_to_matrix(MADE_SHAPE(2, 3), (const float[]){4, 5, 6, 1, 2, 3});
    assert_int_equal(relation.kind, WEIGHT_IS_REORDERED);
    assert_int_equal(relation.axis, 0);
    relation = relate_to_matrix(MADE_SHAPE(2, 3), (const float[]){6, 5, 4, 3, 2, 1});
    assert_int_equal(relation.kind, WEIGHT_IS_REORDERED);
    assert_int_equal(relation.axis, 2);
    assert_int_equal(relate_to_matrix(MADE_SHAPE(2, 3), (const float[]){9, 2, 7, 0, 5, 1}).kind, WEIGHT_DIFFERS);
}

static void a_channel_is_found_on_its_axis(void **state)
{
    static const struct shape shape = {2, {2, 4}};
    const float a_values[] = {1, 2, 3, 4, 5, 6, 7, 8}, b_values[] = {1, 2, 9, 4, 5, 6, 21, 8};
    struct weight_relation relation;
    struct tensor a, b;

    (void)state;
    tensor_borrow(DATA_FLOAT32, &shape, a_values, sizeof(a_values), &a);
    tensor_borrow(DATA_FLOAT32, &shape, b_values, sizeof(b_values), &b);
    weight_relate(&a, &b, &relation);
    assert_int_equal(relation.kind, WEIGHT_SLICES_DIFFER);
    assert_int_equal(relation.axis, 1);
    assert_int_equal(relation.first, 2);
    assert_int_equal(relation.differing, 1);
    assert_float_equal(relation.scale, 3, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_models_with_other_names_are_paired_without_differences),
        cmocka_unit_test(exchanged_inputs_are_one_difference_and_branches_keep_their_partners),
        cmocka_unit_test(weights_are_related),
        cmocka_unit_test(a_channel_is_found_on_its_axis),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
