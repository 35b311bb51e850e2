/* debug/accuracy/rounding.c: which layers make an error of lower precision: one that brings most of it down alone, one
 * that cancels, or all of them a little.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/option_words.h"
#include "debug/accuracy/hypotheses.h"
#include "debug/accuracy/subgraph.h"

#define MOST_OF_ERROR 4.0 /* a layer that leaves less than one in so many of the error has brought most of it down */

/* Rounding that is magnified less often than so is ordinary: values of one magnitude and of another are added all the
 * time. */
#define LEAST_CANCELLATION 64.0

struct words layers_with_precision(struct study *study, struct words layers, const char *precision)
{
    struct word_list options = {0}, values = {0};

    *VECTOR_APPEND(&options) = "--precision-constraints";
    *VECTOR_APPEND(&options) = "obey";
    for (size_t i = 0; i < layers.count; i++) {
        const char *word = layers.items[i], *colon = strrchr(word, ':');
        int size = colon != NULL ? (int)(colon - word) : (int)strlen(word);

        *VECTOR_APPEND(&values) = study_text(study, "%.*s:%s", size, word, precision);
    }
    option_words_add(&options, &study->arena, "--layer-precisions", study_keep(study, &values));
    return study_keep(study, &options);
}

double comparison_norm_error(struct study_step *step, const json_t *item)
{
    double error = result_number(step, item, "differences/norm_error", NAN);

    return !isnan(error) ? error : json_is_true(result_find(item, "passed")) ? 0 : INFINITY;
}

double comparison_error(struct study_step *step)
{
    double ret = 0;
    size_t i;
    const json_t *item;

    json_array_foreach (result_find(step->result.root, "comparisons"), i, item) {
        bool is_rounded = strstr(result_text(step, item, "first/dtype"), "float") != NULL;
        double elements = result_number(step, item, "differences/elements", 0);

        ret = fmax(ret, is_rounded || !(elements > 0)
                            ? comparison_norm_error(step, item)
                            : result_number(step, item, "differences/mismatches", 0) / elements);
    }
    return ret;
}

/* With these layers in float32; INFINITY where that does not run. */
static double error_with_float(struct study *study, struct words layers)
{
    struct study_step *step = step_begin_suspect(
        study, &study->whole, "error",
        study_text(study, "The error with %zu layer%s in float32", layers.count, layers.count == 1 ? "" : "s"));
    enum agreement agreement;

    if (layers.count > 0)
        step_add_words(step, layers_with_precision(study, layers, "float32"));
    agreement = step_try(step);
    return agreement == AGREES || agreement == DIFFERS ? comparison_error(step) : INFINITY;
}

size_t study_find_decisive_layer(struct study *study, struct words layers, double *ret_before, double *ret_after)
{
    double before = *ret_before = error_with_float(study, (struct words){0}), after = before;
    struct words set = layers;

    /* The half with such a layer brings the error down as well. */
    while (set.count > 1 && !study_has_failed(study)) {
        struct words half = {.items = set.items, .count = set.count / 2};

        after = error_with_float(study, half);
        if (!(after * MOST_OF_ERROR <= before)) {
            half = (struct words){.items = set.items + half.count, .count = set.count - half.count};
            after = error_with_float(study, half);
        }
        if (!(after * MOST_OF_ERROR <= before))
            return SIZE_MAX;
        set = half;
    }
    if (study_has_failed(study) || (layers.count == 1 && !isfinite(before)))
        return SIZE_MAX;
    *ret_after = layers.count == 1 ? error_with_float(study, set) : after;
    return *ret_after * MOST_OF_ERROR <= before ? (size_t)(set.items - layers.items) : SIZE_MAX;
}

/* ---- Cancellation ---- */

static double largest_input(const struct model *model, const struct known_range *ranges, const struct node *node)
{
    double ret = 0;

    for (size_t i = 0; i < node->inputs.count; i++) {
        uint32_t value = model_edge(model, node->inputs, i);

        if (value != VALUE_NONE && ranges[value].is_known)
            ret = fmax(ret, ranges[value].largest);
    }
    return ret;
}

const char *describe_cancellation(struct study *study, const struct known_range *ranges, const struct bitset *nodes,
                                  double unit_roundoff, uint32_t *ret_node)
{
    const struct model *model = study->model;
    double worst = LEAST_CANCELLATION;
    const char *ret = NULL;

    BITSET_EACH (i, nodes) {
        const struct node *node = &model->nodes.items[i];
        bool adds = text_equal_string(node->op_type, "Add") || text_equal_string(node->op_type, "Sub");
        uint32_t output = adds ? model_edge(model, node->outputs, 0) : VALUE_NONE;
        double input, factor;

        if (output == VALUE_NONE || !ranges[output].is_known || !(ranges[output].largest > 0))
            continue;
        input = largest_input(model, ranges, node);
        factor = input / ranges[output].largest;
        if (!(factor > worst))
            continue;
        worst = factor;
        *ret_node = (uint32_t)i;
        ret = study_text(study,
                         "cancellation in '%s' (" TEXT_FORMAT "): inputs reach %.3g, the output only %.3g, so a "
                         "rounding error of %.2g of the inputs becomes %.2g of the output",
                         node_label(study, (uint32_t)i), TEXT_ARGS(node->op_type), input, ranges[output].largest,
                         unit_roundoff, unit_roundoff * factor);
    }
    return ret;
}

const char *study_verify_norm_tolerance(struct study *study, double error)
{
    struct failing_case subject = study->whole;
    const char *value = study_text(study, "%.2g", error * 1.1);

    if (!isfinite(error) || error >= 1)
        return NULL;
    subject.tolerance =
        study_words(study, "--norm-tolerance", value, "--atol", "1e-7", "--infinities-compare-equal", NULL);
    return step_try(step_begin_suspect(study, &subject, "loosened",
                                       study_text(study, "By --norm-tolerance %s", value))) == AGREES
               ? value
               : NULL;
}
