/* cli/options/comparison.c: which outputs `run` compares, with which function and tolerances. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "cli/options/groups.h"
#include "comparator/infer/driver.h"

const char *const compare_function_names[] = {"simple", "indices", "distance", "quality",
                                              NULL}; /* enum comparison_function */

/* Options that only one comparison function reads. */
static const struct {
    const char *option;
    enum comparison_function function;
} specific[] = {
    {"--no-shape-check", COMPARISON_SIMPLE},
    {"--rtol", COMPARISON_SIMPLE},
    {"--atol", COMPARISON_SIMPLE},
    {"--norm-tolerance", COMPARISON_SIMPLE},
    {"--check-error-stat", COMPARISON_SIMPLE},
    {"--error-quantile", COMPARISON_SIMPLE},
    {"--infinities-compare-equal", COMPARISON_SIMPLE},
    {"--save-heatmaps", COMPARISON_SIMPLE},
    {"--save-error-metrics-plot", COMPARISON_SIMPLE},
    {"--index-tolerance", COMPARISON_INDICES},
    {"--l2-tolerance", COMPARISON_DISTANCE},
    {"--cosine-threshold", COMPARISON_DISTANCE},
    {"--psnr-threshold", COMPARISON_QUALITY},
    {"--snr-threshold", COMPARISON_QUALITY},
    {"--nmse-tolerance", COMPARISON_QUALITY},
};

bool comparison_is_of_values(const struct parse *parse)
{
    return strcmp(parse_last_word(parse, "--compare"), compare_function_names[COMPARISON_SIMPLE]) == 0;
}

static void warn_about_ignored_criteria(struct parse *parse, enum comparison_function compare)
{
    for (size_t i = 0; i < ARRAY_LEN(specific); i++) {
        const char *name = specific[i].function == compare ? NULL : parse_given(parse, specific[i].option);

        if (name)
            log_message(parse_log(parse), LOG_WARNING,
                        "Option: %s is only valid for comparison function: '%s'. The selected one is '%s', so it will "
                        "be ignored",
                        name, compare_function_names[specific[i].function], compare_function_names[compare]);
    }
}

static int finish_comparison(struct parse *parse, void *given, struct error *err)
{
    const struct comparison_values *values = given;
    const struct comparison_rules *rules = &values->settings.rules;
    const struct {
        const char *option;
        const struct named_numbers *tolerances;
    } checked[] = {{"--rtol", &rules->rtol},
                   {"--atol", &rules->atol},
                   {"--norm-tolerance", &rules->norm_tolerance},
                   {"--l2-tolerance", &rules->l2_tolerance},
                   {"--nmse-tolerance", &rules->nmse_tolerance}};

    warn_about_ignored_criteria(parse, values->settings.function);
    for (size_t i = 0; i < ARRAY_LEN(checked); i++)
        for (size_t k = 0; k < checked[i].tolerances->count; k++)
            if (checked[i].tolerances->items[k].value < 0)
                return error_set(err, ERR_INVALID, "%s: %g is less than 0, so no output would match; give 0 or more",
                                 checked[i].option, checked[i].tolerances->items[k].value);
    for (size_t k = 0; k < rules->norm_tolerance.count; k++)
        if (!isfinite(rules->norm_tolerance.items[k].value))
            return error_set(err, ERR_INVALID, "--norm-tolerance: %g is not finite; give a finite number",
                             rules->norm_tolerance.items[k].value);
    return 0;
}

#define ROW(member, ...) OPTION_ROW(struct comparison_values, member, __VA_ARGS__)

