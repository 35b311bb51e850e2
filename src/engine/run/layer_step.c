/* engine/run/layer_step.c: runs one layer with conversions of its inputs and outputs. */
#include "engine/run/layer_step.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* --- precisions of stored values --- */

static enum precision stored_output_precision(const struct engine_layer *choice, size_t output)
{
    enum precision precision = choice->precision.outputs != NULL               ? choice->precision.outputs[output]
                               : choice->precision.precision == PRECISION_INT8 ? PRECISION_FLOAT32
                                                                               : choice->precision.precision;

    return precision == PRECISION_TF32 || precision == PRECISION_INT8 ? PRECISION_FLOAT32 : precision;
}

/* The precision to which the producer of `value` has rounded it. Searched backwards from the consumer. */
static enum precision stored_input_precision(const struct engine *engine, const struct layer *reader, uint32_t value)
{
    const struct layer *layers = engine->network->layers.items;

    for (const struct layer *layer = reader; engine->layers != NULL && layer-- > layers;)
        for (size_t i = 0; i < layer->outputs.count; i++)
            if (layer->outputs.items[i] == value)
                return stored_output_precision(&engine->layers[layer - layers], i);
    return PRECISION_FLOAT32;
}

/* Whether two layouts are the same in memory, even if their texts differ: dimensions of size 1 may be anywhere. */
static bool layouts_lie_alike(const struct layout *a, const struct layout *b, const struct shape *shape)
{
    struct layout_strides left, right;

    if (layout_equal(a, b))
        return true;
    if (!layout_resolve(a, shape, &left) || !layout_resolve(b, shape, &right) || left.block_count > 0 ||
        right.block_count > 0)
        return false;
    for (size_t i = 0; i < shape->rank; i++)
        if (shape->dims[i] > 1 && left.strides[i] != right.strides[i])
            return false;
    return true;
}

/* --- creating a step --- */

static const char *name_layer(const struct layer *layer)
{
    return layer->name != NULL ? layer->name : "";
}

/* Prepares the conversion of a run-time input for the kernel. */
static int prepare_step_input(struct layer_step *step, const struct engine *engine, const struct engine_layer *choice,
                              size_t i, struct error *err)
{
    const struct layer *layer = step->request.kernel.layer;
    const struct layout *lies = &step->request.inputs[i].layout;
    enum precision precision = choice->precision.precision;
    struct tensor *tensor = &step->request.tensors[i];
    struct step_input *input = &step->inputs[i];

    input->value = layer->inputs.items[i];
    input->layout = choice->tactic.input_layouts != NULL ? choice->tactic.input_layouts[i] : (struct layout){""};
    input->reordered = tensor->type != DATA_STRING && !layouts_lie_alike(lies, &input->layout, &tensor->shape);
    if (tensor->type == DATA_FLOAT32 && precision_narrows_input(engine->network, layer, i, precision)) {
        if (precision == PRECISION_INT8)
            input->scale = choice->input_scales != NULL ? choice->input_scales[i] : 0;
        else if (stored_input_precision(engine, layer, input->value) != precision)
            input->rounding = precision;
    }
    if (input->reordered)
        tensor->size = layout_bytes(&input->layout, tensor->type, &tensor->shape);
    if (tensor->size >= SIZE_MAX / 4 || step->scratch_size >= SIZE_MAX / 4)
        return error_set(err, ERR_BACKEND,
                         "tactic '%s' of layer '%s' wants its input %zu in a layout '%s' that does "
                         "not fit it",
                         choice->tactic.name, name_layer(layer), i, input->layout.text);
    if (input->reordered || input->rounding != PRECISION_FLOAT32 || input->scale > 0) {
        input->scratch = step->scratch_size;
        step->scratch_size += (tensor->size + LAYER_ALIGNMENT - 1) / LAYER_ALIGNMENT * LAYER_ALIGNMENT;
    }
    return 0;
}

