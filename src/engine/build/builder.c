/* engine/build/builder.c: see builder.h. */
#include "engine/build/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/memory_limit.h"
#include "base/system.h"
#include "base/text/names.h"
#include "engine/build/decisions.h"
#include "engine/build/inputs.h"
#include "engine/build/state.h"
#include "engine/precision/words.h"

/* Logs a line for each requested precision that no layer has: the build differs from the request. */
static void warn_of_unused_precisions(const struct engine_builder *build, const struct layer_precision *precisions)
{
    const struct precision_settings *settings = &build->settings->precision;
    const struct network *network = build->engine->network;

    for (int i = PRECISION_FLOAT32 + 1; i < PRECISION_COUNT; i++) {
        enum precision precision = (enum precision)i;
        SCOPED_STRING(why);
        size_t users = 0;

        for (size_t k = 0; k < network->layers.count; k++)
            users += precisions[k].precision == precision && precision != PRECISION_TF32;
        if (!settings->enabled[i] || users > 0)
            continue;
        if (precision_explain_unused(network, settings, precisions, precision, &why))
            log_message(build->settings->log, LOG_WARNING, "No layer uses the requested precision %s: %s",
                        precision_name(precision), why.data);
    }
}

static int assign_precisions(struct engine_builder *build, struct error *err)
{
    struct engine *engine = build->engine;
    size_t count = engine->network->layers.count;
    struct layer_precision *precisions SCOPED_FREE = memory_alloc_zero(count, sizeof(*precisions));
    int rc = precisions_assign(engine->network, &build->settings->precision, build->settings->log, precisions, err);

    if (rc == 0)
        warn_of_unused_precisions(build, precisions);
    for (size_t i = 0; rc == 0 && i < count; i++)
        engine->layers[i].precision = precisions[i];
    return rc;
}

/* ---- Floating types of layers ---- */

static enum data_type widen_float_type(enum data_type a, enum data_type b)
{
    if (!data_type_is_float(b))
        return a;
    return data_type_bits(b) > data_type_bits(a) ? b : a;
}

/* The widest floating type among the layer's inputs and outputs, unless it rounds them; DATA_UNDEFINED if there is
 * none. */
static enum data_type find_held_type(const struct engine_builder *build, size_t number)
{
    const struct network *network = build->engine->network;
    const struct layer *layer = &network->layers.items[number];
    enum precision precision = build->engine->layers[number].precision.precision;
    const struct value_list *const lists[] = {&layer->inputs, &layer->outputs};
    enum data_type type = DATA_UNDEFINED;

    if (precision != PRECISION_FLOAT32 && precision != PRECISION_TF32)
        return precision_type(precision);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (size_t k = 0; k < lists[i]->count; k++) {
            uint32_t value = lists[i]->items[k];

            if (value != VALUE_NONE)
                type = widen_float_type(type, build->walk.values[value].exists ? build->walk.values[value].tensor.type
                                                                               : network_type(network, value));
        }
    return type;
}

/* Call while the tensors of the layer exist. */
static void count_layer_by_type(struct engine_builder *build, size_t layer)
{
    enum data_type type = find_held_type(build, layer);

    if (build->engine->network->layers.items[layer].moves_data)
        build->moving++;
    else if (type == DATA_UNDEFINED)
        build->other++;
    else
        build->held[type]++;
}

static void add_layer_count(struct string_builder *text, const char **separator, size_t count, const char *what)
{
    if (count == 0)
        return;
    string_add_format(text, "%s%zu %s", *separator, count, what);
    *separator = ", ";
}

static void add_held_types(struct string_builder *text, const struct engine_builder *build)
{
    const char *separator = ": ";

    for (int bits = 4; bits <= 64; bits *= 2)
        for (int type = 0; type < DATA_TYPE_COUNT; type++)
            if (data_type_bits((enum data_type)type) == (unsigned)bits)
                add_layer_count(text, &separator, build->held[type], data_type_name((enum data_type)type));
    add_layer_count(text, &separator, build->moving, "moving data only");
    add_layer_count(text, &separator, build->other, "without floating-point numbers");
}

/* ---- All layers ---- */

