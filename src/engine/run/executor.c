/* engine/run/executor.c: runs an engine. Everything that depends on input shapes is in a variant (variant.h). */
#include "engine/run/executor.h"

#include <stdlib.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/memory_limit.h"
#include "base/system.h"
#include "engine/run/variant.h"
#include "onnx/model/subgraph.h"

/* Maximum number of cached variants; the least recently used one is dropped. */
#define LARGEST_VARIANT_COUNT 4

struct executor {
    const struct engine *engine;
    struct log *log;
    struct value_lifetimes lifetimes;
    struct variant *variants[LARGEST_VARIANT_COUNT];
    size_t variant_count;
    struct variant *latest; /* NULL before the first run */
    uint64_t runs;
    bool profiling;
    double *layer_seconds;
    size_t profiled_runs;
    struct tensor *feed; /* of one run: network->inputs.count tensors, borrowed from the caller or aligned copies */
};

int executor_new(const struct engine *engine, struct log *log, struct executor **ret, struct error *err)
{
    const struct network *network = engine->network;
    struct executor *executor;

    for (size_t i = 0; i < network->layers.count; i++)
        if (engine->layers[i].tactic.provider == NULL)
            return error_set(err, ERR_MISSING, "layer '%s': no provider has its tactic '%s'",
                             network->layers.items[i].name, engine->layers[i].tactic.name);
    if (memory_limit_is_set())
        memory_limit_enforce();
    executor = memory_alloc_zero(1, sizeof(*executor));
    executor->engine = engine;
    executor->log = log;
    value_lifetimes_init(&executor->lifetimes, network);
    executor->layer_seconds = memory_alloc_zero(network->layers.count, sizeof(*executor->layer_seconds));
    executor->feed = memory_alloc_zero(network->inputs.count, sizeof(*executor->feed));
    *ret = executor;
    return 0;
}

void executor_free(struct executor *executor)
{
    if (executor == NULL)
        return;
    for (size_t i = 0; i < executor->variant_count; i++)
        variant_free(executor->variants[i]);
    value_lifetimes_release(&executor->lifetimes);
    free(executor->layer_seconds);
    free(executor->feed);
    free(executor);
}

void executor_set_profiling(struct executor *executor, bool on)
{
    executor->profiling = on;
}

const double *executor_layer_seconds(const struct executor *executor, size_t *ret_runs)
{
    *ret_runs = executor->profiled_runs;
    return executor->layer_seconds;
}

size_t executor_memory(const struct executor *executor, size_t *ret_without_reuse)
{
    const struct variant *variant = executor->latest;

    *ret_without_reuse = variant != NULL ? variant->without_reuse : 0;
    return variant != NULL ? variant->memory_size : 0;
}

/* --- the feed --- */

static struct text network_value_name(const struct network *network, uint32_t value)
{
    return network->model->values.items[value].name;
}

/* A negative bound of a profile means that the dimension is unbounded, as in the model. */
static bool shape_lies_within(const struct shape *shape, const struct shape *minimum, const struct shape *maximum)
{
    if (shape->rank != minimum->rank || shape->rank != maximum->rank)
        return false;
    for (size_t i = 0; i < shape->rank; i++)
        if (shape->dims[i] < minimum->dims[i] || (maximum->dims[i] >= 0 && shape->dims[i] > maximum->dims[i]))
            return false;
    return true;
}

static bool profile_accepts_feed(const struct executor *executor, const struct engine_profile *profile,
                                 size_t *ret_input)
{
    for (size_t i = 0; i < executor->engine->network->inputs.count; i++)
        if (!shape_lies_within(&executor->feed[i].shape, &profile->minimum[i], &profile->maximum[i])) {
            *ret_input = i;
            return false;
        }
    return true;
}

/* INT64_MAX means no bound. */
static void add_bounds_text(struct string_builder *text, const struct engine_profile *profile, size_t input)
{
    const struct shape *minimum = &profile->minimum[input], *maximum = &profile->maximum[input];

    string_add_char(text, '(');
    for (size_t i = 0; i < minimum->rank; i++) {
        bool open = maximum->dims[i] < 0 || maximum->dims[i] == INT64_MAX;

        if (i > 0)
            string_add(text, ", ");
        if (open)
            string_add_format(text, "%lld or more", (long long)(minimum->dims[i] > 0 ? minimum->dims[i] : 0));
        else if (minimum->dims[i] == maximum->dims[i])
            string_add_integer(text, minimum->dims[i]);
        else
            string_add_format(text, "%lld to %lld", (long long)minimum->dims[i], (long long)maximum->dims[i]);
    }
    string_add(text, minimum->rank == 1 ? ",)" : ")");
}

