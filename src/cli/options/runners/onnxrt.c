/* cli/options/runners/onnxrt.c: ONNX Runtime's library, session options and limits. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/settings.h"
#include "backend/onnxrt/optimizers.h"
#include "backend/onnxrt/releases.h"
#include "base/memory.h"
#include "base/text/number.h"
#include "cli/options/groups.h"
#include "cli/options/runners/disabled.h"
#include "debug/check/words.h"

/* Ours, and those of Polygraphy's --graph-optimization-level. */
static const char *const optimizations[] = {"none",
                                            "basic",
                                            "extended",
                                            "all",
                                            "ORT_DISABLE_ALL",
                                            "ORT_ENABLE_BASIC",
                                            "ORT_ENABLE_EXTENDED",
                                            "ORT_ENABLE_LAYOUT",
                                            "ORT_ENABLE_ALL",
                                            NULL};

/* GraphOptimizationLevel of ONNX Runtime's C interface. */
static const int optimization_levels[] = {0, 1, 2, 99, 0, 1, 2, 3, 99};

/* NULL-terminated. */
static int convert_list(struct parse *parse, const char *spelling, struct words words, void *field, struct error *err)
{
    (void)parse, (void)spelling, (void)err;
    *(const char *const **)field = words.items;
    return 0;
}

/* ---- The library ---- */

/* A release becomes the path of its library. */
static int convert_library(struct parse *parse, const char *spelling, struct words words, void *field,
                           struct error *err)
{
    const char *word = words.items[0];
    char *path;
    int rc;

    *(const char **)field = word;
    if (!onnxrt_is_release(word))
        return 0;
    rc = onnxrt_release_fetch(word, parse_log(parse), &path, err);
    if (rc < 0)
        return error_context(err, "%s", spelling);
    *(const char **)field = arena_strdup(parse_arena(parse), path);
    free(path);
    return 0;
}

/* ---- Keys and values ---- */

#define LONGEST_SETTING 1024 /* maximum length of a key or value in the runtime's functions, in bytes */

/* Splits KEY=VALUE at the first '='. Returns false if `word` has another form or a part is too long. */
static bool read_setting(struct parse *parse, struct text pair, struct onnxrt_entry *ret)
{
    const char *equals = pair.size > 0 ? memchr(pair.data, '=', pair.size) : NULL;
    size_t key = equals ? (size_t)(equals - pair.data) : 0, value = equals ? pair.size - key - 1 : 0;

    if (key == 0 || value == 0 || key > LONGEST_SETTING || value > LONGEST_SETTING)
        return false;
    ret->key = arena_text(parse_arena(parse), (struct text){pair.data, key});
    ret->value = arena_text(parse_arena(parse), (struct text){equals + 1, value});
    return true;
}

/* Removes the first part of a comma-separated list. A backslash escapes a comma or a backslash; before other characters
 * it is literal. */
static bool take_part(struct text *rest, struct string_builder *ret)
{
    size_t i = 0;

    string_clear(ret);
    for (; i < rest->size && rest->data[i] != ','; i++) {
        if (rest->data[i] == '\\' && i + 1 < rest->size && (rest->data[i + 1] == ',' || rest->data[i + 1] == '\\'))
            i++;
        string_add_char(ret, rest->data[i]);
    }
    if (i == rest->size)
        return false;
    *rest = (struct text){rest->data + i + 1, rest->size - i - 1};
    return true;
}

/* PROVIDER:KEY=VALUE,KEY=VALUE,... Neither a provider's name nor a key contains ':' or '='. */
static int add_provider_options(struct parse *parse, const char *spelling, const char *word,
                                struct onnxrt_entries *list, struct onnxrt_entry *items, struct error *err)
{
    const char *colon = strpbrk(word, ":=");
    struct text rest = text_of(colon ? colon + 1 : "");
    SCOPED_STRING(part);
    const char *provider;
    bool more = true;
    int rc = 0;

    if (!colon || *colon != ':' || colon == word)
        return error_set(err, ERR_INVALID,
                         "%s: '%s' does not begin with a provider's name; write tensorrt:trt_fp16_enable=1", spelling,
                         word);
    provider = arena_text(parse_arena(parse), (struct text){word, (size_t)(colon - word)});
    while (more && rc == 0) {
        more = take_part(&rest, &part);
        items[list->count].provider = provider;
        if (!read_setting(parse, (struct text){part.data, part.size}, &items[list->count]))
            rc = error_set(
                err, ERR_INVALID,
                "%s: '%.*s' in '%.200s' is not KEY=VALUE with 1 to %d bytes each; write a comma in a value as \\,",
                spelling, (int)(part.size < 200 ? part.size : 200), part.size > 0 ? part.data : "", word,
                LONGEST_SETTING);
        list->count++;
    }
    return rc;
}

