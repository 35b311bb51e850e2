/* Which nodes of two models replace each other. */
#include "support/made_model.h"
#include "support/unit_test.h"

#include "debug/passes/rewritten.h"

static void add_list(const char *title, const struct rewritten_list *list, struct string_builder *ret)
{
    string_add(ret, title);
    for (size_t i = 0; i < list->count; i++)
        string_add_format(ret, " %s(%s):%u", list->items[i].name, list->items[i].op_type, list->items[i].region);
}

/* "before: name(operator):region ... after: ..." */
static void assert_rewritten(struct made_model *without, struct made_model *with, uint32_t regions,
                             const char *expected)
{
    struct model *before = made_open(without), *after = made_open(with);
    struct rewritten_nodes nodes;
    struct string_builder text;

    rewritten_nodes_find(before, after, &nodes);
    string_init(&text);
    add_list("before:", &nodes.before, &text);
    add_list(" after:", &nodes.after, &text);
    assert_string_equal(text.data, expected);
    assert_int_equal(nodes.regions, regions);
    string_release(&text);
    rewritten_nodes_release(&nodes);
    model_free(before);
    model_free(after);
    made_release(without);
    made_release(with);
}

static void begin(struct made_model *made)
{
    made_init(made, 13);
    made_input(made, "x", MADE_SHAPE(2));
}

/* Two chains that are fused, each at its place, and what is between them stays. */
static void each_place_is_a_region_of_its_own(void **state)
{
    struct made_model without, with;

    begin(&without);
    made_node(&without, "n1", "Neg", "x", "a", NULL, 0);
    made_node(&without, "r1", "Relu", "a", "b", NULL, 0);
    made_node(&without, "stays", "Tanh", "b", "c", NULL, 0);
    made_node(&without, "n2", "Neg", "c", "d", NULL, 0);
    made_node(&without, "r2", "Relu", "d", "y", NULL, 0);
    made_output(&without, "y");
    begin(&with);
    made_node(&with, "f1", "Fused", "x", "b", NULL, 0);
    made_node(&with, "stays", "Tanh", "b", "c", NULL, 0);
    made_node(&with, "f2", "Fused", "c", "y", NULL, 0);
    made_output(&with, "y");
    assert_rewritten(&without, &with, 2,
                     "before: n1(Neg):0 r1(Relu):0 n2(Neg):1 r2(Relu):1 after: f1(Fused):0 f2(Fused):1");
}

/* One node is split: its parts belong together as they read each other, or make what it made. */
static void what_is_split_is_one_region(void **state)
{
    struct made_model without, with;

    begin(&without);
    made_node(&without, "both", "Split", "x", "a b", NULL, 0);
    made_node(&without, "sum", "Add", "a b", "y", NULL, 0);
    made_output(&without, "y");
    begin(&with);
    made_node(&with, "left", "Slice", "x", "a", NULL, 0);
    made_node(&with, "turned", "Neg", "x", "t", NULL, 0);
    made_node(&with, "right", "Slice", "t", "b", NULL, 0);
    made_node(&with, "sum", "Add", "a b", "y", NULL, 0);
    made_output(&with, "y");
    assert_rewritten(&without, &with, 1, "before: both(Split):0 after: left(Slice):0 turned(Neg):0 right(Slice):0");
}

/* Names of nodes do not count; domains and names of tensors do. */
static void a_node_is_the_same_when_it_does_the_same_with_the_same_tensors(void **state)
{
    struct made_model without, with;

    begin(&without);
    made_node(&without, "old", "Neg", "x", "a", NULL, 0);
    made_node(&without, "gelu", "Gelu", "a", "b", NULL, 0);
    made_node(&without, "sum", "Add", "b -", "y", NULL, 0);
    made_output(&without, "y");
    begin(&with);
    made_node(&with, "new", "Neg", "x", "a", NULL, 0);
    made_node(&with, "gelu", "com.microsoft.Gelu", "a", "b", NULL, 0);
    made_node(&with, "sum", "Add", "- b", "y", NULL, 0);
    made_output(&with, "y");
    assert_rewritten(&without, &with, 1, "before: gelu(Gelu):0 sum(Add):0 after: gelu(Gelu):0 sum(Add):0");
}

static void nothing_is_rewritten_where_both_are_the_same(void **state)
{
    struct made_model without, with;

    begin(&without);
    made_node(&without, "n", "Neg", "x", "y", NULL, 0);
    made_output(&without, "y");
    begin(&with);
    made_node(&with, "n", "Neg", "x", "y", NULL, 0);
    made_output(&with, "y");
    assert_rewritten(&without, &with, 0, "before: after:");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_place_is_a_region_of_its_own),
        cmocka_unit_test(what_is_split_is_one_region),
        cmocka_unit_test(a_node_is_the_same_when_it_does_the_same_with_the_same_tensors),
        cmocka_unit_test(nothing_is_rewritten_where_both_are_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
