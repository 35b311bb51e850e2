/* backend/trtexec/command_line.c: see command_line.h. */
#include "backend/trtexec/command_line.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "backend/trtexec/build_route.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/number.h"

#define TYPES_OF_MODEL                                                                                                 \
    "from TensorRT 11 on, types are those of the model: `polygraphy convert MODEL -o half.onnx --fp-to-fp16 "          \
    "--keep-float32 NODE` makes one in float16"

/* ---- Shapes ---- */

static void add_shape(const char *name, const struct shape *shape, struct string_builder *ret)
{
    trtexec_words_next_item(ret);
    string_add_format(ret, "%s:", name);
    for (size_t i = 0; i < shape->rank; i++) {
        string_add(ret, i > 0 ? "x" : "");
        string_add_integer(ret, shape->dims[i]);
    }
}

/* ---- Types ---- */

/* trtexec's word for a type of an input or output; NULL: there is none. */
static const char *type_word(enum data_type type)
{
    switch (type) {
    case DATA_FLOAT64: /* TensorRT's parser makes it float32 */
    case DATA_FLOAT32:
        return "fp32";
    case DATA_FLOAT16:
        return "fp16";
    case DATA_BFLOAT16:
        return "bf16";
    case DATA_INT8:
        return "int8";
    case DATA_UINT8:
        return "uint8";
    case DATA_INT32:
        return "int32";
    case DATA_INT64:
        return "int64";
    case DATA_BOOL:
        return "bool";
    case DATA_FLOAT8E4M3FN:
        return "fp8";
    case DATA_INT4:
        return "int4";
    default:
        return NULL;
    }
}

/* ---- Precisions ---- */

/* trtexec's word; NULL: it has none for layers. */
static const char *layer_type_word(enum data_type type)
{
    switch (type) {
    case DATA_FLOAT32:
    case DATA_FLOAT16:
    case DATA_BFLOAT16:
    case DATA_INT8:
    case DATA_INT32:
        return type_word(type);
    default:
        return NULL;
    }
}

static void add_layer_precisions(struct trtexec_words *words, const struct trtexec_layers *layers)
{
    static const char *const constraints[] = {"none", "prefer", "obey"};
    const struct tensorrt_settings *settings = words->settings;
    struct string_builder text;

    if (settings->constraints != TENSORRT_CONSTRAINTS_NONE)
        trtexec_words_value(words, constraints[settings->constraints],
                            (struct trtexec_wish){"--precision-constraints", "--precisionConstraints", TYPES_OF_MODEL});
    if (layers->count == 0 ||
        !trtexec_words_require(words, (struct trtexec_wish){"--layer-precisions", "--layerPrecisions", TYPES_OF_MODEL}))
        return;
    string_init(&text);
    string_add(&text, "--layerPrecisions=");
    for (size_t i = 0; i < layers->count; i++) {
        const struct trtexec_layer *item = &layers->items[i];

        if (layer_type_word(item->type) == NULL) {
            trtexec_words_refuse(words, ERR_UNSUPPORTED,
                                 "--layer-precisions: '%s': TensorRT has no layers of %s; there are "
                                 "float32, float16, bfloat16, int8, int32",
                                 item->name, data_type_name(item->type));
            break;
        }
        trtexec_words_next_item(&text);
        string_add_format(&text, "%s:%s", item->safe, layer_type_word(item->type));
    }
    trtexec_words_list(words, &text);
}

/* With random scales a build succeeds, and its results mean nothing. */
static void add_int8(struct trtexec_words *words, const struct trtexec_network *network)
{
    const struct tensorrt_settings *settings = words->settings;

    if (settings->calibration_cache == NULL && !network->is_quantized)
        trtexec_words_refuse(
            words, ERR_UNSUPPORTED,
            "--int8: trtexec does not calibrate, and would take scales at random: give a --calibration-cache that "
            "TensorRT has written, or a model with QuantizeLinear and DequantizeLinear nodes");
    trtexec_words_flag(
        words, true,
        (struct trtexec_wish){"--int8", "--int8", "from TensorRT 11 on, the model itself has to be quantized"});
    if (settings->calibration_cache != NULL)
        trtexec_words_value(words, TRTEXEC_CALIBRATION,
                            (struct trtexec_wish){"--calibration-cache", "--calib", "put the scales into the model"});
}

