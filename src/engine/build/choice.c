/* engine/build/choice.c: selects the tactic of a layer. See state.h. */
#include "engine/build/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "engine/build/decisions.h"
#include "engine/build/timing.h"
#include "engine/plan/replay.h"
#include "onnx/proto/value_info.h"

/* A tactic slower than the best by this factor is not measured further. */
#define HOPELESS 4.0
#define CLOSE 1.25    /* factor of the best time: measured again */
#define MOST_EFFORT 5 /* of optimization levels */

/* An algorithm slower by this factor for one layer is not tried for others of the kind, nor in other layouts. This
 * concerns reference implementations, which take seconds instead of a millisecond. */
#define SLOW_ALGORITHM 16.0

/* Acceptable slowdown of a layer for avoiding a kernel. */
#define BEARABLE_SECONDS 0.01

struct tactic_candidate {
    const struct tactic *tactic;
    double seconds; /* TIMING_FAILED: it does not work; 0: not timed */
    double later;   /* estimated cost of its output layouts for later layers */
    bool fresh;     /* timed in this build */
};

/* The tactics of one layer. */
struct tactic_candidates {
    size_t layer;
    bool timed;
    struct tactic_list tactics;
    struct tactic_candidate *items; /* the candidates */
    size_t count;
    struct error last; /* error of the last tactic that failed */
};

static void release_candidates(struct tactic_candidates *candidates)
{
    tactic_list_release(&candidates->tactics);
    free(candidates->items);
}

static const struct layer *layer_of_build(const struct engine_builder *build, size_t layer)
{
    return &build->engine->network->layers.items[layer];
}

/* Records the use of a source for the layer. */
static void count_source_use(struct source_use *source, const struct tactic_provider *provider, const char *layer,
                             bool has_tactics)
{
    source->offered += has_tactics;
    if (provider->obstacle == NULL || source->refused++ > 0)
        return;
    source->obstacle = provider->obstacle;
    source->layer = layer;
}

static int list_tactics(const struct engine_builder *build, const struct kernel_request *request,
                        struct tactic_list *ret, bool counts, struct error *err)
{
    const struct provider_list *providers = &build->engine->providers;

    for (size_t i = 0; i < providers->count; i++) {
        size_t before = ret->count;
        int rc = providers->items[i]->list(providers->items[i], request, ret, err);

        if (rc < 0)
            return error_context(err, "layer '%s'", request->layer->name);
        if (counts)
            count_source_use(&build->sources[i], providers->items[i], request->layer->name, ret->count > before);
    }
    if (ret->count == 0) {
        const struct model *model = request->network->model;
        const struct node *node = &model->nodes.items[request->layer->nodes.items[0]];

        return error_set(err, ERR_BACKEND, "layer '%s': no tactic source can compute " TEXT_FORMAT,
                         request->layer->name, TEXT_ARGS(node->op_type));
    }
    return 0;
}

/* Lists the names of a layer's tactics for a message. */
static void name_tactics(const struct tactic_list *tactics, struct string_builder *ret)
{
    for (size_t i = 0; i < tactics->count; i++)
        string_add_format(ret, "%s'%s:%s'", i > 0 ? ", " : "", tactics->items[i].provider->name,
                          tactics->items[i].name);
}

/* Whether a disabled decision excludes this tactic. */
static bool tactic_is_switched_off(const struct engine_builder *build, const struct layer *layer,
                                   const struct tactic *tactic)
{
    const struct builder_settings *settings = build->settings;

    return text_is_one_of(text_of(tactic->provider->name), settings->sources_off.items, settings->sources_off.count) ||
           (settings->plain_layouts && !tactic_is_plain(tactic, build->engine->network, layer));
}

static void drop_switched_off_tactics(const struct engine_builder *build, const struct layer *layer,
                                      struct tactic_list *tactics)
{
    size_t kept = 0;

