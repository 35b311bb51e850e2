/* cli/options/comparison.c: which outputs `run` compares, with which function and tolerances. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "cli/commands.h"
#include "cli/options/groups.h"
#include "cli/parse/command.h"
#include "comparator/infer/driver.h"
#include "tensor/compare/detection_columns.h"

/* Names on the command line, Polygraphy's first. NMSE is added to the quality metrics if --nmse-tolerance is given. */
static const struct {
    const char *name;
    struct comparison_functions functions;
} named_functions[] = {
    {"simple", {{COMPARISON_SIMPLE}, 1}},
    {"indices", {{COMPARISON_INDICES}, 1}},
    {"l2", {{COMPARISON_L2}, 1}},
    {"cosine_similarity", {{COMPARISON_COSINE_SIMILARITY}, 1}},
    {"distance_metrics", {{COMPARISON_L2, COMPARISON_COSINE_SIMILARITY}, 2}},
    {"psnr", {{COMPARISON_PSNR}, 1}},
    {"snr", {{COMPARISON_SNR}, 1}},
    {"quality_metrics", {{COMPARISON_PSNR, COMPARISON_SNR}, 2}},
    {"nmse", {{COMPARISON_NMSE}, 1}},
    {"tokens", {{COMPARISON_TOKENS}, 1}},
    {"kl", {{COMPARISON_KL}, 1}},
    {"topk", {{COMPARISON_TOPK}, 1}},
    {"ssim", {{COMPARISON_SSIM}, 1}},
    {"detections", {{COMPARISON_DETECTIONS}, 1}},
    {"distance", {{COMPARISON_L2, COMPARISON_COSINE_SIMILARITY}, 2}},
    {"quality", {{0}, 0}}, /* the quality metrics that have a threshold; without thresholds as quality_metrics */
};

#define PERCEPTUAL_METRICS                                                                                             \
    "perceptual metrics (LPIPS) need the weights of another network; compare images with quality_metrics, or keep "    \
    "the "                                                                                                             \
    "outputs with --save-outputs and compare them in Python"

static const char *const function_names[] = {"simple",
                                             "indices",
                                             "l2",
                                             "cosine_similarity",
                                             "distance_metrics",
                                             "psnr",
                                             "snr",
                                             "quality_metrics",
                                             "nmse",
                                             "distance",
                                             "quality",
                                             "tokens",
                                             "kl",
                                             "topk",
                                             "ssim",
                                             "detections",
                                             "perceptual_metrics",
                                             NULL};

/* Options that only one comparison function reads. */
static const struct {
    const char *option;
    enum comparison_function function;
} specific[] = {
    {"--rtol", COMPARISON_SIMPLE},
    {"--atol", COMPARISON_SIMPLE},
    {"--norm-tolerance", COMPARISON_SIMPLE},
    {"--check-error-stat", COMPARISON_SIMPLE},
    {"--error-quantile", COMPARISON_SIMPLE},
    {"--infinities-compare-equal", COMPARISON_SIMPLE},
    {"--nans-compare-equal", COMPARISON_SIMPLE},
    {"--save-heatmaps", COMPARISON_SIMPLE},
    {"--save-error-metrics-plot", COMPARISON_SIMPLE},
    {"--index-tolerance", COMPARISON_INDICES},
    {"--l2-threshold", COMPARISON_L2},
    {"--cosine-similarity-threshold", COMPARISON_COSINE_SIMILARITY},
    {"--psnr-threshold", COMPARISON_PSNR},
    {"--snr-threshold", COMPARISON_SNR},
    {"--nmse-tolerance", COMPARISON_NMSE},
    {"--token-tolerance", COMPARISON_TOKENS},
    {"--kl-tolerance", COMPARISON_KL},
    {"--topk-size", COMPARISON_TOPK},
    {"--topk-threshold", COMPARISON_TOPK},
    {"--ssim-threshold", COMPARISON_SSIM},
    {"--detection-tolerance", COMPARISON_DETECTIONS},
    {"--detection-columns", COMPARISON_DETECTIONS},
    {"--iou-threshold", COMPARISON_DETECTIONS},
    {"--score-tolerance", COMPARISON_DETECTIONS},
    {"--score-cut", COMPARISON_DETECTIONS},
};

struct comparison_functions comparison_functions_of_options(const struct parse *parse)
{
    struct comparison_functions ret = {0};

