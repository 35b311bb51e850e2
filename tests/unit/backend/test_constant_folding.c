/* test_constant_folding.c: constants that are computed in pieces are those that the whole gives; each node is computed
 * once, and its values are held no longer than they are needed. */
#include "support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/constant_folding.h"
#include "backend/constant_values.h"
#include "backend/onnxrt/library.h"
#include "base/memory.h"
#include "onnx/edit/model.h"
#include "onnx/model/subgraph.h"
#include "onnx/write/model.h"
#include "support/made_model.h"
#include "support/onnxrt_fixture.h"

#define WHOLE ((size_t)1 << 30)

static const char *const real_models[] = {
    "onnx_light/light_squeezenet.onnx",     "polygraphy/const_foldable.onnx", "polygraphy/needs_constraints.onnx",
    "polygraphy/reducable_with_const.onnx", "silero/silero_vad.onnx",         "silero/silero_vad_half.onnx",
};

/* Folds the model and writes it to memory. */
static char *fold(const char *path, const struct folding_settings *settings, size_t piece_nodes, size_t *ret_size)
{
    struct folding_settings own = *settings;
    struct model *model;
    struct subgraph whole;
    struct error err = {0};
    char *bytes = NULL;

    own.backend = &onnxrt_backend;
    own.passes = -1;
    own.inner_graphs = true;
    own.piece_nodes = piece_nodes;
    if (model_open(path, NULL, &model, &err) < 0)
        fail_msg("%s", err.message);
    *ret_size = 0;
    if (constants_fold(model, &own, &err) == 0) {
        subgraph_init_whole(&whole, model);
        if (model_write_memory(&whole, &bytes, ret_size, &err) < 0)
            fail_msg("%s", err.message);
        subgraph_release(&whole);
    }
    model_free(model);
    return bytes;
}

static void compare_pieces(const char *path, const size_t *sizes, size_t size_count)
{
    static const struct folding_settings all[] = {
        {.partition = FOLDING_WHOLE, .infer_types = true, .size_limit = UINT64_MAX},
        {.partition = FOLDING_HALVES, .size_limit = UINT64_MAX},
        {.partition = FOLDING_NODES, .infer_types = true, .size_limit = 64},
        {.partition = FOLDING_NODES, .keep_shapes = true, .size_limit = 16},
    };

    for (size_t s = 0; s < ARRAY_LEN(all); s++) {
        size_t expected_size, size;
        char *expected = fold(path, &all[s], WHOLE, &expected_size);

        for (size_t i = 0; i < size_count; i++) {
            char *found = fold(path, &all[s], sizes[i], &size);

            if (size != expected_size || (size > 0 && memcmp(found, expected, size) != 0))
                fail_msg("%s differs in pieces of %zu nodes", path, sizes[i]);
            free(found);
        }
        free(expected);
    }
}

static void compare_small(const char *path)
{
    compare_pieces(path, (const size_t[]){1, 2, 3}, 3);
}

static void compare_real(const char *path)
{
    compare_pieces(path, (const size_t[]){1, 10}, 2);
}

static void small_models_in_pieces_are_folded_like_the_whole(void **state)
{
    require_onnxruntime();
    check_small_models(compare_small);
}

static void real_models_in_pieces_are_folded_like_the_whole(void **state)
{
    require_onnxruntime();
    if (check_real_models(real_models, ARRAY_LEN(real_models), compare_real) == 0)
        skip();
}

/* ---- What is asked of a runtime ---- */

/* A backend that makes a number for each output, and counts. It cannot compute operators that are called Bad. */
struct counting_session {
    struct backend_session base;
    struct model *model;
};

static struct counts {
    size_t sessions, nodes, fed;
    size_t living, most_living; /* numbers that it has made */
    size_t largest_model;       /* bytes */
} counts;

static bool insists_on_constants; /* it refuses to be fed */

