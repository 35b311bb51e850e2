/* cli/inspect/capability_providers.c: see capability_providers.h. */
#include "cli/inspect/capability_providers.h"

#include <string.h>

#include "backend/onnxrt/apart/backend.h"
#include "backend/onnxrt/preload.h"
#include "backend/onnxrt/provider_packages.h"
#include "backend/onnxrt/settings.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "cli/model_file.h"
#include "cli/options/groups.h"
#include "format/json/writer.h"

#define USUAL_SECONDS 60 /* time limit to load a provider's library and initialize its device */

/* ---- Why a provider does not work ---- */

/* Prefixes of the runtime's messages that are removed: this program's text, the source location, the kind of
 * failure. */
static const char *const introductions[] = {" does not work here: ", " : FAIL : ", " was false. "};

static const char *bare_reason(const char *message)
{
    for (size_t i = 0; i < ARRAY_LEN(introductions); i++) {
        const char *found = strstr(message, introductions[i]);

        if (found != NULL && found[strlen(introductions[i])] != '\0')
            message = found + strlen(introductions[i]);
    }
    return message;
}

struct provider_trial {
    const char *provider;
    bool loads;
    const char *reason; /* why it does not load or run the model; NULL: it works */
    struct string_builder said, elsewhere;
};

/* Keeps the last log line, which often contains the reason of a failure, and the one with the placement of nodes
 * (backend/onnxrt/placement.h). */
static void keep_provider_line(void *data, enum log_level level, int depth, struct text message)
{
    struct provider_trial *trial = data;
    size_t name = strlen(trial->provider);
    bool is_placement = message.size > name + 2 && memcmp(message.data, trial->provider, name) == 0;

    (void)level, (void)depth;
    string_clear(is_placement ? &trial->elsewhere : &trial->said);
    if (is_placement)
        string_add_bytes(&trial->elsewhere, message.data + name + 2, message.size - name - 2);
    else
        string_add_text(&trial->said, message);
}

/* `library` has the provider; NULL: the runtime does. */
static void try_provider(const struct backend_request *typed, const struct onnxrt_entry *library, struct arena *arena,
                         struct provider_trial *trial)
{
    const char *const providers[] = {trial->provider, NULL};
    struct onnxrt_settings settings = *onnxrt_settings_of(typed);
    struct backend_request request = *typed;
    struct error err = {0};
    struct log log = {.threshold = LOG_WARNING, .write = keep_provider_line, .data = trial};

    string_init(&trial->said);
    string_init(&trial->elsewhere);
    settings.execution = (struct onnxrt_execution){.providers = providers};
    if (library != NULL)
        settings.execution.provider_libraries = (struct onnxrt_entries){library, 1};
    request.settings = &settings;
    request.log = &log;
    trial->loads = onnxrt_run_one_node(&onnxrt_apart_backend, &request, &err) == 0;
    if (!trial->loads) {
        const char *why = bare_reason(err.message), *said = trial->said.size > 0 ? bare_reason(trial->said.data) : why;

        if (strstr(said, why) == NULL && strstr(why, said) == NULL)
            why = arena_printf(arena, "%s (%s)", why, said);
        trial->reason = arena_strdup(arena, why);
    } else if (trial->elsewhere.size > 0) {
        trial->reason = arena_strdup(arena, trial->elsewhere.data);
    }
    log_release(&log);
    string_release(&trial->said);
    string_release(&trial->elsewhere);
}

/* ---- Provider libraries ---- */

struct library_trial {
    struct onnxrt_entry library; /* its name and path */
    const char *reason;          /* why it cannot be used; NULL: it has devices */
    struct provider_device_list devices;
    struct provider_trial *trials; /* for each device that of its provider; of one provider the same */
};

struct library_trials {
    struct library_trial *items;
    size_t count, capacity;
};

static bool is_listed(const struct library_trials *trials, const char *path)
{
    for (size_t i = 0; i < trials->count; i++)
        if (strcmp(trials->items[i].library.value, path) == 0)
            return true;
    return false;
}