static void add_precisions(struct trtexec_words *words, const struct trtexec_network *network)
{
    const struct tensorrt_settings *settings = words->settings;
    bool always_typed = settings->program->major >= 11;

    trtexec_words_flag(words, !settings->tf32, (struct trtexec_wish){"no --tf32", "--noTF32", "give --tf32"});
    if (settings->strongly_typed) { /* there, the others would only be warned of */
        if (!always_typed)
            trtexec_words_flag(words, true, (struct trtexec_wish){"--strongly-typed", "--stronglyTyped", NULL});
        return;
    }
    trtexec_words_flag(words, settings->fp16, (struct trtexec_wish){"--fp16", "--fp16", TYPES_OF_MODEL});
    trtexec_words_flag(words, settings->bf16, (struct trtexec_wish){"--bf16", "--bf16", TYPES_OF_MODEL});
    trtexec_words_flag(words, settings->fp8, (struct trtexec_wish){"--fp8", "--fp8", TYPES_OF_MODEL});
    if (settings->int8)
        add_int8(words, network);
    add_layer_precisions(words, &network->layers);
}

/* ---- Types and formats of inputs and outputs ---- */

/* "[linear,chw4]" of "NAME:[linear,chw4]", for a tensor; empty: nothing is said. */
static struct text find_formats(const struct tensorrt_settings *settings, const char *name)
{
    size_t size = strlen(name);

    for (size_t i = settings->tensor_formats.count; i-- > 0;) {
        const char *word = settings->tensor_formats.items[i];

        if (strncmp(word, name, size) == 0 && word[size] == ':')
            return text_of(word + size + 1);
    }
    return (struct text){0};
}

static enum data_type find_type(const struct tensorrt_settings *settings, const struct trtexec_tensor *tensor)
{
    for (size_t i = settings->tensor_types.count; i-- > 0;)
        if (strcmp(settings->tensor_types.items[i].name, tensor->name) == 0)
            return settings->tensor_types.items[i].type;
    return tensor->type;
}

/* "chw+chw4" of "[linear,chw4]". */
static void add_formats(struct text formats, struct string_builder *ret)
{
    const char *separators = "[], ";
    bool first = true;

    for (size_t begin = 0, end; begin < formats.size; begin = end) {
        while (begin < formats.size && strchr(separators, formats.data[begin]) != NULL)
            begin++;
        for (end = begin; end < formats.size && strchr(separators, formats.data[end]) == NULL; end++)
            ;
        if (end == begin)
            break;
        struct text word = {formats.data + begin, end - begin};
        string_add(ret, first ? "" : "+");
        string_add_text(ret,
                        text_equal_string(word, "linear") || text_equal_string(word, "LINEAR") ? TEXT("chw") : word);
        first = false;
    }
    if (first)
        string_add(ret, "chw");
}

/* Every tensor has to be listed, or none. */
static void add_io_formats(struct trtexec_words *words, const struct trtexec_tensors *tensors, struct trtexec_wish wish)
{
    const struct tensorrt_settings *settings = words->settings;
    bool has_types = settings->program->major < 11, wanted = false;
    struct string_builder text;

    for (size_t i = 0; i < tensors->count; i++)
        wanted = wanted || find_formats(settings, tensors->items[i].name).size > 0 ||
                 find_type(settings, &tensors->items[i]) != tensors->items[i].type;
    if (!wanted || !trtexec_words_require(words, wish))
        return;
    string_init(&text);
    string_add_format(&text, "%s=", wish.option);
    for (size_t i = 0; i < tensors->count; i++) {
        const struct trtexec_tensor *tensor = &tensors->items[i];
        enum data_type type = find_type(settings, tensor);

        trtexec_words_next_item(&text);
        if (!has_types && type != tensor->type)
            trtexec_words_refuse(words, ERR_UNSUPPORTED, "--tensor-dtypes: " TYPES_OF_MODEL);
        if (type_word(type) == NULL)
            trtexec_words_refuse(words, ERR_UNSUPPORTED, "TensorRT has no inputs or outputs of type %s, which '%s' has",
                                 data_type_name(type), tensor->name);
        else if (has_types)
            string_add_format(&text, "%s:", type_word(type));
        add_formats(find_formats(settings, tensor->name), &text);
    }
    trtexec_words_list(words, &text);
}