/* One profile must accept all inputs together. */
static int check_profile_bounds(const struct executor *executor, struct error *err)
{
    const struct engine *engine = executor->engine;
    SCOPED_STRING(text);
    size_t input = 0;

    for (size_t i = engine->profiles.count; i-- > 0;) /* so that `input` refers to the first profile */
        if (profile_accepts_feed(executor, &engine->profiles.items[i], &input))
            return 0;
    if (engine->profiles.count == 0)
        return 0;
    shape_to_text(&executor->feed[input].shape, &text);
    string_add(&text, engine->profiles.count == 1 ? ", but the engine was built for "
                                                  : ", which no profile of the engine takes: these are for ");
    for (size_t i = 0; i < engine->profiles.count; i++) {
        if (i > 0)
            string_add(&text, i + 1 < engine->profiles.count ? ", " : " or ");
        add_bounds_text(&text, &engine->profiles.items[i], input);
    }
    return error_set(err, ERR_INVALID, "input '" TEXT_FORMAT "' has a tensor of shape %s",
                     TEXT_ARGS(network_value_name(engine->network, engine->network->inputs.items[input])), text.data);
}

static int bind_feed(struct executor *executor, const struct tensor_list *feed, struct error *err)
{
    const struct network *network = executor->engine->network;
    int rc = 0;

    for (size_t i = 0; i < network->inputs.count && rc == 0; i++) {
        struct text name = network_value_name(network, network->inputs.items[i]);
        const struct named_tensor *given = tensor_list_find(feed, name);
        enum data_type type = network_type(network, network->inputs.items[i]);

        if (given == NULL)
            return error_set(err, ERR_MISSING, "input '" TEXT_FORMAT "' of the engine is not fed", TEXT_ARGS(name));
        if (type != DATA_UNDEFINED && given->tensor.type != type)
            return error_set(err, ERR_INVALID, "input '" TEXT_FORMAT "' of the engine takes %s, but is fed %s",
                             TEXT_ARGS(name), data_type_name(type), data_type_name(given->tensor.type));
        executor->feed[i] = given->tensor;
        executor->feed[i].free_owner = NULL;
        rc = layer_tensor_align(&executor->feed[i], err);
    }
    return rc == 0 ? check_profile_bounds(executor, err) : rc;
}

static void unbind_feed(struct executor *executor)
{
    for (size_t i = 0; i < executor->engine->network->inputs.count; i++)
        tensor_release(&executor->feed[i]);
}

/* --- variants --- */

static bool variant_fits_shapes(const struct variant *variant, const struct executor *executor)
{
    for (size_t i = 0; i < executor->engine->network->inputs.count; i++)
        if (variant->types[i] != executor->feed[i].type || !shape_equal(&variant->inputs[i], &executor->feed[i].shape))
            return false;
    return true;
}

static struct variant *find_variant(struct executor *executor)
{
    size_t oldest = 0;

    for (size_t i = 0; i < executor->variant_count; i++) {
        if (variant_fits_shapes(executor->variants[i], executor))
            return executor->variants[i];
        if (executor->variants[i]->last_run < executor->variants[oldest]->last_run)
            oldest = i;
    }
    if (executor->variant_count < LARGEST_VARIANT_COUNT)
        oldest = executor->variant_count++;
    else
        variant_free(executor->variants[oldest]);
    executor->variants[oldest] = variant_new(executor->engine, executor->feed, executor->log);
    return executor->variants[oldest];
}

/* --- a run --- */

static void bind_variant_inputs(struct executor *executor, struct variant *variant)
{
    const struct network *network = executor->engine->network;

    for (size_t i = 0; i < network->inputs.count; i++) {
        struct layer_values *value = &variant->values[network->inputs.items[i]];

        value->tensor = executor->feed[i];
        value->tensor.free_owner = NULL;
        value->layout = (struct layout){""};
        value->exists = true;
    }
}

static int run_all_layers(struct executor *executor, struct variant *variant, struct error *err)
{
    for (size_t i = 0; i < executor->engine->network->layers.count; i++) {
        struct layer_step *step;
        double start = 0;
        int rc = variant_step(variant, i, &step, err);

        if (rc == 0 && interrupt_pending())
            rc = error_set(err, ERR_INTERRUPTED, "interrupted");
        if (rc < 0)
            return rc;
        if (executor->profiling)
            start = stopwatch_now();
        rc = layer_step_run(step, variant->values, err);
        if (rc < 0)
            return rc;
        if (executor->profiling)
            executor->layer_seconds[i] += stopwatch_now() - start;
        variant_release_ending(variant, &executor->lifetimes, i);
    }
    return 0;
}

