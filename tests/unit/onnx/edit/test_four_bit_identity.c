/* Copies of 4-bit integers, in words that ONNX Runtime has a kernel for. */
#include "support/made_model.h"
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include "onnx/edit/four_bit_identity.h"
#include "onnx/proto/node_attribute.h"

static struct model *respelled(struct made_model *made)
{
    struct model *model = made_open(made);
    struct error err = {0};

    if (model_respell_four_bit_identities(model, NULL, &err) < 0)
        fail_msg("%s", err.message);
    return model;
}

/* "Cast to 22", or the operator alone. */
static void assert_spelled(const struct model *model, const char *name, const char *op_type, int64_t to)
{
    const struct node *node = &model->nodes.items[fixture_node(model, name)];

    if (!text_equal_string(node->op_type, op_type))
        fail_msg("%s is a " TEXT_FORMAT, name, TEXT_ARGS(node->op_type));
    assert_int_equal(node_attribute_integer(node->message, "to", 0), to);
}

static void copies_of_4_bit_integers_become_casts_to_their_type(void **state)
{
    struct node_attribute output_dtype = {
        .name = TEXT("output_dtype"), .kind = ATTRIBUTE_KIND_INTEGER, .integer = DATA_UINT4};
    struct node_attribute to = {.name = TEXT("to"), .kind = ATTRIBUTE_KIND_INTEGER, .integer = DATA_INT4};
    struct made_model made;
    struct model *model;

    made_init(&made, 21);
    made_input(&made, "x", MADE_SHAPE(3));
    made_typed_input(&made, "narrow", DATA_INT4, MADE_SHAPE(3));
    made_typed_input(&made, "zero", DATA_UINT4, MADE_SHAPE(1));
    made_constant(&made, "s", MADE_SHAPE(1), 1, 1);
    made_node(&made, "of input", "Identity", "narrow", "a", NULL, 0);
    made_node(&made, "of copy", "Identity", "a", "b", NULL, 0);
    made_node(&made, "q1", "QuantizeLinear", "x s zero", "c", NULL, 0);
    made_node(&made, "of zero point", "Identity", "c", "d", NULL, 0);
    made_node(&made, "q2", "QuantizeLinear", "x s", "e", &output_dtype, 1);
    made_node(&made, "of attribute", "Identity", "e", "f", NULL, 0);
    made_node(&made, "cast", "Cast", "x", "g", &to, 1);
    made_node(&made, "of cast", "Identity", "g", "h", NULL, 0);
    for (const char *const *name = (const char *const[]){"b", "d", "f", "h", NULL}; *name != NULL; name++)
        made_typed_output(&made, *name, DATA_UNDEFINED);
    model = respelled(&made);
    assert_spelled(model, "of input", "Cast", DATA_INT4);
    assert_spelled(model, "of copy", "Cast", DATA_INT4);
    assert_spelled(model, "of zero point", "Cast", DATA_UINT4);
    assert_spelled(model, "of attribute", "Cast", DATA_UINT4);
    assert_spelled(model, "of cast", "Cast", DATA_INT4);
    assert_string_equal(names_of_edges(model, model->nodes.items[fixture_node(model, "of copy")].inputs), "a");
    assert_string_equal(names_of_edges(model, model->nodes.items[fixture_node(model, "of copy")].outputs), "b");
    model_free(model);
    made_release(&made);
}

static void other_copies_stay(void **state)
{
    struct made_model made;
    struct model *model;

    made_init(&made, 21);
    made_input(&made, "x", MADE_SHAPE(3));
    made_typed_input(&made, "zero", DATA_INT8, MADE_SHAPE(1));
    made_constant(&made, "s", MADE_SHAPE(1), 1, 1);
    made_node(&made, "of float", "Identity", "x", "a", NULL, 0);
    made_node(&made, "q1", "QuantizeLinear", "x s zero", "b", NULL, 0);
    made_node(&made, "of int8", "Identity", "b", "c", NULL, 0);
    made_node(&made, "q2", "QuantizeLinear", "x s", "d", NULL, 0);
    made_node(&made, "of uint8", "Identity", "d", "e", NULL, 0);
    made_node(&made, "odd", "Mystery", "x", "f", NULL, 0);
    made_node(&made, "of unknown", "Identity", "f", "g", NULL, 0);
    for (const char *const *name = (const char *const[]){"a", "c", "e", "g", NULL}; *name != NULL; name++)
        made_typed_output(&made, *name, DATA_UNDEFINED);
    model = respelled(&made);
    for (const char *const *name = (const char *const[]){"of float", "of int8", "of uint8", "of unknown", NULL};
         *name != NULL; name++)
        assert_spelled(model, *name, "Identity", 0);
    model_free(model);
    made_release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_of_4_bit_integers_become_casts_to_their_type),
        cmocka_unit_test(other_copies_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
