/* debug/precision/scores.c: see scores.h. */
#include "debug/precision/scores.h"

#include <math.h>
#include <stdlib.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "engine/build/inputs.h"
#include "engine/build/layer_walk.h"

struct scoring {
    const struct engine *low;
    struct engine high; /* the same network with separate layers */
    struct layer_walk high_walk, low_walk;
    bool low_is_lost;              /* a layer failed on inputs in lower precision */
    struct layer_values *isolated; /* of each value: output of a single layer in lower precision */
    double *errors;                /* of each value: error of the lower precision */
    struct precision_survey *survey;
};

/* ---- Ranges ---- */

/* Tolerated share of a tensor that underflows to 0. */
#define LOST_SHARE 0.01

/* The smallest magnitude that rounds to infinity; the largest that rounds to 0. */
static double smallest_infinite(enum precision precision)
{
    return precision == PRECISION_BFLOAT16 ? 0x1.ffp127 : 65520;
}

static double largest_zero(enum precision precision)
{
    return precision == PRECISION_BFLOAT16 ? 0x1p-134 : 0x1p-25;
}

static enum precision_range range_of(const struct tensor *tensor, enum precision precision)
{
    size_t count = tensor->size / sizeof(float);
    const float *values = tensor->data;
    double infinite = smallest_infinite(precision), zero = largest_zero(precision), lost = 0, sum = 0;

    if (tensor->type != DATA_FLOAT32)
        return PRECISION_FITS;
    for (size_t i = 0; i < count; i++) {
        double magnitude = fabs((double)values[i]);

        if (!isfinite(magnitude))
            continue;
        if (magnitude >= infinite)
            return PRECISION_OVERFLOWS;
        sum += magnitude;
        lost += magnitude <= zero ? magnitude : 0;
    }
    return lost > sum * LOST_SHARE ? PRECISION_VANISHES : PRECISION_FITS;
}

static enum precision_range choose_worse(enum precision_range a, enum precision_range b)
{
    return a > b ? a : b;
}

/* Range of an input as the layer reads it, or of an output. */
static int value_range(const struct scoring *scoring, uint32_t value, enum precision precision,
                       enum precision_range *ret, struct error *err)
{
    const struct network *network = scoring->high.network;
    struct tensor constant SCOPED(tensor_release) = {0};
    int rc;

    if (!layer_value_is_constant(network, value)) {
        const struct layer_values *made = &scoring->high_walk.values[value];

        *ret = made->exists ? choose_worse(*ret, range_of(&made->tensor, precision)) : *ret;
        return 0;
    }
    rc = layer_constant_read(network, value, &constant, err);
    if (rc < 0)
        return rc;
    *ret = choose_worse(*ret, range_of(&constant, precision));
    return 0;
}

/* Called after the layer has run in higher precision, while its inputs exist. */
static int survey_layer(struct scoring *scoring, size_t index, struct error *err)
{
    const struct network *network = scoring->high.network;
    const struct layer *layer = &network->layers.items[index];
    enum precision precision = scoring->low->layers[index].precision.precision;
    enum precision_range *range = &scoring->survey->ranges[index];
    int rc = 0;

    if (precision != PRECISION_FLOAT16 && precision != PRECISION_BFLOAT16)
        return 0;
    for (size_t i = 0; rc == 0 && i < layer->inputs.count; i++)
        if (layer->inputs.items[i] != VALUE_NONE && precision_narrows_input(network, layer, i, precision))
            rc = value_range(scoring, layer->inputs.items[i], precision, range, err);
    for (size_t i = 0; rc == 0 && i < layer->outputs.count; i++)
        if (layer->outputs.items[i] != VALUE_NONE)
            rc = value_range(scoring, layer->outputs.items[i], precision, range, err);
    return rc;
}

static void note_elements(struct scoring *scoring, const struct value_list *values)
{
    for (size_t i = 0; i < values->count; i++)
        if (values->items[i] != VALUE_NONE && scoring->high_walk.values[values->items[i]].exists)
            scoring->survey->elements[values->items[i]] =
                tensor_elements(&scoring->high_walk.values[values->items[i]].tensor);
}

/* ---- Errors ---- */

/* Mean square of the difference over that of `expected`; infinity if a finite value is no longer finite. */
static double relative_error(const struct tensor *actual, const struct tensor *expected)
{
    size_t count = expected->size / sizeof(float);
    const float *a = actual->data, *b = expected->data;
    double difference = 0, size = 0;

    if (expected->type != DATA_FLOAT32)
        return 0;
    if (actual->type != DATA_FLOAT32 || actual->size != expected->size)
        return INFINITY;
    for (size_t i = 0; i < count; i++) {
        double delta = (double)a[i] - (double)b[i];

        if (!isfinite(b[i]))
            continue;
        if (!isfinite(a[i]))
            return INFINITY;
        difference += delta * delta;
        size += (double)b[i] * (double)b[i];
    }
    return difference == 0 ? 0 : size == 0 ? INFINITY : difference / size;
}

/* The largest error of a layer's outputs. */
static double output_error(const struct layer *layer, const struct layer_values *actual,
                           const struct layer_values *expected)
{
    double ret = 0;

    for (size_t i = 0; i < layer->outputs.count; i++) {
        uint32_t value = layer->outputs.items[i];

        if (value != VALUE_NONE && expected[value].exists)
            ret = fmax(ret, actual[value].exists ? relative_error(&actual[value].tensor, &expected[value].tensor)
                                                 : (double)INFINITY);
    }
    return ret;
}