/* Returns a row-major tensor owned by the caller: the run's tensor itself if it is not needed any more. */
static int hand_over_output(struct layer_values *value, struct tensor *ret, struct error *err)
{
    struct tensor *tensor = &value->tensor;
    struct reorder *reorder = NULL;
    struct layout plain = {""};
    int rc;

    if (tensor->free_owner != NULL && layout_is_row_major(&value->layout)) {
        *ret = *tensor;
        *tensor = (struct tensor){0};
        value->exists = false;
        return 0;
    }
    if (layout_is_row_major(&value->layout))
        return tensor_copy(tensor, ret, err);
    rc = tensor_allocate(tensor->type, &tensor->shape, ret, err);
    if (rc == 0)
        rc = reorder_run(&reorder, &(struct layout_change){tensor->type, &tensor->shape, &value->layout, &plain},
                         tensor->data, tensor_writable(ret), err);
    reorder_free(reorder);
    return rc;
}

static int copy_constant_output(const struct network *network, uint32_t value, struct tensor *ret, struct error *err)
{
    struct tensor constant SCOPED(tensor_release) = {0};
    int rc = layer_constant_read(network, value, &constant, err);

    if (rc == 0)
        rc = tensor_copy(&constant, ret, err);
    return rc;
}

static int collect_one_output(const struct executor *executor, struct variant *variant, uint32_t value,
                              struct tensor_list *ret, struct error *err)
{
    const struct network *network = executor->engine->network;
    const struct named_tensor *twin = tensor_list_find(ret, network_value_name(network, value));
    struct tensor tensor = {0};
    int rc;

    if (twin != NULL)
        rc = tensor_copy(&twin->tensor, &tensor, err);
    else if (network->model->values.items[value].initializer != INITIALIZER_NONE)
        rc = copy_constant_output(network, value, &tensor, err);
    else if (variant->values[value].exists)
        rc = hand_over_output(&variant->values[value], &tensor, err);
    else
        rc = error_set(err, ERR_BACKEND, "no layer of the engine produces it");
    if (rc == 0)
        tensor_list_add(ret, network_value_name(network, value), &tensor);
    else
        tensor_release(&tensor);
    return rc < 0 ? error_context(err, "output '" TEXT_FORMAT "'", TEXT_ARGS(network_value_name(network, value))) : 0;
}

static int collect_wanted_outputs(const struct executor *executor, struct variant *variant, const struct words *wanted,
                                  struct tensor_list *ret, struct error *err)
{
    const struct network *network = executor->engine->network;
    struct tensor_list outputs = {0};
    struct bitset of_network SCOPED(bitset_release) = {0};
    int rc = 0;

    value_list_to_set(&network->outputs, network->model->values.count, &of_network);
    for (size_t i = 0; i < (wanted != NULL ? wanted->count : network->outputs.count); i++) {
        uint32_t value =
            wanted != NULL ? model_find_value(network->model, text_of(wanted->items[i])) : network->outputs.items[i];

        if (wanted != NULL && (value == VALUE_NONE || !bitset_has(&of_network, value)))
            rc = error_set(err, ERR_INVALID, "the engine has no output '%s'", wanted->items[i]);
        else
            rc = collect_one_output(executor, variant, value, &outputs, err);
        if (rc < 0)
            goto done;
    }
done:
    if (rc == 0)
        *ret = outputs;
    else
        tensor_list_release(&outputs);
    return rc;
}

int executor_run(struct executor *executor, const struct tensor_list *feed, const struct words *wanted,
                 struct tensor_list *ret, double *seconds, struct error *err)
{
    struct variant *variant;
    double start, end;
    int rc = bind_feed(executor, feed, err);

    if (rc < 0)
        goto done;
    variant = executor->latest = find_variant(executor);
    variant->last_run = ++executor->runs;
    variant->making = 0;
    start = stopwatch_now();
    bind_variant_inputs(executor, variant);
    rc = run_all_layers(executor, variant, err);
    if (rc == 0)
        rc = collect_wanted_outputs(executor, variant, wanted, ret, err);
    end = stopwatch_now();
    variant_release_values(variant);
    if (rc < 0)
        goto done;
    executor->profiled_runs += executor->profiling;
    if (seconds != NULL)
        *seconds = end - start - variant->making;
    if (!variant->planned) {
        rc = variant_plan(variant, &executor->lifetimes, err);
        if (rc < 0)
            tensor_list_release(ret);
    }
done:
    unbind_feed(executor);
    return rc;
}
