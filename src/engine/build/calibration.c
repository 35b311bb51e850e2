/* engine/build/calibration.c: the scales of int8 layers' inputs. See state.h. */
#include "engine/build/state.h"

#include <stdlib.h>

#include "base/container/bitset.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "engine/build/inputs.h"
#include "engine/run/layer_request.h"
#include "engine/run/layer_step.h"

/* Limits above which clipping is reported: fractions of values, and of their sum. */
#define MOST_VALUES 0.5
#define MUCH_OF_SUM 0.25

/* Maximum number of tensors listed by name; the others are counted. */
#define CLIPPING_LINES 8

static bool layer_is_int8(const struct engine_builder *build, size_t layer)
{
    return build->engine->layers[layer].precision.precision == PRECISION_INT8;
}

static bool layer_input_is_quantized(const struct engine_builder *build, size_t layer, size_t input)
{
    const struct network *network = build->engine->network;
    uint32_t value = network->layers.items[layer].inputs.items[input];

    return value != VALUE_NONE && !layer_value_is_constant(network, value) &&
           precision_narrows_input(network, &network->layers.items[layer], input, PRECISION_INT8);
}

/* Handles a tensor without values, for which no scale can be computed. */
static int keep_layer_in_float32(struct engine_builder *build, size_t layer, struct text tensor, struct error *err)
{
    struct engine_layer *choice = &build->engine->layers[layer];
    const char *name = build->engine->network->layers.items[layer].name;

    if (choice->precision.constrained && build->settings->precision.constraints == PRECISION_CONSTRAINTS_OBEY)
        return error_set(err, ERR_INVALID,
                         "layer '%s': int8 needs a scale for tensor '" TEXT_FORMAT
                         "', which had no finite values in the calibration: give data in which it has some "
                         "(--load-inputs), or leave the layer its precision",
                         name, TEXT_ARGS(tensor));
    log_once(build->settings->log, LOG_WARNING,
             "Layer '%s' stays in float32: tensor '" TEXT_FORMAT
             "' had no finite values in the calibration, so int8 has no scale for it",
             name, TEXT_ARGS(tensor));
    choice->precision.precision = PRECISION_FLOAT32;
    free(choice->input_scales);
    choice->input_scales = NULL;
    return 0;
}

/* Sets the scales of all quantized inputs. ERR_INVALID if one is missing; `err` may be NULL. */
static int set_int8_scales(struct engine_builder *build, struct error *err)
{
    const struct network *network = build->engine->network;

    for (size_t i = 0; i < network->layers.count; i++) {
        const struct value_list *inputs = &network->layers.items[i].inputs;
        struct engine_layer *choice = &build->engine->layers[i];

        if (!layer_is_int8(build, i))
            continue;
        free(choice->input_scales);
        choice->input_scales = memory_alloc_zero(inputs->count, sizeof(*choice->input_scales));
        for (size_t j = 0; layer_is_int8(build, i) && j < inputs->count; j++) {
            if (!layer_input_is_quantized(build, i, j))
                continue;
            struct text name = network->model->values.items[inputs->items[j]].name;

            if (calibration_saw_nothing(build->settings->calibration, name)) {
                int rc = keep_layer_in_float32(build, i, name, err);

                if (rc < 0)
                    return rc;
                continue;
            }
            if (!calibration_scale(build->settings->calibration, name, &choice->input_scales[j]))
                return error_set(err, ERR_INVALID,
                                 "layer '%s': the calibration has no scale for tensor '" TEXT_FORMAT
                                 "', which int8 needs: calibrate again, without the calibration cache",
                                 network->layers.items[i].name, TEXT_ARGS(name));
        }
    }
    return 0;
}

/* Observes each tensor once per iteration, even if several layers read it. */
static void observe_layer_inputs(struct engine_builder *build, size_t layer, struct bitset *seen)
{
    const struct value_list *inputs = &build->engine->network->layers.items[layer].inputs;

    for (size_t i = 0; layer_is_int8(build, layer) && i < inputs->count; i++) {
        uint32_t value = inputs->items[i];

        if (!layer_input_is_quantized(build, layer, i) || bitset_has(seen, value))
            continue;
        const struct layer_values *has = &build->walk.values[value];
        bitset_add(seen, value);
        /* Padding is 0 in every layout, and zeros do not affect a scale. */
        calibration_observe(build->settings->calibration, build->engine->network->model->values.items[value].name,
                            has->tensor.data, has->tensor.size / sizeof(float));
    }
}

static int run_float32_layer(struct engine_builder *build, size_t layer, struct layer_step **step, struct error *err)
{
    if (interrupt_pending())
        return error_set(err, ERR_INTERRUPTED, "interrupted");
    if (*step && layer_step_fits(*step, build->walk.values))
        return layer_step_run(*step, build->walk.values, err);
    layer_step_free(*step);
    *step = NULL;
    return build_plain_step(build, layer, step, err);
}

