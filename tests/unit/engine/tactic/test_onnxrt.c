/* ONNX Runtime as a provider: any layer, alone, gives what it gives inside of its model. */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/library.h"
#include "base/memory.h"
#include "support/network_fixture.h"
#include "support/node_network.h"

static struct tactic_provider *open_provider(void)
{
    struct provider_settings settings = {0};
    struct tactic_provider *provider = NULL;
    struct error err = {0};
    int rc = onnxrt_provider_new(&settings, &provider, &err);

    if (rc == ERR_MISSING) {
        print_message("%s\n", err.message);
        skip();
    }
    if (rc < 0)
        fail_msg("%s", err.message);
    return provider;
}

/* Values for the inputs of a session: small and different from each other. */
static void make_feed(struct backend_session *session, int64_t dynamic, struct tensor_list *ret)
{
    size_t count = session->input_count;
    const struct backend_io *inputs = session->inputs;
    struct error err;

    *ret = (struct tensor_list){0};
    for (size_t i = 0; i < count; i++) {
        struct shape shape = inputs[i].shape;
        struct tensor tensor = {0};

        for (size_t k = 0; k < shape.rank; k++)
            shape.dims[k] = shape.dims[k] < 0 ? dynamic : shape.dims[k];
        assert_int_equal(tensor_allocate(inputs[i].type, &shape, &tensor, &err), 0);
        for (size_t k = 0; k < tensor_elements(&tensor); k++) {
            void *data = tensor_writable(&tensor);

            if (inputs[i].type == DATA_FLOAT32)
                ((float *)data)[k] = 0.25F * (float)(k % 16) - 1;
            else if (inputs[i].type == DATA_INT64)
                ((int64_t *)data)[k] = (int64_t)(k % 3);
            else if (inputs[i].type == DATA_STRING)
                ((struct text *)data)[k] = k % 2 == 0 ? text_of("ab") : text_of("");
            else
                memset(data, 1, tensor.size);
        }
        tensor_list_add(ret, text_of(inputs[i].name), &tensor);
    }
}

/* Runs a model in one piece and layer by layer, and compares all outputs bit by bit. */
static void compare(const char *name, bool together, const char *tactic, int64_t dynamic)
{
    struct tactic_provider *provider = open_provider();
    struct backend_request request = {.model.path = fixture_path(name)};
    struct backend_session *session = NULL;
    struct tensor_list feed, expected = {0};
    struct node_values values;
    struct network network;
    struct model *model;
    struct error err = {0};
    char stem[64];

    snprintf(stem, sizeof(stem), "%.*s", (int)(strlen(name) - strlen(".onnx")), name);
    if (onnxrt_backend.open(&request, &session, &err) < 0)
        fail_msg("%s", err.message);
    make_feed(session, dynamic, &feed);
    if (onnxrt_backend.run(session, &feed, NULL, &expected, NULL, &err) < 0)
        fail_msg("%s", err.message);
    onnxrt_backend.close(session);

    model = fixture_open_lowered(stem);
    node_network_init(&network, model, together);
    node_values_init(&values, &network, &feed);
    for (size_t i = 0; i < network.layers.count; i++)
        if (node_layer_run(&network, &network.layers.items[i], provider, tactic, &values, &err) < 0)
            fail_msg("%s: layer %zu: %s", name, i, err.message);
    tensor_list_release(&feed);
    for (size_t i = 0; i < expected.count; i++) {
        const struct tensor *got = &values.items[fixture_value(model, expected.items[i].name)];

        if (!tensor_identical(got, &expected.items[i].tensor))
            fail_msg("%s: output '%s' differs", name, expected.items[i].name);
    }
    node_values_release(&values); /* after their kernels, and after what was fed */
    node_network_release(&network);
    tensor_list_release(&expected);
    provider->free(provider);
}