/* Those of --onnxrt-provider-library, and published ones that are installed. */
static void find_libraries(const struct onnxrt_entries *given, struct arena *arena, struct library_trials *ret)
{
    size_t count;
    const struct provider_package *packages = provider_packages_list(&count);

    for (size_t i = 0; i < given->count; i++)
        *VECTOR_APPEND(ret) = (struct library_trial){.library = given->items[i]};
    for (size_t i = 0; i < count; i++) {
        char *path SCOPED_FREE = provider_package_locate(&packages[i]);

        if (path != NULL && !is_listed(ret, path))
            *VECTOR_APPEND(ret) =
                (struct library_trial){.library = {.key = packages[i].registered, .value = arena_strdup(arena, path)}};
    }
}

static void try_library(const struct backend_request *request, struct arena *arena, struct library_trial *trial)
{
    struct error err = {0};

    if (onnxrt_apart_list_devices(request, &trial->library, arena, &trial->devices, &err) < 0) {
        trial->reason = arena_strdup(arena, err.message);
        return;
    }
    trial->trials = arena_alloc_zero(arena, trial->devices.count, sizeof(*trial->trials));
    for (size_t i = 0; i < trial->devices.count; i++) {
        const char *provider = trial->devices.items[i].provider;

        trial->trials[i].provider = provider;
        if (i > 0 && strcmp(provider, trial->trials[i - 1].provider) == 0)
            trial->trials[i] = trial->trials[i - 1];
        else
            try_provider(request, &trial->library, arena, &trial->trials[i]);
    }
}

/* ---- Output ---- */

static void save_trial(struct json_writer *writer, const struct provider_trial *trial)
{
    json_writer_add_boolean(writer, "loads", trial->loads);
    json_writer_add_boolean(writer, "works", trial->reason == NULL);
    json_writer_add_string(writer, "reason", trial->reason);
}

static void save_device(struct json_writer *writer, const struct provider_device *device,
                        const struct provider_trial *trial)
{
    json_writer_begin_object(writer);
    json_writer_add_string(writer, "provider", device->provider);
    json_writer_add_string(writer, "vendor", device->vendor);
    json_writer_add_string(writer, "version", device->version);
    save_trial(writer, trial);
    json_writer_add_string(writer, "type", device->type);
    json_writer_add_string(writer, "device_vendor", device->maker);
    json_writer_add_integer(writer, "device_vendor_id", (long long)device->maker_id);
    json_writer_add_integer(writer, "device_id", (long long)device->id);
    json_writer_begin_object_member(writer, "metadata");
    for (size_t i = 0; i < device->metadata.count; i++)
        json_writer_add_string(writer, device->metadata.items[i].key, device->metadata.items[i].value);
    json_writer_end_object(writer);
    json_writer_end_object(writer);
}

static void save_libraries(struct json_writer *writer, const struct library_trials *libraries)
{
    json_writer_begin_array_member(writer, "libraries");
    VECTOR_EACH (const struct library_trial, trial, *libraries) {
        json_writer_begin_object(writer);
        json_writer_add_string(writer, "name", trial->library.key);
        json_writer_add_string(writer, "path", trial->library.value);
        json_writer_add_string(writer, "reason", trial->reason);
        json_writer_begin_array_member(writer, "devices");
        for (size_t k = 0; k < trial->devices.count; k++)
            save_device(writer, &trial->devices.items[k], &trial->trials[k]);
        json_writer_end_array(writer);
        json_writer_end_object(writer);
    }
    json_writer_end_array(writer);
}

static int save_json(const struct onnxrt_description *runtime, const struct provider_trial *trials,
                     const struct library_trials *libraries, const char *path, struct error *err)
{
    struct json_writer writer;
    int rc = json_writer_open(&writer, path, err);

    if (rc < 0)
        return rc;
    json_writer_begin_object(&writer);
    json_writer_add_string(&writer, "version", runtime->version);
    json_writer_add_string(&writer, "path", runtime->path);
    json_writer_begin_array_member(&writer, "providers");
    for (size_t i = 0; i < runtime->providers.count; i++) {
        json_writer_begin_object(&writer);
        json_writer_add_string(&writer, "name", runtime->providers.items[i]);
        save_trial(&writer, &trials[i]);
        json_writer_end_object(&writer);
    }
    json_writer_end_array(&writer);
    save_libraries(&writer, libraries);
    json_writer_end_object(&writer);
    return json_writer_finish(&writer, err);
}

