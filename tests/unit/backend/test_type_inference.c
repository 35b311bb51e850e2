/* test_type_inference.c: types and shapes that are asked for in pieces are those that the whole model gives. */
#include "backend/onnxrt/settings.h"
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/library.h"
#include "backend/type_inference.h"
#include "base/memory.h"
#include "onnx/edit/model.h"
#include "onnx/proto/value_info.h"
#include "support/made_model.h"
#include "support/onnxrt_fixture.h"

#define WHOLE ((size_t)1 << 30)

static const char *const real_models[] = {
    "onnx_light/light_bvlc_alexnet.onnx",
    "onnx_light/light_densenet121.onnx",
    "onnx_light/light_resnet50.onnx",
    "onnx_light/light_squeezenet.onnx",
    "silero/silero_vad.onnx",
    "silero/silero_vad_half.onnx",
};

/* Of what nodes make, nothing is stated any more. */
static void forget_types(struct model *model)
{
    for (size_t i = 0; i < model->values.count; i++)
        if (model->values.items[i].producer != NODE_NONE)
            model->values.items[i].info = (struct span){0};
}

static int infer_in_pieces(struct model *model, size_t piece_nodes, struct error *err)
{
    struct backend_request runtime = {0};
    struct types_request request = {.backend = &onnxrt_backend, .runtime = &runtime, .piece_nodes = piece_nodes};
    struct known_types known;
    struct subgraph whole;
    int rc;

    known_types_init(&known, model, &model->arena);
    subgraph_init_whole(&whole, model);
    rc = types_find(&whole, &request, &known, NULL, err);
    known_types_state(&known, model);
    subgraph_release(&whole);
    known_types_release(&known);
    return rc;
}

static struct model *infer(const char *path, size_t piece_nodes, int *ret_rc)
{
    struct model *model;
    struct error err = {0};

    if (model_open(path, NULL, &model, &err) < 0)
        fail_msg("%s", err.message);
    forget_types(model);
    *ret_rc = infer_in_pieces(model, piece_nodes, &err);
    return model;
}

static bool same_type(const struct value_type *a, const struct value_type *b)
{
    if (a->not_a_tensor != b->not_a_tensor || a->element != b->element || a->has_shape != b->has_shape)
        return false;
    if (a->has_shape && a->shape.rank != b->shape.rank)
        return false;
    for (size_t i = 0; a->has_shape && i < a->shape.rank; i++)
        if (a->shape.dims[i] != b->shape.dims[i] || !text_equal(a->symbols[i], b->symbols[i]))
            return false;
    return true;
}

static void assert_same_types(const char *path, const struct model *whole, bool whole_is_refused,
                              const struct model *pieces)
{
    assert_int_equal(whole->values.count, pieces->values.count);
    for (uint32_t i = 0; i < whole->values.count; i++) {
        struct value_type expected, found;

        value_info_decode(whole->values.items[i].info, &expected);
        if (whole_is_refused && expected.element == DATA_UNDEFINED)
            continue;
        value_info_decode(pieces->values.items[i].info, &found);
        if (!same_type(&expected, &found))
            fail_msg("%s: '" TEXT_FORMAT "' differs", path, TEXT_ARGS(whole->values.items[i].name));
    }
}

static void compare_pieces(const char *path, const size_t *sizes, size_t size_count)
{
    int rc;
    struct model *whole = infer(path, WHOLE, &rc);

    for (size_t i = 0; i < size_count; i++) {
        int piece_rc;
        struct model *pieces = infer(path, sizes[i], &piece_rc);

        if (rc == 0) /* else some node is refused, or the model as such: parts of it may be fine */
            assert_int_equal(piece_rc, 0);
        assert_same_types(path, whole, rc < 0, pieces);
        model_free(pieces);
    }
    model_free(whole);
}

static void compare_small(const char *path)
{
    compare_pieces(path, (const size_t[]){1, 2, 3, 7}, 4);
}

static void compare_real(const char *path)
{
    compare_pieces(path, (const size_t[]){20, 100}, 2);
}

static void small_models_in_pieces_have_the_types_of_the_whole(void **state)
{
    require_onnxruntime();
    check_small_models(compare_small);
}

static void real_models_in_pieces_have_the_types_of_the_whole(void **state)
{
    require_onnxruntime();
    if (check_real_models(real_models, ARRAY_LEN(real_models), compare_real) == 0)
        skip();
}

