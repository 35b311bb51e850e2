/* comparator/compare/function.c: see function.h. */
#include "comparator/compare/function.h"

#include "base/text/number.h"

static const struct {
    const char *name, *label;
    bool at_least; /* the limit is a minimum */
    const char *unit;
    const char *requirement; /* of outputs; NULL: none */
} names[COMPARISON_FUNCTIONS] = {
    [COMPARISON_SIMPLE] = {"simple", "simple", false, "", NULL},
    [COMPARISON_INDICES] = {"indices", "indices", false, "", NULL},
    [COMPARISON_L2] = {"l2", "L2 Norm", false, "", NULL},
    [COMPARISON_COSINE_SIMILARITY] = {"cosine_similarity", "Cosine Similarity", true, "", NULL},
    [COMPARISON_PSNR] = {"psnr", "PSNR", true, " dB", NULL},
    [COMPARISON_SNR] = {"snr", "SNR", true, " dB", NULL},
    [COMPARISON_NMSE] = {"nmse", "NMSE", false, "", NULL},
    [COMPARISON_TOKENS] = {"tokens", "Tokens that differ", false, "", "integers, or logits of at most 3 dimensions"},
    [COMPARISON_KL] = {"kl", "KL Divergence", false, " nats", "logits of at most 3 dimensions"},
    [COMPARISON_SSIM] = {"ssim", "SSIM", true, "", "images of at least 11 x 11 pixels"},
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