static int build_all_layers(struct engine_builder *build, struct tensor_list *feed, struct error *err)
{
    const struct builder_settings *settings = build->settings;
    const struct network *network = build->engine->network;
    int rc = layer_walk_feed(&build->walk, feed, err);

    for (size_t i = 0; rc == 0 && i < network->layers.count; i++) {
        if (settings->progress)
            settings->progress(settings->progress_context, network->layers.items[i].name, i, network->layers.count);
        rc = interrupt_pending() ? error_set(err, ERR_INTERRUPTED, "interrupted") : build_layer(build, i, err);
        if (rc == 0) {
            count_layer_by_type(build, i);
            layer_walk_leave(&build->walk, i);
        }
    }
    return rc;
}

static const char *provider_title(const struct tactic_provider *provider)
{
    if (strcmp(provider->name, "onednn") == 0)
        return "oneDNN";
    return strcmp(provider->name, "onnxrt") == 0 ? "ONNX Runtime" : provider->name;
}

static void log_build_summary(const struct engine_builder *build, double seconds)
{
    const struct engine *engine = build->engine;
    const char *separator = "; ";
    SCOPED_STRING(text);

    string_add_format(&text, "Built %zu layer%s", engine->network->layers.count,
                      engine->network->layers.count == 1 ? "" : "s");
    add_held_types(&text, build);
    for (size_t i = 0; i < engine->providers.count; i++) {
        size_t count = 0;

        for (size_t j = 0; j < engine->network->layers.count; j++)
            count += engine->layers[j].tactic.provider == engine->providers.items[i];
        if (count == 0)
            continue;
        string_add_format(&text, "%s%zu with %s", separator, count, provider_title(engine->providers.items[i]));
        separator = ", ";
    }
    string_add_format(&text, "; %.2f s", seconds);
    if (build->measured + build->remembered > 0)
        string_add_format(&text, " (%zu tactics timed, %zu in the timing cache)", build->measured, build->remembered);
    log_message(build->settings->log, LOG_INFO, "%s", text.data);
}

/* Logs sources of which no tactic was used, or that could not handle all layers; for plug-ins at a higher level. */
static void log_tactic_sources(const struct engine_builder *build)
{
    const struct engine *engine = build->engine;

    for (size_t i = 0; i < engine->providers.count; i++) {
        const struct tactic_provider *provider = engine->providers.items[i];
        const struct source_use *source = &build->sources[i];
        enum log_level level = provider_title(provider) == provider->name ? LOG_INFO : LOG_VERBOSE;
        SCOPED_STRING(text);
        size_t taken = 0;

        for (size_t k = 0; k < engine->network->layers.count; k++)
            taken += engine->layers[k].tactic.provider == provider;
        if (taken > 0 && source->refused == 0)
            continue;
        string_add_format(&text, "Tactic source '%s' has tactics for %zu of %zu layers, ", provider->name,
                          source->offered, engine->network->layers.count);
        if (taken == 0)
            string_add(&text, source->offered == 0 ? "and none was taken" : "and others were taken");
        else
            string_add_format(&text, "and %zu were taken", taken);
        if (source->refused > 0)
            string_add_format(&text, "; %zu were not shown to it: '%s' %s", source->refused, source->layer,
                              source->obstacle);
        log_message(build->settings->log, level, "%s", text.data);
    }
}

/* Warns about exclusions without an effect: the excluded tactic may be the culprit. */
static void log_tactic_exclusions(const struct engine_builder *build)
{
    const struct words *rules = &build->settings->excluded;

    for (size_t i = 0; i < rules->count; i++)
        if (!build->exclusions[i])
            log_once(
                build->settings->log, LOG_WARNING,
                "--exclude-tactics: no layer has a tactic '%s', so nothing is excluded; -v shows the tactics in use",
                rules->items[i]);
    if (build->freed > 0)
        log_message(build->settings->log, LOG_INFO,
                    "%zu layer%s another tactic than in the replay, because that one is excluded", build->freed,
                    build->freed == 1 ? " has" : "s have");
}

/* Logged at a verbose level, unless a decision is disabled. */
static void log_engine_decisions(const struct engine_builder *build)
{
    struct decision_list decisions SCOPED_ITEMS = {0};
    SCOPED_STRING(text);
    bool any_off = false;
    SCOPED_ARENA(arena);

    engine_decisions(build->engine, build->settings, &arena, &decisions);
    engine_decisions_text(&decisions, &text);
    for (size_t i = 0; i < decisions.count; i++)
        any_off |= decisions.items[i].state == DECISION_OFF;
    log_message(build->settings->log, any_off ? LOG_INFO : LOG_VERBOSE, "Decisions: %s", text.data);
}

