/* backend/onnxrt/settings.c: see settings.h. */
#include "backend/onnxrt/settings.h"

#include <string.h>
#include <strings.h>

#include "base/memory.h"

const struct onnxrt_settings *onnxrt_settings_of(const struct backend_request *request)
{
    static const struct onnxrt_settings defaults;

    return request->settings != NULL ? request->settings : &defaults;
}

struct onnxrt_settings onnxrt_settings_unoptimized(const struct backend_request *request)
{
    struct onnxrt_settings ret = *onnxrt_settings_of(request);

    ret.execution = (struct onnxrt_execution){0};
    ret.optimization_level = 0;
    return ret;
}

struct onnxrt_entry *onnxrt_settings_add(struct onnxrt_settings *settings, struct onnxrt_entry more)
{
    const struct onnxrt_entries given = settings->execution.session_config;
    struct onnxrt_entry *items = memory_alloc_zero(given.count + 1, sizeof(*items));
    size_t count = 0;
    bool is_set = false;

    for (; count < given.count; count++) {
        items[count] = given.items[count];
        is_set |= strcmp(given.items[count].key, more.key) == 0;
    }
    if (!is_set)
        items[count++] = more;
    settings->execution.session_config = (struct onnxrt_entries){items, count};
    return items;
}

/* Whether `typed` asks for the processor's provider, not for that of a library. */
static bool means_processor(const struct onnxrt_execution *execution, const char *typed)
{
    for (size_t i = 0; i < execution->provider_libraries.count; i++)
        if (strcmp(execution->provider_libraries.items[i].key, typed) == 0)
            return false;
    return strncasecmp(typed, "cpu", strlen("cpu")) == 0;
}

bool onnxrt_settings_want_provider(const struct onnxrt_settings *settings)
{
    const char *const *providers = settings->execution.providers;

    return providers != NULL && providers[0] != NULL && !means_processor(&settings->execution, providers[0]);
}

struct onnxrt_entry *onnxrt_settings_refuse_fallback(struct onnxrt_settings *settings)
{
    static const struct onnxrt_entry entry = {.key = "session.disable_cpu_ep_fallback", .value = "1"};
    const char *const *providers = settings->execution.providers;

    if (providers == NULL || providers[0] == NULL)
        return NULL;
    /* With the processor added explicitly the runtime refuses the entry. */
    for (size_t i = 0; providers[i] != NULL; i++)
        if (means_processor(&settings->execution, providers[i]))
            return NULL;
    return onnxrt_settings_add(settings, entry);
}
