/* Networks: names, outputs, order, what is no tensor; and networks made again from their groups of nodes. */
#include "support/network_fixture.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/library.h"
#include "base/memory.h"
#include "engine/build/builder.h"
#include "onnx/write/model.h"
#include "support/onnx_fixture.h"

static void fails_to_build(struct model *model, const struct network_settings *settings, int code, const char *part)
{
    struct network *network = NULL;
    struct error err = {0};

    assert_int_equal(network_build(model, settings, &network, &err), code);
    assert_null(network);
    if (!strstr(err.message, part))
        fail_msg("'%s' does not hold '%s'", err.message, part);
}

/* x -> conv -> bn -> relu -> u -> conv -> sum with u -> y */
static void make_block(struct made_model *made)
{
    made_init(made, 13);
    made_input(made, "x", MADE_SHAPE(1, 2, 4, 4));
    made_constant(made, "w", MADE_SHAPE(2, 2, 1, 1), -1, 1);
    made_constant(made, "c", MADE_SHAPE(2), 0.5F, 1);
    made_node(made, "conv1", "Conv", "x w", "t", NULL, 0);
    made_node(made, "bn1", "BatchNormalization", "t c c c c", "n", NULL, 0);
    made_node(made, "relu1", "Relu", "n", "u", NULL, 0);
    made_node(made, "conv2", "Conv", "u w", "v", NULL, 0);
    made_node(made, "sum", "Add", "v u", "y", NULL, 0);
    made_output(made, "y");
}

static void layers_are_found_by_their_name_and_by_those_of_their_nodes(void **state)
{
    struct made_model made;
    struct network *network;

    require_onnxruntime();
    make_block(&made);
    network = made_network(&made);
    assert_int_equal(network->layers.count, 2);
    assert_ptr_equal(find_layer(network, TEXT("conv1 + bn1 + relu1")), &network->layers.items[0]);
    assert_ptr_equal(find_layer(network, TEXT("bn1")), &network->layers.items[0]);
    assert_ptr_equal(find_layer(network, TEXT("relu1")), &network->layers.items[0]);
    assert_ptr_equal(find_layer(network, TEXT("sum")), &network->layers.items[1]);
    assert_null(find_layer(network, TEXT("conv")));
    assert_null(find_layer(network, TEXT("")));
    assert_null(find_layer(network, TEXT("conv1 + bn1 + relu1 + ")));
    network_free(network);
    made_release(&made);
}

static void names_are_unique_and_made_up_where_there_is_none(void **state)
{
    struct made_model made;

    require_onnxruntime();
    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(4));
    made_node(&made, "twice", "Neg", "x", "a", NULL, 0);
    made_node(&made, "twice", "Abs", "a", "b", NULL, 0);
    made_node(&made, "", "Neg", "b", "y", NULL, 0);
    made_output(&made, "y");
    assert_made_layers(&made, "twice: other(x) -> a\ntwice_2: activation(a) -> b\nnode_of_y: other(b) -> y\n");
}

static void outputs_on_request_stay_and_a_warning_counts_what_they_cost(void **state)
{
    struct made_model made;
    struct network_settings settings = with_onnxruntime();
    struct network *network;
    struct captured_log log;

    require_onnxruntime();
    captured_log_init(&log);
    settings.log = &log.log;
    settings.outputs.mark_all = true;
    make_block(&made);
    network = network_of(made_open(&made), &settings);
    assert_layers(network, "conv1: convolution(x w) -> t\nbn1: batch_normalization(t c c c c) -> n\n"
                           "relu1: activation(n) -> u\nconv2: convolution(u w) -> v\nsum: binary(v u) -> y\n");
    assert_string_equal(names_of_values(network->model, &network->outputs), "t n u v y");
    assert_true(captured_log_has(&log, "W Outputs that were marked prevent 3 fusions of layers"));
    network_free(network);

    settings.excluded = (struct words){(const char *const[]){"t", "n"}, 2};
    network = network_of(made_open(&made), &settings);
    assert_int_equal(network->layers.count, 3);
    assert_string_equal(names_of_values(network->model, &network->outputs), "u v y");
    network_free(network);
    captured_log_release(&log);
    made_release(&made);
}