static bool has_tensor(const struct trtexec_tensors *tensors, struct text name)
{
    for (size_t i = 0; i < tensors->count; i++)
        if (text_equal_string(name, tensors->items[i].name))
            return true;
    return false;
}

static void check_tensor_names(struct trtexec_words *words, const struct trtexec_network *network)
{
    const struct tensorrt_settings *settings = words->settings;

    for (size_t i = 0; i < settings->tensor_types.count; i++)
        if (!has_tensor(&network->inputs, text_of(settings->tensor_types.items[i].name)) &&
            !has_tensor(&network->outputs, text_of(settings->tensor_types.items[i].name)))
            trtexec_words_refuse(words, ERR_INVALID,
                                 "--tensor-dtypes: '%s' is neither an input nor an output of the model, "
                                 "and trtexec takes types of these only",
                                 settings->tensor_types.items[i].name);
    for (size_t i = 0; i < settings->tensor_formats.count; i++) {
        const char *word = settings->tensor_formats.items[i], *colon = strrchr(word, ':');
        struct text name = {word, colon != NULL ? (size_t)(colon - word) : 0};

        if (!has_tensor(&network->inputs, name) && !has_tensor(&network->outputs, name))
            trtexec_words_refuse(words, ERR_INVALID,
                                 "--tensor-formats: '%s' does not begin with an input or output of the "
                                 "model: expected NAME:[linear,chw4]",
                                 word);
    }
}

/* ---- Shapes ---- */

static void add_profiles(struct trtexec_words *words, const struct trtexec_network *network)
{
    static const char *const options[] = {"--minShapes", "--optShapes", "--maxShapes"};

    for (size_t i = 0; i < network->profile_count; i++) {
        const struct tensorrt_profile *profile = &network->profiles[i];

        if (network->profile_count > 1)
            trtexec_words_value(
                words, arena_printf(words->arena, "%zu", i),
                (struct trtexec_wish){"several optimization profiles", "--profile", "give one set of shapes"});
        for (size_t k = 0; k < ARRAY_LEN(options); k++) {
            struct string_builder text;

            string_init(&text);
            string_add_format(&text, "%s=", options[k]);
            for (size_t n = 0; n < profile->count; n++) {
                const struct tensorrt_shapes *shapes = &profile->items[n];

                add_shape(shapes->name,
                          k == 0   ? &shapes->minimum
                          : k == 1 ? &shapes->optimum
                                   : &shapes->maximum,
                          &text);
            }
            trtexec_words_list(words, &text);
        }
    }
}

/* ---- The rest of a build ---- */

/* Only those that are named stay. */
static void add_tactic_sources(struct trtexec_words *words)
{
    static const char *const until_10[] = {"CUBLAS",           "CUBLAS_LT", "CUDNN", "EDGE_MASK_CONVOLUTIONS",
                                           "JIT_CONVOLUTIONS", NULL};
    static const char *const from_11[] = {"EDGE_MASK_CONVOLUTIONS", "JIT_CONVOLUTIONS", NULL};
    const struct tensorrt_settings *settings = words->settings;
    const char *const *known = settings->program->major < 11 ? until_10 : from_11;
    struct string_builder text;
    size_t found = 0;

    if (!settings->has_tactic_sources)
        return;
    string_init(&text);
    string_add(&text, "--tacticSources=");
    for (size_t k = 0; known[k] != NULL; k++) {
        bool wanted = false;

        for (size_t i = 0; i < settings->tactic_sources.count; i++)
            wanted = wanted || strcasecmp(settings->tactic_sources.items[i], known[k]) == 0;
        trtexec_words_next_item(&text);
        string_add_format(&text, "%c%s", wanted ? '+' : '-', known[k]);
        found += wanted;
    }
    if (found != settings->tactic_sources.count)
        trtexec_words_refuse(
            words, ERR_UNSUPPORTED,
            settings->program->major < 11
                ? "--tactic-sources: TensorRT has CUBLAS, CUBLAS_LT, CUDNN, EDGE_MASK_CONVOLUTIONS and "
                  "JIT_CONVOLUTIONS, each once"
                : "--tactic-sources: from 11 on, TensorRT has EDGE_MASK_CONVOLUTIONS and JIT_CONVOLUTIONS only, "
                  "each once");
    trtexec_words_list(words, &text);
}

