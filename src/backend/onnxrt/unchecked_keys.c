/* backend/onnxrt/unchecked_keys.c: see unchecked_keys.h. */
#include "backend/onnxrt/unchecked_keys.h"

#include <ctype.h>
#include <stdlib.h>
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

/* The runtime keeps options of a provider as "ep.webgpuexecutionprovider.deviceId", say. Other providers have libraries
 * of their own, which may know a session's key that the runtime's does not. */
static void warn(const struct onnxrt *ort, struct text library, const char *provider,
                 const struct onnxrt_entry *setting, struct log *log)
{
    struct string_builder area, instead;

    string_init(&area);
    string_init(&instead);
    if (provider != NULL) {
        string_add_format(&area, "ep.%s.", provider);
        for (size_t i = 0; i < area.size; i++)
            area.data[i] = (char)tolower((unsigned char)area.data[i]);
    }
    if (!onnxrt_library_has_key(library, area.size > 0 ? area.data : "", setting->key, &instead))
        log_once(log, LOG_WARNING,
                 "%s %s%s%s: the library of ONNX Runtime %s does not hold this name, so that nothing may come of it%s",
                 provider != NULL ? "--provider-options" : "--session-config",
                 provider != NULL ? setting->provider : "", provider != NULL ? ":" : "", setting->key, ort->version,
                 instead.size > 0 ? instead.data : "");
    string_release(&area);
    string_release(&instead);
}

/* The runtime does not say which of the names it knows. */
static void warn_of_optimizers(const struct onnxrt *ort, const char *value, struct log *log)
{
    char *names = memory_strdup(value), *state = NULL;

    for (char *name = strtok_r(names, ";", &state); name != NULL; name = strtok_r(NULL, ";", &state)) {
        struct string_builder instead;

        string_init(&instead);
        if (!onnxrt_optimizer_is_known(name, &instead))
            log_once(
                log, LOG_WARNING,
                "'%s' is no optimizer that is known of ONNX Runtime 1.30 on the processor, so that nothing may come "
                "of it with %s to be switched off%s",
                name, ort->version, instead.size > 0 ? instead.data : "");
        string_release(&instead);
    }
    free(names);
}

void onnxrt_unchecked_keys_warn(const struct onnxrt_providers *providers, const struct onnxrt_execution *execution,
                                struct log *log)
{
    const struct onnxrt *ort = providers->ort;
    struct text library;
    struct file_map map;

    if (execution->session_config.count + execution->provider_options.count == 0 || ort->path == NULL ||
        file_map_open(ort->path, &map, NULL) < 0)
        return;
    library = (struct text){(const char *)map.data, map.size};
    for (size_t i = 0; i < execution->session_config.count; i++) {
        const struct onnxrt_entry *setting = &execution->session_config.items[i];

        warn(ort, library, NULL, setting, log);
        if (strcmp(setting->key, ONNXRT_DISABLED_OPTIMIZERS_KEY) == 0)
            warn_of_optimizers(ort, setting->value, log);
    }
    for (size_t i = 0; i < execution->provider_options.count; i++) {
        const char *careless = onnxrt_providers_careless(providers, execution->provider_options.items[i].provider);

        if (careless != NULL)
            warn(ort, library, careless, &execution->provider_options.items[i], log);
    }
    file_map_release(&map);
}