static void the_models_own_outputs_are_no_reason_to_warn(void **state)
{
    struct made_model made;
    struct network_settings settings = with_onnxruntime();
    struct network *network;
    struct captured_log log;

    require_onnxruntime();
    captured_log_init(&log);
    settings.log = &log.log;
    make_block(&made);
    made_output(&made, "n");
    network = network_of(made_open(&made), &settings);
    assert_int_equal(network->layers.count, 3);
    assert_false(captured_log_has(&log, "W "));
    network_free(network);
    captured_log_release(&log);
    made_release(&made);
}

static void named_outputs_take_the_place_of_the_models(void **state)
{
    struct made_model made;
    struct network_settings settings = with_onnxruntime();
    struct network *network;

    require_onnxruntime();
    settings.outputs.names = (struct words){(const char *const[]){"u", "c"}, 2};
    make_block(&made);
    network = network_of(made_open(&made), &settings);
    assert_layers(network, "conv1 + bn1 + relu1: convolution(x conv1 + bn1.weight conv1 + bn1.bias) -> u "
                           "[relu 0 0]\n");
    assert_string_equal(names_of_values(network->model, &network->outputs), "u c");
    network_free(network);
    settings.outputs.names.items = (const char *const[]){"u", "nothing"};
    fails_to_build(made_open(&made), &settings, ERR_MISSING, "'nothing'");
    made_release(&made);
}

static void nodes_that_exchange_a_sequence_are_one_layer_with_what_lies_between(void **state)
{
    struct made_model made;

    require_onnxruntime();
    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(4));
    made_integers(&made, "zero", (const int64_t[]){0}, 1);
    made_node(&made, "pair", "SequenceConstruct", "x x", "s", NULL, 0);
    made_node(&made, "count", "SequenceLength", "s", "n", NULL, 0);
    made_node(&made, "between", "Sub", "n n", "i", NULL, 0);
    made_node(&made, "apart", "Neg", "x", "z", NULL, 0);
    made_node(&made, "take", "SequenceAt", "s i", "t", NULL, 0);
    made_node(&made, "sum", "Add", "t z", "y", NULL, 0);
    made_output(&made, "y");
    assert_made_layers(&made, "apart: other(x) -> z\npair + count + between + take: other(x) -> t\n"
                              "sum: binary(t z) -> y\n");
}

static void two_sequences_that_wait_for_each_other_are_one_layer(void **state)
{
    struct made_model made;

    require_onnxruntime();
    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(4));
    made_node(&made, "a1", "SequenceConstruct", "x x", "sa", NULL, 0);
    made_node(&made, "a2", "SequenceLength", "sa", "na", NULL, 0);
    made_node(&made, "b0", "SequenceConstruct", "x x x", "sb", NULL, 0);
    made_node(&made, "b1", "SequenceAt", "sb na", "tb", NULL, 0);
    made_node(&made, "b2", "SequenceLength", "sb", "nb", NULL, 0);
    made_node(&made, "minus", "Neg", "nb", "mb", NULL, 0);
    made_node(&made, "a3", "SequenceAt", "sa mb", "ta", NULL, 0);
    made_node(&made, "sum", "Add", "ta tb", "y", NULL, 0);
    made_output(&made, "y");
    assert_made_layers(&made, "a1 + a2 + b0 + b1 + b2 + minus + a3: other(x) -> tb ta\nsum: binary(ta tb) -> y\n");
}

static void sequences_are_refused_as_inputs_and_as_outputs_that_were_asked_for(void **state)
{
    struct network_settings settings = with_onnxruntime();

    require_onnxruntime();
    fails_to_build(
        fixture_open("sequences"), &settings, ERR_BACKEND,
        "input 'sequence' is no tensor: the engine takes and gives tensors only, so cut the model behind it");
    settings.outputs.names = (struct words){(const char *const[]){"pair"}, 1};
    fails_to_build(fixture_open("sequence_output"), &settings, ERR_BACKEND, "output 'pair' is no tensor");
}

static void other_outputs_that_are_sequences_are_left_out_with_what_makes_nothing_else(void **state)
{
    struct network_settings settings = with_onnxruntime();
    struct captured_log log;

    require_onnxruntime();
    for (int all = 0; all < 2; all++) {
        struct network *network;

        captured_log_init(&log);
        settings.log = &log.log;
        settings.outputs.mark_all = all == 1;
        network = network_of(fixture_open("sequence_output"), &settings);
        assert_string_equal(names_of_values(network->model, &network->outputs), "negative");
        assert_int_equal(network->layers.count, 1);
        assert_true(captured_log_has(
            &log, "W Outputs that are sequences, maps or the like are left out of the engine: ['pair']"));
        network_free(network);
        captured_log_release(&log);
    }
}