static void add_outcome(const struct provider_trial *trial, struct string_builder *text)
{
    string_add(text, !trial->loads           ? "does not load: "
                     : trial->reason != NULL ? "loads, but of a small model "
                                             : "works");
    string_add(text, trial->reason != NULL ? trial->reason : "");
}

/* A provider, and below it its devices with what it says of them. */
static void add_library(const struct library_trial *trial, struct string_builder *text)
{
    string_add_format(text, "\n%s | %s", trial->library.key, trial->library.value);
    if (trial->reason != NULL)
        string_add_format(text, "\n    cannot be used: %s", trial->reason);
    for (size_t i = 0; i < trial->devices.count; i++) {
        const struct provider_device *device = &trial->devices.items[i];
        bool is_first = i == 0 || strcmp(device->provider, device[-1].provider) != 0;

        if (is_first) {
            string_add_format(text, "\n    %s%s%s by %s | ", device->provider, device->version != NULL ? " " : "",
                              device->version != NULL ? device->version : "", device->vendor);
            add_outcome(&trial->trials[i], text);
        }
        string_add_format(text, "\n        %s of %s (0x%llx:0x%llx)%s", device->type, device->maker,
                          (unsigned long long)device->maker_id, (unsigned long long)device->id,
                          is_first ? "" : " | not tried, since sessions get the first device");
        for (size_t k = 0; k < device->metadata.count; k++)
            string_add_format(text, "\n            %s=%s", device->metadata.items[k].key,
                              device->metadata.items[k].value);
    }
}

static void show_providers(const struct onnxrt_description *runtime, const struct provider_trial *trials,
                           const struct library_trials *libraries, struct log *log)
{
    SCOPED_STRING(text);
    int width = 0;

    for (size_t i = 0; i < runtime->providers.count; i++)
        width = (int)strlen(runtime->providers.items[i]) > width ? (int)strlen(runtime->providers.items[i]) : width;
    string_add_format(&text, "==== ONNX Runtime %s ====\n%s\n\n---- Execution Providers ----", runtime->version,
                      runtime->path);
    for (size_t i = 0; i < runtime->providers.count; i++) {
        string_add_format(&text, "\n%-*s | ", width, runtime->providers.items[i]);
        add_outcome(&trials[i], &text);
    }
    if (libraries->count > 0)
        string_add(&text, "\n\n---- Provider Libraries ----");
    for (size_t i = 0; i < libraries->count; i++)
        add_library(&libraries->items[i], &text);
    log_text(log, LOG_INFO, (struct text){text.data, text.size});
}

/* A trial that a signal ends says nothing of its provider. */
static int refuse_interrupted(struct error *err)
{
    return interrupt_pending() ? error_set(err, ERR_INTERRUPTED, "interrupted before all providers were tried") : 0;
}

int inspect_capability_providers(const struct command_context *context, const struct model_file_settings *file,
                                 const struct json_values *json, struct error *err)
{
    struct backend_request request = model_file_request(context, file);
    struct onnxrt_description runtime;
    struct provider_trial *trials SCOPED_FREE = NULL;
    struct library_trials libraries SCOPED_ITEMS = {0};
    SCOPED_ARENA(arena);
    size_t count = 0;
    int rc;

    request.bounds = (struct bounds){.seconds = file->bounds.has_seconds ? file->bounds.seconds : USUAL_SECONDS};
    rc = onnxrt_apart_describe(&request, &arena, &runtime, err);
    if (rc < 0)
        return rc;
    count = runtime.providers.count;
    trials = memory_alloc_zero(count + 1, sizeof(*trials));
    for (size_t i = 0; rc == 0 && i < count; i++) {
        trials[i].provider = runtime.providers.items[i];
        try_provider(&request, NULL, &arena, &trials[i]);
        rc = refuse_interrupted(err);
    }
    find_libraries(&onnxrt_settings_of(&request)->execution.provider_libraries, &arena, &libraries);
    for (size_t i = 0; rc == 0 && i < libraries.count; i++) {
        try_library(&request, &arena, &libraries.items[i]);
        rc = refuse_interrupted(err);
    }
    if (rc < 0)
        return rc;
    show_providers(&runtime, trials, &libraries, context->log);
    if (json->path != NULL)
        rc = save_json(&runtime, trials, &libraries, json->path, err);
    return rc;
}