static int describe_step_output(struct layer_step *step, const struct engine *engine, const struct engine_layer *choice,
                                size_t i, struct error *err)
{
    struct step_output *output = &step->outputs[i];
    struct tensor *tensor = &step->kernel_outputs[i];

    *output = (struct step_output){.value = step->request.kernel.layer->outputs.items[i],
                                   .rounding = stored_output_precision(choice, i)};
    if (output->value == VALUE_NONE || !step->kernel->outputs_known)
        return 0;
    if (choice->tactic.output_layouts != NULL)
        output->layout = choice->tactic.output_layouts[i];
    tensor->type = network_type(engine->network, output->value);
    /* Kernels with known output shapes compute in the type of their inputs. */
    for (size_t k = 0; k < step->request.kernel.layer->inputs.count && tensor->type == DATA_UNDEFINED; k++)
        tensor->type = step->request.inputs[k].present ? step->request.inputs[k].type : DATA_UNDEFINED;
    tensor->shape = step->kernel->output_shapes[i];
    tensor->size = layout_bytes(&output->layout, tensor->type, &tensor->shape);
    if (tensor->size >= SIZE_MAX / 4)
        return error_set(err, ERR_BACKEND,
                         "tactic '%s' of layer '%s' gives its output %zu a layout '%s' that does not "
                         "fit it",
                         choice->tactic.name, name_layer(step->request.kernel.layer), i, output->layout.text);
    return 0;
}

int layer_step_new(const struct engine *engine, const struct layer *layer, const struct engine_layer *choice,
                   const struct layer_values *values, struct layer_step **ret, struct error *err)
{
    struct tactic_provider *provider = choice->tactic.provider;
    struct layer_step *step = memory_alloc_zero(1, sizeof(*step));
    int rc = layer_request_make(engine, layer, choice->precision.precision, values, &step->request, err);

    if (rc < 0)
        goto done;
    step->inputs = memory_alloc_zero(layer->inputs.count, sizeof(*step->inputs));
    step->outputs = memory_alloc_zero(layer->outputs.count, sizeof(*step->outputs));
    step->kernel_outputs = memory_alloc_zero(layer->outputs.count, sizeof(*step->kernel_outputs));
    for (size_t i = 0; i < layer->inputs.count; i++) {
        step->inputs[i] = (struct step_input){.value = VALUE_NONE, .scratch = SIZE_MAX};
        if (step->request.inputs[i].present && !layer_value_is_constant(engine->network, layer->inputs.items[i]))
            rc = prepare_step_input(step, engine, choice, i, err);
        if (rc < 0)
            goto done;
    }
    if (provider == NULL) {
        rc = error_set(err, ERR_MISSING, "layer '%s': no provider has its tactic '%s'", name_layer(layer),
                       choice->tactic.name);
        goto done;
    }
    rc = provider->create(provider, &step->request.kernel, &choice->tactic, &step->kernel, err);
    if (rc < 0)
        goto done;
    for (size_t i = 0; i < layer->outputs.count && rc == 0; i++)
        rc = describe_step_output(step, engine, choice, i, err);
done:
    if (rc == 0)
        *ret = step;
    else
        layer_step_free(step);
    return rc;
}

int layer_step_new_any(const struct engine *engine, size_t number, const struct layer_values *values,
                       struct layer_step **ret, struct string_builder *ret_name, struct error *err)
{
    const struct layer *layer = &engine->network->layers.items[number];
    struct engine_layer attempt = engine->layers[number];
    struct layer_request request SCOPED(layer_request_release) = {0};
    struct layer_step *made = NULL;
    struct tactic_list tactics SCOPED(tactic_list_release) = {0};
    struct error last = {0};
    int rc = layer_request_make(engine, layer, attempt.precision.precision, values, &request, &last);