static int convert_provider_options(struct parse *parse, const char *spelling, struct words words, void *field,
                                    struct error *err)
{
    struct onnxrt_entry *items;
    struct onnxrt_entries list = {0};
    size_t most = words.count;
    int rc = 0;

    for (size_t i = 0; i < words.count; i++)
        for (const char *comma = words.items[i]; (comma = strchr(comma, ',')) != NULL; comma++)
            most++;
    items = arena_alloc_zero(parse_arena(parse), most, sizeof(*items));
    list.items = items;
    for (size_t i = 0; i < words.count && rc == 0; i++)
        rc = add_provider_options(parse, spelling, words.items[i], &list, items, err);
    if (rc == 0)
        *(struct onnxrt_entries *)field = list;
    return rc;
}

/* Paths contain '=' rarely, names never. */
static int convert_provider_libraries(struct parse *parse, const char *spelling, struct words words, void *field,
                                      struct error *err)
{
    struct onnxrt_entry *items = arena_alloc_zero(parse_arena(parse), words.count, sizeof(*items));

    for (size_t i = 0; i < words.count; i++)
        if (!read_setting(parse, text_of(words.items[i]), &items[i]))
            return error_set(err, ERR_INVALID,
                             "%s: '%.200s' is not NAME=PATH: a name for --providers, and the path of a library",
                             spelling, words.items[i]);
    *(struct onnxrt_entries *)field = (struct onnxrt_entries){items, words.count};
    return 0;
}

static int convert_session_config(struct parse *parse, const char *spelling, struct words words, void *field,
                                  struct error *err)
{
    static const char *const ours[][2] = {
        {"session.use_env_allocators", "--max-memory"},
        {"session.model_external_initializers_file_folder_path", "--external-data-dir"},
    };
    struct onnxrt_entry *items = arena_alloc_zero(parse_arena(parse), words.count, sizeof(*items));

    for (size_t i = 0; i < words.count; i++) {
        if (!read_setting(parse, text_of(words.items[i]), &items[i]))
            return error_set(err, ERR_INVALID,
                             "%s: '%.200s' is not KEY=VALUE with 1 to %d bytes each; write "
                             "optimization.disable_specified_optimizers=ConstantFolding",
                             spelling, words.items[i], LONGEST_SETTING);
        for (size_t k = 0; k < ARRAY_LEN(ours); k++)
            if (strcmp(items[i].key, ours[k][0]) == 0)
                return error_set(err, ERR_INVALID,
                                 "%s: the key '%s' is not accepted because %s sets it: use that option", spelling,
                                 items[i].key, ours[k][1]);
    }
    *(struct onnxrt_entries *)field = (struct onnxrt_entries){items, words.count};
    return 0;
}

static int convert_threads(struct parse *parse, const char *spelling, struct words words, void *field,
                           struct error *err)
{
    int64_t threads = 0;

    (void)parse;
    number_parse_integer(text_of(words.items[0]), &threads);
    if (threads < 0 || threads > INT_MAX)
        return error_set(err, ERR_INVALID, "%s: %lld is not a number of threads", spelling, (long long)threads);
    *(int *)field = (int)threads;
    return 0;
}

/* ---- Disabled optimizers ---- */

/* The session configuration while it is built. */
struct configuration {
    struct onnxrt_entry *items;
    size_t count, capacity;
    struct string_builder disabled; /* names of optimizers separated by ';', which become one entry */
};

static void disable_optimizers(struct configuration *configuration, const char *names)
{
    string_add_format(&configuration->disabled, "%s%s", configuration->disabled.size > 0 ? ";" : "", names);
}

static void add_configuration_entry(struct configuration *configuration, const struct onnxrt_entry *setting)
{
    if (strcmp(setting->key, ONNXRT_DISABLED_OPTIMIZERS_KEY) == 0)
        disable_optimizers(configuration, setting->value);
    else
        *VECTOR_APPEND(configuration) = *setting;
}

/* Adds ONNX Runtime's optimizations that a check of `debug passes` disables. */
static int obey_disabled_optimizers(struct parse *parse, struct onnxrt_settings *settings,
                                    struct configuration *configuration, struct error *err)
{
    SCOPED_STRING(obeyed);
    struct words names;
    int rc = disabled_names_read(parse, ASSIGNMENT_KIND, &settings->on_processor, err);

