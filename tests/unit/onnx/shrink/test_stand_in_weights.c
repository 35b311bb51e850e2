/* Other values in place of weights: which initializers are weights, and what takes their place. */
#include "support/made_model.h"
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/shrink/stand_in_weights.h"
#include "tensor/statistics/statistics.h"

static void list(struct model *model, struct weight_list *ret)
{
    struct error err = {0};

    *ret = (struct weight_list){0};
    if (weights_list(model, ret, &err) < 0)
        fail_msg("%s", err.message);
}

static struct tensor tensor_of(const struct model *model, const char *name)
{
    const struct value *value = &model->values.items[fixture_value(model, name)];
    struct tensor tensor;

    assert_int_equal(tensor_proto_decode(model->initializers.items[value->initializer].message, &tensor, NULL), 0);
    return tensor;
}

static void what_was_learnt_is_a_weight_and_a_parameter_is_none(void **state)
{
    static const int64_t shape[] = {2, 8};
    struct made_model made;
    struct weight_list weights;
    struct model *model;

    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(4, 4));
    made_constant(&made, "w", MADE_SHAPE(4, 4), -1, 1);
    made_constant(&made, "everywhere_the_same", MADE_SHAPE(4), 2, 2);
    made_constant(&made, "scalar", MADE_SHAPE(1), -1, 1);
    made_constant(&made, "scales", MADE_SHAPE(2), 1, 2);
    made_constant(&made, "unused", MADE_SHAPE(4), -1, 1);
    made_integers(&made, "shape", shape, 2);
    made_node(&made, "matmul", "MatMul", "x w", "a", NULL, 0);
    made_node(&made, "add", "Add", "a everywhere_the_same", "b", NULL, 0);
    made_node(&made, "mul", "Mul", "b scalar", "c", NULL, 0);
    made_node(&made, "reshape", "Reshape", "c shape", "d", NULL, 0);
    made_node(&made, "resize", "Resize", "d - scales", "y", NULL, 0);
    made_output(&made, "y");
    model = made_open(&made);
    list(model, &weights);
    assert_int_equal(weights.count, 1);
    assert_int_equal(weights.items[0].value, fixture_value(model, "w"));
    assert_int_equal(weights.items[0].bytes, 64);
    free(weights.items);
    model_free(model);
    made_release(&made);
}

static void the_values_of_a_weight_are_replaced_and_its_shape_is_not(void **state)
{
    static const double means[] = {[STAND_IN_ZEROS] = 0, [STAND_IN_ONES] = 1};
    struct made_model made;

    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(1, 50));
    made_constant(&made, "w", MADE_SHAPE(50, 40), 3, 5);
    made_node(&made, "matmul", "MatMul", "x w", "y", NULL, 0);
    made_output(&made, "y");
    for (enum stand_in kind = STAND_IN_ZEROS; kind <= STAND_IN_NOISE; kind++) {
        struct model *model = made_open(&made);
        struct tensor before = tensor_of(model, "w"), after;
        struct statistics was, is;
        struct weight_list weights;

        list(model, &weights);
        assert_int_equal(weights.count, 1);
        assert_int_equal(weight_replace(model, &weights.items[0], kind, NULL), 0);
        after = tensor_of(model, "w");
        assert_int_equal(after.type, DATA_FLOAT32);
        assert_true(shape_equal(&before.shape, &after.shape));
        assert_int_equal(statistics_compute(&before, &was, NULL), 0);
        assert_int_equal(statistics_compute(&after, &is, NULL), 0);
        if (kind == STAND_IN_NOISE) {
            assert_false(tensor_identical(&before, &after));
            assert_true(fabs(is.mean - was.mean) < 0.1 * was.standard_deviation);
            assert_true(fabs(is.standard_deviation - was.standard_deviation) < 0.1 * was.standard_deviation);
            assert_true(is.minimum >= was.minimum && is.maximum <= was.maximum);
        } else {
            assert_true(is.minimum == means[kind] && is.maximum == means[kind]);
        }
        tensor_release(&before);
        tensor_release(&after);
        free(weights.items);
        model_free(model);
    }
    made_release(&made);
}

static void noise_is_the_same_each_time(void **state)
{
    struct tensor noise[2];
    struct model *models[2];
    struct made_model made;

    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(1, 50));
    made_constant(&made, "w", MADE_SHAPE(50, 40), -1, 1);
    made_node(&made, "matmul", "MatMul", "x w", "y", NULL, 0);
    made_output(&made, "y");
    for (size_t i = 0; i < ARRAY_LEN(models); i++) {
        struct weight_list weights;

        models[i] = made_open(&made);
        list(models[i], &weights);
        assert_int_equal(weight_replace(models[i], &weights.items[0], STAND_IN_NOISE, NULL), 0);
        noise[i] = tensor_of(models[i], "w");
        free(weights.items);
    }
    assert_true(tensor_identical(&noise[0], &noise[1]));
    for (size_t i = 0; i < ARRAY_LEN(models); i++) {
        tensor_release(&noise[i]);
        model_free(models[i]);
    }
    made_release(&made);
}

static void external_weights_come_inside(void **state)
{
    struct model *model = fixture_open("external_weights");
    struct weight_list weights;
    struct subgraph whole;
    struct rewritten rewritten;

    list(model, &weights);
    assert_true(weights.count > 0);
    for (size_t i = 0; i < weights.count; i++)
        assert_int_equal(weight_replace(model, &weights.items[i], STAND_IN_ZEROS, NULL), 0);
    subgraph_init_whole(&whole, model);
    rewritten_init(&rewritten, &whole);
    for (size_t i = 0; i < rewritten.model->initializers.count; i++) {
        struct tensor_header header;

        assert_int_equal(tensor_proto_read(rewritten.model->initializers.items[i].message, &header, NULL), 0);
        assert_true(!header.external || !data_type_is_float(header.type));
    }
    rewritten_release(&rewritten);
    subgraph_release(&whole);
    free(weights.items);
    model_free(model);
}

static void what_is_in_bodies_functions_and_attributes_is_counted(void **state)
{
    static const struct {
        const char *model;
        size_t inside;
    } cases[] = {{"decided_branch", 1}, {"nested_bodies", 0}, {"local_functions", 0}};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct model *model = fixture_open(cases[i].model);

        assert_int_equal(weights_count_inside(model), cases[i].inside);
        model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_learnt_is_a_weight_and_a_parameter_is_none),
        cmocka_unit_test(the_values_of_a_weight_are_replaced_and_its_shape_is_not),
        cmocka_unit_test(noise_is_the_same_each_time),
        cmocka_unit_test(external_weights_come_inside),
        cmocka_unit_test(what_is_in_bodies_functions_and_attributes_is_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
