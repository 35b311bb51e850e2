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
        .topk_size = (size_t)named_integer_find(&rules->topk_size, output, 5),
        .detections = {.iou = named_number_find(&rules->iou_threshold, output, 0.5),
                       .score_tolerance = named_number_find(&rules->score_tolerance, output, 0.01),
                       .cut = named_number_find(&rules->score_cut, output, NAN)}, /* derived */
    };
    for (size_t i = 0; i < COMPARISON_FUNCTIONS; i++)
        ret->limits[i] =
            named_number_find(&rules->limits[i], output, comparison_default_limit((enum comparison_function)i));
    compare_statistic_parse(text_of(named_word_find(&rules->check_error_stat, output, "elemwise")),
                            &ret->simple.statistic);
}