static int counting_open(const struct backend_request *request, struct backend_session **ret, struct error *err)
{
    struct counting_session *session = memory_alloc_zero(1, sizeof(*session));
    struct model *model;

    if (model_parse((struct span){request->model.data, request->model.size}, "part", &model, err) < 0)
        fail_msg("%s", err->message);
    session->model = model;
    session->base.outputs = memory_alloc_zero(model->outputs.count, sizeof(*session->base.outputs));
    for (size_t i = 0; i < model->outputs.count; i++) {
        struct text name = model->values.items[model->outputs.items[i]].name;
        const struct node *maker = &model->nodes.items[model->values.items[model->outputs.items[i]].producer];
        bool is_sequence = text_equal_string(maker->op_type, "MakesSequence");

        session->base.outputs[i].name = memory_copy(name.data, name.size);
        session->base.outputs[i].not_a_tensor = is_sequence ? "sequence" : NULL;
    }
    session->base.output_count = model->outputs.count;
    counts.sessions++;
    counts.nodes += model->nodes.count;
    counts.largest_model = request->model.size > counts.largest_model ? request->model.size : counts.largest_model;
    *ret = &session->base;
    return 0;
}

static void counting_close(struct backend_session *base)
{
    struct counting_session *session = (struct counting_session *)base;

    for (size_t i = 0; i < session->model->outputs.count; i++)
        free(session->base.outputs[i].name);
    free(session->base.outputs);
    model_free(session->model);
    free(session);
}

static void forget_number(void *owner)
{
    counts.living--;
    free(owner);
}

static int counting_run(struct backend_session *base, const struct tensor_list *feed, const struct words *wanted,
                        struct tensor_list *ret, double *seconds, struct error *err)
{
    const struct counting_session *session = (const struct counting_session *)base;
    const struct model *model = session->model;

    assert_int_equal(feed->count, model->inputs.count);
    for (size_t i = 0; i < model->inputs.count; i++)
        assert_non_null(tensor_list_find(feed, model->values.items[model->inputs.items[i]].name));
    counts.fed += feed->count;
    if (feed->count > 0 && insists_on_constants)
        return error_set(err, ERR_BACKEND, "it wants constants");
    for (size_t i = 0; i < model->nodes.count; i++)
        if (text_equal_string(model->nodes.items[i].op_type, "Bad"))
            return error_set(err, ERR_BACKEND, "it is bad");
    for (size_t i = 0; i < model->outputs.count; i++) {
        struct shape shape = {.rank = 1, .dims = {1}};
        struct tensor tensor;
        float *number = memory_alloc_zero(1, sizeof(*number));

        assert_null(session->base.outputs[i].not_a_tensor);
        *number = (float)i;
        tensor_borrow(DATA_FLOAT32, &shape, number, sizeof(*number), &tensor);
        tensor.free_owner = forget_number;
        tensor.owner = number;
        tensor_list_add(ret, model->values.items[model->outputs.items[i]].name, &tensor);
        counts.living++;
    }
    counts.most_living = counts.living > counts.most_living ? counts.living : counts.most_living;
    return 0;
}

static const struct backend counting = {
    .name = "counting", .open = counting_open, .close = counting_close, .run = counting_run};

/* A model in which all nodes but the last one, an Add to the input x, depend on the constant c. */
static void begin(struct made_model *made)
{
    counts = (struct counts){0};
    made_init(made, 13);
    made_input(made, "x", MADE_SHAPE(1));
    made_constant(made, "c", MADE_SHAPE(1), 1, 1);
}

/* t<number> = op_type(t<number - from>), or of c. */
static void add_link(struct made_model *made, const char *op_type, int number, int from)
{
    char input[32] = "c", output[32], name[32];

    if (number - from >= 0)
        snprintf(input, sizeof(input), "t%d", number - from);
    snprintf(output, sizeof(output), "t%d", number);
    snprintf(name, sizeof(name), "n%d", number);
    made_node(made, name, op_type, input, output, NULL, 0);
}

/* Folds with the backend above; counts the nodes that are left. What these make is described as tensors of `elements`
 * floats; 0: not at all. */