static int check_sources_off(const struct builder_settings *settings, struct error *err)
{
    for (size_t i = 0; i < settings->sources_off.count; i++) {
        struct close_names close;
        SCOPED_STRING(hint);

        if (providers_find(&settings->providers, text_of(settings->sources_off.items[i])) != NULL)
            continue;
        close_names_start(&close, text_of(settings->sources_off.items[i]));
        for (size_t k = 0; k < settings->providers.count; k++)
            close_names_offer(&close, text_of(settings->providers.items[k]->name));
        close_names_add_to(&close, &hint);
        return error_set(err, ERR_INVALID,
                         "'" TACTICS_OF "%s' cannot be disabled: there is no such source of tactics%s",
                         settings->sources_off.items[i], hint.data);
    }
    return 0;
}

/* Warns about layers of the replay that do not exist: it may be for another model, or another version of it. */
static void warn_of_foreign_replay(const struct network *network, const struct builder_settings *settings)
{
    const struct tactic_replay *replay = settings->replay;
    const char *first = NULL;
    SCOPED_NAME_MAP(layers);
    size_t count = 0;

    for (size_t i = 0; replay && i < network->layers.count; i++)
        name_map_add(&layers, text_of(network->layers.items[i].name), 0);
    for (size_t i = 0; replay && i < replay->count; i++)
        if (name_map_find(&layers, text_of(replay->items[i].layer)) == NAME_MAP_NONE)
            first = count++ == 0 ? replay->items[i].layer : first;
    if (count > 0)
        log_message(settings->log, LOG_WARNING,
                    "The tactic replay names %zu layer(s) that this network does not have, such as '%s'", count, first);
}

static struct engine *create_empty_engine(const struct network *network, const struct builder_settings *settings)
{
    struct engine *engine = memory_alloc_zero(1, sizeof(*engine));

    engine->network = network;
    engine->layers = memory_alloc_zero(network->layers.count, sizeof(*engine->layers));
    engine->providers = settings->providers;
    engine->threads = settings->threads;
    precision_words_of(&settings->precision, &engine->precision);
    return engine;
}

int engine_build(const struct network *network, const struct builder_settings *settings, struct engine **ret,
                 struct error *err)
{
    struct engine_builder build = {
        .settings = settings,
        .engine = create_empty_engine(network, settings),
        .cache = settings->cache ? settings->cache : timing_cache_new(),
        .sources = memory_alloc_zero(settings->providers.count, sizeof(*build.sources)),
        .exclusions = memory_alloc_zero(settings->excluded.count, sizeof(*build.exclusions)),
    };
    struct tensor_list feed SCOPED(tensor_list_release) = {0};
    double start = stopwatch_now();
    int rc;

    if (memory_limit_is_set()) /* tensors of the first run are allocated one by one */
        memory_limit_enforce();
    layer_walk_init(&build.walk, network);
    layout_wishes_init(&build.wishes, network);
    warn_of_foreign_replay(network, settings);
    rc = check_sources_off(settings, err);
    if (rc < 0)
        goto done;
    rc = assign_precisions(&build, err);
    if (rc < 0)
        goto done;
    rc = builder_check_profiles(network, settings, err);
    if (rc < 0)
        goto done;
    rc = builder_feed(network, settings, 0, &feed, err);
    if (rc < 0)
        goto done;
    builder_add_profiles(build.engine, settings, &feed);
    rc = builder_calibrate(&build, &feed, err);
    if (rc < 0)
        goto done;
    rc = build_all_layers(&build, &feed, err);
done:
    if (settings->progress)
        settings->progress(settings->progress_context, NULL, network->layers.count, network->layers.count);
    if (rc == 0) {
        log_build_summary(&build, stopwatch_now() - start);
        log_tactic_sources(&build);
        log_tactic_exclusions(&build);
        log_engine_decisions(&build);
        *ret = build.engine;
    } else {
        engine_free(build.engine);
    }
    layer_walk_release(&build.walk);
    layout_wishes_release(&build.wishes);
    free(build.slow.items);
    free(build.sources);
    free(build.exclusions);
    if (!settings->cache)
        timing_cache_free(build.cache);
    return rc;
}
