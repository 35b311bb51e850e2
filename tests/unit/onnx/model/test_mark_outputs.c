/* Other outputs for a model than its own. */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/model/mark_outputs.h"

struct marked {
    struct model *model;
    struct subgraph whole;
    struct error err;
};

static void marked_init(struct marked *marked, const char *name)
{
    *marked = (struct marked){.model = fixture_open(name)};
    subgraph_init_whole(&marked->whole, marked->model);
}

static void marked_release(struct marked *marked)
{
    subgraph_release(&marked->whole);
    model_free(marked->model);
}

static void assert_outputs(const struct marked *marked, const char *expected)
{
    assert_string_equal(names_of_values(marked->model, &marked->whole.outputs), expected);
}

static int mark(struct marked *marked, const char *first, const char *second)
{
    return outputs_mark_named(&marked->whole, (const char *const[]){first, second}, second != NULL ? 2 : 1,
                              &marked->err);
}

static int exclude(struct marked *marked, const char *first, const char *second)
{
    return outputs_exclude(&marked->whole, (const char *const[]){first, second}, second != NULL ? 2 : 1, &marked->err);
}

static void all_outputs_of_all_nodes_are_marked_in_their_order(void **state)
{
    struct marked marked;

    marked_init(&marked, "branches");
    outputs_mark_all(&marked.whole, NULL);
    assert_outputs(&marked, "a b c d e f noise g");
    assert_int_equal(bitset_count(&marked.whole.nodes), 7);
    marked_release(&marked);
}

static void constants_and_omitted_outputs_are_not_marked(void **state)
{
    struct marked marked;

    marked_init(&marked, "constants_of_every_form");
    outputs_mark_all(&marked.whole, NULL);
    assert_outputs(&marked, "sum y");
    marked_release(&marked);
    marked_init(&marked, "omitted_optional_output");
    outputs_mark_all(&marked.whole, NULL);
    assert_outputs(&marked, "t hh y");
    marked_release(&marked);
}

static void what_is_said_to_be_no_tensor_is_skipped(void **state)
{
    struct marked marked;
    struct value_list skipped = {0};

    marked_init(&marked, "sequences");
    outputs_mark_all(&marked.whole, &skipped);
    assert_outputs(&marked, "length");
    assert_string_equal(names_of_values(marked.model, &skipped), "pair");
    free(skipped.items);
    marked_release(&marked);
}

static void named_tensors_become_the_outputs_in_the_order_given(void **state)
{
    struct marked marked;

    marked_init(&marked, "branches");
    assert_int_equal(mark(&marked, "e", "a"), 0);
    assert_outputs(&marked, "e a");
    assert_int_equal(mark(&marked, "d", "d"), 0);
    assert_outputs(&marked, "d");
    assert_int_equal(mark(&marked, "x", "w"), 0); /* an input and an initializer */
    assert_outputs(&marked, "x w");
    marked_release(&marked);
}

static void patterns_select_outputs_of_nodes(void **state)
{
    struct marked marked;

    marked_init(&marked, "branches");
    assert_int_equal(mark(&marked, "[ec]", "a"), 0);
    assert_outputs(&marked, "c e a");
    assert_int_equal(mark(&marked, "e", "*e"), 0);
    assert_outputs(&marked, "e noise");
    assert_int_equal(exclude(&marked, "n*", NULL), 0);
    assert_outputs(&marked, "e");
    assert_int_equal(mark(&marked, "a", "w*"), ERR_INVALID); /* only an initializer */
    assert_non_null(strstr(marked.err.message, "['w*']"));
    assert_int_equal(exclude(&marked, "a*", NULL), ERR_INVALID);
    assert_outputs(&marked, "e");
    marked_release(&marked);
}

static void outputs_of_operators_replace_the_others(void **state)
{
    struct marked marked;

    marked_init(&marked, "branches");
    assert_int_equal(outputs_mark_operators(&marked.whole, (const char *const[]){"aDd"}, 1, &marked.err), 0);
    assert_outputs(&marked, "d e");
    assert_int_equal(outputs_mark_operators(&marked.whole, (const char *const[]){"Add", "Ad"}, 2, &marked.err),
                     ERR_INVALID);
    assert_non_null(strstr(marked.err.message, "['Ad']; did you mean 'Add'?"));
    assert_outputs(&marked, "d e");
    marked_release(&marked);
}

