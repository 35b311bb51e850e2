/* backend/tensorrt/config.c: see config.h. */
#include "backend/tensorrt/config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "backend/tensorrt/build_route.h"
#include "backend/tensorrt/interfaces.h"
#include "backend/tensorrt/profiles.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/names.h"
#include "base/text/number.h"

#define TYPES_OF_MODEL                                                                                                 \
    "types are those of the model: `polygraphy convert MODEL -o half.onnx --fp-to-fp16 --keep-float32 NODE` makes "    \
    "one "                                                                                                             \
    "in float16"

/* ---- Flags ---- */

static int refuse_flag(const char *flag, const char *option, struct error *err)
{
    const struct tensorrt *trt = NULL;
    SCOPED_STRING(name);
    int rc = tensorrt_load(&trt, err);

    if (rc < 0)
        return rc;
    tensorrt_describe(trt, &name);
    return error_set(err, ERR_UNSUPPORTED, "%s: %s has no builder flag %s", option, name.data, flag);
}

static int set_flag(const struct tensorrt_config *config, const char *flag, const char *option, struct error *err)
{
    int32_t value;

    if (!tensorrt_value_of(TENSORRT_BUILDER_FLAG, flag, &value))
        return refuse_flag(flag, option, err);
    TENSORRT_CALL(VBuilderConfig, setFlag, config->config, value);
    if (TENSORRT_CALL(VBuilderConfig, getFlag, config->config, value))
        return 0;
    return tensorrt_failure(err, option);
}

/* Layers of other types than the model's: up to TensorRT 10. */
static int set_precision_flag(const struct tensorrt_config *config, const char *flag, const char *option,
                              struct error *err)
{
    return tensorrt_is_before(11)
               ? set_flag(config, flag, option, err)
               : error_set(err, ERR_UNSUPPORTED, "%s: in TensorRT 11 and TensorRT-RTX, " TYPES_OF_MODEL, option);
}

static int set_flags(const struct tensorrt_config *config, struct error *err)
{
    const struct tensorrt_settings *settings = config->network->settings;
    const struct {
        bool wanted;
        const char *flag, *option;
    } flags[] = {
        {settings->version_compatible, "VERSION_COMPATIBLE", "--version-compatible"},
        {settings->exclude_lean_runtime, "EXCLUDE_LEAN_RUNTIME", "--exclude-lean-runtime"},
        {settings->refittable, "REFIT", "--refittable"},
        {settings->strip_plan, "STRIP_PLAN", "--strip-plan"},
        {settings->sparse_weights, "SPARSE_WEIGHTS", "--sparse-weights"},
        {settings->disable_compilation_cache, "DISABLE_COMPILATION_CACHE", "--disable-compilation-cache"},
        {settings->safety_restricted, "SAFETY_SCOPE", "--trt-safety-restricted"},
        {settings->weight_streaming, "WEIGHT_STREAMING", "--weight-streaming"},
        {settings->allow_gpu_fallback, "GPU_FALLBACK", "--allow-gpu-fallback"},
        {settings->direct_io, "DIRECT_IO", "--direct-io"},
        {settings->without_timing_cache, "DISABLE_TIMING_CACHE", "a build without a timing cache"},
        {settings->effort.error_on_timing_cache_miss, "ERROR_ON_TIMING_CACHE_MISS", "--error-on-timing-cache-miss"},
    };
    int32_t tf32;

    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (flags[i].wanted && set_flag(config, flags[i].flag, flags[i].option, err) < 0)
            return err->code;
    if (!settings->tf32 && tensorrt_value_of(TENSORRT_BUILDER_FLAG, "TF32", &tf32))
        TENSORRT_CALL(VBuilderConfig, clearFlag, config->config, tf32);
    return 0;
}

/* ---- Precisions ---- */