static size_t fold_described(struct made_model *made, enum folding_partition partition, size_t piece_nodes,
                             int64_t elements)
{
    struct folding_settings settings = {.backend = &counting,
                                        .passes = 1,
                                        .partition = partition,
                                        .size_limit = UINT64_MAX,
                                        .piece_nodes = piece_nodes};
    struct value_type type = {.element = DATA_FLOAT32, .has_shape = true, .shape = MADE_SHAPE(elements)};
    struct model *model;
    struct error err = {0};
    size_t left;

    made_output(made, "y");
    model = made_open(made);
    for (uint32_t i = 0; elements > 0 && i < model->values.count; i++)
        if (model->values.items[i].producer != NODE_NONE)
            model_set_type(model, i, &type);
    if (constants_fold(model, &settings, &err) < 0)
        fail_msg("%s", err.message);
    left = model->nodes.count;
    model_free(model);
    made_release(made);
    assert_int_equal(counts.living, 0);
    return left;
}

static size_t fold_made(struct made_model *made, enum folding_partition partition, size_t piece_nodes)
{
    return fold_described(made, partition, piece_nodes, 0);
}

static void each_node_is_computed_once_and_values_are_freed_when_they_were_read(void **state)
{
    struct made_model made;

    begin(&made);
    for (int i = 0; i < 1000; i++)
        add_link(&made, "Neg", i, 1);
    made_node(&made, "last", "Add", "x t999", "y", NULL, 0);
    assert_int_equal(fold_made(&made, FOLDING_WHOLE, 10), 1);
    assert_int_equal(counts.sessions, 100);
    assert_int_equal(counts.nodes, 1000);
    assert_int_equal(counts.fed, 99);
    assert_int_equal(counts.most_living, 2); /* what a piece was fed with, and what it has made */
}

/* Every value is read again by the node fifty further on: fifty are held at any time. */
static void values_that_are_read_later_are_held_until_then(void **state)
{
    struct made_model made;

    begin(&made);
    for (int i = 0; i < 1000; i++)
        add_link(&made, "Neg", i, 50);
    for (int i = 950; i < 1000; i++) {
        char inputs[64], output[32];

        snprintf(inputs, sizeof(inputs), i == 950 ? "t%d t%d" : "s%d t%d", i - (i > 950), i);
        snprintf(output, sizeof(output), "s%d", i);
        made_node(&made, output, "Add", inputs, output, NULL, 0);
    }
    made_node(&made, "last", "Add", "x s999", "y", NULL, 0);
    assert_int_equal(fold_made(&made, FOLDING_WHOLE, 10), 1);
    assert_int_equal(counts.nodes, 1050);
    assert_int_equal(counts.most_living, 60);
}

static void add_island(struct made_model *made, int number, bool bad)
{
    char inputs[64], output[32];

    add_link(made, bad ? "Bad" : "Neg", number, number + 1);
    snprintf(inputs, sizeof(inputs), number == 0 ? "x t%d" : "a%d t%d", number == 0 ? 0 : number - 1, number);
    snprintf(output, sizeof(output), "a%d", number);
    made_node(made, output, "Add", inputs, output, NULL, 0);
}

static void a_node_that_fails_costs_no_more_than_its_piece_and_is_left_alone(void **state)
{
    struct made_model made;

    begin(&made);
    for (int i = 0; i < 1000; i++)
        add_island(&made, i, i == 333 || i == 777);
    made_node(&made, "last", "Neg", "a999", "y", NULL, 0);
    assert_int_equal(fold_made(&made, FOLDING_NODES, 64), 1000 + 1 + 2);
    assert_true(counts.sessions <= 16 + 2 * 2 * 6);
    assert_true(counts.nodes <= 1000 + 2 * 2 * 64);
}

/* c -> t0 -> t1 (bad) -> t2; and t0 is read by t3, which is good. */
static void what_a_node_reads_that_fails_becomes_a_constant(void **state)
{
    for (size_t piece = 1; piece < 6; piece++) {
        struct made_model made;

        begin(&made);
        add_link(&made, "Neg", 0, 1);
        add_link(&made, "Bad", 1, 1);
        add_link(&made, "Neg", 2, 1);
        add_link(&made, "Neg", 3, 3);
        made_node(&made, "sum", "Sum", "x t2 t3", "y", NULL, 0);
        assert_int_equal(fold_made(&made, FOLDING_NODES, piece), 3);
    }
}