/* Increase of the lower precision's error in a layer; stores the error of its outputs. */
static double error_growth(struct scoring *scoring, const struct layer *layer)
{
    double before = 0, after = output_error(layer, scoring->low_walk.values, scoring->high_walk.values);

    for (size_t i = 0; i < layer->inputs.count; i++)
        if (layer->inputs.items[i] != VALUE_NONE)
            before = fmax(before, scoring->errors[layer->inputs.items[i]]);
    for (size_t i = 0; i < layer->outputs.count; i++)
        if (layer->outputs.items[i] != VALUE_NONE)
            scoring->errors[layer->outputs.items[i]] = after;
    return after > before ? after - before : 0; /* infinite after infinite is no increase */
}

/* ---- Layers ---- */

static int run_layer(const struct engine *engine, size_t index, const struct engine_layer *choice,
                     struct layer_values *values, struct error *err)
{
    struct layer_step *step = NULL;
    int rc = layer_step_new(engine, &engine->network->layers.items[index], choice, values, &step, err);

    if (rc == 0)
        rc = layer_step_run(step, values, err);
    layer_step_free(step);
    return rc;
}

static bool is_fatal(int rc)
{
    return rc == ERR_MEMORY || rc == ERR_INTERRUPTED;
}

/* Error in lower precision on inputs in higher precision. */
static int isolated_error(struct scoring *scoring, size_t index, double *ret, struct error *err)
{
    const struct layer *layer = &scoring->high.network->layers.items[index];
    struct layer_values *values = scoring->isolated;

    for (size_t i = 0; i < layer->inputs.count; i++)
        if (layer->inputs.items[i] != VALUE_NONE)
            values[layer->inputs.items[i]] = scoring->high_walk.values[layer->inputs.items[i]];
    int rc = run_layer(&scoring->high, index, &scoring->low->layers[index], values, err);
    if (!is_fatal(rc)) {
        *ret = rc < 0 ? (double)INFINITY : output_error(layer, values, scoring->high_walk.values);
        rc = 0;
    }
    for (size_t i = 0; i < layer->outputs.count; i++)
        if (layer->outputs.items[i] != VALUE_NONE) {
            tensor_release(&values[layer->outputs.items[i]].tensor);
            values[layer->outputs.items[i]] = (struct layer_values){0};
        }
    for (size_t i = 0; i < layer->inputs.count; i++)
        if (layer->inputs.items[i] != VALUE_NONE)
            values[layer->inputs.items[i]] = (struct layer_values){0};
    return rc;
}

/* Error in lower precision on inputs in lower precision. */
static int follow_low(struct scoring *scoring, size_t index, double *ret, struct error *err)
{
    int rc;

    if (scoring->low_is_lost)
        return 0;
    rc = run_layer(scoring->low, index, &scoring->low->layers[index], scoring->low_walk.values, err);
    if (is_fatal(rc))
        return rc;
    scoring->low_is_lost = rc < 0;
    *ret = rc < 0 ? (double)INFINITY : error_growth(scoring, &scoring->high.network->layers.items[index]);
    return 0;
}

static int score_layer(struct scoring *scoring, size_t index, double *ret, struct error *err)
{
    bool lowered = scoring->high.layers[index].precision.precision != scoring->low->layers[index].precision.precision;
    double alone = 0, growth = 0;
    int rc;

    if (interrupt_pending())
        return error_set(err, ERR_INTERRUPTED, "interrupted");
    rc = run_layer(&scoring->high, index, &scoring->high.layers[index], scoring->high_walk.values, err);
    if (rc == 0 && lowered)
        rc = survey_layer(scoring, index, err);
    if (rc < 0)
        return rc;
    note_elements(scoring, &scoring->high.network->layers.items[index].inputs);
    note_elements(scoring, &scoring->high.network->layers.items[index].outputs);
    if (lowered)
        rc = isolated_error(scoring, index, &alone, err);
    if (rc < 0)
        return rc;
    rc = follow_low(scoring, index, &growth, err);
    if (rc < 0)
        return rc;
    layer_walk_leave(&scoring->high_walk, index);
    layer_walk_leave(&scoring->low_walk, index);
    *ret = lowered ? fmax(alone, growth) : 0;
    return 0;
}

/* ---- All of them ---- */

static void make_high(struct scoring *scoring, const struct layer_precision *high)
{
    size_t count = scoring->low->network->layers.count;

    scoring->high = *scoring->low;
    scoring->high.layers = memory_alloc_zero(count, sizeof(*scoring->high.layers));
    for (size_t i = 0; i < count; i++) {
        scoring->high.layers[i] = scoring->low->layers[i];
        scoring->high.layers[i].precision = high[i];
    }
}

int precision_scores(const struct engine *low, const struct layer_precision *high,
                     const struct builder_settings *settings, struct precision_survey *ret, struct error *err)
{
    const struct network *network = low->network;
    struct scoring scoring = {.low = low, .survey = ret};
    struct tensor_list feed SCOPED(tensor_list_release) = {0};
    size_t values = network->model->values.count;
    int rc;

    make_high(&scoring, high);
    scoring.isolated = memory_alloc_zero(values, sizeof(*scoring.isolated));
    scoring.errors = memory_alloc_zero(values, sizeof(*scoring.errors));
    layer_walk_init(&scoring.high_walk, network);
    layer_walk_init(&scoring.low_walk, network);
    rc = builder_feed(network, settings, 0, &feed, err);
    if (rc < 0)
        goto done;
    rc = layer_walk_feed(&scoring.high_walk, &feed, err);
    if (rc < 0)
        goto done;
    rc = layer_walk_feed(&scoring.low_walk, &feed, err);
    for (size_t i = 0; rc == 0 && i < network->layers.count; i++)
        rc = score_layer(&scoring, i, &ret->scores[i], err);
done:
    layer_walk_release(&scoring.high_walk);
    layer_walk_release(&scoring.low_walk);
    free(scoring.errors);
    free(scoring.isolated);
    free(scoring.high.layers);
    return rc;
}