static const struct option options[] = {
    ROW(load_outputs, .names = {"--load-outputs", "--load-results"}, .kind = OPTION_MANY, .value_name = "DATA",
        .file = OPTION_READS_DATA,
        .help = "also compare with the results in these files, written by --save-outputs, or with arrays of other "
                "programs: .npz, .npy as in OUTPUT:FILE, folders of .npy or of ONNX's test_data_set_0, .safetensors"),
    ROW(validate, .names = {"--validate"}, .kind = OPTION_FLAG, .help = "check all outputs for NaN and infinities"),
    ROW(first_divergence, .names = {"--first-divergence"}, .kind = OPTION_FLAG,
        .help = "compare all tensors, as with '--onnx-outputs mark all', and report the nodes whose outputs differ "
                "while all their inputs match; with --validate also those that produce the first NaN or infinity"),
    ROW(settings.fail_fast, .names = {"--fail-fast"}, .kind = OPTION_FLAG,
        .help = "stop at the first output that does not match"),
    ROW(settings.require_all, .names = {"--require-all"}, .kind = OPTION_FLAG,
        .help =
            "report an output or iteration that only one of two results contains as a mismatch instead of a warning"),
    ROW(postprocess, .names = {"--postprocess", "--postprocess-func"}, .kind = OPTION_MANY,
        .value_name = "[OUT:]top-K[,axis=A]", .convert = convert_top_k, .naming = OPTION_OUTPUT_NAMES,
        .help = "before comparing, replace each output, or the named one, by the indices of its K largest values along "
                "axis A (default: the last)"),
    ROW(settings.function, .names = {"--compare", "--compare-func"}, .kind = OPTION_ONE, .type = OPTION_CHOICE,
        .choices = compare_function_names, .fallback = "simple",
        .help = "simple compares values within tolerances, indices compares rankings; distance (L2 norm and cosine "
                "similarity) and quality (signal-to-noise ratios) compare whole outputs"),
    OPTION_WITHOUT_FIELD(.names = {"--compare-func-script"}, .kind = OPTION_ONE,
                         .refusal = "scripts need Python; keep the results with --save-outputs and compare them there",
                         .topic = "python-scripts"),
    ROW(settings.rules.no_shape_check, .names = {"--no-shape-check"}, .kind = OPTION_FLAG,
        .help = "simple: reshape the second output to the first one's shape where possible"),
    ROW(settings.rules.rtol, .names = {"--rtol", "--rel-tol"}, .kind = OPTION_MANY, .value_name = "[OUT:]X",
        .convert = convert_named_numbers, .naming = OPTION_OUTPUT_NAMES,
        .help = "simple: tolerated difference relative to the second output (default: 1e-5). OUT, here and below, may "
                "be a pattern such as 'layer*'; an exact name has precedence, then the first pattern that matches, "
                "then X alone"),
    ROW(settings.rules.atol, .names = {"--atol", "--abs-tol"}, .kind = OPTION_MANY, .value_name = "[OUT:]X",
        .convert = convert_named_numbers, .naming = OPTION_OUTPUT_NAMES,
        .help = "simple: tolerated absolute difference (default: 1e-5). An output mismatches if it exceeds both "
                "tolerances"),
    ROW(settings.rules.norm_tolerance, .names = {"--norm-tolerance"}, .kind = OPTION_MANY, .value_name = "[OUT:]X",
        .convert = convert_named_numbers, .naming = OPTION_OUTPUT_NAMES,
        .help = "simple: tolerated difference relative to the largest finite magnitude of the second output. It is a "
                "second absolute tolerance: the larger one applies (not to integers of 32 bits and more). One X fits "
                "tensors of any scale; with '--atol 0 --rtol 0' it is the only tolerance"),
    ROW(settings.rules.check_error_stat, .names = {"--check-error-stat"}, .kind = OPTION_MANY,
        .value_name = "[OUT:]STATISTIC", .convert = convert_named_statistics, .naming = OPTION_OUTPUT_NAMES,
        .hints = (const char *const[]){"max", "mean", "median", "elemwise", "quantile", NULL},
        .help = "simple: the statistic that is compared with the tolerances: each element (elemwise, the default), or "
                "the max, mean, median or quantile of all differences"),
    ROW(settings.rules.error_quantile, .names = {"--error-quantile"}, .kind = OPTION_MANY, .value_name = "[OUT:]Q",
        .convert = convert_named_quantiles, .naming = OPTION_OUTPUT_NAMES,
        .help = "simple: the quantile, from 0 to 1 (default: 0.99)"),
    ROW(settings.rules.infinities_compare_equal, .names = {"--infinities-compare-equal"}, .kind = OPTION_FLAG,
        .help = "simple: treat infinities of the same sign as equal"),
    ROW(settings.rules.index_tolerance, .names = {"--index-tolerance"}, .kind = OPTION_MANY, .value_name = "[OUT:]N",
        .convert = convert_named_counts, .naming = OPTION_OUTPUT_NAMES,
        .help = "indices: tolerated distance between the positions of equal values (default: 0)"),
    ROW(settings.rules.l2_tolerance, .names = {"--l2-tolerance"}, .kind = OPTION_MANY, .value_name = "[OUT:]X",
        .convert = convert_named_numbers, .naming = OPTION_OUTPUT_NAMES,
        .help = "distance: maximum L2 norm of the difference (default: 1e-5)"),
    ROW(settings.rules.cosine_threshold, .names = {"--cosine-threshold"}, .kind = OPTION_MANY, .value_name = "[OUT:]X",
        .convert = convert_named_numbers, .naming = OPTION_OUTPUT_NAMES,
        .help = "distance: minimum cosine similarity, -1 to 1 (default: 0.997)"),
    ROW(settings.rules.psnr_threshold, .names = {"--psnr-threshold"}, .kind = OPTION_MANY, .value_name = "[OUT:]X",
        .convert = convert_named_numbers, .naming = OPTION_OUTPUT_NAMES,
        .help = "quality: minimum peak signal-to-noise ratio in dB; the first output is the signal (default: 30)"),
    ROW(settings.rules.snr_threshold, .names = {"--snr-threshold"}, .kind = OPTION_MANY, .value_name = "[OUT:]X",
        .convert = convert_named_numbers, .naming = OPTION_OUTPUT_NAMES,
        .help = "quality: minimum signal-to-noise ratio in dB; the first output is the signal (default: 20)"),
    ROW(settings.rules.nmse_tolerance, .names = {"--nmse-tolerance"}, .kind = OPTION_MANY, .value_name = "[OUT:]X",
        .convert = convert_named_numbers, .naming = OPTION_OUTPUT_NAMES,
        .help = "quality: maximum mean squared error divided by the mean square of the second output (default: not "
                "checked)"),
    ROW(heat_map_folder, .names = {"--save-heatmaps"}, .kind = OPTION_ONE, .value_name = "FOLDER",
        .file = OPTION_WRITES_FOLDER,
        .help = "simple: save two heat maps (SVG) of each output: the absolute and the relative difference of each "
                "element"),
    OPTION_WITHOUT_FIELD(
            .names = {"--show-heatmaps"}, .kind = OPTION_FLAG,
            .refusal = "windows are not supported: save the pictures with --save-heatmaps and open them in a browser",
            .topic = "windows"),
    ROW(error_plot_folder, .names = {"--save-error-metrics-plot"}, .kind = OPTION_ONE, .value_name = "FOLDER",
        .file = OPTION_WRITES_FOLDER,
        .help = "simple: save a plot (SVG) of each output: its differences against the magnitude of the second output, "
                "with the tolerances"),
    OPTION_WITHOUT_FIELD(.names = {"--show-error-metrics-plot"}, .kind = OPTION_FLAG,
                         .refusal = "windows are not supported: save the pictures with --save-error-metrics-plot and "
                                    "open them in a browser",
                         .topic = "windows"),
};

