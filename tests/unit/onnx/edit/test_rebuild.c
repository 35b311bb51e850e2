/* Other nodes, another order, other constants. */
#include "support/onnx_fixture.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/rebuild.h"
#include "onnx/model/unused_names.h"
#include "onnx/external/save.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/edit/node.h"

static const char *nodes_of(struct model *model)
{
    struct subgraph whole;
    const char *names;

    subgraph_init_whole(&whole, model);
    names = names_of_nodes(&whole);
    subgraph_release(&whole);
    return names;
}

static struct span_list fields_of(const struct model *model)
{
    struct span_list fields = {0};

    for (size_t i = 0; i < model->nodes.count; i++)
        *VECTOR_APPEND(&fields) = model->nodes.items[i].field;
    return fields;
}

static void set_nodes(struct model *model, struct span_list *fields)
{
    struct error err = {0};

    if (model_set_nodes(model, fields, &err) < 0)
        fail_msg("%s", err.message);
    free(fields->items);
}

static struct span make_node(struct model *model, const char *op_type, const char *name, const char *input,
                             const char *output)
{
    const struct text inputs[] = {text_of(input)}, outputs[] = {text_of(output)};
    const struct node_recipe recipe = {.op_type = text_of(op_type),
                                       .name = text_of(name),
                                       .inputs = inputs,
                                       .input_count = 1,
                                       .outputs = outputs,
                                       .output_count = 1};

    return node_build(&model->arena, &recipe);
}

static uint32_t producer_of(const struct model *model, const char *name)
{
    return model->values.items[fixture_value(model, name)].producer;
}

/* ---- Nodes ---- */

static void the_same_nodes_give_the_same_file(void **state)
{
    static const char *const names[] = {"nested_bodies", "quantization_annotations", "local_functions", "branches"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct model *model = fixture_open(names[i]);
        struct span_list fields = fields_of(model);
        struct subgraph whole;
        struct rewritten before, after;

        subgraph_init_whole(&whole, model);
        rewritten_init(&before, &whole);
        subgraph_release(&whole);
        set_nodes(model, &fields);
        subgraph_init_whole(&whole, model);
        rewritten_init(&after, &whole);
        assert_int_equal(before.size, after.size);
        assert_memory_equal(before.bytes, after.bytes, before.size);
        rewritten_release(&before);
        rewritten_release(&after);
        subgraph_release(&whole);
        model_free(model);
    }
}

static void made_and_original_nodes_stand_side_by_side(void **state)
{
    struct model *model = fixture_open("identity_identity");
    struct span_list fields = {0};
    struct subgraph whole;
    struct rewritten rewritten;

    *VECTOR_APPEND(&fields) = model->nodes.items[0].field;
    *VECTOR_APPEND(&fields) = make_node(model, "Neg", "new", "identity_out_0", "negative");
    *VECTOR_APPEND(&fields) = make_node(model, "Exp", "last", "negative", "identity_out_2");
    set_nodes(model, &fields);
    assert_int_equal(producer_of(model, "identity_out_0"), 0);
    assert_int_equal(producer_of(model, "negative"), 1);
    assert_int_equal(producer_of(model, "identity_out_2"), 2);
    subgraph_init_whole(&whole, model);
    rewritten_init(&rewritten, &whole);
    assert_string_equal(nodes_of(rewritten.model), "onnx_graphsurgeon_node_1 new last");
    assert_string_equal(names_of_values(rewritten.model, &rewritten.model->outputs), "identity_out_2");
    rewritten_release(&rewritten);
    subgraph_release(&whole);
    model_free(model);
}

static void tensor_of_a_node_that_is_gone_has_no_producer(void **state)
{
    struct model *model = fixture_open("reducable");
    struct span_list fields = fields_of(model);

    fields.items[0] = fields.items[--fields.count];
    set_nodes(model, &fields);
    assert_int_equal(producer_of(model, "identity_out_0"), NODE_NONE);
    assert_int_equal(producer_of(model, "add_out_4"), 2);
    model_free(model);
}