/* "1G" and the like, as Polygraphy takes them: bytes unless a letter says otherwise. */
static bool parse_size(const char *word, int64_t *ret)
{
    static const char letters[] = "KMG";
    size_t size = strlen(word);
    const char *letter = size > 0 ? memchr(letters, word[size - 1] & ~0x20, sizeof(letters) - 1) : NULL;
    double number;

    if (size == 0 || !number_parse_float((struct text){word, letter != NULL ? size - 1 : size}, &number) ||
        !(number >= 0))
        return false;
    for (ptrdiff_t i = 0; letter != NULL && i <= letter - letters; i++)
        number *= 1024;
    if (number > (double)((int64_t)1 << 53))
        return false;
    *ret = (int64_t)number;
    return true;
}

static void add_pool_limits(struct trtexec_words *words)
{
    static const struct {
        const char *name, *pool;
    } pools[] = {{"workspace", "workspace"},
                 {"dla_managed_sram", "dlaSRAM"},
                 {"dla_local_dram", "dlaLocalDRAM"},
                 {"dla_global_dram", "dlaGlobalDRAM"},
                 {"tactic_shared_memory", "tacticSharedMem"}};
    const struct words *limits = &words->settings->pool_limits;
    struct string_builder text;

    string_init(&text);
    string_add(&text, "--memPoolSize=");
    for (size_t i = 0; i < limits->count; i++) {
        const char *colon = strrchr(limits->items[i], ':');
        const char *pool = NULL;
        int64_t bytes = 0;

        for (size_t k = 0; colon != NULL && k < ARRAY_LEN(pools); k++)
            if (strlen(pools[k].name) == (size_t)(colon - limits->items[i]) &&
                strncasecmp(pools[k].name, limits->items[i], (size_t)(colon - limits->items[i])) == 0)
                pool = pools[k].pool;
        if (pool == NULL || !parse_size(colon + 1, &bytes)) {
            trtexec_words_refuse(words, ERR_INVALID,
                                 "--pool-limit: '%s': expected POOL:SIZE, for instance workspace:1G; trtexec "
                                 "has limits for workspace, dla_managed_sram, dla_local_dram, "
                                 "dla_global_dram and tactic_shared_memory",
                                 limits->items[i]);
            break;
        }
        trtexec_words_next_item(&text);
        if (bytes % (1 << 20) == 0)
            string_add_format(&text, "%s:%lldM", pool, (long long)bytes >> 20);
        else
            string_add_format(&text, "%s:%lldB", pool, (long long)bytes);
    }
    trtexec_words_list(words, &text);
}

static void add_onnx_flags(struct trtexec_words *words)
{
    static const struct {
        const char *name, *option;
    } flags[] = {{"NATIVE_INSTANCENORM", NULL},
                 {"UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA", "--uint8AsymmetricQuantizationDLA"},
                 {"REPORT_CAPABILITY_DLA", "--reportCapabilityDLA"},
                 {"ADJUST_FOR_DLA", "--adjustForDLA"},
                 {"ENABLE_PLUGIN_OVERRIDE", "--enablePluginOverride"}};
    const struct words *wanted = &words->settings->onnx_flags;

    for (size_t i = 0; i < wanted->count; i++) {
        bool known = false;

        for (size_t k = 0; k < ARRAY_LEN(flags) && !known; k++) {
            known = strcasecmp(flags[k].name, wanted->items[i]) == 0;
            if (known && flags[k].option != NULL)
                trtexec_words_flag(words, true, (struct trtexec_wish){"--onnx-flags", flags[k].option, NULL});
        }
        if (!known)
            trtexec_words_refuse(words, ERR_INVALID, "--onnx-flags: there is no '%s'", wanted->items[i]);
    }
    trtexec_words_flag(words, words->settings->plugin_instance_norm,
                       (struct trtexec_wish){"--plugin-instancenorm", "--pluginInstanceNorm", NULL});
}

