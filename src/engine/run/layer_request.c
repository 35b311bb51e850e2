/* engine/run/layer_request.c: see layer_request.h. */
#include "engine/run/layer_request.h"

#include <stdlib.h>

#include "base/memory.h"
#include "engine/run/layer_step.h"

bool layer_value_is_constant(const struct network *network, uint32_t value)
{
    return value != VALUE_NONE && network->model->values.items[value].initializer != INITIALIZER_NONE;
}

bool layer_layouts_agree(const struct layout *a, const struct layout *b)
{
    return layout_equal(a, b) || (layout_is_row_major(a) && layout_is_row_major(b));
}

void layer_request_release(struct layer_request *request)
{
    for (size_t i = 0; request->tensors && i < request->kernel.layer->inputs.count; i++) {
        tensor_release(&request->tensors[i]);
        tensor_release(&request->constants[i]);
    }
    free(request->tensors);
    free(request->constants);
    free(request->inputs);
    *request = (struct layer_request){0};
}

static int add_constant(struct layer_request *request, size_t i, enum precision precision, struct error *err)
{
    const struct kernel_request *kernel = &request->kernel;
    struct tensor *constant = &request->constants[i], *tensor = &request->tensors[i];
    int rc = step_constant_read(kernel->network, kernel->layer->inputs.items[i], constant, err);

    if (rc < 0)
        return rc;
    if (constant->type == DATA_FLOAT32)
        rc = precision_constant(kernel->network, kernel->layer, i, precision, constant, tensor, err);
    else
        tensor_borrow(constant->type, &constant->shape, constant->data, constant->size, tensor);
    if (rc == 0)
        request->inputs[i] = (struct kernel_input){
            .present = true, .type = tensor->type, .shape = tensor->shape, .constant = tensor->data};
    return rc;
}

static void add_run_time_input(struct layer_request *request, size_t i, const struct layer_values *value)
{
    const struct tensor *tensor = &value->tensor;

    tensor_borrow(tensor->type, &tensor->shape, tensor->data, tensor->size, &request->tensors[i]);
    request->inputs[i] =
        (struct kernel_input){.present = true, .type = tensor->type, .shape = tensor->shape, .layout = value->layout};
}

int layer_request_make(const struct network *network, const struct layer *layer, enum precision precision, int threads,
                       const struct layer_values *values, struct layer_request *ret, struct error *err)
{
    size_t count = layer->inputs.count;
    int rc = 0;

    *ret = (struct layer_request){
        .kernel = {.network = network, .layer = layer, .threads = threads},
        .inputs = memory_alloc_zero(count, sizeof(*ret->inputs)),
        .tensors = memory_alloc_zero(count, sizeof(*ret->tensors)),
        .constants = memory_alloc_zero(count, sizeof(*ret->constants)),
    };
    ret->kernel.inputs = ret->inputs;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        uint32_t value = layer->inputs.items[i];

        if (layer_value_is_constant(network, value))
            rc = add_constant(ret, i, precision, err);
        else if (value != VALUE_NONE)
            add_run_time_input(ret, i, &values[value]);
    }
    if (rc < 0)
        layer_request_release(ret);
    return rc;
}
