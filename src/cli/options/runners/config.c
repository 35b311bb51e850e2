/* cli/options/runners/config.c: options of engine builds: profiles, precisions, calibration, tactics. */
#include <string.h>

#include "backend/tensorrt/settings.h"
#include "base/memory.h"
#include "cli/options/runners/disabled.h"
#include "cli/options/runners/engine.h"
#include "debug/check/words.h"

static const char *const constraints[] = {"prefer", "obey", "none", NULL};
static const int constraint_values[] = {PRECISION_CONSTRAINTS_PREFER, PRECISION_CONSTRAINTS_OBEY,
                                        PRECISION_CONSTRAINTS_NONE};
static const char *const policies[] = {"lowest", "fastest", NULL};

/* ---- Profiles ---- */

static bool has_shape_name(const struct input_shape *shapes, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(shapes[i].name, name) == 0)
            return true;
    return false;
}

static int convert_shape_profiles(struct parse *parse, const char *spelling, struct words given, void *field,
                                  struct error *err)
{
    struct words words = join_shape_words(parse, given);
    struct input_shape *shapes = arena_alloc_zero(parse_arena(parse), words.count, sizeof(*shapes));
    struct input_shapes *profiles = arena_alloc_zero(parse_arena(parse), words.count, sizeof(*profiles));
    size_t count = 0;

    for (size_t i = 0; i < words.count; i++) {
        const char *one_word[] = {words.items[i], NULL};
        struct input_shapes one;
        int rc = convert_shapes(parse, spelling, (struct words){one_word, 1}, &one, err);

        if (rc < 0)
            return rc;
        shapes[i] = one.items[0];
        if (!shape_is_static(&shapes[i].shape))
            return error_set(err, ERR_INVALID, "%s: '%s': every dimension must be a number", spelling, words.items[i]);
        if (count == 0 || has_shape_name(profiles[count - 1].items, profiles[count - 1].count, shapes[i].name))
            profiles[count++].items = &shapes[i];
        profiles[count - 1].count++;
    }
    *(struct shape_profiles *)field = (struct shape_profiles){profiles, count};
    return 0;
}

static int check_same_names(const char *option, const struct shape_profiles *profiles, const char *other_option,
                            const struct shape_profiles *others, struct error *err)
{
    if (profiles->count > 0 && others->count > 0 && profiles->count != others->count)
        return error_set(err, ERR_INVALID,
                         "number of profiles differs: %s has %zu, %s %zu; give the same number of each", option,
                         profiles->count, other_option, others->count);
    for (size_t i = 0; i < profiles->count && i < others->count; i++)
        for (size_t k = 0; k < profiles->items[i].count; k++)
            if (!has_shape_name(others->items[i].items, others->items[i].count, profiles->items[i].items[k].name))
                return error_set(err, ERR_INVALID, "%s names input '%s', %s does not: name the same inputs in both",
                                 option, profiles->items[i].items[k].name, other_option);
    return 0;
}

static int check_shape_profiles(const struct engine_values *values, struct error *err)
{
    static const char *const names[] = {"--trt-min-shapes", "--trt-opt-shapes", "--trt-max-shapes"};
    const struct shape_profiles *all[] = {&values->minimum, &values->optimum, &values->maximum};

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        for (size_t k = 0; k < ARRAY_LEN(all); k++)
            if (i != k && check_same_names(names[i], all[i], names[k], all[k], err) < 0)
                return err->code;
    return 0;
}

static const struct shape *find_profile_shape(const struct shape_profiles *profiles, size_t profile, const char *name)
{
    for (size_t i = 0; profile < profiles->count && i < profiles->items[profile].count; i++)
        if (strcmp(profiles->items[profile].items[i].name, name) == 0)
            return &profiles->items[profile].items[i].shape;
    return NULL;
}

/* Shapes that are not given: minimum and maximum default to the optimum, the optimum to one of the others. */
static struct input_profile make_input_profile(const struct engine_values *values, size_t profile, const char *name)
{
    const struct shape *minimum = find_profile_shape(&values->minimum, profile, name);
    const struct shape *optimum = find_profile_shape(&values->optimum, profile, name);
    const struct shape *maximum = find_profile_shape(&values->maximum, profile, name);

    if (optimum == NULL)
        optimum = maximum != NULL ? maximum : minimum;
    return (struct input_profile){
        .name = name,
        .minimum = minimum != NULL ? *minimum : *optimum,
        .optimum = *optimum,
        .maximum = maximum != NULL ? *maximum : *optimum,
    };
}

