/* backend/onnxrt/providers.c: see providers.h. */
#include "backend/onnxrt/providers.h"

#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/provider_devices.h"
#include "backend/onnxrt/provider_packages.h"
#include "base/memory.h"
#include "base/text/string_builder.h"

static const char cpu_provider[] = "CPUExecutionProvider";

static bool contain_each_other(const char *name, const char *typed)
{
    return text_contains_ignoring_case(text_of(name), text_of(typed)) ||
           text_contains_ignoring_case(text_of(typed), text_of(name));
}

/* Among those that the runtime was built with. */
static const char *match_provider(const struct onnxrt_providers *providers, const char *typed)
{
    for (int i = 0; i < providers->available_count; i++)
        if (strcmp(providers->available[i], typed) == 0)
            return providers->available[i];
    for (int i = 0; i < providers->available_count; i++)
        if (contain_each_other(providers->available[i], typed))
            return providers->available[i];
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

/* ---- Choosing ---- */

/* The provider of a library that `typed` stands for; NULL: none. */
static const struct registered_provider *match_plugin(const struct provider_library *library, const char *typed)
{
    for (size_t i = 0; i < library->provider_count; i++)
        if (strcmp(library->providers[i].name, typed) == 0)
            return &library->providers[i];
    for (size_t i = 0; i < library->provider_count; i++)
        if (strcmp(library->name, typed) == 0 || contain_each_other(library->providers[i].name, typed))
            return &library->providers[i];
    return NULL;
}

static int refuse_deviceless_library(const struct onnxrt *ort, const struct provider_library *library,
                                     const char *typed, struct error *err)
{
    SCOPED_STRING(why);

    provider_library_explain(ort, library, &why);
    return error_set(err, ERR_INVALID, "--providers %s: %s", typed, why.data);
}

/* What a name that stands for nothing could have stood for. */
static int refuse_name(const struct onnxrt_providers *providers, const char *typed, struct error *err)
{
    const struct onnxrt_entries *given = &providers->execution->provider_libraries;
    const struct provider_package *package = provider_package_find(typed);
    char *available = write_python_list((const char *const *)providers->available, (size_t)providers->available_count);
    SCOPED_STRING(hint);

    if (package != NULL)
        string_add_format(&hint,
                          "; install %s (pip install %s), or name the library with --onnxrt-provider-library %s=PATH",
                          package->package, package->package, package->name);
    for (size_t i = 0; i < given->count; i++) {
        const struct provider_library *library;

        if (provider_library_register(providers->ort, given->items[i].key, given->items[i].value, &library, NULL) < 0)
            continue;
        string_add_format(&hint, "; the library '%s' has ", given->items[i].key);
        for (size_t k = 0; k < library->provider_count; k++)
            string_add_format(&hint, "%s'%s'", k > 0 ? ", " : "", library->providers[k].name);
        if (library->provider_count == 0)
            string_add(&hint, "none for a device of this machine");
    }
    error_set(err, ERR_INVALID,
              "Could not find specified ONNX-Runtime execution provider: '%s'; this ONNX Runtime has %s%s", typed,
              available, hint.size > 0 ? hint.data : "");
    free(available);
    return ERR_INVALID;
}

/* Of the given libraries; `by_name`: only of those that are to be registered under that name. */
static int choose_of_libraries(const struct onnxrt_providers *providers, const char *typed, bool by_name,
                               struct chosen_provider *ret, struct error *err)
{
    const struct onnxrt_entries *given = &providers->execution->provider_libraries;
    int rc = 0;

    for (size_t i = 0; i < given->count && rc == 0; i++) {
        const struct provider_library *library;
        bool is_named = strcmp(given->items[i].key, typed) == 0;

        if (by_name ? !is_named : ret->name != NULL)
            continue;
        rc = provider_library_register(providers->ort, given->items[i].key, given->items[i].value, &library, err);
        if (rc < 0)
            break;
        ret->plugin = match_plugin(library, typed);
        if (ret->plugin != NULL)
            ret->name = ret->plugin->name;
        else if (is_named)
            rc = refuse_deviceless_library(providers->ort, library, typed, err);
    }
    return rc;
}

static int choose_of_package(const struct onnxrt_providers *providers, const char *typed, struct chosen_provider *ret,
                             struct error *err)
{
    const struct provider_package *package = provider_package_find(typed);
    char *path SCOPED_FREE = package != NULL ? provider_package_locate(package) : NULL;
    const struct provider_library *library;
    int rc;

    if (path == NULL)
        return refuse_name(providers, typed, err);
    rc = provider_library_register(providers->ort, package->registered, path, &library, err);
    if (rc < 0)
        return rc;
    ret->plugin = match_plugin(library, strchr(typed, '.') != NULL ? typed : package->provider);
    if (ret->plugin == NULL)
        return refuse_deviceless_library(providers->ort, library, typed, err);
    ret->name = ret->plugin->name;
    return 0;
}

static int choose_provider(const struct onnxrt_providers *providers, const char *typed, struct chosen_provider *ret,
                           struct error *err)
{
    int rc = choose_of_libraries(providers, typed, true, ret, err);

    if (rc < 0 || ret->name != NULL)
        return rc;
    ret->name = match_provider(providers, typed);
    if (ret->name != NULL)
        return 0;
    rc = choose_of_libraries(providers, typed, false, ret, err);
    return rc < 0 || ret->name != NULL ? rc : choose_of_package(providers, typed, ret, err);
}

static int choose_providers(struct onnxrt_providers *providers, const char *const *typed, struct error *err)
{
    size_t count = 0;
    int rc = 0;

    while (typed[count])
        count++;
    providers->chosen = memory_alloc_zero(count, sizeof(*providers->chosen));
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = choose_provider(providers, typed[i], &providers->chosen[providers->chosen_count++], err);
    return rc;
}

const struct chosen_provider *onnxrt_providers_find(const struct onnxrt_providers *providers, const char *typed)
{
    const char *built_in = match_provider(providers, typed);

    ARRAY_EACH (const struct chosen_provider, chosen, providers->chosen, providers->chosen_count)
        if (strcmp(chosen->name, typed) == 0 ||
            (chosen->plugin != NULL && strcmp(chosen->plugin->library->name, typed) == 0))
            return chosen;
    ARRAY_EACH (const struct chosen_provider, chosen, providers->chosen, providers->chosen_count)
        if (chosen->plugin == NULL ? chosen->name == built_in : contain_each_other(chosen->name, typed))
            return chosen;
    return NULL;
}

/* Whether the runtime is asked for this provider. The processor runs every operator, so nothing that was chosen after
 * it would get one. */
static bool is_asked_for(const struct onnxrt_providers *providers, const struct chosen_provider *wanted)
{
    for (size_t i = 0; i < providers->chosen_count && strcmp(providers->chosen[i].name, cpu_provider) != 0; i++)
        if (&providers->chosen[i] == wanted)
            return true;
    return false;
}

/* An option that nobody gets would change nothing, and nobody would know. */
static int check_options(const struct onnxrt_providers *providers, struct error *err)
{
    const struct onnxrt_entries *options = &providers->execution->provider_options;

    VECTOR_EACH (const struct onnxrt_entry, option, *options) {
        const struct chosen_provider *wanted = onnxrt_providers_find(providers, option->provider);
        const char *name = wanted != NULL ? wanted->name : match_provider(providers, option->provider);
        char *chosen SCOPED_FREE = NULL;

        if (name && strcmp(name, cpu_provider) == 0)
            return error_set(err, ERR_INVALID,
                             "--provider-options '%s:%s=%s': %s takes no options; --onnxrt-threads and "
                             "--session-config are what changes it",
                             option->provider, option->key, option->value, name);
        if (wanted != NULL && is_asked_for(providers, wanted))
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
    struct onnxrt_providers providers = {.ort = ort, .execution = execution};
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
    const char **names SCOPED_FREE = memory_alloc_zero(providers->chosen_count, sizeof(*names));

    for (size_t i = 0; i < providers->chosen_count; i++)
        names[i] = providers->chosen[i].name;
    return write_python_list(names, providers->chosen_count);
}

const char *onnxrt_providers_preferred(const struct onnxrt_providers *providers)
{
    return strcmp(providers->chosen[0].name, cpu_provider) != 0 ? providers->chosen[0].name : NULL;
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
static void collect_options(const struct onnxrt_providers *providers, const struct chosen_provider *provider,
                            struct option_list *ret)
{
    const struct onnxrt_entries *options = &providers->execution->provider_options;

    ret->keys = memory_alloc_zero(options->count, sizeof(*ret->keys));
    ret->values = memory_alloc_zero(options->count, sizeof(*ret->values));
    VECTOR_EACH (const struct onnxrt_entry, option, *options) {
        size_t place = 0;

        if (onnxrt_providers_find(providers, option->provider) != provider)
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

static int append_provider(const struct onnxrt_providers *providers, const struct chosen_provider *provider,
                           struct ort_session_options *options, struct error *err)
{
    const struct onnxrt *ort = providers->ort;
    struct option_list given = {0};
    SCOPED_STRING(asked);
    struct entry_points own;
    struct ort_status *status;
    int rc;

    collect_options(providers, provider, &given);
    if (provider->plugin != NULL)
        status = ort->api->append_plugin(options, ort->env, provider->plugin->devices, 1, given.keys, given.values,
                                         given.count);
    else if (find_entry_points(ort->api, provider->name, &own))
        status = append_own(&own, options, &given);
    else if (strcmp(provider->name, "OpenVINOExecutionProvider") == 0 && ort->release >= ORT_API_VERSION_OPENVINO)
        status = ort->api->append_openvino(options, given.keys, given.values, given.count);
    else
        status = ort->api->append_provider(options, short_name(provider->name), given.keys, given.values, given.count);

    for (size_t i = 0; i < given.count; i++)
        string_add_format(&asked, "%s%s=%s", i == 0 ? " with " : ", ", given.keys[i], given.values[i]);
    rc = onnxrt_check(ort, status, err, "ONNX Runtime's %s does not work here%s", provider->name,
                      asked.size > 0 ? asked.data : "");
    free(given.keys);
    free(given.values);
    return rc;
}

static bool chosen_before(const struct onnxrt_providers *providers, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(providers->chosen[i].name, providers->chosen[index].name) == 0)
            return true;
    return false;
}

/* The runtime puts the processor behind all others by itself. */
int onnxrt_providers_append(const struct onnxrt_providers *providers, struct ort_session_options *options,
                            struct error *err)
{
    int rc = 0;

    for (size_t i = 0; i < providers->chosen_count && rc == 0; i++) {
        if (strcmp(providers->chosen[i].name, cpu_provider) == 0)
            return 0;
        if (!chosen_before(providers, i))
            rc = append_provider(providers, &providers->chosen[i], options, err);
    }
    return rc;
}

void onnxrt_providers_report_plugins(const struct onnxrt_providers *providers, struct log *log)
{
    for (size_t i = 0; i < providers->chosen_count; i++) {
        const struct registered_provider *plugin = providers->chosen[i].plugin;
        const char *version;

        if (plugin == NULL)
            continue;
        version = provider_metadata_find(providers->ort, plugin->devices[0], "version");
        log_once(log, LOG_VERBOSE, "%s%s%s: provider library '%s'%s", plugin->name, version != NULL ? " " : "",
                 version != NULL ? version : "", plugin->library->path,
                 plugin->device_count > 1 ? ", with the first of its devices" : "");
    }
}
