/* engine/run/layer_request.c: see layer_request.h. */
#include "engine/run/layer_request.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/memory_limit.h"
#include "onnx/external/tensor.h"

/* --- memory --- */

int layer_tensor_allocate(enum data_type type, const struct shape *shape, size_t size, struct tensor *ret,
                          struct error *err)
{
    size_t room = size < LAYER_ALIGNMENT ? LAYER_ALIGNMENT : size;
    void *data;

    if (type == DATA_STRING)
        return tensor_allocate(type, shape, ret, err);
    if (!memory_limit_allows(size))
        return tensor_refuse_size(type, shape, size, err);
    if (size >= PTRDIFF_MAX || (data = aligned_alloc(LAYER_ALIGNMENT, (room + LAYER_ALIGNMENT - 1) / LAYER_ALIGNMENT *
                                                                          LAYER_ALIGNMENT)) == NULL)
        return error_set(err, ERR_MEMORY, "there is not enough memory for a tensor of %zu bytes", size);
    *ret =
        (struct tensor){.type = type, .shape = *shape, .data = data, .size = size, .free_owner = free, .owner = data};
    return 0;
}

static bool tensor_is_aligned(const struct tensor *tensor)
{
    size_t bytes = data_type_bits(tensor->type) / 8, alignment = bytes > 8 ? 8 : bytes;

    return alignment < 2 || (uintptr_t)tensor->data % alignment == 0;
}

int layer_tensor_align(struct tensor *tensor, struct error *err)
{
    struct tensor copy;
    int rc;

    if (tensor_is_aligned(tensor))
        return 0;
    rc = layer_tensor_allocate(tensor->type, &tensor->shape, tensor->size, &copy, err);
    if (rc < 0)
        return rc;
    memcpy(tensor_writable(&copy), tensor->data, tensor->size);
    tensor_release(tensor);
    *tensor = copy;
    return 0;
}

int layer_constant_read(const struct network *network, uint32_t value, struct tensor *ret, struct error *err)
{
    struct model *model = network->model;
    const struct value *described = &model->values.items[value];
    const struct initializer *initializer = &model->initializers.items[described->initializer];
    struct tensor tensor = {0};
    int rc;

    if (initializer->sparse)
        return error_set(err, ERR_UNSUPPORTED, "constant '" TEXT_FORMAT "' is a sparse tensor",
                         TEXT_ARGS(described->name));
    if (initializer->narrowed.size > 0)
        rc = external_tensor_read_constant(model, initializer, &tensor, err);
    else
        rc = external_tensor_borrow(model, initializer->message, &tensor, err);
    if (rc == 0)
        rc = layer_tensor_align(&tensor, err);
    if (rc < 0) {
        tensor_release(&tensor);
        return error_context(err, "constant '" TEXT_FORMAT "'", TEXT_ARGS(described->name));
    }
    *ret = tensor;
    return 0;
}

/* --- a request --- */

bool layer_value_is_constant(const struct network *network, uint32_t value)
{
    return value != VALUE_NONE && network->model->values.items[value].initializer != INITIALIZER_NONE;
}

void layer_request_release(struct layer_request *request)
{
    for (size_t i = 0; request->tensors && i < request->kernel.layer->inputs.count; i++)
        tensor_release(&request->tensors[i]);
    free(request->tensors);
    free(request->inputs);
    *request = (struct layer_request){0};
}

int layer_request_make(const struct engine *engine, const struct layer *layer, enum precision precision,
                       const struct layer_values *values, struct layer_request *ret, struct error *err)
{
    const struct network *network = engine->network;
    size_t count = layer->inputs.count;
    int rc = 0;

    *ret = (struct layer_request){
        .kernel = {.network = network, .layer = layer, .threads = engine->threads},
        .inputs = memory_alloc_zero(count, sizeof(*ret->inputs)),
        .tensors = memory_alloc_zero(count, sizeof(*ret->tensors)),
    };
    ret->kernel.inputs = ret->inputs;
    for (size_t i = 0; i < count; i++) {
        uint32_t value = layer->inputs.items[i];
        struct tensor *tensor = &ret->tensors[i];

        if (value == VALUE_NONE)
            continue;
        if (layer_value_is_constant(network, value)) {
            rc = layer_constant_read(network, value, tensor, err);
            if (rc == 0)
                rc = precision_constant(network, layer, i, precision, tensor, err);
        } else if (values[value].exists) {
            tensor_borrow(values[value].tensor.type, &values[value].tensor.shape, values[value].tensor.data,
                          values[value].tensor.size, tensor);
            ret->inputs[i].layout = values[value].layout;
        } else {
            rc = error_set(err, ERR_BACKEND, "layer '%s' reads tensor '" TEXT_FORMAT "', which nothing has made",
                           layer->name != NULL ? layer->name : "", TEXT_ARGS(network->model->values.items[value].name));
        }
        if (rc < 0)
            break;
        ret->inputs[i].present = true;
        ret->inputs[i].type = tensor->type;
        ret->inputs[i].shape = tensor->shape;
        ret->inputs[i].constant = layer_value_is_constant(network, value) ? tensor->data : NULL;
    }
    if (rc < 0)
        layer_request_release(ret);
    return rc;
}
