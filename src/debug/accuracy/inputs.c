/* debug/accuracy/inputs.c: see inputs.h. */
#include "debug/accuracy/inputs.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/provider_packages.h"
#include "backend/onnxrt/search.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "base/system.h"
#include "debug/check/words.h"
#include "format/data/word.h"
#include "onnx/external/data.h"
#include "onnx/model/subgraph.h"

/* What runtimes and their libraries are found by, and what they heed. */
static const char *const variables[] = {"POLYGRAPHY_TRT",
                                        "POLYGRAPHY_TENSORRT",
                                        "POLYGRAPHY_ONNXRUNTIME",
                                        "POLYGRAPHY_ONEDNN",
                                        CHECK_DISABLED_VARIABLE,
                                        "ORT_DYLIB_PATH",
                                        "LD_LIBRARY_PATH",
                                        "LD_PRELOAD",
                                        "PYTHONPATH",
                                        "VIRTUAL_ENV",
                                        "CUDA_VISIBLE_DEVICES",
                                        "NVIDIA_TF32_OVERRIDE",
                                        "OMP_NUM_THREADS",
                                        "ONEDNN_MAX_CPU_ISA",
                                        "DNNL_MAX_CPU_ISA"};

static bool is_utf8(struct text text)
{
    for (size_t i = 0, length; i < text.size; i += length) {
        length = text_utf8_length(text.data + i, text.size - i);
        if (length == 0)
            return false;
    }
    return true;
}

/* Names pass between experiments in JSON, which has no other ones. */
static int refuse_names(const struct model *model, struct error *err)
{
    struct text bad = {0};
    SCOPED_STRING(name);

    for (size_t i = 0; i < model->nodes.count; i++)
        bad = is_utf8(model->nodes.items[i].name) ? bad : model->nodes.items[i].name;
    for (size_t i = 0; i < model->values.count; i++)
        bad = is_utf8(model->values.items[i].name) ? bad : model->values.items[i].name;
    if (bad.size == 0)
        return 0;
    string_add_visible(&name, bad);
    return error_set(err, ERR_UNSUPPORTED,
                     "'%s': the name '%s' is not UTF-8, which ONNX requires: rename it, and others like it",
                     model->display_name, name.data);
}

static int add_model(const struct accuracy_settings *settings, struct watched_files *ret, struct error *err)
{
    struct text_list locations SCOPED_ITEMS = {0};
    struct subgraph whole SCOPED(subgraph_release) = {0};
    struct model *model;
    int rc = model_open(settings->model, settings->external_data_dir, &model, err);

    if (rc < 0)
        return rc;
    rc = refuse_names(model, err);
    if (rc < 0) {
        model_free(model);
        return rc;
    }
    watched_files_add(ret, settings->model, true);
    subgraph_init_whole(&whole, model);
    if (external_data_locations(&whole, &locations, NULL) == 0)
        for (size_t i = 0; i < locations.count; i++) {
            char *data SCOPED_FREE = NULL;

            if (external_data_path(model, locations.items[i], &data, NULL) == 0) /* else its users report the error */
                watched_files_add(ret, data, true);
        }
    model_free(model);
    return 0;
}

static bool is_option(struct words words, size_t index, const char *name)
{
    return index > 0 && strcmp(words.items[index - 1], name) == 0;
}

/* The files that a word names, and those that a line of a runner does. A cache is written on the way. */
static void add_word_files(struct words words, size_t index, struct watched_files *ret)
{
    bool is_line = is_option(words, index, "--runner") || is_option(words, index, "--runner-build");
    const char *word = words.items[index], *equals = strchr(word, '=');
    struct named_files named SCOPED(named_files_release) = {0};
    struct file_list files SCOPED(file_list_release) = {0};

    if (is_option(words, index, "--calibration-cache"))
        return;
    if (is_line)
        command_line_list_files(word, &named);
    else if (equals != NULL && file_exists(equals + 1)) /* of --onnxrt-provider-library */
        watched_files_add(ret, equals + 1, true);
    else
        data_word_list_files(word, &files);
    for (size_t i = 0; i < named.count; i++)
        watched_files_add(ret, named.items[i].path, named.items[i].vital);
    for (size_t i = 0; i < files.count; i++)
        watched_files_add(ret, files.items[i], true);
}

const char *accuracy_library_of(struct words words)
{
    for (size_t i = 0; i < words.count; i++)
        if (is_option(words, i, "--onnxrt-library") || is_option(words, i, "--onnxruntime-lib"))
            return words.items[i];
    return NULL;
}

/* ONNX Runtime computes what the built-in engine leaves to it, too. Without it there is nothing to add. */
static void add_runtimes(const struct accuracy_settings *settings, struct watched_files *ret)
{
    const struct words runners[] = {settings->reference, settings->suspect};

    for (size_t i = 0; i < ARRAY_LEN(runners); i++) {
        char *path SCOPED_FREE = NULL;
        void *handle;

        if (onnxrt_search(accuracy_library_of(runners[i]), &handle, &path, NULL) < 0)
            continue;
        watched_files_add(ret, path, true);
        dlclose(handle);
    }
}

/* A provider's library that is found by the provider's name. */
static void add_installed_provider(const char *word, struct watched_files *ret)
{
    const struct provider_package *package = provider_package_find(word);
    char *path SCOPED_FREE = package != NULL ? provider_package_locate(package) : NULL;

    if (path != NULL)
        watched_files_add(ret, path, true);
}

int accuracy_inputs_find(const struct accuracy_settings *settings, struct watched_files *ret, struct error *err)
{
    const struct words words[] = {settings->reference, settings->suspect, settings->loading, settings->data,
                                  settings->tolerance};
    int rc = add_model(settings, ret, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        for (size_t k = 0; k < words[i].count; k++) {
            add_word_files(words[i], k, ret);
            add_installed_provider(words[i].items[k], ret);
        }
    add_runtimes(settings, ret);
    if (settings->engine_library != NULL)
        watched_files_add(ret, settings->engine_library, true);
    if (settings->program != NULL)
        watched_files_add(ret, settings->program, true);
    return 0;
}

int study_refuse_changes(struct study *study, struct error *err)
{
    const struct watched_file *changed;

    while ((changed = watched_files_find_changed(&study->inputs)) != NULL) {
        if (changed->vital)
            return error_set(err, ERR_INVALID,
                             "'%s' was modified while the experiments ran, so earlier results no longer apply. Start "
                             "over, without modifying it",
                             changed->path);
        log_once(study->log, LOG_WARNING,
                 "'%s', which the command of a runner names, was modified while the runner ran. If the runner also "
                 "reads that file, its outputs depend on earlier experiments",
                 changed->path);
    }
    return 0;
}

struct hash accuracy_inputs_hash(const struct watched_files *files)
{
    struct hash ret = watched_files_hash(files);
    SCOPED_STRING(text);

    system_add_processor_name(&text);
    for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
        const char *value = getenv(variables[i]);

        string_add_format(&text, "\n%s=%s", variables[i], value != NULL ? value : "");
    }
    return hash_combine(ret, hash_bytes(text.data, text.size));
}