    if (rc < 0)
        return rc;
    rc = disabled_names_read(parse, NULL, &names, err);
    for (size_t i = 0; rc == 0 && i < names.count; i++) {
        const char *name = names.items[i];
        struct onnxrt_entry setting = {0};

        string_add_format(&obeyed, "%s%s", obeyed.size > 0 ? ";" : "", name);
        if (strcmp(name, "threads") == 0)
            settings->intra_threads = settings->inter_threads = 1;
        else if (strchr(name, '=') == NULL)
            disable_optimizers(configuration, name);
        else if (read_setting(parse, text_of(name), &setting))
            add_configuration_entry(configuration, &setting);
        else
            rc = error_set(err, ERR_INVALID, CHECK_DISABLED_VARIABLE ": '%s' is neither a name nor KEY=VALUE", name);
    }
    if (rc == 0 && obeyed.size > 0)
        log_message(parse_log(parse), LOG_INFO, "Disabled in ONNX Runtime by " CHECK_DISABLED_VARIABLE ": %s",
                    obeyed.data);
    return rc;
}

static int finish_onnxrt(struct parse *parse, void *given, struct error *err)
{
    struct onnxrt_values *values = given;
    struct onnxrt_settings *settings = &values->runtime;
    const struct words *disabled = &values->disabled_optimizers;
    struct onnxrt_entries *entries = &settings->execution.session_config;
    struct configuration configuration SCOPED_ITEMS = {0};
    struct onnxrt_entry *items;
    int rc;

    if (settings->execution.provider_libraries.count > 0 && !parse_given(parse, "--providers"))
        return error_set(err, ERR_INVALID,
                         "--onnxrt-provider-library has no effect without --providers: add --providers %s",
                         settings->execution.provider_libraries.items[0].key);
    common_settings_of(parse)->max_memory = (uint64_t)values->max_memory;
    string_init(&configuration.disabled);
    if (!parse_given(parse, "--onnxrt-optimization-level"))
        settings->optimization_level = -1;
    for (size_t i = 0; i < entries->count; i++)
        add_configuration_entry(&configuration, &entries->items[i]);
    for (size_t i = 0; i < disabled->count; i++)
        disable_optimizers(&configuration, disabled->items[i]);
    rc = disabled_names_doubt(parse, err);
    if (rc < 0)
        goto done;
    rc = obey_disabled_optimizers(parse, settings, &configuration, err);
    if (rc < 0)
        goto done;
    if (configuration.disabled.size > 0)
        *VECTOR_APPEND(&configuration) =
            (struct onnxrt_entry){.key = ONNXRT_DISABLED_OPTIMIZERS_KEY,
                                  .value = arena_strdup(parse_arena(parse), configuration.disabled.data)};
    items = arena_copy(parse_arena(parse), configuration.items, configuration.count * sizeof(*items));
    *entries = (struct onnxrt_entries){items, configuration.count};
done:
    string_release(&configuration.disabled);
    return rc;
}