static bool has_floating_output(void *layer)
{
    for (int32_t i = 0; i < TENSORRT_GET(VLayer, getNbOutputs, layer); i++) {
        void *tensor = TENSORRT_CALL(VLayer, getOutput, layer, i);
        enum data_type type =
            tensor != NULL ? tensorrt_type_from(TENSORRT_GET(VTensor, getType, tensor)) : DATA_UNDEFINED;

        if (type == DATA_FLOAT32 || type == DATA_FLOAT16 || type == DATA_BFLOAT16 || type == DATA_INT8)
            return true;
    }
    return false;
}

/* False: no layer could be given the precision. */
static bool set_precision_of(const struct tensorrt_network *network, const struct tensorrt_named_type *wish)
{
    int32_t count = TENSORRT_GET(VNetworkDefinition, getNbLayers, network->network);
    bool is_set = false;

    for (int32_t i = 0; i < count; i++) {
        void *layer = TENSORRT_CALL(VNetworkDefinition, getLayer, network->network, i);

        if (!tensorrt_layer_is(layer, wish->name) || !has_floating_output(layer))
            continue;
        TENSORRT_CALL(VLayer, setPrecision, layer, tensorrt_type_to(wish->type));
        is_set = true;
    }
    return is_set;
}

static int set_layer_precisions(const struct tensorrt_config *config, const struct tensorrt_named_types *wishes,
                                bool may_miss, struct error *err)
{
    SCOPED_STRING(missing);
    struct short_list list = {.text = &missing, .most = 8};

    for (size_t i = 0; i < wishes->count; i++) {
        if (tensorrt_type_to(wishes->items[i].type) < 0)
            return error_set(err, ERR_UNSUPPORTED, "--layer-precisions: TensorRT has no layers of %s",
                             data_type_name(wishes->items[i].type));
        if (!set_precision_of(config->network, &wishes->items[i]))
            short_list_add(&list, wishes->items[i].name);
    }
    short_list_end(&list);
    if (list.count == 0 || may_miss)
        return 0;
    return error_set(err, ERR_INVALID,
                     "--layer-precisions: TensorRT's network has no layer of floating-point values called, or made of "
                     "the ONNX node, %s",
                     missing.data);
}

static int set_constraints(const struct tensorrt_config *config, struct error *err)
{
    switch (config->network->settings->constraints) {
    case TENSORRT_CONSTRAINTS_PREFER:
        return set_precision_flag(config, "PREFER_PRECISION_CONSTRAINTS", "--precision-constraints", err);
    case TENSORRT_CONSTRAINTS_OBEY:
        return set_precision_flag(config, "OBEY_PRECISION_CONSTRAINTS", "--precision-constraints", err);
    case TENSORRT_CONSTRAINTS_NONE:
        break;
    }
    return 0;
}

