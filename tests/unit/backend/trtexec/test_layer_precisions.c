/* Layers that are given a precision: which nodes they are, what trtexec calls them, and whether it found them. */
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>

#include "backend/trtexec/layer_precisions.h"
#include "base/memory.h"
#include "onnx/edit/node.h"
#include "onnx/edit/rebuild.h"
#include "support/onnx_fixture.h"

/* The nodes padded, grouped, dilated, pointwise and relu under other names. */
static struct model *open_renamed(const char *const *names)
{
    struct model *model = fixture_open("convolutions");
    struct span_list fields = {0};
    struct error err;

    assert_int_equal(model->nodes.count, 5);
    for (size_t i = 0; i < 5; i++)
        *VECTOR_APPEND(&fields) =
            node_set_name(&model->arena, model->nodes.items[i].field, (struct text){names[i], strlen(names[i])});
    assert_int_equal(model_set_nodes(model, &fields, &err), 0);
    free(fields.items);
    return model;
}

static int find(struct model *model, const char *const *names, size_t count, struct arena *arena,
                struct trtexec_layers *ret, bool *ret_changed, struct error *err)
{
    struct tensorrt_named_type types[8];
    struct tensorrt_settings settings = {.layer_precisions = {types, count}};

    for (size_t i = 0; i < count; i++)
        types[i] = (struct tensorrt_named_type){names[i], DATA_FLOAT32};
    *ret = (struct trtexec_layers){0};
    return trtexec_layers_find(&settings, model, arena, ret, ret_changed, err);
}

static void names_that_can_be_passed_stay(void **state)
{
    struct model *model = fixture_open("convolutions");
    struct trtexec_layers layers;
    struct arena arena;
    struct error err;
    bool changed;

    (void)state;
    arena_init(&arena);
    assert_int_equal(find(model, (const char *[]){"dilated", "r*"}, 2, &arena, &layers, &changed, &err), 0);
    assert_false(changed);
    assert_int_equal(layers.count, 2);
    assert_string_equal(layers.items[0].safe, "dilated");
    assert_string_equal(layers.items[1].safe, "r*");
    assert_int_equal(find(model, (const char *[]){"dilatd"}, 1, &arena, &layers, &changed, &err), ERR_INVALID);
    assert_non_null(strstr(err.message, "did you mean 'dilated'?"));
    arena_release(&arena);
    model_free(model);
}

static void other_names_are_replaced_in_the_model(void **state)
{
    static const char *const names[] = {"a,b:c*", "", "twice", "twice", "n0"};
    struct model *model = open_renamed(names);
    struct trtexec_layers layers;
    struct arena arena;
    struct error err;
    bool changed;

    (void)state;
    arena_init(&arena);
    assert_int_equal(find(model, (const char *[]){"a,b:c*", "node_of_t2", "twice"}, 3, &arena, &layers, &changed, &err),
                     0);
    assert_true(changed);
    assert_int_equal(layers.count, 4);
    assert_string_equal(layers.items[0].name, "a,b:c*");
    assert_string_equal(layers.items[0].safe, "n0_1"); /* another node has n0 */
    assert_true(text_equal_string(model->nodes.items[0].name, "n0_1"));
    assert_true(text_equal_string(model->nodes.items[1].name, "n1"));
    assert_true(text_equal_string(model->nodes.items[2].name, "n2"));
    assert_true(text_equal_string(model->nodes.items[3].name, "n3"));
    assert_true(text_equal_string(model->nodes.items[4].name, "n0"));
    assert_true(text_equal_string(model->nodes.items[4].op_type, "Relu"));
    arena_release(&arena);
    model_free(model);
}

static void what_was_not_set_is_an_error(void **state)
{
    struct trtexec_layer items[] = {{"conv,1", "n0", DATA_FLOAT32, false},
                                    {"block*", "block*", DATA_FLOAT32, false},
                                    {"moved", "moved", DATA_FLOAT32, true}};
    const struct trtexec_layers layers = {items, ARRAY_LEN(items)};
    const char *set[] = {"block7", "n0"};
    struct trtexec_report report = {.set_layers = {.items = set, .count = 2}};
    struct error err;

    (void)state;
    assert_int_equal(trtexec_layers_check(&layers, &report, &err), 0);
    report.set_layers.count = 1;
    assert_int_equal(trtexec_layers_check(&layers, &report, &err), ERR_INVALID);
    assert_non_null(strstr(err.message, "'conv,1'"));
    assert_null(strstr(err.message, "moved"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_can_be_passed_stay),
        cmocka_unit_test(other_names_are_replaced_in_the_model),
        cmocka_unit_test(what_was_not_set_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