/* One of a hundred, behind the middle, fails; counts the nodes that are left of these and the hundred and one that
 * stay. */
static size_t fold_hundred(enum folding_partition partition)
{
    struct made_model made;

    begin(&made);
    for (int i = 0; i < 100; i++)
        add_island(&made, i, i == 90);
    made_node(&made, "last", "Neg", "a99", "y", NULL, 0);
    return fold_made(&made, partition, 10);
}

static void a_failure_in_a_late_piece_is_that_of_the_whole_or_of_its_half(void **state)
{
    assert_int_equal(fold_hundred(FOLDING_WHOLE), 201);
    assert_int_equal(fold_hundred(FOLDING_HALVES), 151);
    assert_int_equal(fold_hundred(FOLDING_NODES), 102);
}

/* A sequence cannot be handed from one piece to the next: its maker stays, and so does what reads it. */
static void what_is_no_tensor_is_not_handed_to_another_piece(void **state)
{
    struct made_model made;

    begin(&made);
    add_link(&made, "Neg", 0, 1);
    add_link(&made, "MakesSequence", 1, 1);
    add_link(&made, "Neg", 2, 1);
    add_link(&made, "Neg", 3, 3);
    made_node(&made, "sum", "Sum", "x t2 t3", "y", NULL, 0);
    assert_int_equal(fold_made(&made, FOLDING_WHOLE, 2), 3);
}

/* Each makes 16 MB. */
static void a_piece_ends_where_it_makes_much(void **state)
{
    struct made_model made;

    begin(&made);
    for (int i = 0; i < 100; i++)
        add_link(&made, "Neg", i, 1);
    made_node(&made, "last", "Add", "x t99", "y", NULL, 0);
    assert_int_equal(fold_described(&made, FOLDING_WHOLE, 1000, 4 << 20), 1);
    assert_int_equal(counts.sessions, 25);
}

/* y = x + op(w), w being large. */
static void fold_weight(const char *op_type)
{
    struct made_model made;

    begin(&made);
    made_constant(&made, "w", MADE_SHAPE(200, 200), 0, 1);
    made_node(&made, "moves", op_type, "w", "t", NULL, 0);
    made_node(&made, "last", "Add", "x t", "y", NULL, 0);
    assert_int_equal(fold_made(&made, FOLDING_WHOLE, 10), 1);
}

static void a_weight_that_is_only_moved_is_not_copied_into_a_piece(void **state)
{
    fold_weight("Transpose");
    assert_int_equal(counts.sessions, 1);
    assert_int_equal(counts.fed, 1);
    assert_true(counts.largest_model < 1000);
    fold_weight("Neg");
    assert_int_equal(counts.fed, 0);
    assert_true(counts.largest_model > 200 * 200 * sizeof(float));
}

static void a_weight_that_a_node_wants_as_a_constant_is_one(void **state)
{
    insists_on_constants = true;
    fold_weight("Transpose");
    insists_on_constants = false;
    assert_int_equal(counts.sessions, 2);
    assert_int_equal(counts.fed, 1); /* in vain */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_models_in_pieces_are_folded_like_the_whole),
        cmocka_unit_test(real_models_in_pieces_are_folded_like_the_whole),
        cmocka_unit_test(each_node_is_computed_once_and_values_are_freed_when_they_were_read),
        cmocka_unit_test(values_that_are_read_later_are_held_until_then),
        cmocka_unit_test(a_node_that_fails_costs_no_more_than_its_piece_and_is_left_alone),
        cmocka_unit_test(what_a_node_reads_that_fails_becomes_a_constant),
        cmocka_unit_test(a_failure_in_a_late_piece_is_that_of_the_whole_or_of_its_half),
        cmocka_unit_test(what_is_no_tensor_is_not_handed_to_another_piece),
        cmocka_unit_test(a_piece_ends_where_it_makes_much),
        cmocka_unit_test(a_weight_that_is_only_moved_is_not_copied_into_a_piece),
        cmocka_unit_test(a_weight_that_a_node_wants_as_a_constant_is_one),
    };
    return cmocka_run_group_tests(tests, find_models, NULL);
}