static void captures_and_annotations_survive_a_change_of_nodes(void **state)
{
    struct model *model = fixture_open("nested_bodies");
    struct span_list fields = fields_of(model);
    const char *captures;

    set_nodes(model, &fields);
    captures = names_of_edges(model, model->nodes.items[fixture_node(model, "loop")].captures);
    assert_true(strcmp(captures, "scale offset") == 0 || strcmp(captures, "offset scale") == 0);
    model_free(model);

    model = fixture_open("quantization_annotations");
    fields = fields_of(model);
    const char *before = names_of_edges(model, model->annotations.items[0].parameters);
    fields.count--;
    set_nodes(model, &fields);
    assert_string_equal(names_of_edges(model, model->annotations.items[0].parameters), before);
    model_free(model);
}

static void damaged_node_is_an_error(void **state)
{
    struct model *model = fixture_open("identity");
    /* a node whose input says that it is longer than the node */
    struct span bad = {(const uint8_t *)"\x0a\x03\x0a\x7f\x61", 5};
    struct span_list fields = {.items = &bad, .count = 1};
    struct error err = {0};

    assert_int_equal(model_set_nodes(model, &fields, &err), ERR_CORRUPT);
    model_free(model);
}

/* ---- Order ---- */

static const char *sorted(struct model *model)
{
    struct error err = {0};

    if (model_sort_nodes(model, &err) < 0)
        fail_msg("%s", err.message);
    for (uint32_t i = 0; i < model->nodes.count; i++)
        for (size_t k = 0; k < model->nodes.items[i].outputs.count; k++)
            assert_int_equal(model->values.items[model_edge(model, model->nodes.items[i].outputs, k)].producer, i);
    return nodes_of(model);
}

static void producers_move_in_front_of_their_readers(void **state)
{
    struct model *model = fixture_open("unsorted_nodes");

    assert_string_equal(sorted(model), "first second third");
    model_free(model);
}

static void sorted_nodes_stay_as_they_are(void **state)
{
    struct model *model = fixture_open("branches");
    const char *before = nodes_of(model);

    assert_string_equal(sorted(model), before);
    model_free(model);
}

/* The Loop stands in front of what only its bodies use. */
static void what_bodies_use_counts_as_read(void **state)
{
    struct model *model = fixture_open("nested_bodies");
    struct span_list fields = fields_of(model);
    struct span first = fields.items[0];

    fields.items[0] = fields.items[2];
    fields.items[2] = first;
    set_nodes(model, &fields);
    assert_string_equal(nodes_of(model), "loop neg exp");
    assert_string_equal(sorted(model), "exp neg loop");
    model_free(model);
}

static void cycle_is_named_and_nothing_moves(void **state)
{
    struct model *model = fixture_open("identity");
    struct span_list fields = {0};
    struct error err = {0};

    *VECTOR_APPEND(&fields) = make_node(model, "Neg", "other", "x", "y");
    *VECTOR_APPEND(&fields) = make_node(model, "Neg", "a", "r", "p");
    *VECTOR_APPEND(&fields) = make_node(model, "Neg", "b", "p", "q");
    *VECTOR_APPEND(&fields) = make_node(model, "Neg", "c", "q", "r");
    set_nodes(model, &fields);
    assert_int_equal(model_sort_nodes(model, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.message, "nodes depend on each other in a cycle: 'a' -> 'b' -> 'c' -> 'a'"));
    assert_string_equal(nodes_of(model), "other a b c");
    model_free(model);
}

static void node_that_reads_what_it_makes_is_a_cycle(void **state)
{
    struct model *model = fixture_open("identity");
    struct span_list fields = {0};
    struct error err = {0};

    *VECTOR_APPEND(&fields) = make_node(model, "Neg", "a", "p", "p");
    set_nodes(model, &fields);
    assert_int_equal(model_sort_nodes(model, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.message, "in a cycle: 'a' -> 'a'"));
    model_free(model);
}

/* A million nodes in reverse order: a walk that called itself would use up the stack. */
#define CHAIN 1000000