static int set_precisions(struct tensorrt_config *config, struct error *err)
{
    const struct tensorrt_settings *settings = config->network->settings;
    const struct {
        bool wanted;
        const char *flag, *option;
    } flags[] = {{settings->fp16, "FP16", "--fp16"},
                 {settings->bf16, "BF16", "--bf16"},
                 {settings->int8, "INT8", "--int8"},
                 {settings->fp8, "FP8", "--fp8"}};

    if (settings->strongly_typed) {
        if (settings->fp16 || settings->bf16 || settings->int8 || settings->fp8 || settings->layer_precisions.count > 0)
            log_message(settings->log, LOG_WARNING,
                        "No layer is lowered: with --strongly-typed, types are those of the model, whatever precisions "
                        "are asked for");
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (flags[i].wanted && set_precision_flag(config, flags[i].flag, flags[i].option, err) < 0)
            return err->code;
    if (settings->int8 && tensorrt_calibration_set(&config->calibration, config->network, config->config, err) < 0)
        return err->code;
    if (set_constraints(config, err) < 0)
        return err->code;
    if (settings->layer_precisions.count + settings->optional_precisions.count == 0)
        return 0;
    if (tensorrt_require(TENSORRT_METHOD(VLayer, setPrecision), "--layer-precisions", err) < 0)
        return err->code;
    if (set_layer_precisions(config, &settings->layer_precisions, false, err) < 0)
        return err->code;
    return set_layer_precisions(config, &settings->optional_precisions, true, err);
}

/* ---- Tensors ---- */

static int32_t count_ends(const struct tensorrt_network *network)
{
    return TENSORRT_GET(VNetworkDefinition, getNbInputs, network->network) +
           TENSORRT_GET(VNetworkDefinition, getNbOutputs, network->network);
}

/* Inputs of the network, then outputs. */
static void *network_end(const struct tensorrt_network *network, int32_t index)
{
    int32_t inputs = TENSORRT_GET(VNetworkDefinition, getNbInputs, network->network);

    return index < inputs ? TENSORRT_CALL(VNetworkDefinition, getInput, network->network, index)
                          : TENSORRT_CALL(VNetworkDefinition, getOutput, network->network, index - inputs);
}

/* The sentence is Polygraphy's. */
static void warn_of_both(const struct tensorrt_network *network, const char *option, const char *what)
{
    log_message(network->settings->log, LOG_WARNING,
                "Both --all-tensor-%s and --tensor-%s were provided. Only %s in --all-tensor-%s will be applied.",
                option, option, what, option);
}

static int set_all_types(const struct tensorrt_network *network, struct error *err)
{
    const char *name = network->settings->all_tensor_type;
    enum data_type wanted = data_type_parse(text_of(name));
    int32_t type = wanted != DATA_UNDEFINED ? tensorrt_type_to(wanted) : -1;

    if (type < 0)
        return error_set(err, ERR_UNSUPPORTED, "--all-tensor-datatypes: TensorRT has no tensors of '%s'", name);
    for (int32_t i = 0; i < count_ends(network); i++)
        TENSORRT_CALL(VTensor, setType, network_end(network, i), type);
    return 0;
}

static int set_tensor_types(const struct tensorrt_config *config, struct error *err)
{
    const struct tensorrt_network *network = config->network;
    const struct tensorrt_named_types *wishes = &network->settings->tensor_types;
    bool for_all = network->settings->all_tensor_type != NULL;

    if ((wishes->count > 0 || for_all) && !tensorrt_has(TENSORRT_METHOD(VTensor, setType)))
        return error_set(err, ERR_UNSUPPORTED, "%s: in TensorRT 11 and TensorRT-RTX, " TYPES_OF_MODEL,
                         for_all ? "--all-tensor-datatypes" : "--tensor-dtypes");
    if (for_all && wishes->count > 0)
        warn_of_both(network, "datatypes", "types");
    if (for_all)
        return set_all_types(network, err);
    for (size_t i = 0; i < wishes->count; i++) {
        void *tensor = tensorrt_network_find(network, wishes->items[i].name);
        int32_t type = tensorrt_type_to(wishes->items[i].type);

        if (tensor == NULL)
            return error_set(err, ERR_INVALID, "--tensor-dtypes: TensorRT's network has no tensor '%s'",
                             wishes->items[i].name);
        if (type < 0)
            return error_set(err, ERR_UNSUPPORTED, "--tensor-dtypes: TensorRT has no tensors of %s",
                             data_type_name(wishes->items[i].type));
        TENSORRT_CALL(VTensor, setType, tensor, type);
    }
    return 0;
}

/* The bits of "[linear,chw4]". */
static int read_formats(struct text text, const char *word, uint32_t *ret, struct error *err)
{
    static const char separators[] = "[], ";

    *ret = 0;
    for (size_t begin = 0, end; begin < text.size; begin = end) {
        char name[32] = "";
        int32_t value;

        while (begin < text.size && strchr(separators, text.data[begin]) != NULL)
            begin++;
        for (end = begin; end < text.size && strchr(separators, text.data[end]) == NULL; end++) {
        }
        if (end == begin)
            break;
        if (end - begin < sizeof(name))
            memcpy(name, text.data + begin, end - begin);
        if (tensorrt_value_find(TENSORRT_TENSOR_FORMAT, name, "--tensor-formats", &value, err) < 0)
            return err->code;
        *ret |= 1u << value;
    }
    return *ret != 0 ? 0 : error_set(err, ERR_INVALID, "--tensor-formats: '%s': expected NAME:[linear,chw4]", word);
}

static int set_all_formats(const struct tensorrt_network *network, const struct words *names, struct error *err)
{
    uint32_t formats = 0;

    for (size_t i = 0; i < names->count; i++) {
        int32_t value;

        if (tensorrt_value_find(TENSORRT_TENSOR_FORMAT, names->items[i], "--all-tensor-formats", &value, err) < 0)
            return err->code;
        formats |= 1u << value;
    }
    for (int32_t i = 0; i < count_ends(network); i++)
        TENSORRT_CALL(VTensor, setAllowedFormats, network_end(network, i), formats);
    return 0;
}

static int set_tensor_formats(const struct tensorrt_config *config, struct error *err)
{
    const struct words *wishes = &config->network->settings->tensor_formats;
    const struct words *for_all = &config->network->settings->all_tensor_formats;

    if (for_all->count > 0 && wishes->count > 0)
        warn_of_both(config->network, "formats", "formats");
    if (for_all->count > 0)
        return set_all_formats(config->network, for_all, err);
    for (size_t i = 0; i < wishes->count; i++) {
        const char *word = wishes->items[i], *colon = strrchr(word, ':');
        struct text name = {word, colon != NULL ? (size_t)(colon - word) : 0};
        uint32_t formats;
        SCOPED_ARENA(arena);
        void *tensor = tensorrt_network_find(config->network, arena_text(&arena, name));

        if (tensor == NULL ||
            (!TENSORRT_GET(VTensor, isNetworkInput, tensor) && !TENSORRT_GET(VTensor, isNetworkOutput, tensor)))
            return error_set(err, ERR_INVALID,
                             "--tensor-formats: '%s' does not begin with an input or output of the model: expected "
                             "NAME:[linear,chw4]",
                             word);
        if (read_formats(text_of(colon + 1), word, &formats, err) < 0)
            return err->code;
        TENSORRT_CALL(VTensor, setAllowedFormats, tensor, formats);
    }
    return 0;
}

/* ---- Lists of names ---- */

static int set_tactic_sources(const struct tensorrt_config *config, struct error *err)
{
    const struct tensorrt_settings *settings = config->network->settings;
    uint32_t sources = 0;

    if (!settings->has_tactic_sources)
        return 0;
    for (size_t i = 0; i < settings->tactic_sources.count; i++) {
        int32_t value;

        if (tensorrt_value_find(TENSORRT_TACTIC_SOURCE, settings->tactic_sources.items[i], "--tactic-sources", &value,
                                err) < 0)
            return err->code;
        sources |= 1u << value;
    }
    return TENSORRT_CALL(VBuilderConfig, setTacticSources, config->config, sources)
               ? 0
               : tensorrt_failure(err, "--tactic-sources");
}

/* "1G", "1.5M" and the like: bytes unless a letter says otherwise. */
static bool parse_size(const char *word, size_t *ret)
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
    *ret = (size_t)number;
    return true;
}

