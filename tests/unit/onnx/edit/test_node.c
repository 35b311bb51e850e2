/* Nodes that are in no file, and their attributes read again. */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <string.h>

#include "base/memory.h"
#include "onnx/edit/rebuild.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/wire.h"
#include "onnx/edit/node.h"

/* The NodeProto in a field. */
static struct span message_of(struct span field)
{
    struct wire_reader reader = wire_reader_of(field);
    struct wire_field content;

    assert_true(wire_next(&reader, &content));
    assert_int_equal(content.number, GRAPH_NODE);
    assert_int_equal(content.whole.size, field.size);
    return content.bytes;
}

/* The model with `field` as its only node. */
static void set_only_node(struct model *model, struct span field)
{
    struct span_list fields = {.items = &field, .count = 1};
    struct error err = {0};

    if (model_set_nodes(model, &fields, &err) < 0)
        fail_msg("%s", err.message);
}

static void made_node_is_read_as_it_was_described(void **state)
{
    struct model *model = fixture_open("reducable");
    const struct text inputs[] = {TEXT("X0"), TEXT(""), TEXT("Y0")}, outputs[] = {TEXT("new")};
    const struct node_recipe recipe = {.op_type = TEXT("Clip"),
                                       .name = TEXT("clip"),
                                       .domain = TEXT("some.domain"),
                                       .inputs = inputs,
                                       .input_count = 3,
                                       .outputs = outputs,
                                       .output_count = 1};
    const struct node *node;

    set_only_node(model, node_build(&model->arena, &recipe));
    node = &model->nodes.items[0];
    assert_true(text_equal_string(node->op_type, "Clip"));
    assert_true(text_equal_string(node->name, "clip"));
    assert_true(text_equal_string(node->domain, "some.domain"));
    assert_string_equal(names_of_edges(model, node->inputs), "X0 - Y0");
    assert_string_equal(names_of_edges(model, node->outputs), "new");
    model_free(model);
}

static void attributes_of_every_kind_are_written(void **state)
{
    const float numbers[] = {1.5f, -2};
    const int64_t integers[] = {3, -1}, dimensions[] = {2};
    const struct text strings[] = {TEXT("a"), TEXT("bc")};
    struct shape shape = {1, {dimensions[0]}};
    struct tensor tensor;
    const struct node_attribute attributes[] = {
        {.name = TEXT("f"), .kind = ATTRIBUTE_KIND_FLOAT, .number = 0.25f},
        {.name = TEXT("i"), .kind = ATTRIBUTE_KIND_INTEGER, .integer = -7},
        {.name = TEXT("s"), .kind = ATTRIBUTE_KIND_STRING, .string = TEXT("linear")},
        {.name = TEXT("t"), .kind = ATTRIBUTE_KIND_TENSOR, .tensor = &tensor},
        {.name = TEXT("fs"), .kind = ATTRIBUTE_KIND_FLOATS, .numbers = numbers, .count = 2},
        {.name = TEXT("is"), .kind = ATTRIBUTE_KIND_INTEGERS, .integers = integers, .count = 2},
        {.name = TEXT("ss"), .kind = ATTRIBUTE_KIND_STRINGS, .strings = strings, .count = 2},
    };
    const struct node_recipe recipe = {
        .op_type = TEXT("Op"), .attributes = attributes, .attribute_count = ARRAY_LEN(attributes)};
    struct arena arena;
    struct span node;

    arena_init(&arena);
    tensor_borrow(DATA_FLOAT32, &shape, numbers, sizeof(numbers), &tensor);
    node = message_of(node_build(&arena, &recipe));
    assert_memory_equal(node.data, "\x22\x02Op", 4);
    /* the attributes one after the other: name, value, type */
    const char expected[] = "\x2a\x0b\x0a\x01"
                            "f\x15\0\0\x80\x3e\xa0\x01\x01"
                            "\x2a\x11\x0a\x01"
                            "i\x18\xf9\xff\xff\xff\xff\xff\xff\xff\xff\x01\xa0\x01\x02"
                            "\x2a\x0e\x0a\x01s\x22\x06linear\xa0\x01\x03"
                            "\x2a\x18\x0a\x01t\x2a\x10\x08\x02\x10\x01\x42\0\x4a\x08\0\0\xc0\x3f\0\0\0\xc0\xa0\x01\x04"
                            "\x2a\x11\x0a\x02"
                            "fs\x3d\0\0\xc0\x3f\x3d\0\0\0\xc0\xa0\x01\x06"
                            "\x2a\x14\x0a\x02is\x40\x03\x40\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\xa0\x01\x07"
                            "\x2a\x0e\x0a\x02ss\x4a\x01"
                            "a\x4a\x02"
                            "bc\xa0\x01\x08";
    assert_int_equal(node.size - 4, sizeof(expected) - 1);
    assert_memory_equal(node.data + 4, expected, sizeof(expected) - 1);
    arena_release(&arena);
}