static void fill_profiles(struct parse *parse, const struct engine_values *values, struct builder_settings *ret)
{
    const struct shape_profiles *named = values->optimum.count > 0   ? &values->optimum
                                         : values->maximum.count > 0 ? &values->maximum
                                                                     : &values->minimum;
    const struct input_profile **profiles = arena_alloc_zero(parse_arena(parse), named->count, sizeof(*profiles));
    size_t *sizes = arena_alloc_zero(parse_arena(parse), named->count, sizeof(*sizes));

    for (size_t i = 0; i < named->count; i++) {
        const struct input_shapes *inputs = &named->items[i];
        struct input_profile *items = arena_alloc_zero(parse_arena(parse), inputs->count, sizeof(*items));

        for (size_t k = 0; k < inputs->count; k++)
            items[k] = make_input_profile(values, i, inputs->items[k].name);
        profiles[i] = items;
        sizes[i] = inputs->count;
    }
    ret->profiles = profiles;
    ret->profile_sizes = sizes;
    ret->profile_count = named->count;
}

/* ---- The rest ---- */

/* TensorRT's names of the calibrators. */
static int convert_calibrator(struct parse *parse, const char *spelling, struct words words, void *field,
                              struct error *err)
{
    static const struct {
        const char *name;
        enum calibration_method method;
    } classes[] = {
        {"IInt8EntropyCalibrator", CALIBRATION_FIRST_ENTROPY},
        {"IInt8EntropyCalibrator2", CALIBRATION_ENTROPY},
        {"IInt8MinMaxCalibrator", CALIBRATION_MINMAX},
        {"IInt8LegacyCalibrator", CALIBRATION_PERCENTILE},
    };

    (void)parse, (void)spelling;
    for (size_t i = 0; i < ARRAY_LEN(classes); i++)
        if (strcmp(words.items[0], classes[i].name) == 0) {
            *(enum calibration_method *)field = classes[i].method;
            return 0;
        }
    return error_set(err, ERR_INVALID,
                     "--calibration-base-class: unknown class '%s'; choose from IInt8EntropyCalibrator2, "
                     "IInt8MinMaxCalibrator, IInt8LegacyCalibrator",
                     words.items[0]);
}

/* ---- Disabled optimizations ---- */

/* `marked`: names may begin with NAME_MAY_MISS; otherwise that character is part of a pattern. */
static int disable_decisions(struct parse *parse, struct engine_values *values, const char *family,
                             const struct words *names, bool marked, struct error *err)
{
    const char **items = arena_alloc_zero(parse_arena(parse), names->count + 1, sizeof(*items));

    for (size_t i = 0; i < names->count; i++) {
        bool may_miss = marked && *names->items[i] == NAME_MAY_MISS;

        items[i] = arena_printf(parse_arena(parse), "%.*s%s:%s", may_miss, names->items[i], family,
                                names->items[i] + may_miss);
    }
    return engine_settings_switch_off(&values->request, (struct words){items, names->count}, parse_arena(parse), err);
}

static int disable_given_decisions(struct parse *parse, struct engine_values *values, const char *option,
                                   const char *family, const struct words *names, struct error *err)
{
    static const char *const all[] = {"*", NULL};

    if (!parse_given(parse, option))
        return 0;
    return disable_decisions(parse, values, family, names->count > 0 ? names : &(struct words){all, 1}, false, err);
}

/* Adds the optimizations that a check of `debug passes` disables. */
static int obey_disabled_decisions(struct parse *parse, struct engine_values *values, struct error *err)
{
    static const char *const families[] = {"fusion", "folding", "layout", "tactics"};

    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        struct words names;

        if (disabled_names_read(parse, families[i], &names, err) < 0)
            return err->code;
        if (disable_decisions(parse, values, families[i], &names, true, err) < 0)
            return error_context(err, CHECK_DISABLED_VARIABLE);
    }
    return 0;
}

static int finish_decisions(struct parse *parse, struct engine_values *values, struct error *err)
{
    if (disable_given_decisions(parse, values, "--disable-fusions", "fusion", &values->disabled_fusions, err) < 0 ||
        disable_given_decisions(parse, values, "--disable-foldings", "folding", &values->disabled_foldings, err) < 0)
        return err->code;
    return obey_disabled_decisions(parse, values, err);
}

static int finish_engine_config(struct parse *parse, void *given, struct error *err)
{
    struct engine_values *values = given;
    struct builder_settings *builder = &values->request.builder;

    builder->precision.enabled[PRECISION_FLOAT32] = true;
    builder->effort.has_optimization_level = parse_given(parse, "--builder-optimization-level");
    if (builder->effort.optimization_level < 0 || builder->effort.optimization_level > 5)
        return error_set(err, ERR_INVALID, "--builder-optimization-level: %lld is not in 0 .. 5",
                         (long long)builder->effort.optimization_level);
    if (values->quantile < 0 || values->quantile > 1)
        return error_set(err, ERR_INVALID, "--quantile: %g is not in 0 .. 1", values->quantile);
    if (parse_given(parse, "--exclude-lean-runtime") && !parse_given(parse, "--version-compatible"))
        return error_set(err, ERR_INVALID, "--exclude-lean-runtime needs --version-compatible");
    if (!builder->precision.enabled[PRECISION_INT8] &&
        (parse_given(parse, "--calibration-base-class") || values->calibration_cache != NULL))
        log_message(parse_log(parse), LOG_WARNING,
                    "Some int8 calibrator options were set, but int8 precision is not enabled. Calibration options "
                    "will be ignored. Please set --int8 to enable calibration.");
    if (check_shape_profiles(values, err) < 0)
        return err->code;
    fill_profiles(parse, values, builder);
    return finish_decisions(parse, values, err);
}

