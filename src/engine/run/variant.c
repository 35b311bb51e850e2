/* engine/run/variant.c: see variant.h. */
#include "engine/run/variant.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/memory_limit.h"
#include "base/stopwatch.h"
#include "engine/run/memory_plan.h"

/* --- lifetimes --- */

static void note_use(struct value_lifetimes *lifetimes, const struct value_list *values, size_t layer)
{
    for (size_t i = 0; i < values->count; i++)
        if (values->items[i] != VALUE_NONE)
            lifetimes->last_use[values->items[i]] = layer;
}

/* Values by the layer of their last use: counted, then filed. */
static void list_ending(struct value_lifetimes *lifetimes, const struct network *network)
{
    size_t layers = network->layers.count, values = network->model->values.count;
    size_t *next = memory_alloc_zero(layers + 1, sizeof(*next));

    for (size_t i = 0; i < values; i++)
        if (lifetimes->last_use[i] != SIZE_MAX && !lifetimes->is_output[i])
            lifetimes->ending_start[lifetimes->last_use[i] + 1]++;
    for (size_t i = 0; i < layers; i++)
        lifetimes->ending_start[i + 1] += lifetimes->ending_start[i];
    memcpy(next, lifetimes->ending_start, (layers + 1) * sizeof(*next));
    for (size_t i = 0; i < values; i++)
        if (lifetimes->last_use[i] != SIZE_MAX && !lifetimes->is_output[i])
            lifetimes->ending[next[lifetimes->last_use[i]]++] = (uint32_t)i;
    free(next);
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
        note_use(lifetimes, &network->layers.items[i].inputs, i);
        note_use(lifetimes, &network->layers.items[i].outputs, i);
    }
    for (size_t i = 0; i < network->outputs.count; i++)
        lifetimes->is_output[network->outputs.items[i]] = true;
    list_ending(lifetimes, network);
}

void value_lifetimes_release(struct value_lifetimes *lifetimes)
{
    free(lifetimes->last_use);
    free(lifetimes->is_output);
    free(lifetimes->ending);
    free(lifetimes->ending_start);
}

/* --- a variant --- */

struct variant *variant_new(const struct network *network, const struct tensor *const *feed)
{
    struct variant *variant = memory_alloc_zero(1, sizeof(*variant));
    size_t values = network->model->values.count;

    variant->inputs = memory_alloc_zero(network->inputs.count, sizeof(*variant->inputs));
    variant->types = memory_alloc_zero(network->inputs.count, sizeof(*variant->types));
    for (size_t i = 0; i < network->inputs.count; i++) {
        variant->inputs[i] = feed[i]->shape;
        variant->types[i] = feed[i]->type;
    }
    variant->values = memory_alloc_zero(values, sizeof(*variant->values));
    variant->layers = memory_alloc_zero(network->layers.count, sizeof(*variant->layers));
    variant->offsets = memory_alloc_zero(values, sizeof(*variant->offsets));
    for (size_t i = 0; i < values; i++)
        variant->offsets[i] = SIZE_MAX;
    return variant;
}