static void tensors_that_bodies_use_are_inputs_of_the_node(void **state)
{
    struct network *network;

    require_onnxruntime();
    network = network_of(fixture_open("subgraph_uses_outer_tensors"), NULL);
    assert_layers(network, "a: other(x) -> t moves\nr: reduction(t) -> rm\nk: other(rm) -> cnd\n"
                           "b: other(cnd t c) -> u\nd: other(u) -> y moves\n");
    network_free(network);
}

/* Feeds booleans with what `context` points to, and floats with ones. */
static int feed_condition(void *context, const struct backend_io *inputs, size_t count, int64_t iteration,
                          struct tensor_list *ret, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        struct tensor tensor;
        int rc = tensor_allocate(inputs[i].type, &inputs[i].shape, &tensor, err);

        if (rc < 0)
            return rc;
        memset(tensor_writable(&tensor), 0, tensor.size);
        if (inputs[i].type == DATA_BOOL)
            memset(tensor_writable(&tensor), *(const bool *)context, tensor.size);
        tensor_list_add(ret, text_of(inputs[i].name), &tensor);
    }
    return 0;
}

static void the_branch_of_a_sample_takes_the_place_of_an_if_on_request(void **state)
{
    static const char *const expected[] = {
        "condition_differs: other(condition condition_decided) -> condition_differs\n"
        "condition_index: other(condition_differs) -> condition_index\n"
        "if takes its else branch in this engine: other(condition_decided_table condition_index) -> "
        "if takes its else branch in this engine moves\n",
        "condition_differs: other(condition condition_decided) -> condition_differs\n"
        "condition_index: other(condition_differs) -> condition_index\n"
        "if takes its then branch in this engine: other(condition_decided_table condition_index) -> "
        "if takes its then branch in this engine moves\n",
    };

    require_onnxruntime();
    for (size_t taken = 0; taken < 2; taken++) {
        bool condition = taken;
        struct sample_source sample = {.feed = feed_condition, .context = &condition, .iterations = 1};
        struct network_settings settings = with_onnxruntime();
        struct network *network;
        char *text;

        settings.branch_sample = &sample;
        network = network_of(fixture_open("body_output_is_outer_tensor"), &settings);
        text = network_text(network);
        if (!strstr(text, expected[taken]) || strstr(text, "if: other"))
            fail_msg("%s", text);
        assert_int_equal(network->outputs.count, 1);
        free(text);
        network_free(network);
    }
}

static void an_if_that_measurements_decide_stays_in_spite_of_a_sample(void **state)
{
    bool condition = true;
    struct sample_source sample = {.feed = feed_condition, .context = &condition, .iterations = 1};
    struct network_settings settings = with_onnxruntime();
    struct network *network;

    require_onnxruntime();
    settings.branch_sample = &sample;
    network = network_of(fixture_open("subgraph_uses_outer_tensors"), &settings);
    assert_layers(network, "a: other(x) -> t moves\nr: reduction(t) -> rm\nk: other(rm) -> cnd\n"
                           "b: other(cnd t c) -> u\nd: other(u) -> y moves\n");
    network_free(network);
}

static void a_tensor_that_nothing_makes_is_refused(void **state)
{
    struct network_settings settings = with_onnxruntime();

    fails_to_build(fixture_open("unknown_tensors"), &settings, ERR_CORRUPT, "'nothing'");
}

static void sparse_constants_are_written_out(void **state)
{
    struct network *network;
    const struct initializer *w;

    require_onnxruntime();
    network = network_of(fixture_open("sparse_initializer"), NULL);
    w = &network->model->initializers
             .items[network->model->values.items[fixture_value(network->model, "w")].initializer];
    assert_false(w->sparse);
    assert_int_equal(network_type(network, fixture_value(network->model, "w")), DATA_FLOAT32);
    network_free(network);
    network = network_of(fixture_open("constants_of_every_form"), NULL); /* one of them is sparse */
    assert_layers(network, "sum_node: other(x tensor one two) -> sum\nadd_node: binary(sum sparse) -> y\n");
    network_free(network);
}

