/* backend/onnxrt/providers.c: see providers.h. */
#include "backend/onnxrt/providers.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/optimizers.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/names.h"
#include "base/text/string_builder.h"

static const char cpu_provider[] = "CPUExecutionProvider";

static const char *match_provider(const struct onnxrt_providers *providers, const char *typed)
{
    for (int i = 0; i < providers->available_count; i++)
        if (strcmp(providers->available[i], typed) == 0)
            return providers->available[i];
    for (int i = 0; i < providers->available_count; i++) {
        struct text name = text_of(providers->available[i]);

        if (text_contains_ignoring_case(name, text_of(typed)) || text_contains_ignoring_case(text_of(typed), name))
            return providers->available[i];
    }
    return NULL;
}

/* Names as Python shows a list of strings. */
static char *write_python_list(const char *const *names, size_t count)
{
    struct string_builder text;

    string_init(&text);
    string_add_char(&text, '[');
    for (size_t i = 0; i < count; i++)
        string_add_format(&text, "%s'%s'", i > 0 ? ", " : "", names[i]);
    string_add_char(&text, ']');
    return string_take(&text);
}

static int choose_providers(struct onnxrt_providers *providers, const char *const *typed, struct error *err)
{
    size_t count = 0;

    while (typed[count])
        count++;
    providers->chosen = memory_alloc(count * sizeof(*providers->chosen));
    for (size_t i = 0; i < count; i++) {
        const char *name = match_provider(providers, typed[i]);

        if (!name) {
            char *available =
                write_python_list((const char *const *)providers->available, (size_t)providers->available_count);

            error_set(err, ERR_INVALID,
                      "Could not find specified ONNX-Runtime execution provider: '%s'; this ONNX Runtime has %s",
                      typed[i], available);
            free(available);
            return ERR_INVALID;
        }
        providers->chosen[providers->chosen_count++] = name;
    }
    return 0;
}

/* Whether the runtime is asked for this provider. The processor runs every operator, so nothing that was chosen after
 * it would get one. */
static bool is_asked_for(const struct onnxrt_providers *providers, const char *name)
{
    for (size_t i = 0; i < providers->chosen_count && strcmp(providers->chosen[i], cpu_provider) != 0; i++)
        if (strcmp(providers->chosen[i], name) == 0)
            return true;
    return false;
}

/* An option that nobody gets would change nothing, and nobody would know. */
static int check_options(const struct onnxrt_providers *providers, struct error *err)
{
    for (size_t i = 0; i < providers->options.count; i++) {
        const struct onnxrt_entry *option = &providers->options.items[i];
        const char *name = match_provider(providers, option->provider);
        char *chosen SCOPED_FREE = NULL;

        if (name && strcmp(name, cpu_provider) == 0)
            return error_set(err, ERR_INVALID,
                             "--provider-options '%s:%s=%s': %s takes no options; --onnxrt-threads and "
                             "--session-config are what changes it",
                             option->provider, option->key, option->value, name);
        if (name && is_asked_for(providers, name))
            continue;
        chosen = onnxrt_providers_to_text(providers);
        return error_set(
            err, ERR_INVALID,
            "--provider-options '%s:%s=%s': no such provider is among --providers, which are %s (one behind "
            "CPUExecutionProvider gets no node); add it to --providers, or leave the option out",
            option->provider, option->key, option->value, chosen);
    }
    return 0;
}

int onnxrt_providers_init(const struct onnxrt *ort, const struct onnxrt_execution *execution,
                          struct onnxrt_providers *ret, struct error *err)
{
    static const char *const cpu_alone[] = {cpu_provider, NULL};
    const char *const *typed = execution->providers && execution->providers[0] ? execution->providers : cpu_alone;
    struct onnxrt_providers providers = {.ort = ort, .options = execution->provider_options};
    int rc = onnxrt_check(ort, ort->api->available_providers(&providers.available, &providers.available_count), err,
                          "ONNX Runtime does not tell its execution providers");

    if (rc < 0)
        return rc;
    rc = choose_providers(&providers, typed, err);
    if (rc == 0)
        rc = check_options(&providers, err);
    if (rc < 0)
        onnxrt_providers_release(&providers);
    else
        *ret = providers;
    return rc;
}

void onnxrt_providers_release(struct onnxrt_providers *providers)
{
    if (providers->available) {
        struct ort_status *status =
            providers->ort->api->release_available_providers(providers->available, providers->available_count);

        if (status)
            providers->ort->api->release_status(status);
    }
    free(providers->chosen);
    *providers = (struct onnxrt_providers){0};
}