    for (size_t i = 0; i < tactics->count; i++)
        if (tactic_is_switched_off(build, layer, &tactics->items[i]))
            tactic_release(&tactics->items[i]);
        else
            tactics->items[kept++] = tactics->items[i];
    tactics->count = kept;
}

static const char *name_excluding_option(const struct builder_settings *settings)
{
    if (settings->sources_off.count == 0 && !settings->plain_layouts)
        return "--exclude-tactics";
    return settings->excluded.count > 0 ? "--exclude-tactics, with the disabled decisions,"
                                        : "the list of disabled decisions";
}

/* Removes excluded tactics. ERR_BACKEND if none is left. */
static int exclude_unwanted_tactics(const struct engine_builder *build, const struct layer *layer,
                                    struct tactic_list *tactics, struct error *err)
{
    const struct builder_settings *settings = build->settings;
    SCOPED_STRING(names);

    if (settings->excluded.count == 0 && settings->sources_off.count == 0 && !settings->plain_layouts)
        return 0;
    name_tactics(tactics, &names);
    tactic_list_exclude(tactics, &settings->excluded, build->exclusions);
    drop_switched_off_tactics(build, layer, tactics);
    return tactics->count > 0
               ? 0
               : error_set(err, ERR_BACKEND,
                           "layer '%s': %s leaves no tactic; it has %s: name fewer, or add tactics with --plugins",
                           layer->name, name_excluding_option(settings), names.data);
}

/* Selects all tactics, or the most promising ones of each provider. */
static void select_candidates(struct tactic_candidates *candidates, size_t per_provider)
{
    const struct tactic_list *tactics = &candidates->tactics;
    const struct tactic_provider *provider = NULL;
    size_t of_provider = 0;

    candidates->items = memory_alloc_zero(tactics->count, sizeof(*candidates->items));
    for (size_t i = 0; i < tactics->count; i++) {
        of_provider = tactics->items[i].provider == provider ? of_provider + 1 : 1;
        provider = tactics->items[i].provider;
        if (of_provider <= per_provider)
            candidates->items[candidates->count++].tactic = &tactics->items[i];
    }
}

static void reject_candidate(const struct engine_builder *build, struct tactic_candidates *candidates, size_t number,
                             const struct error *why)
{
    const struct tactic *tactic = candidates->items[number].tactic;

    candidates->items[number].seconds = TIMING_FAILED;
    candidates->last = *why;
    log_message(build->settings->log, LOG_VERBOSE, "Layer '%s': tactic '%s:%s' is skipped: %s",
                layer_of_build(build, candidates->layer)->name, tactic->provider->name, tactic->name, why->message);
}

static bool error_ends_build(int code)
{
    return code == ERR_INTERRUPTED || code == ERR_MEMORY;
}

/* ---- Replays ---- */

/* Makes the replay's tactic the only candidate; if it is excluded, there are no candidates yet. */
static int pin_replayed_tactic(struct engine_builder *build, const struct kernel_request *request,
                               const struct tactic_algorithm *wanted, struct tactic_candidates *candidates,
                               struct error *err)
{
    const struct tactic *tactic = NULL;
    int rc = replay_tactic_find(&build->engine->providers, request, wanted, &candidates->tactics, &tactic, err);

    if (rc < 0)
        return rc;
    if (tactic_is_excluded(tactic, &build->settings->excluded) ||
        tactic_is_switched_off(build, request->layer, tactic)) {
        build->freed++;
        tactic_list_release(&candidates->tactics); /* the list may be for other input layouts */
        return list_tactics(build, request, &candidates->tactics, false, err);
    }
    candidates->items = memory_alloc_zero(1, sizeof(*candidates->items));
    candidates->items[0].tactic = tactic;
    candidates->count = 1;
    return 0;
}

/* ---- Times ---- */

/* Times above this factor of the best are not measured precisely. */
static double hopeless_factor(const struct builder_settings *settings)
{
    return settings->explore ? fmax(HOPELESS, 2 * settings->explore_within) : HOPELESS;
}

