/* debug/accuracy/exchange.c: are outputs under each other's names? What gives them out by position, in another order
 * than the model's, fails without any node to blame.
 */
#include <math.h>

#include "debug/accuracy/hypotheses.h"
#include "format/polygraphy/run_results.h"
#include "tensor/values/elements.h"

#define LEAST_OWN_ERROR                                                                                                \
    0.01                 /* of the largest magnitude: an output that is under the wrong name is no matter of rounding */
#define MUCH_NEARER 0.01 /* of its own error, that of the output that it is taken for */

/* The largest difference relative to the largest magnitude; INFINITY where it cannot be told. */
static double difference_of(const struct tensor *golden, const struct tensor *other)
{
    double a[ELEMENTS_RUN], b[ELEMENTS_RUN], difference = 0, scale = 0;

    if (golden->type != other->type || !shape_equal(&golden->shape, &other->shape) ||
        elements_arithmetic(golden->type) == ARITHMETIC_NONE)
        return (double)INFINITY;
    for (size_t first = 0; first < tensor_elements(golden); first += ELEMENTS_RUN) {
        size_t count = elements_in_run(tensor_elements(golden), first);

        elements_to_float64(golden, first, count, a);
        elements_to_float64(other, first, count, b);
        for (size_t i = 0; i < count; i++) {
            if (!isfinite(a[i]) || !isfinite(b[i]))
                return (double)INFINITY;
            difference = fmax(difference, fabs(a[i] - b[i]));
            scale = fmax(scale, fabs(a[i]));
        }
    }
    return scale > 0 ? difference / scale : difference;
}

/* Another output of the suspect that has the values of the golden one, whose own error is that, and is wrong under its
 * own name: outputs that are equal in the reference are not exchanged. NULL: none. */
static const struct named_tensor *find_values_elsewhere(const struct tensor_list *suspect,
                                                        const struct tensor_list *all,
                                                        const struct named_tensor *golden, double own)
{
    for (size_t i = 0; i < suspect->count; i++) {
        const struct named_tensor *item = &suspect->items[i], *right = tensor_list_find(all, text_of(item->name));

        if (right != NULL && right != golden && difference_of(&right->tensor, &item->tensor) >= LEAST_OWN_ERROR &&
            difference_of(&golden->tensor, &item->tensor) <= MUCH_NEARER * own)
            return item;
    }
    return NULL;
}

/* "'a' has the values of 'b', and 'b' those of 'a'"; NULL where an output that is wrong is nowhere. */
static const char *describe_exchange(struct study *study, const struct tensor_list *golden,
                                     const struct tensor_list *suspect)
{
    SCOPED_STRING(text);

    for (size_t i = 0; i < golden->count; i++) {
        const struct named_tensor *item = &golden->items[i], *found;
        const struct named_tensor *same = tensor_list_find(suspect, text_of(item->name));
        double own = same != NULL ? difference_of(&item->tensor, &same->tensor) : (double)INFINITY;

        if (own < LEAST_OWN_ERROR)
            continue;
        found = isfinite(own) ? find_values_elsewhere(suspect, golden, item, own) : NULL;
        if (found == NULL)
            return NULL;
        string_add_format(&text, "%s'%s' has the values that the reference has in '%s'", text.size > 0 ? ", and " : "",
                          found->name, item->name);
    }
    return text.size > 0 ? study_text(study, "%s", text.data) : NULL;
}

bool study_outputs_are_exchanged(struct study *study)
{
    struct run_results results = {0};
    const char *exchange = NULL, *side = "The suspect";

    if (study_has_failed(study) || study->suspect_outputs == NULL)
        return false;
    if (run_results_load(&results, study->whole.golden, &study->error) == 0 &&
        run_results_load(&results, study->suspect_outputs, &study->error) == 0 && results.count == 2 &&
        results.items[0].count > 0 && results.items[1].count > 0)
        exchange = describe_exchange(study, &results.items[0].items[0].outputs, &results.items[1].items[0].outputs);
    run_results_release(&results);
    if (study_has_failed(study) || exchange == NULL)
        return false;
    if (study->settings->reference_is_command)
        side = study->settings->suspect_is_command ? "The reference or the suspect" : "The reference";
    study_conclude(
        study, OUTCOME_NO_QUESTION,
        "%s gives out outputs under each other's names: in the suspect %s. Check in which order %s command writes them",
        side, exchange, study->settings->reference_is_command && study->settings->suspect_is_command ? "each" : "its");
    return true;
}
