/* comparator/compare/criteria.c: see criteria.h. */
#include "comparator/compare/criteria.h"

#include <math.h>

void comparison_rules_find(const struct comparison_rules *rules, const char *output, struct comparison_criteria *ret)
{
    *ret = (struct comparison_criteria){
        .simple = {.atol = named_number_find(&rules->atol, output, 1e-5),
                   .rtol = named_number_find(&rules->rtol, output, 1e-5),
                   .norm_tolerance = named_number_find(&rules->norm_tolerance, output, 0), /* none */
                   .quantile = named_number_find(&rules->error_quantile, output, 0.99),
                   .infinities_compare_equal = rules->infinities_compare_equal,
                   .nans_compare_equal = rules->nans_compare_equal,
                   .check_shapes = !rules->no_shape_check,
                   .want_medians = rules->want_medians},
        .atol_is_integer = named_number_is_integer(&rules->atol, output),
        .rtol_is_integer = named_number_is_integer(&rules->rtol, output),
        .index_tolerance = (size_t)named_integer_find(&rules->index_tolerance, output, 0),
        .metrics = {.l2_tolerance = named_number_find(&rules->l2_tolerance, output, 1e-5),
                    .cosine_threshold = named_number_find(&rules->cosine_threshold, output, 0.997),
                    .psnr_threshold = named_number_find(&rules->psnr_threshold, output, 30),       /* dB */
                    .snr_threshold = named_number_find(&rules->snr_threshold, output, 20),         /* dB */
                    .nmse_tolerance = named_number_find(&rules->nmse_tolerance, output, INFINITY), /* none */
                    .token_tolerance = named_number_find(&rules->token_tolerance, output, 0),
                    .kl_tolerance = named_number_find(&rules->kl_tolerance, output, 0.01), /* nats */
                    .ssim_threshold = named_number_find(&rules->ssim_threshold, output, 0.95)},
    };
    compare_statistic_parse(text_of(named_word_find(&rules->check_error_stat, output, "elemwise")),
                            &ret->simple.statistic);
}

double comparison_metric_limit(const struct metric_criteria *criteria, enum comparison_function function)
{
    switch (function) {
    case COMPARISON_COSINE_SIMILARITY:
        return criteria->cosine_threshold;
    case COMPARISON_PSNR:
        return criteria->psnr_threshold;
    case COMPARISON_SNR:
        return criteria->snr_threshold;
    case COMPARISON_NMSE:
        return criteria->nmse_tolerance;
    case COMPARISON_TOKENS:
        return criteria->token_tolerance;
    case COMPARISON_KL:
        return criteria->kl_tolerance;
    case COMPARISON_SSIM:
        return criteria->ssim_threshold;
    default:
        return criteria->l2_tolerance;
    }
}
