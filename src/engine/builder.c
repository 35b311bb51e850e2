/* engine/builder.c: see builder.h. */
#include "engine/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/stopwatch.h"
#include "engine/builder_calibration.h"
#include "engine/builder_choice.h"
#include "engine/builder_inputs.h"

static int assign_precisions(struct build *build, struct error *err)
{
    struct engine *engine = build->engine;
    size_t count = engine->network->layers.count;
    struct layer_precision *precisions = memory_alloc_zero(count, sizeof(*precisions));
    int rc = precisions_assign(engine->network, &build->settings->precision, build->settings->log, precisions, err);

    for (size_t i = 0; rc == 0 && i < count; i++)
        engine->layers[i].precision = precisions[i];
    free(precisions);
    return rc;
}

static int build_layers(struct build *build, struct tensor_list *feed, struct error *err)
{
    const struct builder_settings *settings = build->settings;
    const struct network *network = build->engine->network;
    int rc = layer_walk_feed(&build->walk, feed, err);

    for (size_t i = 0; rc == 0 && i < network->layers.count; i++) {
        if (settings->progress)
            settings->progress(settings->progress_context, network->layers.items[i].name, i, network->layers.count);
        rc = interrupt_pending() ? error_set(err, ERR_INTERRUPTED, "interrupted") : build_layer(build, i, err);
        if (rc == 0)
            layer_walk_leave(&build->walk, i);
    }
    return rc;
}

static const char *title_of(const struct tactic_provider *provider)
{
    if (strcmp(provider->name, "onednn") == 0)
        return "oneDNN";
    return strcmp(provider->name, "onnxrt") == 0 ? "ONNX Runtime" : provider->name;
}

static void log_summary(const struct build *build, double seconds)
{
    const struct engine *engine = build->engine;
    struct string_builder text;
    const char *separator = ":";

    string_init(&text);
    string_add_format(&text, "Built %zu layers in %.2f s", engine->network->layers.count, seconds);
    for (size_t i = 0; i < engine->providers.count; i++) {
        size_t count = 0;

        for (size_t j = 0; j < engine->network->layers.count; j++)
            count += engine->layers[j].tactic.provider == engine->providers.items[i];
        if (count == 0)
            continue;
        string_add_format(&text, "%s %zu with %s", separator, count, title_of(engine->providers.items[i]));
        separator = ",";
    }
    if (build->measured + build->remembered > 0)
        string_add_format(&text, " (%zu tactics timed, %zu times known already)", build->measured, build->remembered);
    log_message(build->settings->log, LOG_INFO, "%s", text.data);
    string_release(&text);
}

/* They pin nothing, which may not be what was meant: another model, or another version of it. */
static void warn_of_foreign_replay(const struct network *network, const struct builder_settings *settings)
{
    const struct tactic_replay *replay = settings->replay;
    const char *first = NULL;
    size_t count = 0;

    for (size_t i = 0; replay && i < replay->count; i++) {
        size_t k = 0;

        while (k < network->layers.count && strcmp(network->layers.items[k].name, replay->items[i].layer) != 0)
            k++;
        if (k < network->layers.count)
            continue;
        first = count++ == 0 ? replay->items[i].layer : first;
    }
    if (count > 0)
        log_message(settings->log, LOG_WARNING,
                    "The tactic replay names %zu layer(s) that this network does not have, such as '%s'", count, first);
}

static struct engine *new_engine(const struct network *network, const struct builder_settings *settings)
{
    struct engine *engine = memory_alloc_zero(1, sizeof(*engine));

    engine->network = network;
    engine->layers = memory_alloc_zero(network->layers.count, sizeof(*engine->layers));
    engine->providers = settings->providers;
    engine->threads = settings->threads;
    return engine;
}

int engine_build(const struct network *network, const struct builder_settings *settings, struct engine **ret,
                 struct error *err)
{
    struct build build = {
        .settings = settings,
        .engine = new_engine(network, settings),
        .cache = settings->cache ? settings->cache : timing_cache_new(),
    };
    struct tensor_list feed = {0};
    double start = stopwatch_now();
    int rc;

    layer_walk_init(&build.walk, network);
    layout_wishes_init(&build.wishes, network);
    warn_of_foreign_replay(network, settings);
    rc = assign_precisions(&build, err);
    if (rc == 0)
        rc = builder_check_profiles(network, settings, err);
    if (rc == 0)
        rc = builder_feed(network, settings, 0, &feed, err);
    if (rc == 0) {
        builder_add_profiles(build.engine, settings, &feed);
        rc = builder_calibrate(&build, &feed, err);
    }
    if (rc == 0)
        rc = build_layers(&build, &feed, err);
    if (rc == 0) {
        log_summary(&build, stopwatch_now() - start);
        *ret = build.engine;
    } else {
        engine_free(build.engine);
    }
    layer_walk_release(&build.walk);
    layout_wishes_release(&build.wishes);
    free(build.slow.items);
    tensor_list_release(&feed);
    if (!settings->cache)
        timing_cache_free(build.cache);
    return rc;
}