static void long_chain_is_sorted_without_recursion(void **state)
{
    struct model *model = fixture_open("identity");
    struct span_list fields = {0};
    char from[32], to[32];
    struct error err = {0};

    for (int i = CHAIN; i > 0; i--) {
        snprintf(from, sizeof(from), "t%d", i - 1);
        snprintf(to, sizeof(to), "t%d", i);
        *VECTOR_APPEND(&fields) = make_node(model, "Neg", NULL, from, to);
    }
    set_nodes(model, &fields);
    assert_int_equal(model_sort_nodes(model, &err), 0);
    for (uint32_t i = 0; i < CHAIN; i++) {
        snprintf(to, sizeof(to), "t%u", i + 1);
        assert_int_equal(producer_of(model, to), i);
    }
    model_free(model);
}

static void long_cycle_is_told_in_short(void **state)
{
    struct model *model = fixture_open("identity");
    struct span_list fields = {0};
    char from[32], to[32], name[32];
    struct error err = {0};

    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        snprintf(from, sizeof(from), "t%d", i == 0 ? 999 : i - 1);
        snprintf(to, sizeof(to), "t%d", i);
        *VECTOR_APPEND(&fields) = make_node(model, "Neg", arena_strdup(&model->arena, name), from, to);
    }
    set_nodes(model, &fields);
    assert_int_equal(model_sort_nodes(model, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.message, "in a cycle: 'n0' -> 'n1' -> 'n2' -> "));
    assert_non_null(strstr(err.message, " -> ... -> 'n0'"));
    assert_true(strlen(err.message) < 300);
    model_free(model);
}

/* ---- Constants ---- */

static void assert_constant(const struct model *model, const char *name, const struct tensor *expected)
{
    uint32_t index = model->values.items[fixture_value(model, name)].initializer;
    struct tensor tensor;
    struct error err = {0};

    assert_int_not_equal(index, INITIALIZER_NONE);
    if (tensor_proto_decode(model->initializers.items[index].message, &tensor, &err) < 0)
        fail_msg("%s", err.message);
    assert_true(tensor_identical(&tensor, expected));
    tensor_release(&tensor);
}

static const float pair[] = {1, 2};
static const struct shape two = {1, {2}};

static void tensor_becomes_a_constant_in_place_of_its_node(void **state)
{
    struct model *model = fixture_open("branches");
    struct span_list fields = fields_of(model);
    uint32_t value = model_edge(model, model->nodes.items[0].outputs, 0);
    const char *name = arena_text(&model->arena, model->values.items[value].name);
    struct tensor tensor;
    struct subgraph whole;
    struct rewritten rewritten;
    struct error err = {0};

    tensor_borrow(DATA_FLOAT32, &two, pair, sizeof(pair), &tensor);
    assert_int_equal(model_set_tensor(model, value, &tensor, &err), 0);
    memmove(fields.items, fields.items + 1, --fields.count * sizeof(*fields.items));
    set_nodes(model, &fields);
    subgraph_init_whole(&whole, model);
    rewritten_init(&rewritten, &whole);
    assert_constant(rewritten.model, name, &tensor);
    rewritten_release(&rewritten);
    subgraph_release(&whole);
    model_free(model);
}

static void constant_is_replaced_where_it_stands(void **state)
{
    struct model *model = fixture_open("weights_of_many_sizes");
    const char *before = names_of_initializers(model);
    struct subgraph whole;
    struct rewritten rewritten;
    struct tensor tensor;
    struct error err = {0};
    const char *name = arena_text(&model->arena, model->values.items[model->initializers.items[1].value].name);

    tensor_borrow(DATA_FLOAT32, &two, pair, sizeof(pair), &tensor);
    assert_int_equal(model_set_tensor(model, model->initializers.items[1].value, &tensor, &err), 0);
    subgraph_init_whole(&whole, model);
    rewritten_init(&rewritten, &whole);
    assert_string_equal(names_of_initializers(rewritten.model), before);
    assert_constant(rewritten.model, name, &tensor);
    rewritten_release(&rewritten);
    subgraph_release(&whole);
    model_free(model);
}

