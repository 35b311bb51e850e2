/* support/node_network.c: see node_network.h. */
#include "support/node_network.h"
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/proto/tensor_proto.h"

static void node_network_add_edges(const struct model *model, struct edge_range range, struct value_list *ret)
{
    for (size_t i = 0; i < range.count; i++)
        *VECTOR_APPEND(ret) = model_edge(model, range, i);
}

void node_network_init(struct network *network, struct model *model, bool together)
{
    *network = (struct network){.model = model, .inputs = model->inputs, .outputs = model->outputs};
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];
        struct layer *layer;

        if (!together || i == 0) {
            layer = VECTOR_APPEND(&network->layers);
            *layer = (struct layer){.name = memory_strdup("a layer")};
        }
        layer = &network->layers.items[network->layers.count - 1];
        *VECTOR_APPEND(&layer->nodes) = i;
        if (!together) {
            node_network_add_edges(model, node->inputs, &layer->inputs);
            node_network_add_edges(model, node->captures, &layer->inputs);
            node_network_add_edges(model, node->outputs, &layer->outputs);
        }
    }
    if (together) {
        struct layer *layer = &network->layers.items[0];

        for (size_t i = 0; i < model->inputs.count; i++)
            *VECTOR_APPEND(&layer->inputs) = model->inputs.items[i];
        for (size_t i = 0; i < model->initializers.count; i++)
            *VECTOR_APPEND(&layer->inputs) = model->initializers.items[i].value;
        for (size_t i = 0; i < model->outputs.count; i++)
            *VECTOR_APPEND(&layer->outputs) = model->outputs.items[i];
    }
}

void node_network_release(struct network *network)
{
    for (size_t i = 0; i < network->layers.count; i++) {
        free(network->layers.items[i].name);
        free(network->layers.items[i].nodes.items);
        free(network->layers.items[i].inputs.items);
        free(network->layers.items[i].outputs.items);
    }
    free(network->layers.items);
    model_free(network->model);
}

void node_values_init(struct node_values *values, const struct network *network, const struct tensor_list *feed)
{
    const struct model *model = network->model;
    struct error err;

    values->count = model->values.count;
    values->items = memory_alloc_zero(values->count, sizeof(*values->items));
    for (size_t i = 0; i < model->initializers.count; i++) {
        struct tensor *tensor = &values->items[model->initializers.items[i].value];

        if (tensor_proto_decode(model->initializers.items[i].message, tensor, &err) < 0)
            fail_msg("%s", err.message);
    }
    for (size_t i = 0; i < model->inputs.count; i++) {
        const struct named_tensor *given = tensor_list_find(feed, model->values.items[model->inputs.items[i]].name);

        assert_non_null(given);
        tensor_borrow(given->tensor.type, &given->tensor.shape, given->tensor.data, given->tensor.size,
                      &values->items[model->inputs.items[i]]);
    }
}

void node_values_release(struct node_values *values)
{
    for (size_t i = 0; i < values->count; i++)
        tensor_release(&values->items[i]);
    free(values->items);
}

void node_layer_inputs(const struct network *network, const struct layer *layer, const struct node_values *values,
                       struct kernel_input *inputs, struct tensor *tensors)
{
    for (size_t i = 0; i < layer->inputs.count; i++) {
        const struct tensor *tensor =
            layer->inputs.items[i] == VALUE_NONE ? NULL : &values->items[layer->inputs.items[i]];
        const struct value *value;

        inputs[i] = (struct kernel_input){0};
        tensors[i] = (struct tensor){0};
        if (!tensor)
            continue;
        value = &network->model->values.items[layer->inputs.items[i]];
        assert_non_null(tensor->data);
        tensor_borrow(tensor->type, &tensor->shape, tensor->data, tensor->size, &tensors[i]);
        inputs[i] = (struct kernel_input){.present = true, .type = tensor->type, .shape = tensor->shape};
        if (value->initializer != INITIALIZER_NONE)
            inputs[i].constant = tensor->data;
    }
}

int node_layer_run(const struct network *network, const struct layer *layer, struct tactic_provider *provider,
                   const char *name, struct node_values *values, struct error *err)
{
    struct kernel_input *inputs = memory_alloc_zero(layer->inputs.count, sizeof(*inputs));
    struct tensor *tensors = memory_alloc_zero(layer->inputs.count, sizeof(*tensors));
    struct tensor *outputs = memory_alloc_zero(layer->outputs.count, sizeof(*outputs));
    struct kernel_request request = {.network = network, .layer = layer, .inputs = inputs};
    struct tactic_list tactics = {0};
    struct kernel *kernel = NULL;
    size_t chosen = 0;
    int rc;

    node_layer_inputs(network, layer, values, inputs, tensors);
    rc = provider->list(provider, &request, &tactics, err);
    while (rc == 0 && name && chosen < tactics.count && strcmp(tactics.items[chosen].name, name) != 0)
        chosen++;
    if (rc == 0 && chosen == tactics.count)
        rc = error_set(err, ERR_MISSING, "there is no such tactic");
    if (rc == 0)
        rc = provider->create(provider, &request, &tactics.items[chosen], &kernel, err);
    for (size_t i = 0; rc == 0 && kernel->outputs_known && i < layer->outputs.count; i++)
        if (layer->outputs.items[i] != VALUE_NONE)
            rc = tensor_allocate(inputs[0].type, &kernel->output_shapes[i], &outputs[i], err);
    if (rc == 0)
        rc = kernel->functions->run(kernel, tensors, outputs, err);
    kernel_free(kernel);
    for (size_t i = 0; i < layer->outputs.count; i++) {
        if (rc == 0 && layer->outputs.items[i] != VALUE_NONE)
            values->items[layer->outputs.items[i]] = outputs[i];
        else
            tensor_release(&outputs[i]);
    }
    tactic_list_release(&tactics);
    free(inputs);
    free(tensors);
    free(outputs);
    return rc;
}