struct layer_timing {
    struct engine_builder *build;
    const struct layer_request *request;
    struct layer_timer *timer;
    struct tactic_candidates *candidates;
    double best, hopeless; /* seconds; factor */
};

static int measure_candidate(struct layer_timing *timing, size_t number, struct hash key, struct error *err)
{
    struct tactic_candidate *candidate = &timing->candidates->items[number];
    struct engine_builder *build = timing->build;
    struct error failure = {0};
    bool made = false;
    int rc;

    if (build->settings->cache && build->settings->effort.error_on_timing_cache_miss)
        return error_set(err, ERR_MISSING, "layer '%s': the timing cache has no time for tactic '%s:%s'",
                         layer_of_build(build, timing->candidates->layer)->name, candidate->tactic->provider->name,
                         candidate->tactic->name);
    rc = interrupt_pending() ? error_set(&failure, ERR_INTERRUPTED, "interrupted")
                             : layer_timer_measure(timing->timer, candidate->tactic, timing->best * timing->hopeless,
                                                   &candidate->seconds, &made, &failure);
    if (error_ends_build(rc)) {
        if (err)
            *err = failure;
        return rc;
    }
    if (rc < 0)
        reject_candidate(build, timing->candidates, number, &failure);
    build->measured++;
    candidate->fresh = rc == 0;
    if (rc == 0 || !made) /* do not cache a failed run: it may depend on the data */
        timing_cache_add(build->cache, key, candidate->seconds);
    return 0;
}

/* Finds the entry of a slow algorithm; NULL if there is none. The highest level tries everything. */
static const struct slow_algorithm *find_slow_algorithm(const struct layer_timing *timing, const struct tactic *tactic)
{
    const struct engine_builder *build = timing->build;

    for (size_t i = 0; i < build->slow.count && build->settings->effort.optimization_level < MOST_EFFORT; i++)
        if (build->slow.items[i].kind == timing->request->kernel.layer->kind &&
            build->slow.items[i].implementation == tactic->implementation)
            return &build->slow.items[i];
    return NULL;
}

static void note_slow_algorithm(struct layer_timing *timing, const struct tactic_candidate *candidate)
{
    double ratio = candidate->seconds / timing->best;

    if (isfinite(ratio) && ratio > fmax(SLOW_ALGORITHM, timing->hopeless) &&
        !find_slow_algorithm(timing, candidate->tactic))
        *VECTOR_APPEND(&timing->build->slow) =
            (struct slow_algorithm){timing->request->kernel.layer->kind, candidate->tactic->implementation, ratio};
}

/* Skipping depends only on times, so it is the same with a warm cache. */
static int time_all_candidates(struct layer_timing *timing, struct error *err)
{
    for (size_t i = 0; i < timing->candidates->count; i++) {
        struct tactic_candidate *candidate = &timing->candidates->items[i];
        struct hash key = timing_cache_key(&timing->request->kernel, candidate->tactic);
        const struct slow_algorithm *slow = find_slow_algorithm(timing, candidate->tactic);
        int rc = 0;

        if (slow && isfinite(timing->best)) {
            candidate->seconds = timing->best * slow->ratio;
            continue;
        }
        if (timing_cache_find(timing->build->cache, key, &candidate->seconds))
            timing->build->remembered++;
        else
            rc = measure_candidate(timing, i, key, err);
        if (rc < 0)
            return rc;
        timing->best = fmin(timing->best, candidate->seconds);
        note_slow_algorithm(timing, candidate);
    }
    return 0;
}

/* The size from the model, else estimated from the inputs. Results of runs are not used: a build with a warm cache must
 * give the same result. */