static void written_attributes_are_found_again(void **state)
{
    const int64_t integers[] = {3, -1, 5};
    struct shape scalar = {0, {0}};
    float one = 1;
    struct tensor tensor, read;
    const struct node_attribute attributes[] = {
        {.name = TEXT("axis"), .kind = ATTRIBUTE_KIND_INTEGER, .integer = -7},
        {.name = TEXT("perm"), .kind = ATTRIBUTE_KIND_INTEGERS, .integers = integers, .count = 3},
        {.name = TEXT("value"), .kind = ATTRIBUTE_KIND_TENSOR, .tensor = &tensor},
    };
    const struct node_recipe recipe = {.op_type = TEXT("Op"), .attributes = attributes, .attribute_count = 3};
    int64_t list[2] = {0};
    struct arena arena;
    struct span node, attribute;
    struct error err = {0};

    arena_init(&arena);
    tensor_borrow(DATA_FLOAT32, &scalar, &one, sizeof(one), &tensor);
    node = message_of(node_build(&arena, &recipe));
    assert_int_equal(node_attribute_integer(node, "axis", 1), -7);
    assert_int_equal(node_attribute_integer(node, "axes", 1), 1);
    assert_int_equal(node_attribute_integers(node, "perm", list, 2), 3);
    assert_int_equal(list[0], 3);
    assert_int_equal(list[1], -1);
    assert_int_equal(node_attribute_integers(node, "axes", list, 2), 0);
    assert_false(node_attribute_find(node, "axes", &attribute));
    assert_null(node_attribute_tensor(node, "axes").data);
    assert_int_equal(tensor_proto_decode(node_attribute_tensor(node, "value"), &read, &err), 0);
    assert_true(tensor_identical(&tensor, &read));
    tensor_release(&read);
    arena_release(&arena);
}

/* A NodeProto of another writer: the integers packed, the value 0 left out, the name twice. */
static void attributes_of_other_writers_are_understood(void **state)
{
    static const char node[] = "\x2a\x0b\x0a\x04perm\x42\x03\x02\x00\x01"
                               "\x2a\x06\x0a\x04"
                               "axis"
                               "\x2a\x08\x0a\x04mode\x18\x01"
                               "\x2a\x08\x0a\x04mode\x18\x02";
    struct span message = {(const uint8_t *)node, sizeof(node) - 1};
    int64_t list[3];

    assert_int_equal(node_attribute_integers(message, "perm", list, 3), 3);
    assert_int_equal(list[0], 2);
    assert_int_equal(list[1], 0);
    assert_int_equal(list[2], 1);
    assert_int_equal(node_attribute_integer(message, "axis", 5), 0);
    assert_int_equal(node_attribute_integer(message, "mode", 5), 2);
}

/* Renames by "from to from to ...". */
static void add_renames(struct rename_map *map, const char *const *names, size_t count)
{
    rename_map_init(map);
    for (size_t i = 0; i + 1 < count; i += 2)
        rename_map_add(map, text_of(names[i]), text_of(names[i + 1]));
}

#define RENAMES(map, ...)                                                                                              \
    add_renames(map, (const char *const[]){__VA_ARGS__}, ARRAY_LEN(((const char *const[]){__VA_ARGS__})))

/* A copy of the named node, put in the place of all nodes of its model. */
static const struct node *rename_node(struct model *model, const char *name, const struct rename_map *inputs,
                                      const struct rename_map *outputs)
{
    struct span field;
    struct error err = {0};

    if (node_rename(&model->arena, model->nodes.items[fixture_node(model, name)].field, inputs, outputs, &field, &err) <
        0)
        fail_msg("%s", err.message);
    set_only_node(model, field);
    return &model->nodes.items[0];
}