/* Variants for commands that run a model on the CPU only, or not at all, begin at a later row. */
static const struct option options[] = {
    OPTION_ROW(struct onnxrt_values, runtime.execution.providers, .names = {"--providers", "--execution-providers"},
               .kind = OPTION_MANY, .value_name = "NAME", .convert = convert_list,
               .hints = (const char *const[]){"cpu", "cuda", "tensorrt", NULL},
               .help = "execution providers in order of preference (default: cpu). `inspect capability --providers` "
                       "lists those that load on this machine"),
    OPTION_ROW(
        struct onnxrt_values, runtime.execution.provider_options, .names = {"--provider-options"}, .yields = true,
        .with = "--providers", .kind = OPTION_MANY, .value_name = "NAME:KEY=VALUE,...", .append = true,
        .convert = convert_provider_options,
        .help =
            "options of one of --providers, by their documented names: "
            "tensorrt:trt_fp16_enable=1,trt_timing_cache_enable=1 cuda:use_tf32=0. Write a comma in a value as \\,"),
    OPTION_ROW(struct onnxrt_values, runtime.execution.provider_libraries, .names = {"--onnxrt-provider-library"},
               .yields = true, .with = "--providers", .kind = OPTION_MANY, .value_name = "NAME=PATH", .append = true,
               .file = OPTION_READS_NAMED, .convert = convert_provider_libraries, .extensions = "so",
               .help = "register plug-in execution providers of this library with ONNX Runtime 1.22 or later; NAME "
                       "then stands for its provider after --providers"),
    OPTION_ROW(struct onnxrt_values, disabled_optimizers, .names = {"--onnxrt-disable-optimizers"}, .kind = OPTION_MANY,
               .value_name = "NAME", .append = true, .yields = true,
               .help = "disable these optimizers of ONNX Runtime, or single rules of them: ConstantFolding "
                       "ConvBNFusion. `debug passes` finds those that cause a difference"),
    OPTION_ROW(struct onnxrt_values, runtime.execution.session_config, .names = {"--session-config"}, .yields = true,
               .kind = OPTION_MANY, .value_name = "KEY=VALUE", .append = true, .convert = convert_session_config,
               .help = "entries of ONNX Runtime's session configuration for sessions that run the model, for example "
                       "session.disable_prepacking=1. docs/onnx-runtime.md lists those that help to find the cause of "
                       "a difference"),
    OPTION_ROW(struct onnxrt_values, runtime.library, .names = {"--onnxrt-library", "--onnxruntime-lib"},
               .yields = true, .kind = OPTION_ONE, .value_name = "PATH|VERSION", .file = OPTION_READS,
               .convert = convert_library,
               .help = "path of ONNX Runtime's shared library (default: searched), or a release, such as 1.22.1, which "
                       "is fetched from PyPI or npm into the user's cache"),
    OPTION_ROW(struct onnxrt_values, runtime.custom_op_libraries, .names = {"--onnxrt-custom-ops"}, .yields = true,
               .kind = OPTION_MANY, .value_name = "PATH", .file = OPTION_READS, .convert = convert_list,
               .extensions = "so", .help = "shared libraries with custom operators for ONNX Runtime"),
    OPTION_ROW(struct onnxrt_values, runtime.optimization_level,
               .names = {"--onnxrt-optimization-level", "--graph-optimization-level"}, .yields = true,
               .kind = OPTION_ONE, .type = OPTION_CHOICE, .choices = optimizations,
               .choice_values = optimization_levels, .value_name = "LEVEL",
               .help = "graph optimization level of ONNX Runtime: none, basic, extended or all; or ORT_DISABLE_ALL, "
                       "ORT_ENABLE_BASIC, ORT_ENABLE_EXTENDED, ORT_ENABLE_LAYOUT, ORT_ENABLE_ALL"),
    OPTION_ROW(
        struct onnxrt_values, runtime.intra_threads, .names = {"--onnxrt-threads"}, .yields = true, .kind = OPTION_ONE,
        .type = OPTION_INTEGER, .value_name = "N", .fallback = "0", .convert = convert_threads,
        .help = "number of ONNX Runtime's threads; 0 uses all processors. 1 gives the most reproducible results"),
    OPTION_ROW(struct onnxrt_values, max_memory, .names = {"--max-memory"}, .yields = true, .kind = OPTION_ONE,
               .value_name = "SIZE", .fallback = "0", .convert = convert_size,
               .help =
                   "memory limit of a model in ONNX Runtime and in the built-in engine (activations, outputs, "
                   "constants), and of generated input data: 8G, 512M. Larger requests fail before they are allocated. "
                   "0 is the available memory, and 1 GiB for input data of shapes that were not specified"),
};

#define ONNXRT_GROUP(first)                                                                                            \
    {                                                                                                                  \
        .title = "ONNX Runtime", .options = options + (first), .count = ARRAY_LEN(options) - (first),                  \
        .finish = finish_onnxrt,                                                                                       \
    }

const struct option_group onnxrt_options = ONNXRT_GROUP(0);
const struct option_group onnxrt_reference_options = ONNXRT_GROUP(3);
const struct option_group onnxrt_provider_library_options = {
    .title = "ONNX Runtime's providers", .options = options + 2, .count = 1};
const struct option_group onnxrt_library_options = ONNXRT_GROUP(5);

/* ---- ONNX Runtime in a worker process ---- */

static int finish_bounds(struct parse *parse, void *given, struct error *err)
{
    struct onnxrt_bounds_values *values = given;

    values->apart = true;
    values->has_seconds = parse_given(parse, "--onnxrt-timeout") != NULL;
    if (!(values->seconds >= 0))
        return error_set(err, ERR_INVALID, "--onnxrt-timeout must be at least 0");
    return 0;
}

static const struct option bounds_rows[] = {
    OPTION_ROW(struct onnxrt_bounds_values, seconds, .names = {"--onnxrt-timeout"}, .yields = true, .kind = OPTION_ONE,
               .type = OPTION_FLOAT, .value_name = "SECONDS",
               .help = "time limit for loading the model or a part of it; the limit for running it is ten times as "
                       "long. Default: 60, and 60 more for each GB of the model; 0 is no limit"),
};

const struct option_group onnxrt_bounds_options = {
    .title = "ONNX Runtime's process",
    .description = "This command runs ONNX Runtime in a worker process. It is killed when it exceeds the time limit or "
                   "a memory limit: 4 GB and eight times the model's size (with --max-memory: that, 1 GB, and three "
                   "times the model's size).",
    OPTION_ROWS(bounds_rows),
    .finish = finish_bounds,
};
