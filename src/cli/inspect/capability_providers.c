/* cli/inspect/capability_providers.c: see capability_providers.h. */
#include "cli/inspect/capability_providers.h"

#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/apart/backend.h"
#include "backend/onnxrt/preload.h"
#include "backend/onnxrt/settings.h"
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

static void try_provider(const struct backend_request *typed, struct arena *arena, struct provider_trial *trial)
{
    const char *const providers[] = {trial->provider, NULL};
    struct onnxrt_settings settings = *onnxrt_settings_of(typed);
    struct backend_request request = *typed;
    struct error err = {0};
    struct log log = {.threshold = LOG_WARNING, .write = keep_provider_line, .data = trial};

    string_init(&trial->said);
    string_init(&trial->elsewhere);
    settings.execution = (struct onnxrt_execution){.providers = providers};
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

/* ---- Output ---- */

static int save_json(const struct onnxrt_description *runtime, const struct provider_trial *trials, const char *path,
                     struct error *err)
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
        json_writer_add_boolean(&writer, "loads", trials[i].loads);
        json_writer_add_boolean(&writer, "works", trials[i].reason == NULL);
        json_writer_add_string(&writer, "reason", trials[i].reason);
        json_writer_end_object(&writer);
    }
    json_writer_end_array(&writer);
    json_writer_end_object(&writer);
    return json_writer_finish(&writer, err);
}

static void show_providers(const struct onnxrt_description *runtime, const struct provider_trial *trials,
                           struct log *log)
{
    SCOPED_STRING(text);
    int width = 0;

    for (size_t i = 0; i < runtime->providers.count; i++)
        width = (int)strlen(runtime->providers.items[i]) > width ? (int)strlen(runtime->providers.items[i]) : width;
    string_add_format(&text, "==== ONNX Runtime %s ====\n%s\n\n---- Execution Providers ----", runtime->version,
                      runtime->path);
    for (size_t i = 0; i < runtime->providers.count; i++)
        string_add_format(&text, "\n%-*s | %s%s", width, runtime->providers.items[i],
                          !trials[i].loads           ? "does not load: "
                          : trials[i].reason != NULL ? "loads, but of a small model "
                                                     : "works",
                          trials[i].reason != NULL ? trials[i].reason : "");
    log_text(log, LOG_INFO, (struct text){text.data, text.size});
}

int inspect_capability_providers(const struct command_context *context, const struct model_file_settings *file,
                                 const struct json_values *json, struct error *err)
{
    struct backend_request request = model_file_request(context, file);
    struct onnxrt_description runtime;
    struct provider_trial *trials = NULL;
    SCOPED_ARENA(arena);
    size_t count = 0;
    int rc;

    request.bounds = (struct bounds){.seconds = file->bounds.has_seconds ? file->bounds.seconds : USUAL_SECONDS};
    rc = onnxrt_apart_describe(&request, &arena, &runtime, err);
    if (rc < 0)
        goto done;
    count = runtime.providers.count;
    trials = memory_alloc_zero(count + 1, sizeof(*trials));
    for (size_t i = 0; i < count; i++) {
        trials[i].provider = runtime.providers.items[i];
        try_provider(&request, &arena, &trials[i]);
    }
    show_providers(&runtime, trials, context->log);
    if (json->path != NULL)
        rc = save_json(&runtime, trials, json->path, err);
done:
    free(trials);
    return rc;
}