/* Runs the first `count` layers. */
static int run_calibration_iteration(struct engine_builder *build, struct tensor_list *feed, struct layer_step **steps,
                                     size_t count, struct error *err)
{
    SCOPED_BITSET(seen);
    int rc = layer_walk_feed(&build->walk, feed, err);

    bitset_init(&seen, build->engine->network->model->values.count);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        observe_layer_inputs(build, i, &seen);
        rc = run_float32_layer(build, i, &steps[i], err);
        if (rc == 0)
            layer_walk_leave(&build->walk, i);
    }
    return rc;
}

static int run_calibration_iterations(struct engine_builder *build, struct tensor_list *first, size_t count,
                                      struct error *err)
{
    const struct builder_settings *settings = build->settings;
    struct layer_step **steps = memory_alloc_zero(count, sizeof(struct layer_step *));
    int rc = run_calibration_iteration(build, first, steps, count, err);

    for (int64_t i = 1; rc == 0 && i < settings->sample.iterations; i++) {
        struct tensor_list feed SCOPED(tensor_list_release) = {0};

        rc = builder_feed(build->engine->network, settings, i, &feed, err);
        if (rc == 0)
            rc = run_calibration_iteration(build, &feed, steps, count, err);
    }
    for (size_t i = 0; i < count; i++)
        layer_step_free(steps[i]);
    free(steps);
    return rc < 0 ? error_context(err, "calibration") : 0;
}

/* Scales from random data may not suit real data. */
static void warn_of_generated_data(struct log *log, const char *source, const char *remedy)
{
    log_once(log, LOG_WARNING,
             "Int8 Calibration is using %srandomly generated input data.\n"
             "This could negatively impact accuracy if the inference-time input data is dissimilar to the randomly "
             "generated calibration data.\n"
             "You may want to consider providing real data via the --load-inputs option%s.",
             source, remedy);
}

/* Warns about heavily clipped tensors: products with them may have wrong signs. */
static void warn_of_clipping(struct engine_builder *build)
{
    const struct network *network = build->engine->network;
    SCOPED_BITSET(seen);
    size_t count = 0;

    bitset_init(&seen, network->model->values.count);
    for (size_t i = 0; i < network->layers.count; i++)
        for (size_t j = 0; layer_is_int8(build, i) && j < network->layers.items[i].inputs.count; j++) {
            uint32_t value = network->layers.items[i].inputs.items[j];
            struct calibration_clipping clipping;

            if (!layer_input_is_quantized(build, i, j) || bitset_has(&seen, value))
                continue;
            bitset_add(&seen, value);
            if (!calibration_clipping(build->settings->calibration, network->model->values.items[value].name,
                                      &clipping) ||
                (clipping.clipped_values <= MOST_VALUES && clipping.clipped_sum <= MUCH_OF_SUM))
                continue;
            if (count++ < CLIPPING_LINES)
                log_once(
                    build->settings->log, LOG_WARNING,
                    "Int8 calibration clips tensor '" TEXT_FORMAT
                    "' hard: absolute values reach %.6g, and %.6g is kept; %.3g%% of the values and %.3g%% of their "
                    "sum are cut off, which can turn the signs of results: try --calibration-base-class "
                    "IInt8MinMaxCalibrator",
                    TEXT_ARGS(network->model->values.items[value].name), (double)clipping.largest,
                    (double)clipping.range, 100 * clipping.clipped_values, 100 * clipping.clipped_sum);
        }
    if (count > CLIPPING_LINES)
        log_once(build->settings->log, LOG_WARNING, "Int8 calibration clips %zu more tensors like that",
                 count - CLIPPING_LINES);
}

int builder_calibrate(struct engine_builder *build, struct tensor_list *feed, struct error *err)
{
    const struct builder_settings *settings = build->settings;
    size_t count = build->engine->network->layers.count;

    while (count > 0 && !layer_is_int8(build, count - 1))
        count--;
    if (count == 0)
        return 0;
    if (!settings->calibration)
        return error_set(err, ERR_INVALID, "int8 needs a calibration");
    if (calibration_is_loaded(settings->calibration)) {
        if (calibration_is_generated(settings->calibration))
            warn_of_generated_data(settings->log, "a calibration cache that was made with ",
                                   ", and removing the cache");
        return set_int8_scales(build, err);
    }
    if (set_int8_scales(build, NULL) == 0)
        return 0;
    if (settings->sample.generated) {
        warn_of_generated_data(settings->log, "", "");
        calibration_mark_generated(settings->calibration);
    }
    log_message(settings->log, LOG_INFO, "Calibrating with %lld iterations of the sample data",
                (long long)(settings->sample.iterations > 1 ? settings->sample.iterations : 1));
    int rc = run_calibration_iterations(build, feed, count, err);
    if (rc == 0)
        rc = set_int8_scales(build, err);
    if (rc == 0)
        warn_of_clipping(build);
    return rc;
}