static int set_pool_limits(const struct tensorrt_config *config, struct error *err)
{
    const struct words *limits = &config->network->settings->pool_limits;

    for (size_t i = 0; i < limits->count; i++) {
        const char *word = limits->items[i], *colon = strrchr(word, ':');
        SCOPED_ARENA(arena);
        size_t size = 0;
        int32_t pool;

        if (colon == NULL || !parse_size(colon + 1, &size))
            return error_set(err, ERR_INVALID, "--pool-limit: '%s': expected POOL:SIZE, for instance workspace:1G",
                             word);
        if (tensorrt_value_find(TENSORRT_MEMORY_POOL, arena_text(&arena, (struct text){word, (size_t)(colon - word)}),
                                "--pool-limit", &pool, err) < 0)
            return err->code;
        TENSORRT_CALL(VBuilderConfig, setMemoryPoolLimit, config->config, pool, size);
        if (TENSORRT_CALL(VBuilderConfig, getMemoryPoolLimit, config->config, pool) != size)
            return tensorrt_failure(err, "--pool-limit");
    }
    return 0;
}

static int set_preview_features(const struct tensorrt_config *config, struct error *err)
{
    const struct words *features = &config->network->settings->preview_features;

    for (size_t i = 0; i < features->count; i++) {
        int32_t value;

        if (tensorrt_value_find(TENSORRT_PREVIEW_FEATURE, features->items[i], "--preview-features", &value, err) < 0)
            return err->code;
        TENSORRT_CALL(VBuilderConfig, setPreviewFeature, config->config, value, true);
        if (!TENSORRT_CALL(VBuilderConfig, getPreviewFeature, config->config, value))
            return tensorrt_failure(err, "--preview-features");
    }
    return 0;
}