void variant_free(struct variant *variant, const struct network *network)
{
    if (variant == NULL)
        return;
    variant_release_values(variant, network);
    for (size_t i = 0; i < network->layers.count; i++) {
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

static void release_value(struct layer_values *value)
{
    tensor_release(&value->tensor);
    value->exists = false;
}

void variant_release_ending(struct variant *variant, const struct value_lifetimes *lifetimes, size_t layer)
{
    for (size_t i = lifetimes->ending_start[layer]; i < lifetimes->ending_start[layer + 1]; i++) {
        struct layer_values *value = &variant->values[lifetimes->ending[i]];

        if (value->exists && value->tensor.free_owner != NULL)
            release_value(value);
    }
}

/* Everything but what stands in planned memory, which is there for the next run. */
void variant_release_values(struct variant *variant, const struct network *network)
{
    for (size_t i = 0; i < network->inputs.count; i++)
        release_value(&variant->values[network->inputs.items[i]]);
    for (size_t i = 0; i < network->layers.count; i++) {
        const struct value_list *outputs = &network->layers.items[i].outputs;

        for (size_t k = 0; k < outputs->count; k++)
            if (outputs->items[k] != VALUE_NONE && variant->values[outputs->items[k]].tensor.free_owner != NULL)
                release_value(&variant->values[outputs->items[k]]);
    }
}

/* --- the steps of a layer --- */

/* Puts the layer's outputs where the plan has them, or (for another step) nowhere. */
static void bind_outputs(struct variant *variant, size_t layer, bool bound)
{
    const struct layer_step *step = variant->layers[layer].step;

    if (variant->layers[layer].bound == bound)
        return;
    variant->layers[layer].bound = bound;
    for (size_t i = 0; i < step->layer->outputs.count; i++) {
        const struct step_output *output = &step->outputs[i];
        struct layer_values *value;

        if (output->value == VALUE_NONE || variant->offsets[output->value] == SIZE_MAX)
            continue;
        value = &variant->values[output->value];
        release_value(value);
        if (!bound)
            continue;
        tensor_borrow(step->kernel_outputs[i].type, &step->kernel_outputs[i].shape,
                      variant->memory + variant->offsets[output->value], step->kernel_outputs[i].size, &value->tensor);
        value->layout = output->layout;
        value->exists = true;
    }
}

/* Whether the layer's inputs have the shapes with which its tactic was chosen. */
static bool is_as_built(const struct variant *variant, const struct network *network, const struct layer *layer,
                        const struct engine_layer *choice)
{
    if (choice->input_shapes == NULL)
        return false;
    for (size_t i = 0; i < layer->inputs.count; i++) {
        uint32_t value = layer->inputs.items[i];

        if (value != VALUE_NONE && network->model->values.items[value].initializer == INITIALIZER_NONE &&
            !shape_equal(&variant->values[value].tensor.shape, &choice->input_shapes[i]))
            return false;
    }
    return true;
}

/* Other shapes may be such that the chosen tactic does not take them. If it does not even take those that it was chosen
 * for, then something else computes here than where the engine was built, and that is not glossed over. */
static int make_step(struct variant *variant, const struct engine *engine, size_t i, struct log *log,
                     struct layer_step **ret, struct error *err)
{
    const struct layer *layer = &engine->network->layers.items[i];
    const struct engine_layer *choice = &engine->layers[i];
    struct string_builder name;
    int rc = layer_step_new(engine, layer, choice, variant->values, ret, err);

    if (rc != ERR_UNSUPPORTED)
        return rc < 0 ? error_context(err, "layer '%s'", layer->name) : 0;
    if (is_as_built(variant, engine->network, layer, choice))
        return error_context(err,
                             "the engine was built on another machine or with other libraries, and has to be built "
                             "again");
    string_init(&name);
    rc = layer_step_new_any(engine, layer, choice, variant->values, ret, &name, err);
    if (rc == 0)
        log_once(log, LOG_WARNING,
                 "Layer '%s': its tactic '%s' does not take inputs of these shapes, so '%s' is used for them",
                 layer->name, choice->tactic.name, name.data);
    string_release(&name);
    return rc;
}

static int other_step(struct variant *variant, const struct engine *engine, size_t i, struct log *log,
                      struct layer_step **ret, double *ret_seconds, struct error *err)
{
    struct variant_layer *layer = &variant->layers[i];
    struct layer_step *made = NULL;
    double start;
    int rc;

    for (size_t k = 0; k < VARIANT_OTHER_STEPS; k++)
        if (layer->others[k] != NULL && layer_step_fits(layer->others[k], variant->values)) {
            *ret = layer->others[k];
            return 0;
        }
    start = stopwatch_now();
    rc = make_step(variant, engine, i, log, &made, err);
    *ret_seconds += stopwatch_now() - start;
    if (rc < 0)
        return rc;
    layer_step_free(layer->others[layer->next_other]);
    layer->others[layer->next_other] = made;
    layer->next_other = (layer->next_other + 1) % VARIANT_OTHER_STEPS;
    *ret = made;
    return 0;
}

int variant_step(struct variant *variant, const struct engine *engine, size_t i, struct log *log,
                 struct layer_step **ret, double *ret_seconds, struct error *err)
{
    struct variant_layer *layer = &variant->layers[i];
    int rc;

    if (layer->settled || (layer->step != NULL && layer_step_fits(layer->step, variant->values))) {
        if (variant->planned && !layer->bound)
            bind_outputs(variant, i, true);
        *ret = layer->step;
        return 0;
    }
    if (layer->step == NULL) {
        double start = stopwatch_now();

        rc = make_step(variant, engine, i, log, &layer->step, err);
        *ret_seconds += stopwatch_now() - start;
        *ret = layer->step;
        return rc;
    }
    bind_outputs(variant, i, false);
    return other_step(variant, engine, i, log, ret, ret_seconds, err);
}

/* --- memory --- */

/* Whether an output has a place in the plan. What the caller is handed over stays out when it can be written in
 * place. */
static bool in_plan(const struct layer_step *step, size_t output, const struct value_lifetimes *lifetimes)
{
    const struct step_output *described = &step->outputs[output];

    return described->value != VALUE_NONE && step->kernel->outputs_known &&
           (!lifetimes->is_output[described->value] || !layout_is_row_major(&described->layout));
}

/* A layer is settled when none of its inputs can have another shape the next time. */
static void settle(struct variant *variant, const struct network *network)
{
    bool *known = memory_alloc_zero(network->model->values.count, sizeof(*known));

    for (size_t i = 0; i < network->inputs.count; i++)
        known[network->inputs.items[i]] = true;
    for (size_t i = 0; i < network->layers.count; i++) {
        struct variant_layer *layer = &variant->layers[i];

        layer->settled = true;
        for (size_t k = 0; k < layer->step->layer->inputs.count; k++)
            if (layer->step->inputs[k].value != VALUE_NONE && !known[layer->step->inputs[k].value])
                layer->settled = false;
        for (size_t k = 0; k < layer->step->layer->outputs.count; k++)
            if (layer->step->outputs[k].value != VALUE_NONE)
                known[layer->step->outputs[k].value] = layer->settled && layer->step->kernel->outputs_known;
    }
    free(known);
}

static size_t list_blocks(const struct variant *variant, const struct network *network,
                          const struct value_lifetimes *lifetimes, struct memory_block *blocks, uint32_t *values)
{
    size_t count = 0;

    for (size_t i = 0; i < network->layers.count; i++) {
        const struct layer_step *step = variant->layers[i].step;

        for (size_t k = 0; k < step->layer->outputs.count; k++) {
            uint32_t value = step->outputs[k].value;

            if (!in_plan(step, k, lifetimes))
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

static int allocate_plan(struct variant *variant, const struct network *network, struct error *err)
{
    for (size_t i = 0; i < network->layers.count; i++)
        if (variant->layers[i].step->scratch_size > variant->scratch_size)
            variant->scratch_size = variant->layers[i].step->scratch_size;
    variant->memory = aligned_alloc(STEP_ALIGNMENT, variant->memory_size + STEP_ALIGNMENT);
    variant->scratch = aligned_alloc(STEP_ALIGNMENT, variant->scratch_size + STEP_ALIGNMENT);
    if (variant->memory == NULL || variant->scratch == NULL) {
        free(variant->memory); /* the next run plans again */
        free(variant->scratch);
        variant->memory = variant->scratch = NULL;
        return error_set(err, ERR_MEMORY, "there is not enough memory for activations of %zu bytes",
                         variant->memory_size);
    }
    for (size_t i = 0; i < network->layers.count; i++)
        layer_step_set_scratch(variant->layers[i].step, variant->scratch);
    return 0;
}

int variant_plan(struct variant *variant, const struct network *network, const struct value_lifetimes *lifetimes,
                 struct error *err)
{
    struct memory_block *blocks = memory_alloc_zero(network->model->values.count, sizeof(*blocks));
    uint32_t *values = memory_alloc_zero(network->model->values.count, sizeof(*values));
    size_t count = list_blocks(variant, network, lifetimes, blocks, values);
    int rc;

    variant->memory_size = memory_plan(blocks, count);
    variant->without_reuse = memory_plan_without_reuse(blocks, count);
    if (variant->memory_size >= PTRDIFF_MAX)
        rc = error_set(err, ERR_MEMORY, "the activations do not fit into memory");
    else
        rc = memory_limit_check(variant->memory_size, "the activations that are needed at the same time", err);
    if (rc == 0)
        rc = allocate_plan(variant, network, err);
    for (size_t i = 0; i < count && rc == 0; i++)
        variant->offsets[values[i]] = blocks[i].offset;
    if (rc == 0) {
        settle(variant, network);
        variant->planned = true;
    }
    free(blocks);
    free(values);
    return rc;
}
