/* engine/run/variant.c: see variant.h. */
#include "engine/run/variant.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/memory_limit.h"
#include "base/system.h"
#include "engine/run/memory_plan.h"

/* --- lifetimes --- */

static void note_value_lifetime(struct value_lifetimes *lifetimes, const struct value_list *values, size_t layer)
{
    for (size_t i = 0; i < values->count; i++)
        if (values->items[i] != VALUE_NONE)
            lifetimes->last_use[values->items[i]] = layer;
}

/* Lists values by the layer of their last use (counting sort). */
static void list_ending_values(struct value_lifetimes *lifetimes, const struct network *network)
{
    size_t layers = network->layers.count, values = network->model->values.count;
    size_t *next SCOPED_FREE = memory_alloc_zero(layers + 1, sizeof(*next));

    for (size_t i = 0; i < values; i++)
        if (lifetimes->last_use[i] != SIZE_MAX && !lifetimes->is_output[i])
            lifetimes->ending_start[lifetimes->last_use[i] + 1]++;
    for (size_t i = 0; i < layers; i++)
        lifetimes->ending_start[i + 1] += lifetimes->ending_start[i];
    memcpy(next, lifetimes->ending_start, (layers + 1) * sizeof(*next));
    for (size_t i = 0; i < values; i++)
        if (lifetimes->last_use[i] != SIZE_MAX && !lifetimes->is_output[i])
            lifetimes->ending[next[lifetimes->last_use[i]]++] = (uint32_t)i;
}

void value_lifetimes_init(struct value_lifetimes *lifetimes, const struct network *network)
{
    size_t values = network->model->values.count;

    lifetimes->last_use = memory_alloc_zero(values, sizeof(*lifetimes->last_use));
    lifetimes->is_output = memory_alloc_zero(values, sizeof(*lifetimes->is_output));
    lifetimes->ending = memory_alloc_zero(values, sizeof(*lifetimes->ending));
    lifetimes->ending_start = memory_alloc_zero(network->layers.count + 1, sizeof(*lifetimes->ending_start));
    for (size_t i = 0; i < values; i++)
        lifetimes->last_use[i] = SIZE_MAX;
    for (size_t i = 0; i < network->layers.count; i++) {
        note_value_lifetime(lifetimes, &network->layers.items[i].inputs, i);
        note_value_lifetime(lifetimes, &network->layers.items[i].outputs, i);
    }
    for (size_t i = 0; i < network->outputs.count; i++)
        lifetimes->is_output[network->outputs.items[i]] = true;
    list_ending_values(lifetimes, network);
}

void value_lifetimes_release(struct value_lifetimes *lifetimes)
{
    free(lifetimes->last_use);
    free(lifetimes->is_output);
    free(lifetimes->ending);
    free(lifetimes->ending_start);
}

/* --- a variant --- */

struct variant *variant_new(const struct engine *engine, const struct tensor *feed, struct log *log)
{
    struct variant *variant = memory_alloc_zero(1, sizeof(*variant));
    const struct network *network = engine->network;
    size_t values = network->model->values.count;

    variant->engine = engine;
    variant->log = log;
    variant->inputs = memory_alloc_zero(network->inputs.count, sizeof(*variant->inputs));
    variant->types = memory_alloc_zero(network->inputs.count, sizeof(*variant->types));
    for (size_t i = 0; i < network->inputs.count; i++) {
        variant->inputs[i] = feed[i].shape;
        variant->types[i] = feed[i].type;
    }
    variant->values = memory_alloc_zero(values, sizeof(*variant->values));
    variant->layers = memory_alloc_zero(network->layers.count, sizeof(*variant->layers));
    variant->offsets = memory_alloc_zero(values, sizeof(*variant->offsets));
    for (size_t i = 0; i < values; i++)
        variant->offsets[i] = SIZE_MAX;
    return variant;
}

void variant_free(struct variant *variant)
{
    if (variant == NULL)
        return;
    variant_release_values(variant);
    for (size_t i = 0; i < variant->engine->network->layers.count; i++) {
        layer_step_free(variant->layers[i].step);
        for (size_t k = 0; k < VARIANT_OTHER_STEPS; k++)
            layer_step_free(variant->layers[i].others[k]);
    }
    free(variant->inputs);
    free(variant->types);
    free(variant->values);
    free(variant->layers);
    free(variant->offsets);
    free(variant->memory);
    free(variant->scratch);
    free(variant);
}

static void release_variant_value(struct layer_values *value)
{
    tensor_release(&value->tensor);
    value->exists = false;
}