    for (size_t i = 0; i < ARRAY_LEN(specific); i++)
        if (parse_given(parse, specific[i].option) != NULL)
            comparison_functions_add(&ret, specific[i].function);
    return ret;
}

bool comparison_is_of_values(const struct parse *parse)
{
    const struct option_state *state;
    struct option_match match;
    bool found = parse_given(parse, "--compare") == NULL; /* the default */

    if (found || !option_find(parse, TEXT("--compare"), &match))
        return found;
    state = &match.state->options[match.index];
    for (size_t i = 0; i < state->count; i++)
        found |= strcmp(state->words[i], "simple") == 0;
    return found;
}

/* Those of the quality metrics for which a threshold was given; if none was, Polygraphy's two. */
static void add_quality_metrics(const struct comparison_rules *rules, struct comparison_functions *ret)
{
    bool any = rules->limits[COMPARISON_PSNR].count + rules->limits[COMPARISON_SNR].count +
                   rules->limits[COMPARISON_NMSE].count >
               0;

    if (rules->limits[COMPARISON_PSNR].count > 0 || !any)
        comparison_functions_add(ret, COMPARISON_PSNR);
    if (rules->limits[COMPARISON_SNR].count > 0 || !any)
        comparison_functions_add(ret, COMPARISON_SNR);
}

static void choose_functions(const struct words *names, const struct comparison_rules *rules,
                             struct comparison_functions *ret)
{
    for (size_t i = 0; i < names->count; i++)
        for (size_t k = 0; k < ARRAY_LEN(named_functions); k++) {
            const struct comparison_functions *functions = &named_functions[k].functions;

            if (strcmp(names->items[i], named_functions[k].name) != 0)
                continue;
            for (size_t f = 0; f < functions->count; f++)
                comparison_functions_add(ret, functions->items[f]);
            if (strcmp(names->items[i], "quality") == 0)
                add_quality_metrics(rules, ret);
            if (strncmp(names->items[i], "quality", strlen("quality")) == 0 && rules->limits[COMPARISON_NMSE].count > 0)
                comparison_functions_add(ret, COMPARISON_NMSE);
        }
}

/* Appends the names under which a function can be chosen: "['l2', 'distance_metrics']". */
static void list_names_of(enum comparison_function function, struct string_builder *ret)
{
    const char *separator = "[";

    for (size_t i = 0; i < ARRAY_LEN(named_functions); i++) {
        if (!comparison_functions_contain(&named_functions[i].functions, function) ||
            strcmp(named_functions[i].name, "distance") == 0)
            continue;
        string_add_format(ret, "%s'%s'", separator, named_functions[i].name);
        separator = ", ";
    }
    string_add(ret, "]");
}

/* Whether thresholds select their functions, if --compare does not. */
static bool selects_by_thresholds(const struct parse *parse)
{
    return parse_given(parse, "--compare") == NULL && parse->depth > 0 &&
           parse->path[parse->depth - 1] == &cmd_check_accuracy;
}

/* Polygraphy warns, too; a search of a debug tool would find what another criterion fails on. */
static int refuse_ignored_criteria(struct parse *parse, const struct comparison_values *values, struct error *err)
{
    bool is_search = parse->depth > 2 && strcmp(parse->path[1]->name, "debug") == 0;
    struct comparison_functions functions = comparison_functions_or_default(&values->settings.functions);
    SCOPED_STRING(selected);

    for (size_t i = 0; i < values->compare.count; i++)
        string_add_format(&selected, "%s'%s'", i > 0 ? ", " : "", values->compare.items[i]);
    for (size_t i = 0; i < ARRAY_LEN(specific); i++) {
        struct option_match match;
        SCOPED_STRING(valid);

        if (comparison_functions_contain(&functions, specific[i].function) || selects_by_thresholds(parse) ||
            parse_given(parse, specific[i].option) == NULL || !option_find(parse, text_of(specific[i].option), &match))
            continue;
        list_names_of(specific[i].function, &valid);
        if (is_search)
            return error_set(err, ERR_INVALID,
                             "%s: this criterion belongs to another comparison function than the selected [%s]: add "
                             "--compare with one of %s",
                             parse_given(parse, specific[i].option), selected.data, valid.data);
        log_message(parse_log(parse), LOG_WARNING,
                    "Option: %s is only valid for comparison function(s): %s. The selected comparison functions are: "
                    "[%s], so this option will be ignored.",
                    option_title(parse, option_of(&match)), valid.data, selected.data);
    }
    return 0;
}