    for (size_t i = 0, tried = 0; rc == 0 && made == NULL && i < engine->providers.count; i++) {
        struct tactic_provider *provider = engine->providers.items[i];

        rc = provider->list(provider, &request.kernel, &tactics, &last);
        for (; rc == 0 && made == NULL && tried < tactics.count; tried++) {
            attempt.tactic = tactics.items[tried];
            if (layer_step_new(engine, layer, &attempt, values, &made, &last) == 0)
                string_add_format(ret_name, "%s:%s", provider->name, attempt.tactic.name);
        }
    }
    if (made != NULL) {
        *ret = made;
        return 0;
    }
    return error_set(err, rc < 0 ? (enum error_code)rc : ERR_BACKEND,
                     "layer '%s': no tactic takes inputs of these shapes%s%s", name_layer(layer),
                     last.code != 0 ? ": " : "", last.code != 0 ? last.message : "");
}

void layer_step_free(struct layer_step *step)
{
    if (step == NULL)
        return;
    kernel_free(step->kernel);
    for (size_t i = 0; step->inputs != NULL && i < step->request.kernel.layer->inputs.count; i++)
        reorder_free(step->inputs[i].reorder);
    layer_request_release(&step->request);
    free(step->inputs);
    free(step->outputs);
    free(step->kernel_outputs);
    free(step->own_scratch);
    free(step);
}

void layer_step_set_scratch(struct layer_step *step, char *scratch)
{
    free(step->own_scratch);
    step->own_scratch = NULL;
    step->scratch = scratch;
}

bool layer_step_fits(const struct layer_step *step, const struct layer_values *values)
{
    for (size_t i = 0; i < step->request.kernel.layer->inputs.count; i++) {
        const struct kernel_input *made_for = &step->request.inputs[i];
        const struct layer_values *given;

        if (step->inputs[i].value == VALUE_NONE)
            continue;
        given = &values[step->inputs[i].value];
        if (!given->exists || given->tensor.type != made_for->type ||
            !shape_equal(&given->tensor.shape, &made_for->shape) || strcmp(given->layout.text, made_for->layout.text))
            return false;
    }
    return true;
}

/* --- running it --- */

/* Inputs are never changed in place: other layers may read the same tensor. */
static int bring_step_input(struct layer_step *step, size_t i, const struct layer_values *given, struct error *err)
{
    struct step_input *input = &step->inputs[i];
    struct tensor *tensor = &step->request.tensors[i];
    float *copy;
    int rc;

    if (input->scratch == SIZE_MAX) {
        tensor->data = given->tensor.data;
        return 0;
    }
    copy = (float *)(void *)(step->scratch + input->scratch);
    tensor->data = copy;
    if (input->reordered) {
        struct layout_change change = {tensor->type, &tensor->shape, &given->layout, &input->layout};

        rc = reorder_run(&input->reorder, &change, given->tensor.data, copy, err);
        if (rc < 0)
            return rc;
    } else if (tensor->size > 0) {
        memcpy(copy, given->tensor.data, tensor->size);
    }
    if (input->rounding != PRECISION_FLOAT32)
        precision_round(input->rounding, copy, tensor->size / sizeof(float));
    else if (input->scale > 0)
        precision_quantize(input->scale, copy, tensor->size / sizeof(float));
    return 0;
}

static int bring_step_inputs(struct layer_step *step, const struct layer_values *values, struct error *err)
{
    int rc = 0;

    if (step->scratch_size > 0 && step->scratch == NULL) {
        step->own_scratch = aligned_alloc(LAYER_ALIGNMENT, step->scratch_size);
        if (step->own_scratch == NULL)
            return error_set(err, ERR_MEMORY, "there is not enough memory for copies of %zu bytes of the inputs",
                             step->scratch_size);
        step->scratch = step->own_scratch;
    }
    for (size_t i = 0; i < step->request.kernel.layer->inputs.count && rc == 0; i++)
        if (step->inputs[i].value != VALUE_NONE)
            rc = bring_step_input(step, i, &values[step->inputs[i].value], err);
    return rc;
}