static int set_quantization_flags(const struct tensorrt_config *config, struct error *err)
{
    const struct words *flags = &config->network->settings->quantization_flags;

    for (size_t i = 0; i < flags->count; i++) {
        int32_t value;

        if (tensorrt_require(TENSORRT_METHOD(VBuilderConfig, setQuantizationFlag), "--quantization-flags", err) < 0 ||
            tensorrt_value_find(TENSORRT_QUANTIZATION_FLAG, flags->items[i], "--quantization-flags", &value, err) < 0)
            return err->code;
        TENSORRT_CALL(VBuilderConfig, setQuantizationFlag, config->config, value);
    }
    return 0;
}

/* ---- Single values ---- */

/* The value of a setting that is a word; `method` is what takes it. */
static int read_word(const char *word, enum tensorrt_value_kind kind, enum tensorrt_method method, const char *option,
                     int32_t *ret, struct error *err)
{
    if (tensorrt_require(method, option, err) < 0)
        return err->code;
    return tensorrt_value_find(kind, word, option, ret, err);
}

static int set_words(const struct tensorrt_config *config, struct error *err)
{
    const struct tensorrt_settings *settings = config->network->settings;
    const char *verbosity = settings->profiling_verbosity != NULL ? settings->profiling_verbosity : "DETAILED";
    void *object = config->config;
    int32_t value;

    if (read_word(verbosity, TENSORRT_PROFILING_VERBOSITY, TENSORRT_METHOD(VBuilderConfig, setProfilingVerbosity),
                  "--profiling-verbosity", &value, err) < 0)
        return err->code;
    TENSORRT_CALL(VBuilderConfig, setProfilingVerbosity, object, value);
    if (settings->engine_capability != NULL) {
        if (read_word(settings->engine_capability, TENSORRT_ENGINE_CAPABILITY,
                      TENSORRT_METHOD(VBuilderConfig, setEngineCapability), "--engine-capability", &value, err) < 0)
            return err->code;
        TENSORRT_CALL(VBuilderConfig, setEngineCapability, object, value);
    }
    if (settings->hardware_compatibility_level != NULL) {
        if (read_word(settings->hardware_compatibility_level, TENSORRT_HARDWARE_COMPATIBILITY,
                      TENSORRT_METHOD(VBuilderConfig, setHardwareCompatibilityLevel), "--hardware-compatibility-level",
                      &value, err) < 0)
            return err->code;
        TENSORRT_CALL(VBuilderConfig, setHardwareCompatibilityLevel, object, value);
    }
    if (settings->runtime_platform != NULL) {
        if (read_word(settings->runtime_platform, TENSORRT_RUNTIME_PLATFORM,
                      TENSORRT_METHOD(VBuilderConfig, setRuntimePlatform), "--runtime-platform", &value, err) < 0)
            return err->code;
        TENSORRT_CALL(VBuilderConfig, setRuntimePlatform, object, value);
    }
    if (settings->tiling_optimization_level == NULL)
        return 0;
    if (read_word(settings->tiling_optimization_level, TENSORRT_TILING_LEVEL,
                  TENSORRT_METHOD(VBuilderConfig, setTilingOptimizationLevel), "--tiling-optimization-level", &value,
                  err) < 0)
        return err->code;
    return TENSORRT_CALL(VBuilderConfig, setTilingOptimizationLevel, object, value)
               ? 0
               : tensorrt_failure(err, "--tiling-optimization-level");
}

