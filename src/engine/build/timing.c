/* engine/build/timing.c: see timing.h. */
#include "engine/build/timing.h"

#include <math.h>
#include <stdlib.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/system.h"

#define MOST_RUNS 100

/* The first run of a tactic includes cold caches and page faults: up to this time it is not abandoned. */
#define COLD_START 0.001
#define SMALLEST_TIME 1e-9

/* An input of the layer, converted to another layout. */
struct reordered {
    size_t input;
    struct layout layout;
    struct tensor tensor;
    double seconds; /* of the reorder */
};

struct layer_timer {
    const struct layer_request *request;
    const struct timing_effort *effort;
    VECTOR(struct reordered) reordered;
    double spent; /* seconds, by all tactics so far */
};

const struct timing_effort *timing_effort_of(int64_t level)
{
    static const struct timing_effort efforts[] = {
        {3, 1, 10, 0.001, 0.01},           {8, 2, 20, 0.003, 0.05},          {SIZE_MAX, 5, 50, 0.01, 0.4},
        {SIZE_MAX, 7, MOST_RUNS, 0.03, 1}, {SIZE_MAX, 9, MOST_RUNS, 0.1, 4},
    };
    int64_t last = (int)ARRAY_LEN(efforts);

    return &efforts[(level < 1 ? 1 : level > last ? last : level) - 1];
}

struct layer_timer *layer_timer_new(const struct layer_request *request, const struct timing_effort *effort)
{
    struct layer_timer *timer = memory_alloc_zero(1, sizeof(*timer));

    timer->request = request;
    timer->effort = effort;
    return timer;
}

void layer_timer_free(struct layer_timer *timer)
{
    if (!timer)
        return;
    for (size_t i = 0; i < timer->reordered.count; i++)
        tensor_release(&timer->reordered.items[i].tensor);
    free(timer->reordered.items);
    free(timer);
}

/* ---- Median of runs ---- */

struct measured {
    int (*run)(void *context, struct error *err);
    void *context;
};

static int compare_seconds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double median_of_seconds(double *seconds, size_t count)
{
    qsort(seconds, count, sizeof(*seconds), compare_seconds);
    return count % 2 == 1 ? seconds[count / 2] : (seconds[count / 2 - 1] + seconds[count / 2]) / 2;
}

static int time_one_run(const struct measured *measured, double *ret_seconds, struct error *err)
{
    double start = stopwatch_now();
    int rc = measured->run(measured->context, err);

    *ret_seconds = fmax(stopwatch_now() - start, SMALLEST_TIME);
    if (rc == 0 && interrupt_pending())
        rc = error_set(err, ERR_INTERRUPTED, "interrupted");
    return rc;
}

static bool has_run_enough(const struct layer_timer *timer, size_t runs, double spent)
{
    const struct timing_effort *effort = timer->effort;

    if (timer->spent + spent > effort->seconds_per_layer)
        return true;
    return runs >= effort->minimum_runs && (spent >= effort->seconds_per_tactic || runs >= effort->maximum_runs);
}

static int measure_median(struct layer_timer *timer, const struct measured *measured, double limit, double *ret,
                          struct error *err)
{
    double seconds[MOST_RUNS], spent = 0;
    size_t runs = 0;
    int rc = time_one_run(measured, ret, err);

    if (rc < 0)
        return rc;
    timer->spent += *ret;
    if (*ret > limit && *ret > COLD_START)
        return 0;
    do {
        rc = time_one_run(measured, &seconds[runs], err);
        if (rc < 0)
            return rc;
        spent += seconds[runs++];
    } while (runs < MOST_RUNS && seconds[0] <= limit && !has_run_enough(timer, runs, spent));
    timer->spent += spent;
    *ret = median_of_seconds(seconds, runs);
    return 0;
}

static int allocate_in_layout(enum data_type type, const struct shape *shape, const struct layout *layout,
                              struct tensor *ret, struct error *err)
{
    return layer_tensor_allocate(type, shape, layout_bytes(layout, type, shape), ret, err);
}

/* ---- Reorders ---- */

struct reorder_run {
    struct reorder *state;
    struct layout_change change;
    const void *source;
    void *target;
};

static int run_reorder_once(void *context, struct error *err)
{
    struct reorder_run *run = context;

    return reorder_run(&run->state, &run->change, run->source, run->target, err);
}

static int make_reordered_input(struct layer_timer *timer, size_t input, const struct layout *layout,
                                struct reordered *ret, struct error *err)
{
    const struct tensor *source = &timer->request->tensors[input];
    struct reorder_run run = {
        .change = {source->type, &source->shape, &timer->request->inputs[input].layout, layout},
        .source = source->data,
    };
    struct measured measured = {run_reorder_once, &run};
    int rc = allocate_in_layout(source->type, &source->shape, layout, &ret->tensor, err);