#define NO_CONFIG_SCRIPTS                                                                                              \
    "Python scripts are not run; use the options for precisions (--fp16), shapes (--trt-opt-shapes), tactics "         \
    "(--tactic-sources) and "                                                                                          \
    "caches (--load-timing-cache)"

#define CONSTRAINTS(default_constraint)                                                                                \
    {                                                                                                                  \
        .names = {"--precision-constraints"}, .kind = OPTION_ONE, .type = OPTION_CHOICE, .choices = constraints,       \
        .choice_values = constraint_values, .fallback = default_constraint,                                            \
        OPTION_FIELD(struct engine_values, request.builder.precision.constraints),                                     \
        .help = "what happens if a layer does not support the requested precision: the build fails (obey), "           \
                "warns (prefer), or precisions are not requested (none)",                                              \
    }

#define ROW(member, ...) OPTION_ROW(struct engine_values, member, __VA_ARGS__)

/* The first row is for all tools except `debug precision`, the last one for `debug precision`. */
static const struct option rows[] = {
    CONSTRAINTS("none"),
    ROW(minimum, .names = {"--trt-min-shapes"}, .kind = OPTION_MANY, .value_name = "NAME:SHAPE", .append = true,
        .convert = convert_shape_profiles, .naming = OPTION_INPUT_NAMES,
        .help = "minimum shapes of inputs. A repeated name begins the next profile"),
    ROW(optimum, .names = {"--trt-opt-shapes"}, .kind = OPTION_MANY, .value_name = "NAME:SHAPE", .append = true,
        .convert = convert_shape_profiles, .naming = OPTION_INPUT_NAMES,
        .help = "shapes for which the engine is optimized"),
    ROW(maximum, .names = {"--trt-max-shapes"}, .kind = OPTION_MANY, .value_name = "NAME:SHAPE", .append = true,
        .convert = convert_shape_profiles, .naming = OPTION_INPUT_NAMES, .help = "maximum shapes of inputs"),
    ROW(request.builder.precision.enabled[PRECISION_TF32], .names = {"--tf32"}, .kind = OPTION_FLAG,
        .help = "allow TF32; the built-in engine computes it as float32"),
    ROW(request.builder.precision.enabled[PRECISION_FLOAT16], .names = {"--fp16"}, .kind = OPTION_FLAG,
        .help = "allow layers to store float16"),
    ROW(request.builder.precision.enabled[PRECISION_BFLOAT16], .names = {"--bf16"}, .kind = OPTION_FLAG,
        .help = "allow layers to store bfloat16"),
    ROW(request.builder.precision.enabled[PRECISION_INT8], .names = {"--int8"}, .kind = OPTION_FLAG,
        .help = "allow int8 in convolutions and matrix products with constant weights; the input data calibrate the "
                "scales"),
    ROW(tensorrt.fp8, .names = {"--fp8"}, .kind = OPTION_FLAG, .help = "allow 8-bit floating point; TensorRT only"),
    ROW(request.builder.precision.policy, .names = {"--precision-policy"}, .yields = true, .kind = OPTION_ONE,
        .type = OPTION_CHOICE, .choices = policies, .fallback = "lowest",
        .help = "precision of layers for which none is specified, of the allowed ones"),
    ROW(calibration_cache, .names = {"--calibration-cache"}, .kind = OPTION_ONE, .value_name = "PATH",
        .file = OPTION_WRITES, .help = "scales for int8: read if the file contains some, otherwise written"),
    ROW(calibration_method, .names = {"--calib-base-cls", "--calibration-base-class"}, .kind = OPTION_ONE,
        .value_name = "CLASS", .convert = convert_calibrator,
        .hints =
            (const char *const[]){"IInt8EntropyCalibrator2", "IInt8MinMaxCalibrator", "IInt8LegacyCalibrator", NULL},
        .help = "calibration method, by TensorRT's name: IInt8EntropyCalibrator2, IInt8MinMaxCalibrator or "
                "IInt8LegacyCalibrator"),
    ROW(quantile, .names = {"--quantile"}, .kind = OPTION_ONE, .type = OPTION_FLOAT, .value_name = "Q",
        .fallback = "0.5", .help = "with IInt8LegacyCalibrator: fraction of values that are not clipped"),
    ROW(load_timing_cache, .names = {"--load-timing-cache"}, .kind = OPTION_ONE, .value_name = "PATH",
        .file = OPTION_READS, .help = "timing cache with measured times of tactics"),
    ROW(request.builder.effort.error_on_timing_cache_miss, .names = {"--error-on-timing-cache-miss"},
        .kind = OPTION_FLAG, .help = "fail instead of timing a tactic that is not in the cache"),
    ROW(save_tactics, .names = {"--save-tactics", "--save-tactic-replay"}, .kind = OPTION_ONE, .value_name = "PATH",
        .exclusive = 1, .file = OPTION_WRITES, .extensions = "json",
        .shares = "--check", /* of debug tools: each build writes it before its check, which may read it */
        .help = "write the tactic of each layer to this file"),
    ROW(load_tactics, .names = {"--load-tactics", "--load-tactic-replay"}, .kind = OPTION_ONE, .value_name = "PATH",
        .exclusive = 1, .file = OPTION_READS, .extensions = "json",
        .help = "use the tactics in this file for the layers"),
    ROW(request.providers.sources, .names = {"--tactic-sources"}, .kind = OPTION_ANY, .value_name = "NAME",
        .hints = (const char *const[]){"onednn", "onnxrt", NULL},
        .help = "allowed tactic providers: onednn, onnxrt, or a plug-in's name; with TensorRT CUDNN and so on "
                "(default: all)"),
    ROW(request.builder.excluded, .names = {"--exclude-tactics"}, .yields = true, .kind = OPTION_MANY,
        .value_name = "NAME", .append = true,
        .help = "exclude these tactics in all layers, also if a replay names them: the fix for a wrong kernel in many "
                "layers. Names are those of --save-tactics, \"onednn:jit_wino_4x3:avx512_core aBcd16b\"; a prefix up "
                "to a colon or a blank stands for all names that begin with it, and * and ? for any characters"),
    ROW(disabled_fusions, .names = {"--disable-fusions"}, .yields = true, .kind = OPTION_ANY, .value_name = "NAME",
        .append = true,
        .hints = (const char *const[]){"bias", "sum", "relu", "clip", "sigmoid", "tanh", "swish", "gelu", NULL},
        .help = "built-in engine: do not fuse these nodes into the layers before them. A name is a kind (bias, sum, "
                "relu, leaky_relu, clip, sigmoid, tanh, elu, swish, hard_swish, gelu), a kind at a node "
                "(relu@/layer1/Relu), or a pattern (*@/layer1/*); without names, all fusions"),
    ROW(disabled_foldings, .names = {"--disable-foldings"}, .yields = true, .kind = OPTION_ANY, .value_name = "NAME",
        .append = true, .hints = (const char *const[]){"constants", "affine", NULL},
        .help =
            "built-in engine: do not fold constants (constants), nor batch normalizations and other scales and shifts "
            "of channels into the preceding weights (affine; affine@NODE for one node); without names, both"),
    ROW(request.builder.plain_layouts, .names = {"--plain-layouts"}, .kind = OPTION_FLAG,
        .help = "built-in engine: exclude tactics with a blocked memory layout of a tensor"),
    ROW(request.builder.effort.optimization_level, .names = {"--builder-optimization-level"}, .kind = OPTION_ONE,
        .type = OPTION_INTEGER, .value_name = "0..5", .fallback = "3",
        .help = "how many tactics are timed, and how precisely; 0 disables timing"),
    ROW(request.builder.deterministic, .names = {"--deterministic"}, .kind = OPTION_FLAG,
        .help = "disable timing: every build chooses the same tactics"),
    OPTION_WITHOUT_FIELD(.names = {"--trt-config-script"}, .kind = OPTION_ONE, .refusal = NO_CONFIG_SCRIPTS,
                         .topic = "python-scripts"),
    OPTION_WITHOUT_FIELD(.names = {"--trt-config-func-name"}, .kind = OPTION_ONE, .refusal = NO_CONFIG_SCRIPTS,
                         .topic = "python-scripts"),
    OPTION_WITHOUT_FIELD(.names = {"--trt-config-postprocess-script", "--trt-cpps"}, .kind = OPTION_ONE,
                         .refusal = NO_CONFIG_SCRIPTS, .topic = "python-scripts"),
    CONSTRAINTS("obey"),
};

#define CONFIG_GROUP(first)                                                                                            \
    {                                                                                                                  \
        .title = "Engine builder", .options = rows + (first), .count = ARRAY_LEN(rows) - 1,                            \
        .finish = finish_engine_config,                                                                                \
    }

const struct option_group engine_config_options = CONFIG_GROUP(0);
const struct option_group engine_config_precision_options = CONFIG_GROUP(1);
