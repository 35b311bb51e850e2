/* support/network_fixture.c: see network_fixture.h. */
#include "support/network_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/library.h"
#include "onnx/write/model.h"

struct network_settings with_onnxruntime(void)
{
    return (struct network_settings){.folding = {.backend = &onnxrt_backend}};
}

const struct layer *find_layer(const struct network *network, struct text name)
{
    struct layer_names names;
    const struct layer *found;

    layer_names_init(&names, network);
    found = layer_names_find(&names, name);
    layer_names_release(&names);
    return found;
}

struct network *network_of(struct model *model, const struct network_settings *settings)
{
    struct network_settings usual = with_onnxruntime();
    struct network *network = NULL;
    struct error err = {0};

    if (network_build(model, settings != NULL ? settings : &usual, &network, &err) < 0)
        fail_msg("%s", err.message);
    return network;
}

struct network *made_network(struct made_model *made)
{
    return network_of(made_open(made), NULL);
}

static void add_names(struct string_builder *text, const struct network *network, const struct value_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        string_add(text, i > 0 ? " " : "");
        if (list->items[i] == VALUE_NONE)
            string_add(text, "-");
        else
            string_add_text(text, network->model->values.items[list->items[i]].name);
    }
}

static void add_fused(struct string_builder *text, const struct layer *layer)
{
    static const char *const activations[] = {"none", "relu", "leaky_relu", "clip",       "sigmoid",
                                              "tanh", "elu",  "swish",      "hard_swish", "gelu_erf"};

    for (size_t i = 0; i < layer->fused.count; i++) {
        const struct fused_operation *operation = &layer->fused.items[i];

        if (operation->kind == FUSED_ADD)
            string_add_format(text, " [add %zu]", operation->operand);
        else
            string_add_format(text, " [%s %g %g]", activations[operation->activation], (double)operation->alpha,
                              (double)operation->beta);
    }
}

char *network_text(const struct network *network)
{
    struct string_builder text;

    string_init(&text);
    for (size_t i = 0; i < network->layers.count; i++) {
        const struct layer *layer = &network->layers.items[i];

        string_add_format(&text, "%s: %s(", layer->name, layer_kind_name(layer->kind));
        add_names(&text, network, &layer->inputs);
        string_add(&text, ") -> ");
        add_names(&text, network, &layer->outputs);
        add_fused(&text, layer);
        string_add(&text, layer->moves_data ? " moves\n" : "\n");
    }
    return string_take(&text);
}

void assert_layers(const struct network *network, const char *expected)
{
    char *text = network_text(network);

    assert_string_equal(text, expected);
    free(text);
}

void assert_made_layers(struct made_model *made, const char *expected)
{
    struct network *network = made_network(made);

    assert_layers(network, expected);
    network_free(network);
    made_release(made);
}

void run_bytes(const void *data, size_t size, const struct tensor_list *feed, struct tensor_list *ret)
{
    struct backend_request request = {.model.data = data, .model.size = size};
    struct backend_session *session;
    struct error err = {0};

    *ret = (struct tensor_list){0};
    if (onnxrt_backend.open(&request, &session, &err) < 0 ||
        onnxrt_backend.run(session, feed, NULL, ret, NULL, &err) < 0)
        fail_msg("%s", err.message);
    onnxrt_backend.close(session);
}

double difference_of(const struct tensor_list *a, const struct tensor_list *b)
{
    double difference = 0, largest = 0;

    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const float *x = a->items[i].tensor.data, *y = b->items[i].tensor.data;

        assert_string_equal(a->items[i].name, b->items[i].name);
        assert_true(shape_equal(&a->items[i].tensor.shape, &b->items[i].tensor.shape));
        for (size_t k = 0; k < tensor_elements(&a->items[i].tensor); k++) {
            difference = fmax(difference, fabs((double)x[k] - (double)y[k]));
            largest = fmax(largest, fabs((double)x[k]));
        }
    }
    assert_true(largest > 0);
    return difference / largest;
}

void assert_same_values(struct made_model *made, const struct network *network)
{
    struct span original = made_bytes(made);
    struct subgraph whole;
    struct tensor_list feed, expected, actual;
    struct error err = {0};
    char *bytes = NULL;
    size_t size;

    made_feed(network->model, &feed);
    run_bytes(original.data, original.size, &feed, &expected);
    subgraph_init_whole(&whole, network->model);
    if (model_write_memory(&whole, &bytes, &size, &err) < 0)
        fail_msg("%s", err.message);
    run_bytes(bytes, size, &feed, &actual);
    assert_true(difference_of(&expected, &actual) < 1e-5);
    subgraph_release(&whole);
    tensor_list_release(&feed);
    tensor_list_release(&expected);
    tensor_list_release(&actual);
    free(bytes);
}
