/* cli/debug/session.c: see session.h. */
#include "cli/debug/session.h"

#include <dlfcn.h>
#include <string.h>

#include "backend/onnxrt/preload.h"
#include "backend/onnxrt/search.h"
#include "base/file/file.h"
#include "base/file/identity.h"
#include "base/hash.h"
#include "base/memory.h"
#include "cli/options/groups.h"
#include "cli/options/runners/engine.h"
#include "cli/terminal/progress_line.h"
#include "cli/terminal/prompt.h"
#include "engine/onednn/library.h"
#include "onnx/external/data.h"

/* ---- The beginning ---- */

int debug_hash_builder_options(const struct command_context *context, const struct option_group *config,
                               struct hash *hash, struct error *err)
{
    static const char *const except[] = {"--precision-constraints",
                                         "--tf32",
                                         "--fp16",
                                         "--bf16",
                                         "--int8",
                                         "--fp8",
                                         "--precision-policy",
                                         "--layer-precisions",
                                         "--tensor-dtypes",
                                         "--calibration-cache",
                                         "--load-timing-cache",
                                         "--error-on-timing-cache-miss",
                                         "--save-tactics",
                                         NULL};
    const struct option_group *const groups[] = {config, &engine_network_options, &tensorrt_options};
    struct word_list words SCOPED_ITEMS = {0};
    int rc = 0;

    for (size_t i = 0; i < ARRAY_LEN(groups); i++)
        parse_add_given_of_group(context->parse, groups[i], except, &words);
    for (size_t i = 0; rc == 0 && i < words.count; i++) {
        struct hash content;

        *hash = hash_combine(*hash, hash_bytes(words.items[i], strlen(words.items[i])));
        if (words.items[i][0] == '-' || !file_exists(words.items[i]) || file_is_folder(words.items[i]))
            continue;
        rc = file_content_hash(words.items[i], &content, err);
        if (rc == 0)
            *hash = hash_combine(*hash, content);
    }
    return rc;
}

void debug_hash_runtime(const struct onnxrt_settings *settings, struct hash *hash)
{
    char *path SCOPED_FREE = NULL;
    struct hash content;
    void *handle;

    if (onnxrt_search(settings->library, &handle, &path, NULL) < 0)
        return;
    if (hash_file(path, &content, NULL) == 0)
        *hash = hash_combine(*hash, content);
    dlclose(handle);
}

static bool has_word(const char *const *words, const char *beginning)
{
    for (; *words != NULL; words++)
        if (strncmp(*words, beginning, strlen(beginning)) == 0)
            return true;
    return false;
}

void debug_preload_libraries(void *words)
{
    const struct onednn *onednn;

    if (has_word(words, "--onnxrt-library") || has_word(words, "--onnxruntime-lib"))
        return;
    if (has_word(words, "--onnxrt") || has_word(words, "--trt"))
        onnxrt_preload(NULL);
    if (has_word(words, "--trt"))
        onednn_load(&onednn, NULL);
}

struct session_settings debug_session_settings(const struct command_context *context, const struct debug_values *debug,
                                               const struct model_file_settings *file)
{
    struct session_settings ret = debug->session;

    ret.check.self = context->program;
    ret.check.self_main = context->main;
    ret.check.self_prepare = debug_preload_libraries;
    ret.check.ask = prompt_ask;
    if (file != NULL) {
        ret.model = file->model.path;
        ret.data = file->data.files;
    }

    /* The progress line is shown at log level info or below, unless the user is asked on the terminal. */
    if (!context->progress || debug->common.logging.settings.threshold > LOG_INFO || ret.check.command.count == 0)
        return ret;
    if (debug->until.end == ENDS_BY_ITSELF && !ret.load_replay) /* with a loaded replay some checks are not repeated */
        context->progress->total = debug->until.count;
    ret.progress = progress_line_show;
    ret.progress_data = context->progress;
    return ret;
}

void debug_session_watch_data(struct debug_session *session, struct model *model)
{
    struct text_list locations SCOPED_ITEMS = {0};
    struct subgraph whole SCOPED(subgraph_release) = {0};

    subgraph_init_whole(&whole, model);
    if (external_data_locations(&whole, &locations, NULL) == 0)
        for (size_t i = 0; i < locations.count; i++) {
            char *path SCOPED_FREE = NULL;

            if (external_data_path(model, locations.items[i], &path, NULL) < 0)
                continue;
            session_watch(session, path);
        }
}