/* "PROFILE_SHARING_0806" is "profileSharing0806" to trtexec, which lists what is wanted with a plus. */
static void add_preview_features(struct trtexec_words *words)
{
    const struct words *wanted = &words->settings->preview_features;
    struct string_builder text;

    string_init(&text);
    string_add(&text, "--preview=");
    for (size_t i = 0; i < wanted->count; i++) {
        bool upper = false;

        if (!trtexec_words_check_name(words, wanted->items[i], "--preview-features"))
            break;
        trtexec_words_next_item(&text);
        string_add_char(&text, '+');
        for (const char *c = wanted->items[i]; *c != '\0'; c++) {
            bool is_letter = *c >= 'A' && *c <= 'Z';

            if (*c != '_')
                string_add_char(&text, is_letter && !upper ? (char)(*c + 0x20) : *c);
            upper = *c == '_';
        }
    }
    if (wanted->count > 0 &&
        trtexec_words_require(words, (struct trtexec_wish){"--preview-features", "--preview", NULL}))
        trtexec_words_list(words, &text);
    else
        string_release(&text);
}

static void add_capability(struct trtexec_words *words)
{
    const char *wanted = words->settings->engine_capability;

    if (wanted == NULL || strcasecmp(wanted, "standard") == 0)
        return;
    if (strcasecmp(wanted, "safety") == 0)
        trtexec_words_flag(words, true, (struct trtexec_wish){"--engine-capability safety", "--safe", NULL});
    else if (strcasecmp(wanted, "dla_standalone") == 0)
        trtexec_words_flag(words, true,
                           (struct trtexec_wish){"--engine-capability dla_standalone", "--buildDLAStandalone", NULL});
    else
        trtexec_words_refuse(words, ERR_INVALID, "--engine-capability: there are standard, safety and dla_standalone");
}

/* What trtexec has no option for must not be left out silently. */
static void refuse_what_is_not_there(struct trtexec_words *words)
{
    const struct tensorrt_settings *settings = words->settings;

    if (settings->quantization_flags.count > 0)
        trtexec_words_refuse(words, ERR_UNSUPPORTED,
                             "--quantization-flags: trtexec has no option for it; leave it out");
    if (settings->regression_cutoff != 0)
        trtexec_words_refuse(words, ERR_UNSUPPORTED, "--regression-cutoff: trtexec has no option for it; leave it out");
}

static void add_flags(struct trtexec_words *words)
{
    const struct tensorrt_settings *settings = words->settings;

    trtexec_words_flag(words, settings->refittable, (struct trtexec_wish){"--refittable", "--refit", NULL});
    trtexec_words_flag(words, settings->strip_plan, (struct trtexec_wish){"--strip-plan", "--stripWeights", NULL});
    trtexec_words_flag(words, settings->version_compatible,
                       (struct trtexec_wish){"--version-compatible", "--versionCompatible", NULL});
    trtexec_words_flag(words, settings->exclude_lean_runtime,
                       (struct trtexec_wish){"--exclude-lean-runtime", "--excludeLeanRuntime", NULL});
    trtexec_words_flag(words, settings->disable_compilation_cache,
                       (struct trtexec_wish){"--disable-compilation-cache", "--noCompilationCache", NULL});
    trtexec_words_flag(words, settings->safety_restricted,
                       (struct trtexec_wish){"--trt-safety-restricted", "--restricted", NULL});
    trtexec_words_flag(words, settings->weight_streaming,
                       (struct trtexec_wish){"--weight-streaming", "--allowWeightStreaming", NULL});
    trtexec_words_flag(words, settings->allow_gpu_fallback,
                       (struct trtexec_wish){"--allow-gpu-fallback", "--allowGPUFallback", NULL});
    trtexec_words_flag(words, settings->direct_io, (struct trtexec_wish){"--direct-io", "--directIO", NULL});
    if (settings->sparse_weights)
        trtexec_words_value(words, "enable", (struct trtexec_wish){"--sparse-weights", "--sparsity", NULL});
    if (settings->use_dla)
        trtexec_words_value(words, "0", (struct trtexec_wish){"--use-dla", "--useDLACore", NULL});
}

static const char *lower(struct trtexec_words *words, const char *word)
{
    char *ret = word != NULL ? arena_strdup(words->arena, word) : NULL;

    for (char *c = ret; c != NULL && *c != '\0'; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c + 0x20) : *c;
    return ret;
}