static void networks_are_built_without_a_runtime(void **state)
{
    struct network_settings settings = {.folding = {.backend = NULL}};
    struct network *network = network_of(fixture_open("unsorted_nodes"), &settings);

    assert_layers(network, "first: activation(x) -> a\nsecond: activation(a) -> b\nthird: other(b) -> y\n");
    network_free(network);
}

/* ---- Restoring ---- */

struct groups {
    struct node_group *items;
    size_t count;
    char *bytes; /* the network's model as a file */
    size_t size;
    char *layers; /* as text */
};

static void groups_init(struct groups *groups, const struct network *network)
{
    struct subgraph whole;
    struct error err = {0};

    groups->count = network->layers.count;
    groups->items = memory_alloc_zero(groups->count + 1, sizeof(*groups->items));
    for (size_t i = 0; i < groups->count; i++) {
        const struct layer *layer = &network->layers.items[i];
        char *name = memory_strdup(layer->name);
        uint32_t *nodes = memory_alloc_zero(layer->nodes.count, sizeof(*nodes));

        memcpy(nodes, layer->nodes.items, layer->nodes.count * sizeof(*nodes));
        groups->items[i] = (struct node_group){text_of(name), nodes, layer->nodes.count};
    }
    groups->layers = network_text(network);
    subgraph_init_whole(&whole, network->model);
    if (model_write_memory(&whole, &groups->bytes, &groups->size, &err) < 0)
        fail_msg("%s", err.message);
    subgraph_release(&whole);
}

static void groups_release(struct groups *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        free((void *)(uintptr_t)groups->items[i].name.data);
        free((void *)(uintptr_t)groups->items[i].nodes);
    }
    free(groups->items);
    free(groups->bytes);
    free(groups->layers);
}

static int restore(const struct groups *groups, const struct node_group *items, size_t count, struct network **ret,
                   struct error *err)
{
    struct model *model;
    int rc;

    if (model_parse((struct span){(const uint8_t *)groups->bytes, groups->size}, "plan", &model, err) < 0)
        fail_msg("%s", err->message);
    rc = network_restore(model, items, count, ret, err);
    if (rc < 0)
        model_free(model);
    return rc;
}

static void assert_restores(struct model *model, const struct network_settings *settings)
{
    struct network *network = NULL, *again = NULL;
    struct error err = {0};
    struct groups groups;

    if (network_build(model, settings, &network, &err) < 0) { /* what the engine cannot take */
        assert_true(err.code == ERR_BACKEND || err.code == ERR_UNSUPPORTED || err.code == ERR_CORRUPT ||
                    err.code == ERR_INVALID);
        return;
    }
    groups_init(&groups, network);
    network_free(network);
    if (restore(&groups, groups.items, groups.count, &again, &err) < 0)
        fail_msg("%s", err.message);
    assert_layers(again, groups.layers);
    network_free(again);
    groups_release(&groups);
}

/* Each model of the folder, with and without all outputs marked. Returns how many. */
static size_t restore_folder(const char *folder)
{
    DIR *directory = opendir(folder);
    size_t count = 0;

    if (directory == NULL)
        return 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        for (int marked = 0; strstr(entry->d_name, ".onnx") != NULL && marked < 2; marked++) {
            struct network_settings settings = with_onnxruntime();
            struct model *model = NULL;
            char path[1024];

            settings.outputs.mark_all = marked;
            snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
            if (model_open(path, NULL, &model, NULL) < 0)
                continue;
            assert_restores(model, &settings);
            count++;
        }
    }
    closedir(directory);
    return count;
}

static void every_network_can_be_made_again_from_its_groups(void **state)
{
    struct made_model made;

    require_onnxruntime();
    make_block(&made);
    assert_restores(made_open(&made), &(struct network_settings){.folding = {.backend = &onnxrt_backend}});
    made_release(&made);
    assert_true(restore_folder(fixture_path("")) > 50);
}

static void real_networks_can_be_made_again_from_their_groups(void **state)
{
    const char *models = getenv("POLYGRAPHY_TEST_MODELS");
    char folder[1024];

    require_onnxruntime();
    snprintf(folder, sizeof(folder), "%s/onnx_light", models != NULL ? models : "");
    if (restore_folder(folder) == 0)
        skip();
    snprintf(folder, sizeof(folder), "%s/silero", models);
    restore_folder(folder);
    snprintf(folder, sizeof(folder), "%s/polygraphy", models);
    restore_folder(folder);
}