static void every_layer_alone_gives_what_the_model_gives(void **state)
{
    static const char *const names[] = {
        "identity.onnx",
        "every_type.onnx",
        "strings.onnx",
        "reducable.onnx",
        "typed_and_raw_data.onnx",
        "local_functions.onnx",
        "chain17.onnx",

        "constant_in_ir_version_3.onnx",
        "large_constants.onnx",
        "weights_of_many_sizes.onnx",
        "matmul_chain_64.onnx",
        "same_input_twice.onnx",
        "omitted_optional_input.onnx",
        "omitted_optional_output.onnx",
        "scalar_chain.onnx",
        "dynamic_quantization.onnx",
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        compare(names[i], false, NULL, 3);
}

static void bodies_that_use_outer_tensors_are_computed(void **state)
{
    static const char *const names[] = {"subgraph_uses_outer_tensors.onnx", "nested_bodies.onnx",
                                        "scan_with_capture.onnx"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        compare(names[i], false, NULL, 1);
}

/* It has a Squeeze of a dimension that is 3. */
static void a_branch_that_is_not_taken_need_not_fit_the_shapes(void **state)
{
    compare("branch_that_does_not_fit.onnx", false, NULL, 3);
}

static void several_nodes_are_one_layer_fused_or_not(void **state)
{
    compare("matmul_chain_64.onnx", true, "default", 2);
    compare("matmul_chain_64.onnx", true, "unfused", 2);
    compare("sequence_between.onnx", true, "default", 2);
}

/* One layer of several nodes, by its tactics fused and unfused. */
static void compare_fused(struct made_model *made)
{
    static const char *const tactics[] = {"default", "unfused"};
    struct tactic_provider *provider = open_provider();
    struct network *network = made_network(made);
    struct span bytes = made_bytes(made);
    struct tensor_list feed, expected;

    assert_int_equal(network->layers.count, 1);
    made_feed(network->model, &feed);
    run_bytes(bytes.data, bytes.size, &feed, &expected);
    for (size_t i = 0; i < ARRAY_LEN(tactics); i++) {
        struct node_values values;
        struct tensor_list got = {0};
        struct tensor *y;
        struct error err = {0};

        node_values_init(&values, network, &feed);
        if (node_layer_run(network, &network->layers.items[0], provider, tactics[i], &values, &err) < 0)
            fail_msg("%s", err.message);
        y = &values.items[network->outputs.items[0]];
        tensor_list_add(&got, TEXT("y"), y);
        *y = (struct tensor){0};
        assert_true(difference_of(&expected, &got) < 1e-6);
        tensor_list_release(&got);
        node_values_release(&values);
    }
    tensor_list_release(&feed);
    tensor_list_release(&expected);
    network_free(network);
    made_release(made);
    provider->free(provider);
}

static void begin_convolution(struct made_model *made)
{
    made_init(made, 13);
    made_input(made, "x", MADE_SHAPE(2, 2, 5, 5));
    made_constant(made, "w", MADE_SHAPE(3, 2, 3, 3), -1, 1);
    made_node(made, "conv", "Conv", "x w", "t", NULL, 0);
}

static void fused_clips_have_their_bounds(void **state)
{
    struct made_model made;

    begin_convolution(&made);
    made_constant(&made, "low", (struct shape){0}, -0.5F, -0.5F);
    made_constant(&made, "high", (struct shape){0}, 0.25F, 0.25F);
    made_node(&made, "clip", "Clip", "t low high", "y", NULL, 0);
    made_output(&made, "y");
    compare_fused(&made);

    begin_convolution(&made);
    made_constant(&made, "high", (struct shape){0}, 0.25F, 0.25F);
    made_node(&made, "clip", "Clip", "t - high", "y", NULL, 0);
    made_output(&made, "y");
    compare_fused(&made);
}

static void a_fused_gelu_has_its_numbers(void **state)
{
    struct made_model made;

    begin_convolution(&made);
    made_constant(&made, "root", (struct shape){0}, 1.41421356F, 1.41421356F);
    made_constant(&made, "one", MADE_SHAPE(1), 1, 1);
    made_constant(&made, "half", (struct shape){0}, 0.5F, 0.5F);
    made_node(&made, "divide", "Div", "t root", "a", NULL, 0);
    made_node(&made, "erf", "Erf", "a", "b", NULL, 0);
    made_node(&made, "add", "Add", "b one", "c", NULL, 0);
    made_node(&made, "product", "Mul", "t c", "d", NULL, 0);
    made_node(&made, "scale", "Mul", "d half", "y", NULL, 0);
    made_output(&made, "y");
    compare_fused(&made);
}

static void empty_tensors_are_computed(void **state)
{
    compare("dynamic_identity.onnx", false, NULL, 0);
    compare("dynamic_shapes.onnx", false, NULL, 0);
}

static void a_constant_is_computed_with_as_the_request_has_it(void **state)
{
    struct tactic_provider *provider = open_provider();
    struct model *model = fixture_open_lowered("matmul_chain_64");
    struct network network;
    struct node_values values;
    struct tensor_list feed = {0};
    struct tensor x = {0};
    struct error err = {0};
    const struct layer *layer;

    assert_int_equal(tensor_allocate(DATA_FLOAT32, &(struct shape){.rank = 2, .dims = {1, 64}}, &x, &err), 0);
    for (size_t i = 0; i < 64; i++)
        ((float *)tensor_writable(&x))[i] = 1;
    tensor_list_add(&feed, model->values.items[model->inputs.items[0]].name, &x);
    node_network_init(&network, model, false);
    node_values_init(&values, &network, &feed);
    layer = &network.layers.items[0];

    /* The weights become zero: so does what comes out. */
    struct tensor *weights = &values.items[layer->inputs.items[1]];
    struct tensor zero = {0};
    assert_true(weights->size > 1024); /* not written into the layer's model */
    assert_int_equal(tensor_copy(weights, &zero, &err), 0);
    memset(tensor_writable(&zero), 0, zero.size);
    tensor_release(weights);
    *weights = zero;
    if (node_layer_run(&network, layer, provider, NULL, &values, &err) < 0)
        fail_msg("%s", err.message);
    const struct tensor *y = &values.items[layer->outputs.items[0]];
    for (size_t i = 0; i < tensor_elements(y); i++)
        assert_true(((const float *)y->data)[i] == 0);

    node_values_release(&values);
    node_network_release(&network);
    tensor_list_release(&feed);
    provider->free(provider);
}

static void what_the_runtime_does_not_know_is_an_error_that_names_the_layer(void **state)
{
    struct tactic_provider *provider = open_provider();
    struct network network;
    struct node_values values;
    struct tensor_list feed = {0};
    struct error err = {0};
    struct model *model = fixture_open_lowered("unknown_operator");

    node_network_init(&network, model, false);
    for (size_t i = 0; i < model->inputs.count; i++) {
        struct tensor x = {0};

        assert_int_equal(tensor_allocate(DATA_FLOAT32, &(struct shape){.rank = 1, .dims = {2}}, &x, &err), 0);
        tensor_list_add(&feed, model->values.items[model->inputs.items[i]].name, &x);
    }
    node_values_init(&values, &network, &feed);
    int rc = 0;
    for (size_t i = 0; i < network.layers.count && rc == 0; i++)
        rc = node_layer_run(&network, &network.layers.items[i], provider, NULL, &values, &err);
    assert_int_equal(rc, ERR_BACKEND);
    assert_non_null(strstr(err.message, "a layer"));
    node_values_release(&values);
    node_network_release(&network);
    tensor_list_release(&feed);
    provider->free(provider);
}

/* The number of threads of this process; 0 where the system does not tell. */
static size_t count_threads(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    size_t count = 0;

    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "Threads: %zu", &count) == 1)
            break;
    if (file)
        fclose(file);
    return count;
}