/* "AMPERE_PLUS" is "ampere+" to trtexec, "SAME_COMPUTE_CAPABILITY" "sameComputeCapability". */
static const char *compatibility_word(struct trtexec_words *words, const char *word)
{
    if (word != NULL && strcasecmp(word, "ampere_plus") == 0)
        return "ampere+";
    if (word != NULL && strcasecmp(word, "same_compute_capability") == 0)
        return "sameComputeCapability";
    return lower(words, word);
}

/* "WINDOWS_AMD64" is "WindowsAMD64" to trtexec. */
static const char *platform_word(const char *word)
{
    if (word != NULL && strcasecmp(word, "windows_amd64") == 0)
        return "WindowsAMD64";
    return word != NULL && strcasecmp(word, "same_as_build") == 0 ? "SameAsBuild" : word;
}

static void add_option_values(struct trtexec_words *words)
{
    const struct tensorrt_settings *settings = words->settings;

    if (settings->effort.has_optimization_level)
        trtexec_words_value(words, arena_printf(words->arena, "%lld", (long long)settings->effort.optimization_level),
                            (struct trtexec_wish){"--builder-optimization-level", "--builderOptimizationLevel", NULL});
    if (settings->has_max_aux_streams && settings->max_aux_streams < 0)
        trtexec_words_refuse(words, ERR_INVALID,
                             "--max-aux-streams: %lld is no number of streams; there are 0 and more",
                             (long long)settings->max_aux_streams);
    else if (settings->has_max_aux_streams)
        trtexec_words_value(words, arena_printf(words->arena, "%lld", (long long)settings->max_aux_streams),
                            (struct trtexec_wish){"--max-aux-streams", "--maxAuxStreams", NULL});
    trtexec_words_value(words, compatibility_word(words, settings->hardware_compatibility_level),
                        (struct trtexec_wish){"--hardware-compatibility-level", "--hardwareCompatibilityLevel", NULL});
    trtexec_words_value(words, platform_word(settings->runtime_platform),
                        (struct trtexec_wish){"--runtime-platform", "--runtimePlatform", NULL});
    trtexec_words_value(words, lower(words, settings->tiling_optimization_level),
                        (struct trtexec_wish){"--tiling-optimization-level", "--tilingOptimizationLevel", NULL});
    trtexec_words_route(words);
}

static void add_plugins(struct trtexec_words *words)
{
    const char *option = trtexec_has(words->settings->program, "--staticPlugins") ? "--staticPlugins" : "--plugins";

    for (size_t i = 0; i < words->settings->plugins.count; i++) {
        char *place = file_place(words->settings->plugins.items[i]);

        if (trtexec_words_check_name(words, place, "--plugins"))
            trtexec_words_value(words, arena_strdup(words->arena, place),
                                (struct trtexec_wish){"--plugins", option, NULL});
        free(place);
    }
}

static void add_timing_cache(struct trtexec_words *words)
{
    if (words->settings->without_timing_cache)
        trtexec_words_add(words, "--noBuilderCache");
    else
        trtexec_words_add(words, "--timingCacheFile=" TRTEXEC_TIMING_CACHE);
    trtexec_words_flag(words, words->settings->effort.error_on_timing_cache_miss,
                       (struct trtexec_wish){"--error-on-timing-cache-miss", "--errorOnTimingCacheMiss", NULL});
}

void trtexec_words_add_build(struct trtexec_words *words, const struct trtexec_network *network)
{
    const struct tensorrt_settings *settings = words->settings;
    const char *verbosity = settings->profiling_verbosity;

    trtexec_words_add(words, settings->program->path);
    trtexec_words_add(words, arena_printf(words->arena, "--onnx=%s", network->path));
    trtexec_words_add(words, "--saveEngine=" TRTEXEC_ENGINE);
    trtexec_words_add(words, trtexec_has(settings->program, "--skipInference") ? "--skipInference" : "--buildOnly");
    trtexec_words_add(words, arena_printf(words->arena, "--profilingVerbosity=%s",
                                          verbosity != NULL ? lower(words, verbosity) : "detailed"));
    trtexec_words_add(words, "--exportLayerInfo=" TRTEXEC_LAYERS);
    trtexec_words_add(words, "--verbose");
    add_timing_cache(words);
    add_precisions(words, network);
    check_tensor_names(words, network);
    add_io_formats(words, &network->inputs,
                   (struct trtexec_wish){"types and formats of inputs", "--inputIOFormats", NULL});
    add_io_formats(words, &network->outputs,
                   (struct trtexec_wish){"types and formats of outputs", "--outputIOFormats", NULL});
    add_tactic_sources(words);
    add_pool_limits(words);
    add_onnx_flags(words);
    add_preview_features(words);
    add_capability(words);
    add_flags(words);
    add_option_values(words);
    add_plugins(words);
    trtexec_words_names(words, &settings->mark_debug,
                        (struct trtexec_wish){"--mark-debug", "--markDebug", "mark outputs: --trt-outputs"});
    trtexec_words_flag(words, settings->mark_unfused,
                       (struct trtexec_wish){"--mark-unfused-tensors-as-debug-tensors",
                                             "--markUnfusedTensorsAsDebugTensors", "mark outputs: --trt-outputs"});
    refuse_what_is_not_there(words);
    add_profiles(words, network);
}