#define CURRENT_GPU 1 /* ComputeCapability::kCURRENT; the others are 10 * major + minor: kSM86 is 86 */

/* The value of "8.6"; -1: not of that form. */
static int32_t read_compute_capability(const char *word)
{
    size_t major = strspn(word, "0123456789");
    bool is_good = (major == 1 || major == 2) && word[major] == '.' && isdigit((unsigned char)word[major + 1]) &&
                   word[major + 2] == '\0';

    return is_good ? 10 * (int32_t)strtol(word, NULL, 10) + (word[major + 1] - '0') : -1;
}

static int set_compute_capability(const struct tensorrt_config *config, int32_t value, int32_t index, const char *word,
                                  struct error *err)
{
    if (TENSORRT_CALL(VBuilderConfig, setComputeCapability, config->config, value, index) &&
        TENSORRT_CALL(VBuilderConfig, getComputeCapability, config->config, index) == value)
        return 0;
    return error_set(err, ERR_UNSUPPORTED, "%s: TensorRT-RTX refuses it%s", word,
                     value == CURRENT_GPU ? "; name the GPUs with --compute-capabilities" : "");
}

/* GPUs that TensorRT-RTX builds for; without, the engine runs on all that it supports. */
static int set_compute_capabilities(const struct tensorrt_config *config, struct error *err)
{
    const struct tensorrt_settings *settings = config->network->settings;
    const struct words *words = &settings->compute_capabilities;
    const char *option = settings->use_gpu ? "--use-gpu" : "--compute-capabilities";

    if (!settings->use_gpu && words->count == 0)
        return 0;
    if (settings->use_gpu && words->count > 0)
        return error_set(err, ERR_INVALID, "--use-gpu and --compute-capabilities exclude each other: leave one out");
    if (tensorrt_require(TENSORRT_METHOD(VBuilderConfig, setComputeCapability), option, err) < 0)
        return err->code;
    if (!TENSORRT_CALL(VBuilderConfig, setNbComputeCapabilities, config->config,
                       settings->use_gpu ? 1 : (int32_t)words->count))
        return tensorrt_failure(err, option);
    if (settings->use_gpu)
        return set_compute_capability(config, CURRENT_GPU, 0, option, err);
    for (size_t i = 0; i < words->count; i++) {
        int32_t value = read_compute_capability(words->items[i]);

        if (value < 0)
            return error_set(err, ERR_INVALID, "--compute-capabilities '%s': expected MAJOR.MINOR, as in 8.6",
                             words->items[i]);
        if (set_compute_capability(config, value, (int32_t)i, words->items[i], err) < 0)
            return error_context(err, "--compute-capabilities");
    }
    return 0;
}

static int set_max_aux_streams(const struct tensorrt_config *config, int64_t count, struct error *err)
{
    bool fits = count >= 0 && count <= INT32_MAX;

    if (fits)
        TENSORRT_CALL(VBuilderConfig, setMaxAuxStreams, config->config, (int32_t)count);
    if (fits && TENSORRT_GET(VBuilderConfig, getMaxAuxStreams, config->config) == (int32_t)count)
        return 0;
    return error_set(err, ERR_INVALID, "--max-aux-streams: TensorRT does not take %lld", (long long)count);
}

static int set_numbers(const struct tensorrt_config *config, struct error *err)
{
    const struct tensorrt_settings *settings = config->network->settings;

    if (settings->effort.has_optimization_level)
        TENSORRT_CALL(VBuilderConfig, setBuilderOptimizationLevel, config->config,
                      (int32_t)settings->effort.optimization_level);
    if (settings->has_max_aux_streams && set_max_aux_streams(config, settings->max_aux_streams, err) < 0)
        return err->code;
    if (settings->use_dla) {
        if (tensorrt_require(TENSORRT_METHOD(VBuilderConfig, setDLACore), "--use-dla", err) < 0)
            return err->code;
        TENSORRT_CALL(VBuilderConfig, setDefaultDeviceType, config->config, 1); /* DeviceType::kDLA */
        TENSORRT_CALL(VBuilderConfig, setDLACore, config->config, 0);
    }
    return 0;
}

