/* cli/trt_replay.c: see trt_replay.h. */
#include "cli/trt_replay.h"

#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/names.h"
#include "format/tensorrt/replay.h"

/* So many layers are named in one message. */
#define NAMED_LAYERS 8

/* Without a layer of which a kernel is told there is nothing to be pinned, either. */
static int read_choices(const struct tensorrt_products *products, struct tactic_replay *ret, struct error *err)
{
    struct layer_info info SCOPED(layer_info_release) = {0};
    int rc;

    if (products->tactics.size > 0)
        return tactic_replay_parse(ret, products->tactics.data, products->tactics.size, "the tactics of the build",
                                   err);
    rc = products->layers.size > 0
             ? layer_info_parse(&info, products->layers.data, products->layers.size, "the layer information", err)
             : error_set(err, ERR_BACKEND, "TensorRT tells nothing of the engine's layers: %s", products->no_layers);

    if (rc < 0)
        return rc;
    return layer_info_to_replay(&info, ret, err);
}

int trt_replay_save(const struct tensorrt_products *products, const struct tactic_options *precision, const char *path,
                    struct log *log, struct error *err)
{
    struct tactic_replay replay SCOPED(tactic_replay_release) = {0};
    char *cache SCOPED_FREE = NULL;
    int rc = read_choices(products, &replay, err);

    if (rc < 0)
        return rc;
    if (precision != NULL)
        tactic_options_copy(precision, &replay.precision);
    if (products->tactics.size == 0 && products->timing_cache.size > 0) {
        replay.timing_cache = memory_strdup(TACTIC_REPLAY_CACHE_BESIDE);
        cache = tactic_replay_cache_path(&replay, path);
        rc = file_write(cache, products->timing_cache.data, products->timing_cache.size, FILE_DURABLE, err);
        if (rc < 0)
            return rc;
    }
    log_message(log, LOG_INFO, "Saving tactic replay file to %s", path);
    return tactic_replay_save(&replay, path, err);
}

void trt_replay_force(const struct tactic_replay *replay, struct tensorrt_settings *settings, struct arena *arena)
{
    struct json_writer text SCOPED(json_writer_release) = {0};

    json_writer_init(&text);
    tactic_replay_write(replay, &text);
    settings->tactics = arena_text(arena, (struct text){text.text.data, text.text.size});
    settings->reports_tactics = true;
}

int trt_replay_load(const char *path, struct tensorrt_settings *settings, struct arena *arena,
                    struct tactic_replay *replay, struct error *err)
{
    char *cache SCOPED_FREE = NULL;
    int rc = 0;

    if (settings->reports_tactics) { /* the build is told each tactic */
        rc = tactic_replay_load(replay, path, err);
        if (rc == 0)
            trt_replay_force(replay, settings, arena);
        return rc;
    }
    if (settings->load_timing_cache != NULL)
        return error_set(err, ERR_INVALID,
                         "--load-tactics: the replay's timing cache pins the build, so leave out --load-timing-cache "
                         "and --save-timing-cache");
    if (tactic_replay_load(replay, path, err) < 0)
        return err->code;
    cache = tactic_replay_cache_path(replay, path);
    if (cache == NULL)
        return error_set(err, ERR_UNSUPPORTED,
                         "--load-tactics: '%s' names no timing cache, and TensorRT is told tactics in no other "
                         "way: take a replay that --save-tactics has written on TensorRT",
                         path);
    settings->load_timing_cache = arena_strdup(arena, cache);
    if (!file_exists(cache))
        rc = error_set(err, ERR_MISSING,
                       "--load-tactics: the timing cache '%s', which pins the build of '%s', is not there: keep the "
                       "two files together",
                       cache, path);
    return rc;
}

static void name_layer(const char *layer, const char *how, struct short_list *list)
{
    if (short_list_next(list)) {
        string_add_quoted(list->text, layer);
        string_add(list->text, how);
    }
}

/* Layers with other tactics; without `frees_others` also those that only the build has. */
static size_t find_differences(const struct tactic_replay *wanted, const struct tactic_replay *built, bool frees_others,
                               struct string_builder *ret)
{
    struct short_list list = {.text = ret, .most = NAMED_LAYERS};

    for (size_t i = 0; i < wanted->count; i++) {
        const struct tactic_algorithm *algorithm = tactic_replay_find(built, wanted->items[i].layer);

        if (algorithm == NULL)
            name_layer(wanted->items[i].layer, " (the engine has no such layer)", &list);
        else if (!tactic_algorithm_equal(algorithm, &wanted->items[i].algorithm))
            name_layer(wanted->items[i].layer, "", &list);
    }
    for (size_t i = 0; i < built->count && !frees_others; i++)
        if (tactic_replay_find(wanted, built->items[i].layer) == NULL)
            name_layer(built->items[i].layer, " (not in the replay)", &list);
    short_list_end(&list);
    return list.count;
}

int trt_replay_check(const struct tactic_replay *replay, const char *name, bool frees_others,
                     const struct tensorrt_products *products, struct log *log, struct error *err)
{
    struct tactic_replay built SCOPED(tactic_replay_release) = {0};
    SCOPED_STRING(text);
    int rc = read_choices(products, &built, err);

    if (rc < 0)
        return rc;
    if (find_differences(replay, &built, frees_others, &text) > 0)
        rc = error_set(err, ERR_BACKEND,
                       "the tactics of %s were not forced: TensorRT chose other ones for %s. Use the same model, "
                       "options, TensorRT release and GPU as in the build of the replay",
                       name, text.data);
    else
        log_message(log, LOG_INFO, "All %zu layers have the tactics of %s", replay->count, name);
    return rc;
}