    ret->input = input;
    ret->layout = *layout;
    run.target = ret->tensor.owner;
    if (rc == 0)
        rc = measure_median(timer, &measured, INFINITY, &ret->seconds, err);
    reorder_free(run.state);
    if (rc < 0)
        tensor_release(&ret->tensor);
    return rc;
}

static const struct reordered *find_reordered_input(const struct layer_timer *timer, size_t input,
                                                    const struct layout *layout)
{
    for (size_t i = 0; i < timer->reordered.count; i++)
        if (timer->reordered.items[i].input == input && layout_equal(&timer->reordered.items[i].layout, layout))
            return &timer->reordered.items[i];
    return NULL;
}

/* Provides the input in the tactic's layout; adds the time of the reorder to `seconds`. */
static int prepare_timed_input(struct layer_timer *timer, size_t input, const struct layout *layout, struct tensor *ret,
                               double *seconds, struct error *err)
{
    const struct kernel_input *is = &timer->request->inputs[input];
    const struct reordered *found;
    struct reordered made = {0};

    *ret = timer->request->tensors[input];
    if (!is->present || is->constant || layout_equal(&is->layout, layout))
        return 0;
    found = find_reordered_input(timer, input, layout);
    if (!found) {
        int rc = make_reordered_input(timer, input, layout, &made, err);

        if (rc < 0)
            return rc;
        *VECTOR_APPEND(&timer->reordered) = made;
        found = &made;
    }
    *ret = found->tensor;
    *seconds += found->seconds;
    return 0;
}

/* ---- Kernels ---- */

struct kernel_run {
    struct kernel *kernel;
    struct tensor *inputs, *outputs; /* inputs are borrowed, outputs owned */
    size_t output_count;
};

/* Outputs allocated by the kernel are released within the measured time, because every run allocates them. */
static int run_kernel_once(void *context, struct error *err)
{
    struct kernel_run *run = context;
    int rc = run->kernel->functions->run(run->kernel, run->inputs, run->outputs, err);

    for (size_t i = 0; !run->kernel->outputs_known && i < run->output_count; i++)
        tensor_release(&run->outputs[i]);
    return rc;
}

/* The type from the model, else that of the inputs: kernels with known output shapes compute in one type. */
static enum data_type timed_output_type(const struct kernel_request *request, uint32_t value)
{
    enum data_type type = network_type(request->network, value);

    for (size_t i = 0; i < request->layer->inputs.count && type == DATA_UNDEFINED; i++)
        type = request->inputs[i].present ? request->inputs[i].type : DATA_UNDEFINED;
    return type;
}

int layer_timer_measure(struct layer_timer *timer, const struct tactic *tactic, double limit, double *ret_seconds,
                        bool *ret_made, struct error *err)
{
    const struct kernel_request *request = &timer->request->kernel;
    const struct layer *layer = request->layer;
    struct kernel_run run = {.output_count = layer->outputs.count};
    struct measured measured = {run_kernel_once, &run};
    double reorders = 0;
    int rc = tactic->provider->create(tactic->provider, request, tactic, &run.kernel, err);

    *ret_made = rc == 0;
    if (rc < 0)
        return rc;
    run.inputs = memory_alloc_zero(layer->inputs.count, sizeof(*run.inputs));
    run.outputs = memory_alloc_zero(layer->outputs.count, sizeof(*run.outputs));
    for (size_t i = 0; i < layer->inputs.count; i++) {
        rc = prepare_timed_input(timer, i, &tactic->input_layouts[i], &run.inputs[i], &reorders, err);
        if (rc < 0)
            goto done;
    }
    for (size_t i = 0; run.kernel->outputs_known && i < run.output_count; i++) {
        uint32_t value = layer->outputs.items[i];

        if (value == VALUE_NONE)
            continue;
        rc = allocate_in_layout(timed_output_type(request, value), &run.kernel->output_shapes[i],
                                &tactic->output_layouts[i], &run.outputs[i], err);
        if (rc < 0)
            goto done;
    }
    rc = measure_median(timer, &measured, limit, ret_seconds, err);
    if (rc < 0)
        goto done;
    *ret_seconds += reorders;
done:
    for (size_t i = 0; i < run.output_count; i++)
        tensor_release(&run.outputs[i]);
    free(run.outputs);
    free(run.inputs);
    kernel_free(run.kernel);
    return rc;
}