static void inputs_and_outputs_get_names_of_their_own(void **state)
{
    struct model *model = fixture_open("same_input_twice");
    const char *name = "b";
    struct rename_map inputs, outputs;
    const struct node *node;

    RENAMES(&inputs, "t", "a", "u", "wrong");
    RENAMES(&outputs, "u", "made", "t", "wrong");
    node = rename_node(model, name, &inputs, &outputs);
    assert_string_equal(names_of_edges(model, node->inputs), "a a");
    assert_string_equal(names_of_edges(model, node->outputs), "made");
    assert_true(text_equal_string(node->op_type, "Mul"));
    assert_true(text_equal_string(node->name, name));
    rename_map_release(&inputs);
    rename_map_release(&outputs);
    model_free(model);
}

static void node_that_changes_nothing_is_not_copied(void **state)
{
    struct model *model = fixture_open("nested_bodies");
    struct span before = model->nodes.items[fixture_node(model, "loop")].field, after;
    struct rename_map map;
    struct error err = {0};

    RENAMES(&map, "y", "z", "scaled", "q");
    assert_int_equal(node_rename(&model->arena, before, &map, NULL, &after, &err), 0);
    assert_ptr_equal(after.data, before.data);
    assert_int_equal(after.size, before.size);
    rename_map_release(&map);
    model_free(model);
}

/* `scaled`, `going_on` and `state` belong to the bodies; only what comes from the graph changes. */
static void bodies_in_bodies_use_the_new_names(void **state)
{
    struct model *model = fixture_open("nested_bodies");
    struct rename_map map;
    const struct node *node;
    const char *captures;

    RENAMES(&map, "scale", "scale_2", "offset", "offset_2", "scaled", "wrong", "going_on", "wrong", "x", "x_2");
    node = rename_node(model, "loop", &map, NULL);
    captures = names_of_edges(model, node->captures);
    assert_true(strcmp(captures, "scale_2 offset_2") == 0 || strcmp(captures, "offset_2 scale_2") == 0);
    assert_string_equal(names_of_edges(model, node->inputs), "trips condition x_2");
    rename_map_release(&map);
    model_free(model);
}

/* In one branch `t` is a tensor of the branch, in the other the graph's. */
static void name_that_a_branch_defines_stays_in_that_branch(void **state)
{
    struct model *model = fixture_open("same_name_in_both_branches");
    struct rename_map map;
    const struct node *node;
    const char *captures;

    RENAMES(&map, "t", "t_2");
    node = rename_node(model, "if", &map, NULL);
    captures = names_of_edges(model, node->captures);
    assert_true(strcmp(captures, "x t_2") == 0 || strcmp(captures, "t_2 x") == 0);
    rename_map_release(&map);
    model_free(model);
}

static void body_output_that_is_an_outer_tensor_gets_the_new_name(void **state)
{
    struct model *model = fixture_open("body_output_is_outer_tensor");
    struct rename_map map;
    const struct node *node;
    const char *captures;

    RENAMES(&map, "t", "t_2");
    node = rename_node(model, "if", &map, NULL);
    captures = names_of_edges(model, node->captures);
    assert_true(strcmp(captures, "x t_2") == 0 || strcmp(captures, "t_2 x") == 0);
    rename_map_release(&map);
    model_free(model);
}

static void new_name_that_a_body_has_already_is_refused(void **state)
{
    struct model *model = fixture_open("nested_bodies");
    struct rename_map map;
    struct span field;
    struct error err = {0};

    RENAMES(&map, "scale", "scaled");
    assert_int_equal(
        node_rename(&model->arena, model->nodes.items[fixture_node(model, "loop")].field, &map, NULL, &field, &err),
        ERR_INVALID);
    assert_string_equal(err.message,
                        "cannot rename 'scale' to 'scaled': a subgraph that uses it defines that name already");
    rename_map_release(&map);
    model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_node_is_read_as_it_was_described),
        cmocka_unit_test(attributes_of_every_kind_are_written),
        cmocka_unit_test(written_attributes_are_found_again),
        cmocka_unit_test(attributes_of_other_writers_are_understood),
        cmocka_unit_test(inputs_and_outputs_get_names_of_their_own),
        cmocka_unit_test(node_that_changes_nothing_is_not_copied),
        cmocka_unit_test(bodies_in_bodies_use_the_new_names),
        cmocka_unit_test(name_that_a_branch_defines_stays_in_that_branch),
        cmocka_unit_test(body_output_that_is_an_outer_tensor_gets_the_new_name),
        cmocka_unit_test(new_name_that_a_body_has_already_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