/* Provides memory for the outputs: existing memory in `values`, or new memory. */
static int provide_step_outputs(struct layer_step *step, struct layer_values *values, struct error *err)
{
    for (size_t i = 0; i < step->request.kernel.layer->outputs.count; i++) {
        struct tensor *tensor = &step->kernel_outputs[i];
        struct layer_values *value;
        int rc;

        if (step->outputs[i].value == VALUE_NONE)
            continue;
        value = &values[step->outputs[i].value];
        if (!step->kernel->outputs_known) {
            if (value->exists)
                tensor_release(&value->tensor);
            value->exists = false;
            continue;
        }
        if (!value->exists) {
            rc = layer_tensor_allocate(tensor->type, &tensor->shape, tensor->size, &value->tensor, err);
            if (rc < 0)
                return error_context(
                    err, "output '" TEXT_FORMAT "'",
                    TEXT_ARGS(step->request.kernel.network->model->values.items[step->outputs[i].value].name));
            value->layout = step->outputs[i].layout;
            value->exists = true;
        }
        tensor->data = value->tensor.data;
    }
    return 0;
}

static bool pointer_lies_in(const void *data, const struct tensor *tensor)
{
    return (uintptr_t)data - (uintptr_t)tensor->data < tensor->size;
}

/* A runtime may return views of its inputs: such an output is copied. */
static int detach_step_output(const struct layer_step *step, struct tensor *tensor, struct error *err)
{
    for (size_t i = 0; i < step->request.kernel.layer->inputs.count; i++) {
        struct tensor copy;
        int rc;

        if (!step->request.inputs[i].present || tensor->size == 0 ||
            !pointer_lies_in(tensor->data, &step->request.tensors[i]))
            continue;
        rc = tensor_copy(tensor, &copy, err);
        if (rc < 0)
            return rc;
        tensor_release(tensor);
        *tensor = copy;
        return 0;
    }
    return 0;
}

/* Moves outputs that the kernel has allocated. */
static int take_kernel_outputs(struct layer_step *step, struct layer_values *values, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; i < step->request.kernel.layer->outputs.count; i++) {
        struct tensor *tensor = &step->kernel_outputs[i];
        uint32_t value = step->outputs[i].value;

        if (value == VALUE_NONE)
            continue;
        if (tensor->data == NULL)
            rc = error_set(err, ERR_BACKEND, "layer '%s' has not produced its output %zu",
                           name_layer(step->request.kernel.layer), i);
        else
            rc = detach_step_output(step, tensor, err);
        if (rc < 0)
            break;
        values[value].tensor = *tensor;
        values[value].layout = (struct layout){""};
        values[value].exists = true;
        *tensor = (struct tensor){0};
    }
    for (size_t i = 0; i < step->request.kernel.layer->outputs.count; i++)
        tensor_release(&step->kernel_outputs[i]);
    return rc;
}

static void round_step_outputs(const struct layer_step *step, const struct layer_values *values)
{
    ARRAY_EACH (const struct step_output, output, step->outputs, step->request.kernel.layer->outputs.count) {
        const struct tensor *tensor;

        if (output->value == VALUE_NONE || output->rounding == PRECISION_FLOAT32)
            continue;
        tensor = &values[output->value].tensor;
        if (tensor->type == DATA_FLOAT32)
            precision_round(output->rounding, (float *)(uintptr_t)tensor->data, tensor->size / sizeof(float));
    }
}

int layer_step_run(struct layer_step *step, struct layer_values *values, struct error *err)
{
    int rc = bring_step_inputs(step, values, err);

    if (rc < 0)
        goto done;
    rc = provide_step_outputs(step, values, err);
    if (rc < 0)
        goto done;
    rc = step->kernel->functions->run(step->kernel, step->request.tensors, step->kernel_outputs, err);
    if (rc < 0)
        goto done;
    if (!step->kernel->outputs_known)
        rc = take_kernel_outputs(step, values, err);
    if (rc < 0)
        goto done;
    round_step_outputs(step, values);
done:
    return rc < 0 ? error_context(err, "layer '%s'", name_layer(step->request.kernel.layer)) : 0;
}