char *onnxrt_providers_to_text(const struct onnxrt_providers *providers)
{
    return write_python_list(providers->chosen, providers->chosen_count);
}

const char *onnxrt_providers_preferred(const struct onnxrt_providers *providers)
{
    return strcmp(providers->chosen[0], cpu_provider) != 0 ? providers->chosen[0] : NULL;
}

/* ---- Ways into the runtime ---- */

/* Of a provider that has a type of its own for its options. */
struct entry_points {
    const char *provider;
    struct ort_status *(*create)(struct ort_provider_options **);
    struct ort_status *(*update)(struct ort_provider_options *, const char *const *keys, const char *const *values,
                                 size_t count);
    struct ort_status *(*append)(struct ort_session_options *, const struct ort_provider_options *);
    void (*release)(struct ort_provider_options *);
};

static bool find_entry_points(const struct ort_api *api, const char *provider, struct entry_points *ret)
{
    const struct entry_points all[] = {
        {"TensorrtExecutionProvider", api->create_tensorrt_options, api->update_tensorrt_options, api->append_tensorrt,
         api->release_tensorrt_options},
        {"CUDAExecutionProvider", api->create_cuda_options, api->update_cuda_options, api->append_cuda,
         api->release_cuda_options},
        {"CANNExecutionProvider", api->create_cann_options, api->update_cann_options, api->append_cann,
         api->release_cann_options},
        {"DnnlExecutionProvider", api->create_dnnl_options, api->update_dnnl_options, api->append_dnnl,
         api->release_dnnl_options},
        {"ROCMExecutionProvider", api->create_rocm_options, api->update_rocm_options, api->append_rocm,
         api->release_rocm_options},
    };

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (strcmp(all[i].provider, provider) == 0) {
            *ret = all[i];
            return true;
        }
    return false;
}

/* What the function for all other providers calls them in every release that knows them; the long names came later. */
static const char *short_name(const char *provider)
{
    static const char *const names[][2] = {
        {"AzureExecutionProvider", "AZURE"},       {"CoreMLExecutionProvider", "CoreML"},
        {"DmlExecutionProvider", "DML"},           {"JsExecutionProvider", "JS"},
        {"MIGraphXExecutionProvider", "MIGraphX"}, {"NvTensorRTRTXExecutionProvider", "NvTensorRtRtx"},
        {"OpenVINOExecutionProvider", "OPENVINO"}, {"QNNExecutionProvider", "QNN"},
        {"SNPEExecutionProvider", "SNPE"},         {"VitisAIExecutionProvider", "VitisAI"},
        {"WebGpuExecutionProvider", "WebGPU"},     {"WebNNExecutionProvider", "WEBNN"},
        {"XnnpackExecutionProvider", "XNNPACK"},
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(names[i][0], provider) == 0)
            return names[i][1];
    return provider;
}

/* Options of one provider, as the runtime takes them. */
struct option_list {
    const char **keys, **values;
    size_t count;
};

/* A later option replaces an earlier one of the same key. */
static void collect_options(const struct onnxrt_providers *providers, const char *provider, struct option_list *ret)
{
    ret->keys = memory_alloc_zero(providers->options.count, sizeof(*ret->keys));
    ret->values = memory_alloc_zero(providers->options.count, sizeof(*ret->values));
    for (size_t i = 0; i < providers->options.count; i++) {
        const struct onnxrt_entry *option = &providers->options.items[i];
        size_t place = 0;

        if (match_provider(providers, option->provider) != provider)
            continue;
        while (place < ret->count && strcmp(ret->keys[place], option->key) != 0)
            place++;
        ret->keys[place] = option->key;
        ret->values[place] = option->value;
        ret->count += place == ret->count;
    }
}

static struct ort_status *append_own(const struct entry_points *own, struct ort_session_options *options,
                                     const struct option_list *given)
{
    struct ort_provider_options *own_options = NULL;
    struct ort_status *status = own->create(&own_options);

    if (!status && given->count > 0)
        status = own->update(own_options, given->keys, given->values, given->count);
    if (!status)
        status = own->append(options, own_options);
    if (own_options)
        own->release(own_options);
    return status;
}

static int append_provider(const struct onnxrt_providers *providers, const char *provider,
                           struct ort_session_options *options, struct error *err)
{
    const struct onnxrt *ort = providers->ort;
    struct option_list given = {0};
    SCOPED_STRING(asked);
    struct entry_points own;
    struct ort_status *status;
    int rc;