void variant_release_ending(struct variant *variant, const struct value_lifetimes *lifetimes, size_t layer)
{
    for (size_t i = lifetimes->ending_start[layer]; i < lifetimes->ending_start[layer + 1]; i++) {
        struct layer_values *value = &variant->values[lifetimes->ending[i]];

        if (value->exists && value->tensor.free_owner != NULL)
            release_variant_value(value);
    }
}

/* Releases all values except those in planned memory, which is kept for the next run. */
void variant_release_values(struct variant *variant)
{
    const struct network *network = variant->engine->network;

    for (size_t i = 0; i < network->inputs.count; i++)
        release_variant_value(&variant->values[network->inputs.items[i]]);
    for (size_t i = 0; i < network->layers.count; i++) {
        const struct value_list *outputs = &network->layers.items[i].outputs;

        for (size_t k = 0; k < outputs->count; k++)
            if (outputs->items[k] != VALUE_NONE && variant->values[outputs->items[k]].tensor.free_owner != NULL)
                release_variant_value(&variant->values[outputs->items[k]]);
    }
}

/* --- the steps of a layer --- */

/* Sets the layer's outputs to their planned addresses, or unsets them for a step outside of the plan. */
static void bind_planned_outputs(struct variant *variant, size_t layer, bool bound)
{
    const struct layer_step *step = variant->layers[layer].step;

    if (variant->layers[layer].bound == bound)
        return;
    variant->layers[layer].bound = bound;
    for (size_t i = 0; i < step->request.kernel.layer->outputs.count; i++) {
        const struct step_output *output = &step->outputs[i];
        struct layer_values *value;

        if (output->value == VALUE_NONE || variant->offsets[output->value] == SIZE_MAX)
            continue;
        value = &variant->values[output->value];
        release_variant_value(value);
        if (!bound)
            continue;
        tensor_borrow(step->kernel_outputs[i].type, &step->kernel_outputs[i].shape,
                      variant->memory + variant->offsets[output->value], step->kernel_outputs[i].size, &value->tensor);
        value->layout = output->layout;
        value->exists = true;
    }
}

/* Whether the layer's inputs have the shapes of the build. */
static bool shapes_are_as_built(const struct variant *variant, size_t number)
{
    const struct network *network = variant->engine->network;
    const struct value_list *inputs = &network->layers.items[number].inputs;
    const struct shape *built = variant->engine->layers[number].input_shapes;

    if (built == NULL)
        return false;
    for (size_t i = 0; i < inputs->count; i++) {
        uint32_t value = inputs->items[i];

        if (value != VALUE_NONE && !layer_value_is_constant(network, value) &&
            !shape_equal(&variant->values[value].tensor.shape, &built[i]))
            return false;
    }
    return true;
}

/* For other shapes than at build time another tactic may be needed. If the tactic fails for the shapes of the build,
 * the environment differs from the build's, which is an error. */
static int make_variant_step(struct variant *variant, size_t number, struct layer_step **ret, struct error *err)
{
    const struct layer *layer = &variant->engine->network->layers.items[number];
    const struct engine_layer *choice = &variant->engine->layers[number];
    double start = stopwatch_now();
    SCOPED_STRING(name);
    int rc = layer_step_new(variant->engine, layer, choice, variant->values, ret, err);

    if (rc == ERR_UNSUPPORTED && shapes_are_as_built(variant, number)) {
        rc = error_context(err, "the engine was built on another machine or with other libraries, and has to be built "
                                "again");
    } else if (rc == ERR_UNSUPPORTED) {
        rc = layer_step_new_any(variant->engine, number, variant->values, ret, &name, err);
        if (rc == 0)
            log_once(variant->log, LOG_WARNING,
                     "Layer '%s': its tactic '%s' does not take inputs of these shapes, so '%s' is used for them",
                     layer->name, choice->tactic.name, name.data);
    } else if (rc < 0) {
        rc = error_context(err, "layer '%s'", layer->name);
    }
    variant->making += stopwatch_now() - start;
    return rc;
}

int variant_step(struct variant *variant, size_t number, struct layer_step **ret, struct error *err)
{
    struct variant_layer *layer = &variant->layers[number];
    struct layer_step *made = NULL;
    int rc;

    if (layer->settled || (layer->step != NULL && layer_step_fits(layer->step, variant->values))) {
        if (variant->planned && !layer->bound)
            bind_planned_outputs(variant, number, true);
        *ret = layer->step;
        return 0;
    }
    if (layer->step == NULL) {
        rc = make_variant_step(variant, number, &layer->step, err);
        *ret = layer->step;
        return rc;
    }
    bind_planned_outputs(variant, number, false);
    for (size_t i = 0; i < VARIANT_OTHER_STEPS; i++)
        if (layer->others[i] != NULL && layer_step_fits(layer->others[i], variant->values)) {
            *ret = layer->others[i];
            return 0;
        }
    rc = make_variant_step(variant, number, &made, err);
    if (rc < 0)
        return rc;
    layer_step_free(layer->others[layer->next_other]);
    layer->others[layer->next_other] = made;
    layer->next_other = (layer->next_other + 1) % VARIANT_OTHER_STEPS;
    *ret = made;
    return 0;
}