static void two_hundred_kernels_have_no_threads_of_their_own(void **state)
{
    struct tactic_provider *provider = open_provider();
    struct model *model = fixture_open_lowered("matmul_chain_64");
    struct kernel *kernels[200];
    struct network network;
    struct node_values values;
    struct tensor_list feed = {0};
    struct tensor x = {0};
    struct error err = {0};
    struct kernel_input inputs[4];
    struct tensor tensors[4];
    struct tactic_list tactics = {0};
    size_t before;

    assert_int_equal(tensor_allocate(DATA_FLOAT32, &(struct shape){.rank = 2, .dims = {1, 64}}, &x, &err), 0);
    tensor_list_add(&feed, model->values.items[model->inputs.items[0]].name, &x);
    node_network_init(&network, model, false);
    node_values_init(&values, &network, &feed);
    struct kernel_request request = {.network = &network, .layer = &network.layers.items[0], .inputs = inputs};
    node_layer_inputs(&network, request.layer, &values, inputs, tensors);
    assert_int_equal(provider->list(provider, &request, &tactics, &err), 0);

    before = count_threads();
    for (size_t i = 0; i < ARRAY_LEN(kernels); i++)
        if (provider->create(provider, &request, &tactics.items[0], &kernels[i], &err) < 0)
            fail_msg("%s", err.message);
    assert_int_equal(count_threads(), before);
    for (size_t i = 0; i < ARRAY_LEN(kernels); i++)
        kernel_free(kernels[i]);

    tactic_list_release(&tactics);
    node_values_release(&values);
    node_network_release(&network);
    tensor_list_release(&feed);
    provider->free(provider);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layer_alone_gives_what_the_model_gives),
        cmocka_unit_test(bodies_that_use_outer_tensors_are_computed),
        cmocka_unit_test(a_branch_that_is_not_taken_need_not_fit_the_shapes),
        cmocka_unit_test(several_nodes_are_one_layer_fused_or_not),
        cmocka_unit_test(fused_clips_have_their_bounds),
        cmocka_unit_test(a_fused_gelu_has_its_numbers),
        cmocka_unit_test(empty_tensors_are_computed),
        cmocka_unit_test(a_constant_is_computed_with_as_the_request_has_it),
        cmocka_unit_test(what_the_runtime_does_not_know_is_an_error_that_names_the_layer),
        cmocka_unit_test(two_hundred_kernels_have_no_threads_of_their_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