    collect_options(providers, provider, &given);
    if (find_entry_points(ort->api, provider, &own))
        status = append_own(&own, options, &given);
    else if (strcmp(provider, "OpenVINOExecutionProvider") == 0 && ort->release >= ORT_API_VERSION_OPENVINO)
        status = ort->api->append_openvino(options, given.keys, given.values, given.count);
    else
        status = ort->api->append_provider(options, short_name(provider), given.keys, given.values, given.count);

    for (size_t i = 0; i < given.count; i++)
        string_add_format(&asked, "%s%s=%s", i == 0 ? " with " : ", ", given.keys[i], given.values[i]);
    rc = onnxrt_check(ort, status, err, "ONNX Runtime's %s does not work here%s", provider,
                      asked.size > 0 ? asked.data : "");
    free(given.keys);
    free(given.values);
    return rc;
}

/* The provider that `typed` stands for, when it is one that takes options which it does not know, and lies in the
 * runtime's own library; else NULL. */
static const char *find_careless_provider(const struct onnxrt_providers *providers, const char *typed)
{
    static const char *const careless[] = {"WebGpuExecutionProvider", "XnnpackExecutionProvider",
                                           "CoreMLExecutionProvider", "DmlExecutionProvider"};
    const char *name = match_provider(providers, typed);

    for (size_t i = 0; name != NULL && i < ARRAY_LEN(careless); i++)
        if (strcmp(careless[i], name) == 0)
            return name;
    return NULL;
}

static bool chosen_before(const struct onnxrt_providers *providers, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(providers->chosen[i], providers->chosen[index]) == 0)
            return true;
    return false;
}

/* The runtime puts the processor behind all others by itself. */
int onnxrt_providers_append(const struct onnxrt_providers *providers, struct ort_session_options *options,
                            struct error *err)
{
    int rc = 0;

    for (size_t i = 0; i < providers->chosen_count && rc == 0; i++) {
        if (strcmp(providers->chosen[i], cpu_provider) == 0)
            return 0;
        if (!chosen_before(providers, i))
            rc = append_provider(providers, providers->chosen[i], options, err);
    }
    return rc;
}

/* ---- Keys that the runtime does not check ---- */

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
static void warn_of_key(const struct onnxrt *ort, struct text library, const char *provider,
                        const struct onnxrt_entry *setting, struct log *log)
{
    SCOPED_STRING(area);
    SCOPED_STRING(instead);

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
}

/* The runtime does not say which of the names it knows. */
static void warn_of_optimizers(const struct onnxrt *ort, const char *value, struct log *log)
{
    char *names = memory_strdup(value), *state = NULL;

    for (char *name = strtok_r(names, ";", &state); name != NULL; name = strtok_r(NULL, ";", &state)) {
        SCOPED_STRING(instead);

        if (!onnxrt_optimizer_is_known(name, &instead))
            log_once(log, LOG_WARNING,
                     "'%s' is no optimizer that is known of ONNX Runtime 1.30 on the processor, so that nothing may "
                     "come of it with %s to be disabled%s",
                     name, ort->version, instead.size > 0 ? instead.data : "");
    }
    free(names);
}

void onnxrt_unchecked_keys_warn(const struct onnxrt_providers *providers, const struct onnxrt_execution *execution,
                                struct log *log)
{
    const struct onnxrt *ort = providers->ort;
    struct text library;
    struct file_map map SCOPED(file_map_release) = {0};

    if (execution->session_config.count + execution->provider_options.count == 0 || ort->path == NULL ||
        file_map_open(ort->path, &map, NULL) < 0)
        return;
    library = (struct text){(const char *)map.data, map.size};
    for (size_t i = 0; i < execution->session_config.count; i++) {
        const struct onnxrt_entry *setting = &execution->session_config.items[i];

        warn_of_key(ort, library, NULL, setting, log);
        if (strcmp(setting->key, ONNXRT_DISABLED_OPTIMIZERS_KEY) == 0)
            warn_of_optimizers(ort, setting->value, log);
    }
    for (size_t i = 0; i < execution->provider_options.count; i++) {
        const char *careless = find_careless_provider(providers, execution->provider_options.items[i].provider);

        if (careless != NULL)
            warn_of_key(ort, library, careless, &execution->provider_options.items[i], log);
    }
}