/* --- memory --- */

/* Whether an output is in the plan. Outputs returned to the caller are left out if the kernel can write them
 * directly. */
static bool value_is_in_plan(const struct layer_step *step, size_t output, const struct value_lifetimes *lifetimes)
{
    const struct step_output *described = &step->outputs[output];

    return described->value != VALUE_NONE && step->kernel->outputs_known &&
           (!lifetimes->is_output[described->value] || !layout_is_row_major(&described->layout));
}

/* Marks layers whose inputs always have the same shapes. */
static void settle_layers(struct variant *variant)
{
    const struct network *network = variant->engine->network;
    bool *known SCOPED_FREE = memory_alloc_zero(network->model->values.count, sizeof(*known));

    for (size_t i = 0; i < network->inputs.count; i++)
        known[network->inputs.items[i]] = true;
    ARRAY_EACH (struct variant_layer, layer, variant->layers, network->layers.count) {
        layer->settled = true;
        for (size_t k = 0; k < layer->step->request.kernel.layer->inputs.count; k++)
            if (layer->step->inputs[k].value != VALUE_NONE && !known[layer->step->inputs[k].value])
                layer->settled = false;
        for (size_t k = 0; k < layer->step->request.kernel.layer->outputs.count; k++)
            if (layer->step->outputs[k].value != VALUE_NONE)
                known[layer->step->outputs[k].value] = layer->settled && layer->step->kernel->outputs_known;
    }
}

static size_t list_memory_blocks(const struct variant *variant, const struct value_lifetimes *lifetimes,
                                 struct memory_block *blocks, uint32_t *values)
{
    const struct network *network = variant->engine->network;
    size_t count = 0;

    for (size_t i = 0; i < network->layers.count; i++) {
        const struct layer_step *step = variant->layers[i].step;

        for (size_t k = 0; k < step->request.kernel.layer->outputs.count; k++) {
            uint32_t value = step->outputs[k].value;

            if (!value_is_in_plan(step, k, lifetimes))
                continue;
            blocks[count] = (struct memory_block){.size = step->kernel_outputs[k].size,
                                                  .first = i,
                                                  .last = lifetimes->is_output[value] ? network->layers.count
                                                                                      : lifetimes->last_use[value]};
            values[count++] = value;
        }
    }
    return count;
}

static int allocate_memory_plan(struct variant *variant, struct error *err)
{
    size_t layers = variant->engine->network->layers.count;

    for (size_t i = 0; i < layers; i++)
        if (variant->layers[i].step->scratch_size > variant->scratch_size)
            variant->scratch_size = variant->layers[i].step->scratch_size;
    variant->memory = aligned_alloc(LAYER_ALIGNMENT, variant->memory_size + LAYER_ALIGNMENT);
    variant->scratch = aligned_alloc(LAYER_ALIGNMENT, variant->scratch_size + LAYER_ALIGNMENT);
    if (variant->memory == NULL || variant->scratch == NULL) {
        free(variant->memory); /* the next run plans again */
        free(variant->scratch);
        variant->memory = variant->scratch = NULL;
        return error_set(err, ERR_MEMORY, "there is not enough memory for activations of %zu bytes",
                         variant->memory_size);
    }
    for (size_t i = 0; i < layers; i++)
        layer_step_set_scratch(variant->layers[i].step, variant->scratch);
    return 0;
}

int variant_plan(struct variant *variant, const struct value_lifetimes *lifetimes, struct error *err)
{
    size_t all = variant->engine->network->model->values.count;
    struct memory_block *blocks SCOPED_FREE = memory_alloc_zero(all, sizeof(*blocks));
    uint32_t *values SCOPED_FREE = memory_alloc_zero(all, sizeof(*values));
    size_t count = list_memory_blocks(variant, lifetimes, blocks, values);
    int rc;

    variant->memory_size = memory_plan(blocks, count);
    variant->without_reuse = memory_plan_without_reuse(blocks, count);
    if (variant->memory_size >= PTRDIFF_MAX)
        rc = error_set(err, ERR_MEMORY, "the activations do not fit into memory");
    else
        rc = memory_limit_check(variant->memory_size, "the activations that are needed at the same time", err);
    if (rc < 0)
        return rc;
    rc = allocate_memory_plan(variant, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < count; i++)
        variant->offsets[values[i]] = blocks[i].offset;
    settle_layers(variant);
    variant->planned = true;
    return rc;
}