static void data_that_are_filled_in_are_aligned(void **state)
{
    struct model *model = fixture_open("branches");
    struct error err = {0};
    void *data;

    for (size_t length = 1; length <= 16; length++) {
        uint32_t value = model_add_value(model, (struct text){"sixteen_letters_", length});

        assert_int_equal(model_new_tensor(model, value, DATA_FLOAT64, &two, &data, &err), 0);
        assert_int_equal((uintptr_t)data % sizeof(double), 0);
    }
    model_free(model);
}

static void strings_become_a_constant(void **state)
{
    const struct text words[] = {TEXT("one"), TEXT("two")};
    struct model *model = fixture_open("strings");
    struct tensor tensor;
    struct error err = {0};

    assert_int_equal(tensor_set_strings(&two, words, &tensor, &err), 0);
    assert_int_equal(model_set_tensor(model, fixture_value(model, "end"), &tensor, &err), 0);
    assert_constant(model, "end", &tensor);
    tensor_release(&tensor);
    model_free(model);
}

static void bytes_of_the_file_become_a_constant_without_a_copy(void **state)
{
    struct model *model = fixture_open("sparse_initializer");
    static const uint8_t proto[] = {0x08, 0x02, 0x10, 0x01, 0x42, 0x01, 'n', 0x4a, 0x08,
                                    0,    0,    0x80, 0x3f, 0,    0,    0,   0x40};
    uint32_t value = fixture_value(model, "t");
    struct tensor tensor;

    model_set_initializer(model, value, (struct span){proto, sizeof(proto)});
    assert_ptr_equal(model->initializers.items[model->values.items[value].initializer].message.data, proto);
    tensor_borrow(DATA_FLOAT32, &two, pair, sizeof(pair), &tensor);
    assert_constant(model, "t", &tensor);
    model_free(model);
}

static void constant_is_filled_in_place(void **state)
{
    struct model *model = fixture_open("default_of_an_input");
    struct tensor tensor;
    void *data;
    struct error err = {0};

    assert_int_equal(model_new_tensor(model, fixture_value(model, "w"), DATA_FLOAT32, &two, &data, &err), 0);
    memcpy(data, pair, sizeof(pair));
    tensor_borrow(DATA_FLOAT32, &two, pair, sizeof(pair), &tensor);
    assert_constant(model, "w", &tensor);
    model_free(model);
}

static void constant_without_elements_can_be_made(void **state)
{
    struct model *model = fixture_open("default_of_an_input");
    const struct shape none = {2, {0, 3}};
    struct tensor tensor;
    struct error err = {0};

    tensor_borrow(DATA_INT64, &none, NULL, 0, &tensor);
    assert_int_equal(model_set_tensor(model, fixture_value(model, "w"), &tensor, &err), 0);
    assert_constant(model, "w", &tensor);
    model_free(model);
}

static void tensor_that_no_memory_can_hold_is_refused(void **state)
{
#ifdef __SANITIZE_ADDRESS__
    skip(); /* its allocator reports what is asked for here */
#else
    struct model *model = fixture_open("default_of_an_input");
    const struct shape huge = {2, {INT64_MAX, INT64_MAX}}, large = {1, {INT64_MAX / 16}};
    void *data;
    struct error err = {0};

    assert_int_equal(model_new_tensor(model, fixture_value(model, "w"), DATA_FLOAT32, &huge, &data, &err), ERR_MEMORY);
    assert_int_equal(model_new_tensor(model, fixture_value(model, "w"), DATA_FLOAT32, &large, &data, &err), ERR_MEMORY);
    assert_non_null(strstr(err.message, "not enough memory for tensor 'w' of 2305843009213693948 bytes"));
    model_free(model);
#endif
}

static void removed_constants_leave_the_others_in_order(void **state)
{
    struct model *model = fixture_open("weights_of_many_sizes");
    struct bitset removed;
    size_t count = model->initializers.count;
    uint32_t first = model->initializers.items[0].value, third = model->initializers.items[2].value;

    assert_true(count > 3);
    bitset_init(&removed, model->values.count);
    bitset_add(&removed, first);
    bitset_add(&removed, third);
    model_remove_initializers(model, &removed);
    assert_int_equal(model->initializers.count, count - 2);
    assert_int_equal(model->values.items[first].initializer, INITIALIZER_NONE);
    assert_int_equal(model->values.items[third].initializer, INITIALIZER_NONE);
    for (uint32_t i = 0; i < model->initializers.count; i++)
        assert_int_equal(model->values.items[model->initializers.items[i].value].initializer, i);
    bitset_release(&removed);
    model_free(model);
}