static void names_that_the_model_does_not_have_are_listed(void **state)
{
    struct marked marked;

    marked_init(&marked, "branches");
    assert_int_equal(mark(&marked, "a", "nothing"), ERR_INVALID);
    assert_non_null(strstr(marked.err.message, "The following outputs were not found in the model: ['nothing']"));
    assert_int_equal(mark(&marked, "no", "nothing"), ERR_INVALID);
    assert_non_null(strstr(marked.err.message, "['no', 'nothing']"));
    assert_outputs(&marked, "g f"); /* as they were */
    marked_release(&marked);
}

/* `left_over` is described, but no node makes it. */
static void name_that_is_only_described_is_no_tensor(void **state)
{
    static const char file[] = "\x3a\x12\x6a\x0b\x0a\x09left_over\x62\x03\x0a\x01x";
    struct model *model;
    struct subgraph whole;
    struct error err = {0};

    if (model_parse((struct span){(const uint8_t *)file, sizeof(file) - 1}, "test", &model, &err) < 0)
        fail_msg("%s", err.message);
    fixture_value(model, "left_over");
    subgraph_init_whole(&whole, model);
    assert_int_equal(outputs_mark_named(&whole, (const char *const[]){"left_over"}, 1, &err), ERR_INVALID);
    subgraph_release(&whole);
    model_free(model);
}

static void excluded_tensors_are_outputs_no_more(void **state)
{
    struct marked marked;

    marked_init(&marked, "branches");
    assert_int_equal(exclude(&marked, "g", NULL), 0);
    assert_outputs(&marked, "f");
    marked_release(&marked);
}

static void only_outputs_can_be_excluded_and_one_has_to_stay(void **state)
{
    struct marked marked;

    marked_init(&marked, "branches");
    assert_int_equal(exclude(&marked, "a", NULL), ERR_INVALID);
    assert_non_null(strstr(marked.err.message, "['a']"));
    assert_int_equal(exclude(&marked, "g", "f"), ERR_INVALID);
    assert_non_null(strstr(marked.err.message, "every output was excluded: leave at least one"));
    assert_outputs(&marked, "g f");
    marked_release(&marked);
}

static void barriers_are_outputs_behind_the_others(void **state)
{
    static const char *const names[] = {"e", "g", "a", "e"}, *const unknown[] = {"a", "nothing"},
                             *const may_miss[] = {"?e", "?nothing", "?x"}, /* an input */
                                 *const sequence[] = {"sequence"};
    struct value_list added = {0};
    struct marked marked;

    marked_init(&marked, "branches"); /* whose outputs are g and f */
    assert_int_equal(outputs_add_barriers(&marked.whole, (struct words){names, 4}, &added, &marked.err), 0);
    assert_outputs(&marked, "g f e a");
    assert_string_equal(names_of_values(marked.model, &added), "e a");
    assert_int_equal(outputs_add_barriers(&marked.whole, (struct words){unknown, 2}, NULL, &marked.err), ERR_INVALID);
    assert_non_null(strstr(marked.err.message, "['nothing']"));
    assert_int_equal(outputs_add_barriers(&marked.whole, (struct words){may_miss, 3}, NULL, &marked.err), 0);
    assert_outputs(&marked, "g f e a");
    free(added.items);
    marked_release(&marked);
    marked_init(&marked, "sequences");
    assert_int_equal(outputs_add_barriers(&marked.whole, (struct words){sequence, 1}, NULL, &marked.err), ERR_INVALID);
    assert_non_null(strstr(marked.err.message, "'sequence' of"));
    assert_outputs(&marked, "length pair");
    marked_release(&marked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_outputs_of_all_nodes_are_marked_in_their_order),
        cmocka_unit_test(constants_and_omitted_outputs_are_not_marked),
        cmocka_unit_test(what_is_said_to_be_no_tensor_is_skipped),
        cmocka_unit_test(named_tensors_become_the_outputs_in_the_order_given),
        cmocka_unit_test(patterns_select_outputs_of_nodes),
        cmocka_unit_test(outputs_of_operators_replace_the_others),
        cmocka_unit_test(names_that_the_model_does_not_have_are_listed),
        cmocka_unit_test(name_that_is_only_described_is_no_tensor),
        cmocka_unit_test(excluded_tensors_are_outputs_no_more),
        cmocka_unit_test(only_outputs_can_be_excluded_and_one_has_to_stay),
        cmocka_unit_test(barriers_are_outputs_behind_the_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
