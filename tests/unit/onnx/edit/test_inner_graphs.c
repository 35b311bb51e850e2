/* Functions that are edited as models of their own. */
#include "onnx/edit/inner_graphs.h"
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

static int count_nodes(void *data, struct model *graph, bool *ret_changed, struct error *err)
{
    *(size_t *)data += graph->nodes.count;
    return 0;
}

/* 10,000 passes over them are more than a block of an arena. */
static void looking_at_functions_leaves_nothing_in_the_model(void **state)
{
    struct model *model = fixture_open("local_functions");
    const struct arena_block *block = model->arena.head;
    size_t once = 0, nodes = 0;
    bool changed = false;
    struct error err;

    assert_int_equal(model_edit_functions(model, count_nodes, &once, &changed, &err), 0);
    assert_true(once > 0);
    for (size_t i = 0; i < 10000; i++)
        assert_int_equal(model_edit_functions(model, count_nodes, &nodes, &changed, &err), 0);
    assert_int_equal(nodes, 10000 * once);
    assert_false(changed);
    assert_ptr_equal(model->arena.head, block);
    model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looking_at_functions_leaves_nothing_in_the_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