const struct option_group comparison_options = {
    .title = "Comparison",
    .options = options,
    .count = ARRAY_LEN(options),
    .finish = finish_comparison,
};

#define RULES(option, list)                                                                                            \
    {                                                                                                                  \
        option, (list).items, (list).count, sizeof((list).items[0])                                                    \
    }

void comparison_list_rules(const struct comparison_values *values, struct output_rules *ret)
{
    const struct comparison_rules *rules = &values->settings.rules;
    const struct output_rules all[COMPARISON_RULES] = {
        RULES("--rtol", rules->rtol),
        RULES("--atol", rules->atol),
        RULES("--norm-tolerance", rules->norm_tolerance),
        RULES("--check-error-stat", rules->check_error_stat),
        RULES("--error-quantile", rules->error_quantile),
        RULES("--index-tolerance", rules->index_tolerance),
        RULES("--l2-tolerance", rules->l2_tolerance),
        RULES("--cosine-threshold", rules->cosine_threshold),
        RULES("--psnr-threshold", rules->psnr_threshold),
        RULES("--snr-threshold", rules->snr_threshold),
        RULES("--nmse-tolerance", rules->nmse_tolerance),
        RULES("--postprocess", values->postprocess),
    };

    memcpy(ret, all, sizeof(all));
}