/* ---- A run ---- */

static void add_inputs(struct trtexec_words *words, const struct trtexec_run *run)
{
    struct string_builder shapes, files;

    string_init(&shapes);
    string_init(&files);
    string_add(&shapes, "--shapes=");
    string_add(&files, "--loadInputs=");
    for (size_t i = 0; i < run->input_count && run->files != NULL; i++) {
        if (run->is_dynamic[i])
            add_shape(run->inputs[i], &run->shapes[i], &shapes);
        trtexec_words_next_item(&files);
        string_add_format(&files, "%s:%s", run->inputs[i], run->files[i]);
    }
    trtexec_words_list(words, &shapes);
    trtexec_words_list(words, &files);
}

void trtexec_words_add_run(struct trtexec_words *words, const struct trtexec_run *run)
{
    const struct tensorrt_settings *settings = words->settings;
    const struct trtexec *program = settings->program;
    bool has_debug = settings->mark_unfused || settings->mark_debug.count > 0;

    trtexec_words_add(words, program->path);
    trtexec_words_add(words, arena_printf(words->arena, "--loadEngine=%s", run->engine));
    trtexec_words_add(words, "--iterations=1");
    trtexec_words_add(words, "--warmUp=0");
    trtexec_words_add(words, "--duration=0");
    trtexec_words_add(words, "--dumpRawBindingsToFile");
    if (trtexec_has(program, "--includeDataTransfers")) /* else outputs are never copied */
        trtexec_words_add(words, "--includeDataTransfers");
    if (trtexec_has(program, "--noCudaGraph")) /* else outputs and debug tensors may be those of a capture */
        trtexec_words_add(words, "--noCudaGraph");
    if (run->exports_outputs)
        trtexec_words_add(words, "--exportOutput=" TRTEXEC_OUTPUTS);
    if (has_debug)
        trtexec_words_value(words, "summary,raw",
                            (struct trtexec_wish){"tensors inside of the engine", "--saveAllDebugTensors",
                                                  "mark outputs: --trt-outputs"});
    if (settings->optimization_profile < 0)
        trtexec_words_refuse(words, ERR_INVALID, "--optimization-profile: %lld is no profile; the first one is 0",
                             (long long)settings->optimization_profile);
    if (settings->optimization_profile > 0)
        trtexec_words_value(words, arena_printf(words->arena, "%lld", (long long)settings->optimization_profile),
                            (struct trtexec_wish){"--optimization-profile", "--useProfile", NULL});
    trtexec_words_value(words, lower(words, settings->allocation_strategy),
                        (struct trtexec_wish){"--allocation-strategy", "--allocationStrategy", NULL});
    trtexec_words_value(words, settings->weight_streaming_budget,
                        (struct trtexec_wish){"--weight-streaming-budget", "--weightStreamingBudget", NULL});
    if (settings->lean_runtime != NULL) {
        char *place = file_place(settings->lean_runtime);

        trtexec_words_value(words, "lean", (struct trtexec_wish){"--load-runtime", "--useRuntime", NULL});
        trtexec_words_value(words, arena_strdup(words->arena, place),
                            (struct trtexec_wish){"--load-runtime", "--leanDLLPath", NULL});
        free(place);
    }
    if (settings->profile)
        trtexec_words_add(words, "--exportProfile=" TRTEXEC_PROFILE);
    add_plugins(words);
    add_inputs(words, run);
}