static int check_detection_columns(const struct named_words *rules, struct error *err)
{
    struct detection_columns ignored;

    for (size_t i = 0; i < rules->count; i++)
        if (detection_columns_parse(rules->items[i].value, &ignored, err) < 0)
            return error_context(err, "--detection-columns");
    return 0;
}

static int finish_comparison(struct parse *parse, void *given, struct error *err)
{
    struct comparison_values *values = given;
    const struct comparison_rules *rules = &values->settings.rules;
    const struct {
        const char *option;
        const struct named_numbers *tolerances;
    } checked[] = {{"--rtol", &rules->rtol},
                   {"--atol", &rules->atol},
                   {"--norm-tolerance", &rules->norm_tolerance},
                   {"--l2-threshold", &rules->limits[COMPARISON_L2]},
                   {"--nmse-tolerance", &rules->limits[COMPARISON_NMSE]},
                   {"--token-tolerance", &rules->limits[COMPARISON_TOKENS]},
                   {"--kl-tolerance", &rules->limits[COMPARISON_KL]},
                   {"--score-tolerance", &rules->score_tolerance},
                   {"--detection-tolerance", &rules->limits[COMPARISON_DETECTIONS]}};

    for (size_t i = 0; i < values->compare.count; i++)
        if (strcmp(values->compare.items[i], "perceptual_metrics") == 0)
            return error_set(err, ERR_UNSUPPORTED, "--compare: " PERCEPTUAL_METRICS);
    choose_functions(&values->compare, rules, &values->settings.functions);
    if (refuse_ignored_criteria(parse, values, err) < 0)
        return err->code;
    if (comparison_functions_contain(&values->settings.functions, COMPARISON_NMSE) &&
        rules->limits[COMPARISON_NMSE].count == 0)
        return error_set(err, ERR_INVALID,
                         "--compare nmse has no default tolerance, so every output would pass; add "
                         "--nmse-tolerance 1e-3");
    for (size_t i = 0; i < ARRAY_LEN(checked); i++)
        for (size_t k = 0; k < checked[i].tolerances->count; k++)
            if (checked[i].tolerances->items[k].value < 0)
                return error_set(err, ERR_INVALID, "%s: %g is less than 0, so no output would match; give 0 or more",
                                 checked[i].option, checked[i].tolerances->items[k].value);
    if (values->first_divergence && comparison_functions_contain(&values->settings.functions, COMPARISON_DETECTIONS))
        return error_set(err, ERR_INVALID,
                         "--first-divergence compares each tensor alone, but --compare detections several outputs at "
                         "once; choose another function");
    if (check_detection_columns(&rules->detection_columns, err) < 0)
        return err->code;
    for (size_t k = 0; k < rules->topk_size.count; k++)
        if (rules->topk_size.items[k].value == 0)
            return error_set(err, ERR_INVALID, "--topk-size: 0 elements overlap always; give 1 or more");
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
    ROW(compare, .names = {"--compare", "--compare-func"}, .kind = OPTION_MANY, .type = OPTION_CHOICE,
        .choices = function_names, .value_name = "FUNCTION", .fallback = "simple",
        .help =
            "one or more functions, which all must pass: simple compares values within tolerances, indices "
            "compares rankings; the others compare whole outputs. distance_metrics, or distance: l2 and "
            "cosine_similarity. quality_metrics: psnr and snr. quality: those of psnr, snr and nmse for which a "
            "threshold is given. tokens, kl, topk: of logits, one row along the last axis a token. ssim: of images. "
            "detections: sets of boxes, whatever their order"),
    OPTION_WITHOUT_FIELD(.names = {"--postprocess-func-script"}, .yields = true, .kind = OPTION_ONE,
                         .refusal = "scripts need Python; keep the results with --save-outputs and convert them there",
                         .topic = "python-scripts"),
    OPTION_WITHOUT_FIELD(.names = {"--lpips-threshold", "--lpips-tolerance"}, .yields = true, .kind = OPTION_MANY,
                         .refusal = PERCEPTUAL_METRICS, .topic = "perceptual-metrics"),
    OPTION_WITHOUT_FIELD(.names = {"--compare-func-script"}, .kind = OPTION_ONE,
                         .refusal = "scripts need Python; keep the results with --save-outputs and compare them there",
                         .topic = "python-scripts"),
    ROW(settings.rules.no_shape_check, .names = {"--no-shape-check"}, .kind = OPTION_FLAG,
        .help = "reshape the second output to the first one's shape where possible; not for indices"),
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
        .help =
            "simple: tolerated difference relative to the largest finite magnitude of the second output, without "
            "masks (beyond 1e30, or below half of float16's range), which are compared by position and sign. It is a "
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
    ROW(settings.rules.nans_compare_equal, .names = {"--nans-compare-equal"}, .yields = true, .kind = OPTION_FLAG,
        .help = "simple: treat elements that are NaN in both outputs as equal; their number is logged"),
    ROW(settings.ignored, .names = {"--ignore-outputs"}, .yields = true, .kind = OPTION_MANY, .value_name = "OUT",
        .naming = OPTION_OUTPUT_NAMES, .help = "outputs that are not compared, by name or pattern such as 'layer*'"),
    ROW(settings.rules.index_tolerance, .names = {"--index-tolerance"}, .kind = OPTION_MANY, .value_name = "[OUT:]N",
        .convert = convert_named_counts, .naming = OPTION_OUTPUT_NAMES,
        .help = "indices: tolerated distance between the positions of equal values (default: 0)"),
    ROW(settings.rules.limits[COMPARISON_L2], .names = {"--l2-threshold", "--l2-tolerance"}, .kind = OPTION_MANY,
        .value_name = "[OUT:]X", .convert = convert_named_numbers, .naming = OPTION_OUTPUT_NAMES,
        .help = "l2: maximum L2 norm of the difference (default: 1e-5)"),
    ROW(settings.rules.limits[COMPARISON_COSINE_SIMILARITY],
        .names = {"--cosine-similarity-threshold", "--cosine-threshold"}, .kind = OPTION_MANY, .value_name = "[OUT:]X",
        .convert = convert_named_numbers, .naming = OPTION_OUTPUT_NAMES,
        .help = "cosine_similarity: minimum cosine similarity, -1 to 1 (default: 0.997)"),
    ROW(settings.rules.limits[COMPARISON_PSNR], .names = {"--psnr-threshold", "--psnr-tolerance"}, .kind = OPTION_MANY,
        .value_name = "[OUT:]X", .convert = convert_named_numbers, .naming = OPTION_OUTPUT_NAMES,
        .help = "psnr: minimum peak signal-to-noise ratio in dB; the first output is the signal (default: 30)"),
    ROW(settings.rules.limits[COMPARISON_SNR], .names = {"--snr-threshold", "--snr-tolerance"}, .kind = OPTION_MANY,
        .value_name = "[OUT:]X", .convert = convert_named_numbers, .naming = OPTION_OUTPUT_NAMES,
        .help = "snr: minimum signal-to-noise ratio in dB; the first output is the signal (default: 20)"),
    ROW(settings.rules.limits[COMPARISON_NMSE], .names = {"--nmse-tolerance"}, .kind = OPTION_MANY,
        .value_name = "[OUT:]X", .convert = convert_named_numbers, .naming = OPTION_OUTPUT_NAMES,
        .help = "nmse: maximum mean squared error divided by the mean square of the second output (default: not "
                "checked)"),
    ROW(settings.rules.limits[COMPARISON_TOKENS], .names = {"--token-tolerance"}, .kind = OPTION_MANY,
        .value_name = "[OUT:]X", .convert = convert_named_numbers, .naming = OPTION_OUTPUT_NAMES,
        .help = "tokens: tolerated share of tokens that differ, 0 to 1 (default: 0). A token is the position of the "
                "greatest logit, or an integer; one that is tied with the second output's is not different"),
    ROW(settings.rules.limits[COMPARISON_KL], .names = {"--kl-tolerance"}, .kind = OPTION_MANY, .value_name = "[OUT:]X",
        .convert = convert_named_numbers, .naming = OPTION_OUTPUT_NAMES,
        .help = "kl: maximum Kullback-Leibler divergence of a row's probabilities, in nats; the second output is the "
                "reference (default: 0.01)"),
    ROW(settings.rules.limits[COMPARISON_SSIM], .names = {"--ssim-threshold"}, .kind = OPTION_MANY,
        .value_name = "[OUT:]X", .convert = convert_named_numbers, .naming = OPTION_OUTPUT_NAMES,
        .help = "ssim: minimum structural similarity of each channel of each image, -1 to 1; the second output is the "
                "reference (default: 0.95)"),
    ROW(settings.rules.limits[COMPARISON_TOPK], .names = {"--topk-threshold"}, .kind = OPTION_MANY,
        .value_name = "[OUT:]X", .convert = convert_named_quantiles, .naming = OPTION_OUTPUT_NAMES,
        .help =
            "topk: minimum share of the K greatest logits of a row that the second output's row has among its own K "
            "greatest, 0 to 1 (default: 0.8)"),
    ROW(settings.rules.topk_size, .names = {"--topk-size"}, .kind = OPTION_MANY, .value_name = "[OUT:]K",
        .convert = convert_named_counts, .naming = OPTION_OUTPUT_NAMES, .help = "topk: K (default: 5)"),
    ROW(settings.rules.limits[COMPARISON_DETECTIONS], .names = {"--detection-tolerance"}, .kind = OPTION_MANY,
        .value_name = "[OUT:]X", .convert = convert_named_numbers, .naming = OPTION_OUTPUT_NAMES,
        .help = "detections: tolerated share of the detections of both outputs without a partner, 0 to 1 (default: 0). "
                "OUT is the output with the boxes"),
    ROW(settings.rules.iou_threshold, .names = {"--iou-threshold"}, .kind = OPTION_MANY, .value_name = "[OUT:]X",
        .convert = convert_named_quantiles, .naming = OPTION_OUTPUT_NAMES,
        .help = "detections: minimum intersection over union of matching boxes, 0 to 1 (default: 0.5)"),
    ROW(settings.rules.score_tolerance, .names = {"--score-tolerance"}, .kind = OPTION_MANY, .value_name = "[OUT:]X",
        .convert = convert_named_numbers, .naming = OPTION_OUTPUT_NAMES,
        .help = "detections: tolerated difference of the scores of matching boxes (default: 0.01)"),
    ROW(settings.rules.score_cut, .names = {"--score-cut"}, .kind = OPTION_MANY, .value_name = "[OUT:]X",
        .convert = convert_named_numbers, .naming = OPTION_OUTPUT_NAMES,
        .help = "detections: score of the detector's threshold: boxes below it do not matter, and those within "
                "--score-tolerance of it need no partner (default: the lowest score of the output that lacks the box)"),
    ROW(settings.rules.detection_columns, .names = {"--detection-columns"}, .kind = OPTION_MANY,
        .value_name = "[OUT:]COLUMNS", .convert = convert_named_words, .naming = OPTION_OUTPUT_NAMES,
        .help =
            "detections: what an output contains, such as boxes:cx,cy,w,h or x1,y1,x2,y2,score,label; the words "
            "x1, y1, x2, y2, cx, cy, w, h, score, label, image, scores (one column for each class), count (of valid "
            "rows), and _ (not compared) (default: derived from shapes, types, names and values)"),
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
    OPTION_ROWS(options),
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
        RULES("--l2-threshold", rules->limits[COMPARISON_L2]),
        RULES("--cosine-similarity-threshold", rules->limits[COMPARISON_COSINE_SIMILARITY]),
        RULES("--psnr-threshold", rules->limits[COMPARISON_PSNR]),
        RULES("--snr-threshold", rules->limits[COMPARISON_SNR]),
        RULES("--nmse-tolerance", rules->limits[COMPARISON_NMSE]),
        RULES("--token-tolerance", rules->limits[COMPARISON_TOKENS]),
        RULES("--kl-tolerance", rules->limits[COMPARISON_KL]),
        RULES("--topk-threshold", rules->limits[COMPARISON_TOPK]),
        RULES("--topk-size", rules->topk_size),
        RULES("--ssim-threshold", rules->limits[COMPARISON_SSIM]),
        RULES("--detection-tolerance", rules->limits[COMPARISON_DETECTIONS]),
        RULES("--iou-threshold", rules->iou_threshold),
        RULES("--score-tolerance", rules->score_tolerance),
        RULES("--score-cut", rules->score_cut),
        RULES("--detection-columns", rules->detection_columns),
        RULES("--postprocess", values->postprocess),
        RULES("--ignore-outputs", values->settings.ignored),
    };

    memcpy(ret, all, sizeof(all));
}
