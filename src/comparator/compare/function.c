/* comparator/compare/function.c: see function.h. */
#include "comparator/compare/function.h"

static const struct {
    const char *name, *label;
} names[COMPARISON_FUNCTIONS] = {
    [COMPARISON_SIMPLE] = {"simple", "simple"},
    [COMPARISON_INDICES] = {"indices", "indices"},
    [COMPARISON_L2] = {"l2", "L2 Norm"},
    [COMPARISON_COSINE_SIMILARITY] = {"cosine_similarity", "Cosine Similarity"},
    [COMPARISON_PSNR] = {"psnr", "PSNR"},
    [COMPARISON_SNR] = {"snr", "SNR"},
    [COMPARISON_NMSE] = {"nmse", "NMSE"},
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

const char *comparison_function_name(enum comparison_function function)
{
    return names[function].name;
}