/* z = Relu(Reshape(w, Shape(x))): with pieces of one node its shape is known only because the Reshape gets the Shape,
 * too. */
static void shape_that_is_computed_is_known_in_pieces_of_one_node(void **state)
{
    struct made_model made;
    struct model *model;
    struct value_type type;
    struct error err = {0};

    require_onnxruntime();
    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(2, 3));
    made_input(&made, "w", MADE_SHAPE(-1, -1));
    made_node(&made, "shape", "Shape", "x", "s", NULL, 0);
    made_node(&made, "reshape", "Reshape", "w s", "y", NULL, 0);
    made_node(&made, "relu", "Relu", "y", "z", NULL, 0);
    made_output(&made, "z");
    model = made_open(&made);
    forget_types(model);
    if (infer_in_pieces(model, 1, &err) < 0)
        fail_msg("%s", err.message);
    value_info_decode(model->values.items[model_find_value(model, TEXT("z"))].info, &type);
    assert_int_equal(type.element, DATA_FLOAT32);
    assert_true(type.has_shape);
    assert_int_equal(type.shape.rank, 2);
    assert_int_equal(type.shape.dims[0], 2);
    assert_int_equal(type.shape.dims[1], 3);
    model_free(model);
    made_release(&made);
}

/* a = Neg(x); b = NoSuchOperator(a); c = Exp(b); d = Abs(x) */
static void what_does_not_depend_on_a_refused_node_is_described(void **state)
{
    static const struct {
        const char *name;
        enum data_type element;
    } expected[] = {{"a", DATA_FLOAT32}, {"b", DATA_UNDEFINED}, {"c", DATA_UNDEFINED}, {"d", DATA_FLOAT32}};
    struct backend_request request = {0};
    struct made_model made;
    struct model *model;
    struct error err = {0};

    require_onnxruntime();
    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(2, 3));
    made_node(&made, "neg", "Neg", "x", "a", NULL, 0);
    made_node(&made, "unknown", "NoSuchOperator", "a", "b", NULL, 0);
    made_node(&made, "exp", "Exp", "b", "c", NULL, 0);
    made_node(&made, "abs", "Abs", "x", "d", NULL, 0);
    made_output(&made, "c");
    made_output(&made, "d");
    model = made_open(&made);
    forget_types(model);
    assert_int_equal(types_infer(model, NULL, &onnxrt_backend, &request, NULL, &err), ERR_BACKEND);
    assert_message_contains(&err, "NoSuchOperator");
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        struct value_type type;

        value_info_decode(model->values.items[model_find_value(model, text_of(expected[i].name))].info, &type);
        if (type.element != expected[i].element)
            fail_msg("'%s' is %d", expected[i].name, (int)type.element);
    }
    model_free(model);
    made_release(&made);
}

/* The session would refuse every node that it gives to the processor. */
static void types_are_asked_of_the_runtime_as_it_is_by_itself(void **state)
{
    static const char *const nobody[] = {"NoSuchProvider", NULL};
    static const struct onnxrt_entry no_processor[] = {{NULL, "session.disable_cpu_ep_fallback", "1"}};
    const struct onnxrt_settings settings = {.execution = {.providers = nobody, .session_config = {no_processor, 1}}};
    const struct backend_request request = {.settings = &settings};
    struct value_type type;
    struct made_model made;
    struct model *model;
    struct error err = {0};

    require_onnxruntime();
    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(2, 3));
    made_node(&made, "neg", "Neg", "x", "a", NULL, 0);
    made_node(&made, "exp", "Exp", "a", "y", NULL, 0);
    made_output(&made, "y");
    model = made_open(&made);
    forget_types(model);
    if (types_infer(model, NULL, &onnxrt_backend, &request, NULL, &err) < 0)
        fail_msg("%s", err.message);
    value_info_decode(model->values.items[model_find_value(model, TEXT("a"))].info, &type);
    assert_int_equal(type.element, DATA_FLOAT32);
    model_free(model);
    made_release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_models_in_pieces_have_the_types_of_the_whole),
        cmocka_unit_test(real_models_in_pieces_have_the_types_of_the_whole),
        cmocka_unit_test(shape_that_is_computed_is_known_in_pieces_of_one_node),
        cmocka_unit_test(what_does_not_depend_on_a_refused_node_is_described),
        cmocka_unit_test(types_are_asked_of_the_runtime_as_it_is_by_itself),
    };
    return cmocka_run_group_tests(tests, find_models, NULL);
}
