/* engine/tactic/providers.c: opens the tactic providers: see engine/tactic/tactic.h. */
#include <stdlib.h>
#include <strings.h>

#include "backend/backend.h"
#include "base/memory.h"
#include "engine/tactic/tactic.h"

/* TensorRT's names of tactic sources, which select libraries that this engine does not use. */
static const char *const tensorrt_sources[] = {"CUBLAS", "CUBLAS_LT", "CUDNN", "EDGE_MASK_CONVOLUTIONS",
                                               "JIT_CONVOLUTIONS"};

enum source { SOURCE_ONEDNN, SOURCE_ONNXRT, SOURCE_COUNT };

static const char *const source_names[SOURCE_COUNT] = {"onednn", "onnxrt"};

enum wish { WISH_NONE, WISH_IF_THERE, WISH_NAMED };

static bool is_tensorrt_source(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(tensorrt_sources); i++)
        if (strcasecmp(name, tensorrt_sources[i]) == 0)
            return true;
    return false;
}

/* The index of the source, or SOURCE_COUNT. */
static size_t find_source_number(const char *name)
{
    size_t i = 0;

    while (i < SOURCE_COUNT && strcasecmp(name, source_names[i]) != 0)
        i++;
    return i;
}

static bool source_is_plugin(const struct provider_list *plugins, const char *name)
{
    for (size_t i = 0; i < plugins->count; i++)
        if (strcasecmp(name, plugins->items[i]->name) == 0)
            return true;
    return false;
}

static int refuse_unknown_source(const char *name, const struct provider_list *plugins, struct error *err)
{
    SCOPED_STRING(names);

    for (size_t i = 0; i < SOURCE_COUNT; i++)
        string_add_format(&names, "%s%s", i > 0 ? ", " : "", source_names[i]);
    for (size_t i = 0; i < plugins->count; i++)
        string_add_format(&names, ", %s", plugins->items[i]->name);
    return error_set(err, ERR_INVALID, "unknown tactic source '%s'; available: %s", name, names.data);
}

/* Reads --tactic-sources: the selected built-in providers and plug-ins. */
static int read_wanted_sources(const struct provider_settings *settings, const struct provider_list *plugins,
                               enum wish wishes[SOURCE_COUNT], bool *ret_all, struct error *err)
{
    size_t meaningful = 0;

    for (size_t i = 0; i < settings->sources.count; i++) {
        const char *name = settings->sources.items[i];
        size_t source = find_source_number(name);

        if (source < SOURCE_COUNT)
            wishes[source] = WISH_NAMED;
        else if (is_tensorrt_source(name))
            log_message(settings->log, LOG_WARNING,
                        "Tactic source %s is one of TensorRT's and has no effect in the built-in engine", name);
        else if (!source_is_plugin(plugins, name))
            return refuse_unknown_source(name, plugins, err);
        meaningful += !is_tensorrt_source(name);
    }
    *ret_all = meaningful == 0;
    for (size_t i = 0; *ret_all && i < SOURCE_COUNT; i++)
        wishes[i] = WISH_IF_THERE;
    return 0;
}

static bool source_is_wanted(const struct provider_settings *settings, const char *name)
{
    for (size_t i = 0; i < settings->sources.count; i++)
        if (strcasecmp(settings->sources.items[i], name) == 0)
            return true;
    return false;
}

static int load_plugins(const struct provider_settings *settings, struct provider_list *ret, struct error *err)
{
    for (size_t i = 0; i < settings->plugins.count; i++) {
        struct tactic_provider *provider;
        int rc = plugin_provider_load(settings->plugins.items[i], &provider, err);

        if (rc < 0)
            return rc;
        if (source_is_plugin(ret, provider->name) || find_source_number(provider->name) < SOURCE_COUNT) {
            rc = error_set(err, ERR_INVALID, "plug-in '%s' has the name '%s', which another provider has already",
                           settings->plugins.items[i], provider->name);
            provider->free(provider);
            return rc;
        }
        *VECTOR_APPEND(ret) = provider;
    }
    return 0;
}

/* Opens a built-in provider. A missing one is skipped unless it was selected by name. */
static int open_tactic_source(const struct provider_settings *settings, enum source source, enum wish wish,
                              struct provider_list *ret, struct error *err)
{
    struct tactic_provider *provider = NULL;
    struct error why = {0};
    int rc;

    if (source == SOURCE_ONEDNN)
        rc = onednn_provider_new(settings->threads, settings->log, &provider, &why);
    else
        rc = onnxrt_provider_new(settings, &provider, &why);
    if (rc == 0) {
        *VECTOR_APPEND(ret) = provider;
        return 0;
    }
    if (wish == WISH_NAMED || rc != ERR_MISSING) {
        if (err)
            *err = why;
        return rc;
    }
    log_message(settings->log, LOG_WARNING, "Building without %s: %s",
                source == SOURCE_ONEDNN ? "oneDNN" : "ONNX Runtime", why.message);
    return 0;
}

/* Drops the plug-ins that --tactic-sources does not select. */
static void drop_unwanted_providers(const struct provider_settings *settings, struct provider_list *plugins)
{
    size_t kept = 0;

    for (size_t i = 0; i < plugins->count; i++)
        if (source_is_wanted(settings, plugins->items[i]->name))
            plugins->items[kept++] = plugins->items[i];
        else
            plugins->items[i]->free(plugins->items[i]);
    plugins->count = kept;
}

/* Plug-ins come first: custom kernels have priority over built-in ones. */
int providers_open(const struct provider_settings *settings, struct provider_list *ret, struct error *err)
{
    enum wish wishes[SOURCE_COUNT] = {WISH_NONE};
    struct provider_list list = {0};
    bool all = true;
    int rc = load_plugins(settings, &list, err);

    if (rc < 0)
        goto done;
    rc = read_wanted_sources(settings, &list, wishes, &all, err);
    if (rc < 0)
        goto done;
    if (!all)
        drop_unwanted_providers(settings, &list);
    for (size_t i = 0; i < SOURCE_COUNT; i++) {
        if (wishes[i] != WISH_NONE)
            rc = open_tactic_source(settings, (enum source)i, wishes[i], &list, err);
        if (rc < 0)
            goto done;
    }
    if (list.count == 0)
        rc = error_set(err, ERR_MISSING,
                       "no tactic source is available: install oneDNN (libdnnl) or ONNX Runtime, or specify it with "
                       "--onnxrt-library");
done:
    if (rc == 0)
        *ret = list;
    else
        providers_close(&list);
    return rc;
}

void providers_close(struct provider_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        list->items[i]->free(list->items[i]);
    free(list->items);
    *list = (struct provider_list){0};
}

struct tactic_provider *providers_find(const struct provider_list *list, struct text name)
{
    for (size_t i = 0; i < list->count; i++)
        if (text_equal_string(name, list->items[i]->name))
            return list->items[i];
    return NULL;
}