static void refuses(const struct groups *groups, const struct node_group *items, size_t count, const char *part)
{
    struct network *network = NULL;
    struct error err = {0};

    assert_int_equal(restore(groups, items, count, &network, &err), ERR_CORRUPT);
    assert_null(network);
    if (!strstr(err.message, part))
        fail_msg("'%s' does not hold '%s'", err.message, part);
}

static void groups_that_could_not_have_been_built_are_refused(void **state)
{
    struct made_model made;
    struct network *network;
    struct groups groups;
    struct node_group hostile[4];
    const uint32_t all[] = {0, 1, 2, 3}, beyond[] = {0, 4}, descending[] = {1, 0}, first[] = {0}, second[] = {1},
                   third[] = {2}, last[] = {3}, apart[] = {0, 3}, huge[] = {UINT32_MAX};

    require_onnxruntime();
    make_block(&made); /* nodes: conv, relu, conv, sum */
    network = made_network(&made);
    groups_init(&groups, network);
    network_free(network);
    refuses(&groups, NULL, 0, "belong to no layer");
    refuses(&groups, groups.items, 1, "belong to no layer");
    hostile[0] = (struct node_group){TEXT("a"), all, 4};
    refuses(&groups, hostile, 1, "do not form a layer");
    hostile[0] = (struct node_group){TEXT("a"), apart, 2};
    refuses(&groups, hostile, 1, "do not form a layer");
    hostile[0] = (struct node_group){TEXT("a"), beyond, 2};
    refuses(&groups, hostile, 1, "do not exist");
    hostile[0] = (struct node_group){TEXT("a"), huge, 1};
    refuses(&groups, hostile, 1, "do not exist");
    hostile[0] = (struct node_group){TEXT("a"), descending, 2};
    refuses(&groups, hostile, 1, "out of order");
    hostile[0] = (struct node_group){TEXT("a"), first, 0};
    refuses(&groups, hostile, 1, "has no nodes");
    hostile[0] = (struct node_group){TEXT(""), first, 1};
    refuses(&groups, hostile, 1, "no name");
    hostile[0] = (struct node_group){TEXT("a"), first, 1};
    hostile[1] = (struct node_group){TEXT("a"), second, 1};
    refuses(&groups, hostile, 2, "no name of its own");
    hostile[1] = (struct node_group){TEXT("b"), first, 1};
    refuses(&groups, hostile, 2, "nodes of another layer");
    hostile[0] = (struct node_group){TEXT("a"), second, 1};
    hostile[1] = (struct node_group){TEXT("b"), first, 1};
    hostile[2] = (struct node_group){TEXT("c"), third, 1};
    hostile[3] = (struct node_group){TEXT("d"), last, 1};
    refuses(&groups, hostile, 4, "which nothing has made by then");
    groups_release(&groups);
    made_release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_are_found_by_their_name_and_by_those_of_their_nodes),
        cmocka_unit_test(names_are_unique_and_made_up_where_there_is_none),
        cmocka_unit_test(outputs_on_request_stay_and_a_warning_counts_what_they_cost),
        cmocka_unit_test(the_models_own_outputs_are_no_reason_to_warn),
        cmocka_unit_test(named_outputs_take_the_place_of_the_models),
        cmocka_unit_test(nodes_that_exchange_a_sequence_are_one_layer_with_what_lies_between),
        cmocka_unit_test(two_sequences_that_wait_for_each_other_are_one_layer),
        cmocka_unit_test(sequences_are_refused_as_inputs_and_as_outputs_that_were_asked_for),
        cmocka_unit_test(other_outputs_that_are_sequences_are_left_out_with_what_makes_nothing_else),
        cmocka_unit_test(tensors_that_bodies_use_are_inputs_of_the_node),
        cmocka_unit_test(the_branch_of_a_sample_takes_the_place_of_an_if_on_request),
        cmocka_unit_test(an_if_that_measurements_decide_stays_in_spite_of_a_sample),
        cmocka_unit_test(a_tensor_that_nothing_makes_is_refused),
        cmocka_unit_test(sparse_constants_are_written_out),
        cmocka_unit_test(networks_are_built_without_a_runtime),
        cmocka_unit_test(every_network_can_be_made_again_from_its_groups),
        cmocka_unit_test(real_networks_can_be_made_again_from_their_groups),
        cmocka_unit_test(groups_that_could_not_have_been_built_are_refused),
    };

    return cmocka_run_group_tests_name("network", tests, NULL, NULL);
}
