/* backend/onnxrt/unchecked_keys.c: see unchecked_keys.h. */
#include "backend/onnxrt/unchecked_keys.h"

#include <ctype.h>
#include <string.h>

#include "backend/onnxrt/optimizers.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/names.h"
#include "base/text/string_builder.h"

#define LONGEST_KEY 128 /* the runtime's bound up to release 1.22 */

/* What keys of a session begin with. */
static const char *const session_areas[] = {"session.", "optimization.", "ep.", "mlas."};

static bool is_of_a_key(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* Offers each text of the library that begins with `area` and looks like a key, from its byte `from` on. */
static void offer_keys(struct text library, const char *area, size_t from, struct close_names *names)
{
    size_t size = strlen(area), found;

    for (; (found = text_find(library, text_of(area))) != SIZE_MAX;
         library = (struct text){library.data + found + size, library.size - found - size}) {
        struct text key = {library.data + found, size};
        size_t room = library.size - found;

        while (key.size <= LONGEST_KEY && key.size < room && is_of_a_key(key.data[key.size]))
            key.size++;
        if (key.size > size && key.size < room && key.data[key.size] == '\0')
            close_names_offer(names, (struct text){key.data + from, key.size - from});
    }
}

bool onnxrt_library_has_key(struct text library, const char *area, const char *key, struct string_builder *ret)
{
    struct close_names names;

    if (text_contains(library, (struct text){key, strlen(key) + 1}))
        return true;
    close_names_start(&names, text_of(key));
    if (*area != '\0')
        offer_keys(library, area, strlen(area), &names);
    for (size_t i = 0; *area == '\0' && i < ARRAY_LEN(session_areas); i++)
        offer_keys(library, session_areas[i], 0, &names);
    close_names_add_to(&names, ret);
    return false;
}

/* A library that is searched for keys. */
struct key_library {
    struct file_map map;
    const char *label; /* "ONNX Runtime 1.30.0", "'libours.so'" */
};

/* The runtime keeps options of a provider as "ep.webgpuexecutionprovider.deviceId", say. Other providers have libraries
 * of their own, which may know a session's key that the runtime's does not. False: the warning was given. */
static bool check_key(const struct key_library *library, const char *provider, const struct onnxrt_entry *setting,
                      struct log *log)
{
    SCOPED_STRING(area);
    SCOPED_STRING(instead);

    if (provider != NULL) {
        string_add_format(&area, "ep.%s.", provider);
        for (size_t i = 0; i < area.size; i++)
            area.data[i] = (char)tolower((unsigned char)area.data[i]);
    }
    if (onnxrt_library_has_key((struct text){(const char *)library->map.data, library->map.size},
                               area.size > 0 ? area.data : "", setting->key, &instead))
        return true;
    log_once(log, LOG_WARNING, "%s %s%s%s: the library of %s does not hold this name, so that nothing may come of it%s",
             provider != NULL ? "--provider-options" : "--session-config", provider != NULL ? setting->provider : "",
             provider != NULL ? ":" : "", setting->key, library->label, instead.size > 0 ? instead.data : "");
    return false;
}

/* The runtime does not say which of the names it knows. */
static void warn_of_optimizers(const struct onnxrt *ort, const char *value, struct log *log)
{
    char *names SCOPED_FREE = memory_strdup(value), *state = NULL;

    for (char *name = strtok_r(names, ";", &state); name != NULL; name = strtok_r(NULL, ";", &state)) {
        SCOPED_STRING(instead);

        if (!onnxrt_optimizer_is_known(name, &instead))
            log_once(log, LOG_WARNING,
                     "'%s' is no optimizer that is known of ONNX Runtime 1.30 on the processor, so that nothing may "
                     "come of it with %s to be disabled%s",
                     name, ort->version, instead.size > 0 ? instead.data : "");
    }
}

/* ---- Options of providers ---- */

/* Providers in the runtime's own library that take options which they do not know. */
static bool is_careless(const char *provider)
{
    static const char *const careless[] = {"WebGpuExecutionProvider", "XnnpackExecutionProvider",
                                           "CoreMLExecutionProvider", "DmlExecutionProvider"};

    return text_is_one_of(text_of(provider), careless, ARRAY_LEN(careless));
}

static bool declares_option(const struct ort_api *api, const struct registered_provider *plugin, const char *key)
{
    const char *const *keys, *const *values;
    size_t count = 0;

    api->list_key_values(api->device_options(plugin->devices[0]), &keys, &values, &count);
    return text_is_one_of(text_of(key), keys, count);
}

static void warn_of_plugin_option(const struct ort_api *api, const struct registered_provider *plugin,
                                  const struct onnxrt_entry *option, struct log *log)
{
    struct key_library library = {.label = plugin->name};
    const char *path = plugin->library->path;

    if (declares_option(api, plugin, option->key) || file_map_open(path, &library.map, NULL) < 0)
        return;
    if (check_key(&library, plugin->name, option, log))
        log_once(log, LOG_WARNING,
                 "--provider-options %s:%s=%s: the value was not checked, because %s does not declare its options; it "
                 "may ignore an unsuitable value",
                 option->provider, option->key, option->value, plugin->name);
    file_map_release(&library.map);
}

static void warn_of_options(const struct onnxrt_providers *providers, const struct key_library *runtime,
                            struct log *log)
{
    const struct onnxrt_entries *options = &providers->execution->provider_options;

    for (size_t i = 0; i < options->count; i++) {
        const struct chosen_provider *chosen = onnxrt_providers_find(providers, options->items[i].provider);

        if (chosen != NULL && chosen->plugin != NULL)
            warn_of_plugin_option(providers->ort->api, chosen->plugin, &options->items[i], log);
        else if (chosen != NULL && is_careless(chosen->name))
            check_key(runtime, chosen->name, &options->items[i], log);
    }
}

void onnxrt_unchecked_keys_warn(const struct onnxrt_providers *providers, struct log *log)
{
    const struct onnxrt *ort = providers->ort;
    const struct onnxrt_entries *config = &providers->execution->session_config;
    struct key_library runtime = {0};
    SCOPED_STRING(label);

    if (config->count + providers->execution->provider_options.count == 0 || ort->path == NULL ||
        file_map_open(ort->path, &runtime.map, NULL) < 0)
        return;
    string_add_format(&label, "ONNX Runtime %s", ort->version);
    runtime.label = label.data;
    for (size_t i = 0; i < config->count; i++) {
        check_key(&runtime, NULL, &config->items[i], log);
        if (strcmp(config->items[i].key, ONNXRT_DISABLED_OPTIMIZERS_KEY) == 0)
            warn_of_optimizers(ort, config->items[i].value, log);
    }
    warn_of_options(providers, &runtime, log);
    file_map_release(&runtime.map);
}