static size_t estimate_output_bytes(const struct kernel_request *request, uint32_t value)
{
    struct value_type type;
    size_t bytes = 0;

    value_info_decode(request->network->model->values.items[value].info, &type);
    if (!type.not_a_tensor && type.has_shape && shape_is_static(&type.shape))
        return tensor_bytes(DATA_FLOAT32, shape_elements(&type.shape));
    ARRAY_EACH (const struct kernel_input, input, request->inputs, request->layer->inputs.count)
        if (input->present && !input->constant && shape_elements(&input->shape) * sizeof(float) > bytes)
            bytes = shape_elements(&input->shape) * sizeof(float);
    return bytes;
}

static void add_reorder_costs(const struct layer_timing *timing)
{
    const struct kernel_request *request = &timing->request->kernel;
    const struct value_list *outputs = &request->layer->outputs;

    for (size_t k = 0; k < outputs->count; k++) {
        size_t bytes = outputs->items[k] != VALUE_NONE ? estimate_output_bytes(request, outputs->items[k]) : 0;

        for (size_t i = 0; bytes > 0 && i < timing->candidates->count; i++) {
            struct tactic_candidate *candidate = &timing->candidates->items[i];

            candidate->later += layout_wishes_cost(&timing->build->wishes, outputs->items[k],
                                                   &candidate->tactic->output_layouts[k], bytes);
        }
    }
}

/* Whether several tactics, at least one of them timed in this build, may be the fastest. */
static bool fastest_is_undecided(const struct layer_timing *timing)
{
    size_t contenders = 0, fresh = 0;

    for (size_t i = 0; i < timing->candidates->count; i++)
        if (timing->candidates->items[i].seconds <= timing->best * CLOSE) {
            contenders++;
            fresh += timing->candidates->items[i].fresh;
        }
    return contenders > 1 && fresh > 0;
}

/* Measures tactics close to the fastest again, some time later, to reduce the influence of other load on the machine.
 * The shorter time counts. */
static int remeasure_contenders(struct layer_timing *timing, struct error *err)
{
    double best = timing->best;

    for (size_t i = 0; fastest_is_undecided(timing) && i < timing->candidates->count; i++) {
        struct tactic_candidate *candidate = &timing->candidates->items[i];
        double before = candidate->seconds, again;
        bool made;
        int rc;

        if (!candidate->fresh || before > best * CLOSE)
            continue;
        rc = interrupt_pending()
                 ? error_set(err, ERR_INTERRUPTED, "interrupted")
                 : layer_timer_measure(timing->timer, candidate->tactic, best * timing->hopeless, &again, &made, err);
        if (error_ends_build(rc))
            return rc;
        if (rc == 0 && again < before) {
            candidate->seconds = again;
            timing->best = fmin(timing->best, again);
            timing_cache_add(timing->build->cache, timing_cache_key(&timing->request->kernel, candidate->tactic),
                             again);
        }
    }
    return 0;
}

static int time_layer(struct engine_builder *build, const struct layer_request *request,
                      struct tactic_candidates *candidates, struct error *err)
{
    const struct builder_settings *settings = build->settings;
    struct layer_timing timing = {
        .build = build,
        .request = request,
        .timer = layer_timer_new(request, timing_effort_of(settings->effort.optimization_level)),
        .candidates = candidates,
        .best = INFINITY,
        .hopeless = hopeless_factor(settings),
    };
    int rc = time_all_candidates(&timing, err);

    if (rc == 0)
        rc = remeasure_contenders(&timing, err);
    add_reorder_costs(&timing);
    layer_timer_free(timing.timer);
    return rc == ERR_MEMORY ? error_context(err, "layer '%s'", layer_of_build(build, candidates->layer)->name) : rc;
}

/* ---- Selection ---- */

static double find_fastest_seconds(const struct tactic_candidates *candidates)
{
    double best = TIMING_FAILED;

    for (size_t i = 0; i < candidates->count; i++)
        best = fmin(best, candidates->items[i].seconds);
    return best;
}

/* Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators" (OOPSLA 2014), as SplitMix64. */
static uint64_t scramble_bits(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* A kernel used by many layers is nearly always selected for one of them, so random builds would never exclude it.
 * Therefore builds with an odd seed avoid a random half of the kernels in all layers; builds with seeds 4k + 1 and 4k +
 * 3 avoid complementary halves. */
static bool tactic_is_avoided(const struct engine_builder *build, const struct tactic *tactic)
{
    uint64_t seed = build->settings->seed;
    uint64_t random = scramble_bits(scramble_bits(seed / 4) ^ (uint64_t)tactic->implementation);

    return seed % 2 == 1 && (random ^ seed / 2) % 2 == 1;
}

static bool candidate_is_eligible(const struct engine_builder *build, const struct tactic_candidate *candidate,
                                  double bound, bool avoiding)
{
    return candidate->seconds <= bound && !(avoiding && tactic_is_avoided(build, candidate->tactic));
}

/* Selects a random tactic of the layer, by the seed and the layer's name. Each tactic has its own random number, and
 * the largest wins, so the result does not depend on the order of providers or on additional candidates unless they
 * win. Returns SIZE_MAX if there are none. */
static size_t draw_tactic_within(const struct engine_builder *build, const struct tactic_candidates *candidates,
                                 double bound, bool avoiding)
{
    const char *name = layer_of_build(build, candidates->layer)->name;
    uint64_t random = scramble_bits(scramble_bits(build->settings->seed) ^ hash_bytes(name, strlen(name)).low);
    uint64_t highest = 0;
    size_t ret = SIZE_MAX;

    for (size_t i = 0; i < candidates->count; i++) {
        const struct tactic *tactic = candidates->items[i].tactic;
        uint64_t lot =
            scramble_bits(scramble_bits(random ^ (uint64_t)tactic->implementation) ^ (uint64_t)tactic->number);

        if (candidate_is_eligible(build, &candidates->items[i], bound, avoiding) &&
            (ret == SIZE_MAX || lot > highest)) {
            ret = i;
            highest = lot;
        }
    }
    return ret;
}

/* Avoided kernels are avoided even if the alternatives are too slow, provided that these are acceptable: below the
 * factor HOPELESS, or slower by at most BEARABLE_SECONDS. */
static size_t draw_tactic(const struct engine_builder *build, const struct tactic_candidates *candidates, double best)
{
    double within = fmax(build->settings->explore_within, 1);
    double bearable = fmax(best * hopeless_factor(build->settings), best + BEARABLE_SECONDS);
    size_t chosen = draw_tactic_within(build, candidates, best * within, true);

    if (chosen == SIZE_MAX)
        chosen = draw_tactic_within(build, candidates, bearable, true);
    return chosen != SIZE_MAX ? chosen : draw_tactic_within(build, candidates, best * within, false);
}

/* The index of the selected candidate, the first of equal ones; SIZE_MAX if none works. */
static size_t pick_candidate(const struct engine_builder *build, const struct tactic_candidates *candidates)
{
    double best = find_fastest_seconds(candidates);
    size_t chosen = 0;

    if (!(best < TIMING_FAILED))
        return SIZE_MAX;
    if (candidates->timed && build->settings->explore)
        return draw_tactic(build, candidates, best);
    for (size_t i = 1; i < candidates->count; i++) {
        const struct tactic_candidate *it = &candidates->items[i], *so_far = &candidates->items[chosen];

        if (it->seconds + it->later < so_far->seconds + so_far->later)
            chosen = i;
    }
    return chosen;
}

/* ---- Running the selected tactic ---- */

static void record_choice(struct engine_layer *choice, const struct layer *layer,
                          const struct tactic_candidates *candidates, size_t number)
{
    const struct tactic_candidate *candidate = &candidates->items[number];

    tactic_release(&choice->tactic);
    tactic_copy(&choice->tactic, candidate->tactic, layer);
    choice->seconds = candidate->seconds;
    choice->share_of_fastest = candidate->seconds > 0 ? candidate->seconds / find_fastest_seconds(candidates) : 0;
    choice->tactic_count = candidates->tactics.count;
}

static int run_chosen_step(struct engine_builder *build, size_t layer, const struct engine_layer *choice,
                           struct layer_step **ret, struct error *err)
{
    struct layer_step *step = NULL;
    int rc = layer_step_new(build->engine, layer_of_build(build, layer), choice, build->walk.values, &step, err);

    if (rc == 0)
        rc = layer_step_run(step, build->walk.values, err);
    if (rc == 0 && ret)
        *ret = step;
    else
        layer_step_free(step);
    return rc;
}

/* A failed run may leave some outputs. */
static void drop_layer_outputs(struct engine_builder *build, size_t layer)
{
    const struct value_list *outputs = &layer_of_build(build, layer)->outputs;

    for (size_t i = 0; i < outputs->count; i++)
        if (outputs->items[i] != VALUE_NONE) {
            tensor_release(&build->walk.values[outputs->items[i]].tensor);
            build->walk.values[outputs->items[i]] = (struct layer_values){0};
        }
}

/* The error of the last tactic, without the layer's name, which the caller adds. */
static const char *find_last_failure(const struct layer *layer, const struct tactic_candidates *candidates)
{
    const char *message = candidates->last.message;
    size_t length = strlen(layer->name);

    if (candidates->last.code == 0)
        return "all of them have failed before";
    if (strncmp(message, "layer '", 7) == 0 && strncmp(message + 7, layer->name, length) == 0 &&
        strncmp(message + 7 + length, "': ", 3) == 0)
        message += 7 + length + 3;
    return message;
}

/* Tries candidates until one works. */
static int take_working_candidate(struct engine_builder *build, struct tactic_candidates *candidates,
                                  struct engine_layer *choice, struct layer_step **ret_step, struct error *err)
{
    const struct layer *layer = layer_of_build(build, candidates->layer);
    size_t number;

    while ((number = pick_candidate(build, candidates)) != SIZE_MAX) {
        struct error failure = {0};
        int rc;

        record_choice(choice, layer, candidates, number);
        rc = run_chosen_step(build, candidates->layer, choice, ret_step, &failure);
        if (rc == 0)
            return 0;
        drop_layer_outputs(build, candidates->layer);
        if (error_ends_build(rc)) {
            if (err)
                *err = failure;
            return rc;
        }
        reject_candidate(build, candidates, number, &failure);
    }
    return error_set(err, ERR_BACKEND, "layer '%s': %s: %s", layer->name,
                     candidates->count == 1 ? "its only tactic does not work" : "none of its tactics works",
                     find_last_failure(layer, candidates));
}

static void record_built_shapes(struct engine_builder *build, size_t layer)
{
    const struct layer *described = layer_of_build(build, layer);
    struct engine_layer *choice = &build->engine->layers[layer];

    choice->input_shapes = memory_alloc_zero(described->inputs.count, sizeof(*choice->input_shapes));
    choice->output_shapes = memory_alloc_zero(described->outputs.count, sizeof(*choice->output_shapes));
    for (size_t i = 0; i < described->inputs.count; i++)
        if (described->inputs.items[i] != VALUE_NONE)
            choice->input_shapes[i] = build->walk.values[described->inputs.items[i]].tensor.shape;
    for (size_t i = 0; i < described->outputs.count; i++)
        if (described->outputs.items[i] != VALUE_NONE)
            choice->output_shapes[i] = build->walk.values[described->outputs.items[i]].tensor.shape;
}

static void log_chosen_tactic(const struct engine_builder *build, size_t layer)
{
    const struct engine_layer *choice = &build->engine->layers[layer];
    char time[96] = "";

    if (choice->seconds > 0)
        snprintf(time, sizeof(time), ", %.3f ms, %.2f times the fastest", choice->seconds * 1e3,
                 choice->share_of_fastest);
    log_message(build->settings->log, LOG_VERBOSE, "Layer '%s': %s:%s%s (%zu tactics)",
                layer_of_build(build, layer)->name, choice->tactic.provider->name, choice->tactic.name, time,
                choice->tactic_count);
}

/* Logs all timed candidates, at LOG_EXTRA_VERBOSE. */
static void log_timed_candidates(const struct engine_builder *build, const struct tactic_candidates *candidates)
{
    for (size_t i = 0; candidates->timed && i < candidates->count; i++) {
        const struct tactic_candidate *candidate = &candidates->items[i];

        if (candidate->seconds < TIMING_FAILED)
            log_message(build->settings->log, LOG_EXTRA_VERBOSE, "Tactic %lld of layer '%s': %s:%s, %.6f ms",
                        (long long)candidate->tactic->number, layer_of_build(build, candidates->layer)->name,
                        candidate->tactic->provider->name, candidate->tactic->name, candidate->seconds * 1e3);
    }
}

/* Lists tactics, selects candidates, and measures their times. */
static int assess_tactics(struct engine_builder *build, const struct layer_request *request,
                          struct tactic_candidates *candidates, struct error *err)
{
    const struct builder_settings *settings = build->settings;
    const struct tactic_algorithm *pinned =
        settings->replay ? tactic_replay_find(settings->replay, request->kernel.layer->name) : NULL;
    bool timing = !settings->deterministic && settings->effort.optimization_level > 0;
    int rc = list_tactics(build, &request->kernel, &candidates->tactics, true, err);

    if (rc == 0 && pinned)
        rc = pin_replayed_tactic(build, &request->kernel, pinned, candidates, err);
    if (rc < 0 || candidates->count > 0)
        return rc;
    rc = exclude_unwanted_tactics(build, request->kernel.layer, &candidates->tactics, err);
    if (rc < 0)
        return rc;
    select_candidates(candidates,
                      timing ? timing_effort_of(settings->effort.optimization_level)->tactics_per_provider : SIZE_MAX);
    candidates->timed = timing && candidates->count > 1;
    rc = candidates->timed ? time_layer(build, request, candidates, err) : 0;
    if (rc == 0)
        log_timed_candidates(build, candidates);
    return rc;
}

int build_layer(struct engine_builder *build, size_t layer, struct error *err)
{
    struct engine_layer *choice = &build->engine->layers[layer];
    struct layer_request request;
    struct tactic_candidates candidates = {.layer = layer};
    int rc = layer_request_make(build->engine, layer_of_build(build, layer), choice->precision.precision,
                                build->walk.values, &request, err);

    if (rc < 0)
        return error_context(err, "layer '%s'", layer_of_build(build, layer)->name);
    rc = assess_tactics(build, &request, &candidates, err);
    layer_request_release(&request); /* keep only one copy of rounded weights */
    if (rc == 0)
        rc = take_working_candidate(build, &candidates, choice, NULL, err);
    if (rc == 0) {
        record_built_shapes(build, layer);
        log_chosen_tactic(build, layer);
    }
    release_candidates(&candidates);
    return rc;
}

int build_plain_step(struct engine_builder *build, size_t layer, struct layer_step **ret_step, struct error *err)
{
    struct engine_layer choice = {.precision = {.precision = PRECISION_FLOAT32}};
    struct layer_request request SCOPED(layer_request_release) = {0};
    struct tactic_candidates candidates = {.layer = layer};
    int rc = layer_request_make(build->engine, layer_of_build(build, layer), PRECISION_FLOAT32, build->walk.values,
                                &request, err);

    if (rc < 0)
        return error_context(err, "layer '%s'", layer_of_build(build, layer)->name);
    rc = list_tactics(build, &request.kernel, &candidates.tactics, false, err);
    if (rc == 0)
        rc = exclude_unwanted_tactics(build, request.kernel.layer, &candidates.tactics, err);
    if (rc == 0) {
        select_candidates(&candidates, SIZE_MAX);
        rc = take_working_candidate(build, &candidates, &choice, ret_step, err);
    }
    release_candidates(&candidates);
    tactic_release(&choice.tactic);
    return rc;
}