/* The bytes of a made constant are in no file that the kernel could copy them from. */
static void made_constant_goes_into_external_data(void **state)
{
    const struct external_settings settings = {.save = true};
    struct model *model = fixture_open("default_of_an_input");
    struct tensor tensor;
    struct subgraph whole;
    char *bytes;
    size_t size;
    struct error err = {0};

    tensor_borrow(DATA_FLOAT32, &two, pair, sizeof(pair), &tensor);
    assert_int_equal(model_set_tensor(model, fixture_value(model, "w"), &tensor, &err), 0);
    subgraph_init_whole(&whole, model);
    if (model_write(&whole, "out.onnx", &settings, FILE_INTERMEDIATE, NULL, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(file_read("out.onnx.data", 1 << 20, &bytes, &size, &err), 0);
    assert_int_equal(size, sizeof(pair));
    assert_memory_equal(bytes, pair, sizeof(pair));
    free(bytes);
    subgraph_release(&whole);
    model_free(model);
}

/* ---- Names ---- */

static void unused_name_is_one_that_nothing_has(void **state)
{
    struct model *model = fixture_open("nested_bodies");
    struct unused_names names;

    unused_names_init(&names, model, &model->arena);
    assert_true(text_equal_string(unused_names_make(&names, TEXT("new"), "_x"), "new_x"));
    assert_true(text_equal_string(unused_names_make(&names, TEXT("new"), "_x"), "new_x_1"));
    assert_true(text_equal_string(unused_names_make(&names, TEXT("new"), "_x"), "new_x_2"));
    assert_true(text_equal_string(unused_names_make(&names, TEXT("loop"), ""), "loop_1"));     /* a node */
    assert_true(text_equal_string(unused_names_make(&names, TEXT("offset"), ""), "offset_1")); /* a tensor */
    assert_true(text_equal_string(unused_names_make(&names, TEXT("trips"), ""), "trips_1"));   /* a constant */
    assert_true(text_equal_string(unused_names_make(&names, TEXT("scaled"), ""), "scaled_1")); /* in a body */
    assert_true(text_equal_string(unused_names_make(&names, TEXT("add"), "ed"), "added_1"));   /* in a body's body */
    unused_names_release(&names);
    model_free(model);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_nodes_give_the_same_file),
        cmocka_unit_test(made_and_original_nodes_stand_side_by_side),
        cmocka_unit_test(tensor_of_a_node_that_is_gone_has_no_producer),
        cmocka_unit_test(captures_and_annotations_survive_a_change_of_nodes),
        cmocka_unit_test(damaged_node_is_an_error),
        cmocka_unit_test(producers_move_in_front_of_their_readers),
        cmocka_unit_test(sorted_nodes_stay_as_they_are),
        cmocka_unit_test(what_bodies_use_counts_as_read),
        cmocka_unit_test(cycle_is_named_and_nothing_moves),
        cmocka_unit_test(node_that_reads_what_it_makes_is_a_cycle),
        cmocka_unit_test(long_chain_is_sorted_without_recursion),
        cmocka_unit_test(long_cycle_is_told_in_short),
        cmocka_unit_test(tensor_becomes_a_constant_in_place_of_its_node),
        cmocka_unit_test(constant_is_replaced_where_it_stands),
        cmocka_unit_test(data_that_are_filled_in_are_aligned),
        cmocka_unit_test(strings_become_a_constant),
        cmocka_unit_test(bytes_of_the_file_become_a_constant_without_a_copy),
        cmocka_unit_test(constant_is_filled_in_place),
        cmocka_unit_test(constant_without_elements_can_be_made),
        cmocka_unit_test(tensor_that_no_memory_can_hold_is_refused),
        cmocka_unit_test(removed_constants_leave_the_others_in_order),
        IN_SCRATCH(made_constant_goes_into_external_data),
        cmocka_unit_test(unused_name_is_one_that_nothing_has),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