/* ---- Timing cache ---- */

static int load_timing_cache(struct tensorrt_config *config, struct error *err)
{
    const struct tensorrt_settings *settings = config->network->settings;
    const char *path = settings->load_timing_cache;
    char *data SCOPED_FREE = NULL;
    size_t size = 0;
    bool is_set;

    if (settings->without_timing_cache)
        return 0;
    if (path != NULL && file_exists(path) && file_read(path, SIZE_MAX, &data, &size, err) < 0)
        return err->code;
    config->timing_cache =
        tensorrt_object(TENSORRT_CALL(VBuilderConfig, createTimingCache, config->config, data, size));
    is_set = config->timing_cache != NULL &&
             TENSORRT_CALL(VBuilderConfig, setTimingCache, config->config, config->timing_cache, false);
    if (is_set)
        return 0;
    config->lost_timing_cache = true;
    if (settings->effort.error_on_timing_cache_miss && path != NULL)
        return error_set(err, ERR_INVALID,
                         "TensorRT takes no times from '%s': it is damaged, of another version or device, or no timing "
                         "cache",
                         path);
    if (path != NULL)
        log_message(settings->log, LOG_WARNING,
                    "TensorRT takes no times from '%s', which is damaged, of another version or device, or no timing "
                    "cache: all tactics are timed anew",
                    path);
    tensorrt_delete(config->timing_cache);
    config->timing_cache =
        tensorrt_object(TENSORRT_CALL(VBuilderConfig, createTimingCache, config->config, NULL, (size_t)0));
    if (config->timing_cache != NULL)
        TENSORRT_CALL(VBuilderConfig, setTimingCache, config->config, config->timing_cache, false);
    return 0;
}

/* ---- All of it ---- */

typedef int config_step(const struct tensorrt_config *config, struct error *err);

int tensorrt_config_make(const struct tensorrt_network *network, struct tensorrt_config *ret, struct error *err)
{
    static config_step *const steps[] = {set_flags,
                                         set_tensor_types,
                                         set_tensor_formats,
                                         set_tactic_sources,
                                         set_pool_limits,
                                         set_preview_features,
                                         set_quantization_flags,
                                         set_words,
                                         set_compute_capabilities,
                                         set_numbers};
    int rc;

    *ret = (struct tensorrt_config){.network = network};
    ret->config = tensorrt_object(TENSORRT_GET(VBuilder, createBuilderConfig, network->builder));
    if (ret->config == NULL)
        return tensorrt_failure(err, "TensorRT gives no builder configuration");
    tensorrt_errors_clear();
    if (tensorrt_has(TENSORRT_METHOD(VBuilderConfig, setProgressMonitor)))
        TENSORRT_CALL(VBuilderConfig, setProgressMonitor, ret->config, tensorrt_progress_monitor());
    rc = set_precisions(ret, err);
    for (size_t i = 0; i < ARRAY_LEN(steps) && rc == 0; i++)
        rc = steps[i](ret, err);
    if (rc == 0)
        rc = tensorrt_set_build_route(ret->config, network->settings, err);
    if (rc < 0)
        goto done;
    rc = tensorrt_profiles_add(network, ret->config, err);
    if (rc < 0)
        goto done;
    rc = load_timing_cache(ret, err);
done:
    if (rc < 0)
        tensorrt_config_release(ret);
    return rc;
}

void tensorrt_config_release(struct tensorrt_config *config)
{
    tensorrt_delete(config->timing_cache);
    tensorrt_delete(config->config);
    tensorrt_calibration_release(&config->calibration);
    *config = (struct tensorrt_config){0};
}
