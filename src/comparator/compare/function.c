/* comparator/compare/function.c: see function.h. */
#include "comparator/compare/function.h"

#include <math.h>

#include "base/text/number.h"

static const struct {
    const char *name, *label;
    const char *limit_name; /* of functions with a metric, as in JSON; else NULL */
    double default_limit;
    bool at_least; /* the limit is a minimum */
    const char *unit;
    const char *requirement; /* of outputs; NULL: none */
} names[COMPARISON_FUNCTIONS] = {
    [COMPARISON_SIMPLE] = {"simple", "simple", NULL, 0, false, "", NULL},
    [COMPARISON_INDICES] = {"indices", "indices", NULL, 0, false, "", NULL},
    [COMPARISON_L2] = {"l2", "L2 Norm", "l2_tolerance", 1e-5, false, "", NULL},
    [COMPARISON_COSINE_SIMILARITY] = {"cosine_similarity", "Cosine Similarity", "cosine_threshold", 0.997, true, "",
                                      NULL},
    [COMPARISON_PSNR] = {"psnr", "PSNR", "psnr_threshold", 30, true, " dB", NULL},
    [COMPARISON_SNR] = {"snr", "SNR", "snr_threshold", 20, true, " dB", NULL},
    [COMPARISON_NMSE] = {"nmse", "NMSE", "nmse_tolerance", (double)INFINITY, false, "", NULL},
    [COMPARISON_TOKENS] = {"tokens", "Tokens that differ", "token_tolerance", 0, false, "",
                           "integers, or logits of at most 3 dimensions"},
    [COMPARISON_KL] = {"kl", "KL Divergence", "kl_tolerance", 0.01, false, " nats", "logits of at most 3 dimensions"},
    [COMPARISON_TOPK] = {"topk", "Top-k Overlap", "topk_threshold", 0.8, true, "", "logits of at most 3 dimensions"},
    [COMPARISON_SSIM] = {"ssim", "SSIM", "ssim_threshold", 0.95, true, "", "images of at least 11 x 11 pixels"},
    [COMPARISON_DETECTIONS] = {"detections", "Detections that differ", "detection_tolerance", 0, false, "",
                               "boxes of a detector with their scores and labels"},
};

bool comparison_functions_contain(const struct comparison_functions *functions, enum comparison_function function)
{
    for (size_t i = 0; i < functions->count; i++)
        if (functions->items[i] == function)
            return true;
    return false;
}

void comparison_functions_add(struct comparison_functions *functions, enum comparison_function function)
{
    if (!comparison_functions_contain(functions, function))
        functions->items[functions->count++] = function;
}

struct comparison_functions comparison_functions_or_default(const struct comparison_functions *functions)
{
    return functions->count > 0 ? *functions : (struct comparison_functions){{COMPARISON_SIMPLE}, 1};
}

const char *comparison_function_label(enum comparison_function function)
{
    return names[function].label;
}

const char *comparison_function_requirement(enum comparison_function function)
{
    return names[function].requirement;
}

const char *comparison_function_name(enum comparison_function function)
{
    return names[function].name;
}

const char *comparison_limit_name(enum comparison_function function)
{
    return names[function].limit_name;
}

double comparison_default_limit(enum comparison_function function)
{
    return names[function].default_limit;
}

bool comparison_limit_is_minimum(enum comparison_function function)
{
    return names[function].at_least;
}

bool comparison_metric_passes(enum comparison_function function, double value, double limit)
{
    return names[function].at_least ? value >= limit : value <= limit;
}

void comparison_describe_metric(enum comparison_function function, double value, double limit,
                                struct string_builder *ret)
{
    char shown[NUMBER_TEXT_SIZE], least[NUMBER_TEXT_SIZE];
    const char *unit = names[function].unit;

    string_add_format(
        ret, "%s: %s%s (%s: %s%s) | %s", names[function].label, number_to_text_rounded(value, 'g', 5, shown), unit,
        names[function].at_least ? "min required" : "tolerance", number_to_text_rounded(limit, 'g', 5, least), unit,
        comparison_metric_passes(function, value, limit) ? "PASSED" : "FAILED");
}
