/* debug/accuracy/output_scale.c: what the tolerance for whole outputs hides: parts with a scale of their own, outputs
 * that are small everywhere, integers that differ.
 */
#include <math.h>
#include <string.h>

#include "debug/accuracy/hypotheses.h"
#include "format/polygraphy/run_results.h"
#include "tensor/compare/slices.h"
#include "tensor/values/elements.h"

#define SMALL_OUTPUT 1e-5
#define NOISE 1e-7            /* of the largest magnitude: what is left where values in float32 cancel */
#define LEAST_SLICE_ERROR 0.1 /* of its own scale: lost, whatever the type */

static const struct tensor *find_result_output(const struct iteration_result *iteration, const char *name)
{
    for (size_t i = 0; i < iteration->outputs.count; i++)
        if (strcmp(iteration->outputs.items[i].name, name) == 0)
            return &iteration->outputs.items[i].tensor;
    return NULL;
}

static void add_integer_note(struct study *study, const char *name, const struct tensor *golden,
                             const struct tensor *suspect)
{
    size_t changed = count_changed_integers(golden, suspect), elements = tensor_elements(golden);

    if (!shape_equal(&golden->shape, &suspect->shape))
        return;
    if (elements > 0 && elements_arithmetic(golden->type) == ARITHMETIC_INTEGER)
        study_add_note(study, "output '%s' (%s): %zu of %zu elements (%.2g %%) differ", name,
                       data_type_name(golden->type), changed, elements, 100 * (double)changed / (double)elements);
}

static void add_shape_note(struct study *study, const char *name, const struct tensor *golden,
                           const struct tensor *suspect)
{
    SCOPED_STRING(expected);
    SCOPED_STRING(shape);

    if (shape_equal(&golden->shape, &suspect->shape))
        return;
    shape_to_text(&golden->shape, &expected);
    shape_to_text(&suspect->shape, &shape);
    study_add_note(study, "output '%s' has the shape %s in the suspect, %s in the reference", name, shape.data,
                   expected.data);
}

/* A slice that may be wrong, or be what rounding left of larger values: its own scale cannot decide. */
static void note_slice_in_noise(struct study *study, const char *output, const struct tensor *golden,
                                const struct tensor *suspect)
{
    struct slice_error slice;

    slices_find_worst(golden, suspect, 0, &slice);
    if (slice.found && slice.difference >= LEAST_SLICE_ERROR * slice.scale)
        study_add_not_tested(
            study,
            "index %zu of axis %zu of output '%s', by its own scale: its error is %.2g of that, but its "
            "largest magnitude, %.3g, is less than %.0e of the output's, so rounding may have made it",
            slice.index, slice.axis, output, slice.difference / slice.scale, slice.scale, NOISE);
}

static void compare_iteration(struct study *study, const struct iteration_result *golden,
                              const struct iteration_result *suspect, struct slice_error *worst,
                              const char **ret_output)
{
    VECTOR_EACH (const struct named_tensor, output, golden->outputs) {
        const struct tensor *other = find_result_output(suspect, output->name);
        struct slice_error slice;

        if (other == NULL)
            continue;
        if (other->type != output->tensor.type)
            study_add_note(study, "output '%s' is %s in the suspect, %s in the reference: its values are compared",
                           output->name, data_type_name(other->type), data_type_name(output->tensor.type));
        add_shape_note(study, output->name, &output->tensor, other);
        add_integer_note(study, output->name, &output->tensor, other);
        slices_find_worst(&output->tensor, other, NOISE, &slice);
        if (study->pattern == FAILS_NEVER && (!slice.found || slice.difference < LEAST_SLICE_ERROR * slice.scale))
            note_slice_in_noise(study, output->name, &output->tensor, other);
        if (!slice.found || (worst->found && slice.difference / slice.scale <= worst->difference / worst->scale))
            continue;
        *worst = slice;
        *ret_output = study_text(study, "%s", output->name);
    }
}

bool study_compare_slices(struct study *study)
{
    struct run_results results = {0};
    struct slice_error worst = {0};
    const char *output = "";

    if (study_has_failed(study) || study->suspect_outputs == NULL)
        return true;
    if (run_results_load(&results, study->whole.golden, &study->error) == 0 &&
        run_results_load(&results, study->suspect_outputs, &study->error) == 0 && results.count == 2)
        for (size_t i = 0; i < results.items[0].count && i < results.items[1].count; i++)
            compare_iteration(study, &results.items[0].items[i], &results.items[1].items[i], &worst, &output);
    run_results_release(&results);
    if (study_has_failed(study) || !worst.found || study->pattern != FAILS_NEVER ||
        worst.difference < LEAST_SLICE_ERROR * worst.scale)
        return true;
    if (study->settings->tolerance.count > 0) {
        study_add_not_tested(study,
                             "index %zu of axis %zu of output '%s', whose largest magnitude is %.3g, by its own scale: "
                             "its error is %.2g of that, within the given tolerance; leave the tolerance out to have "
                             "the cause looked for",
                             worst.index, worst.axis, output, worst.scale, worst.difference / worst.scale);
        return true;
    }
    if (study_begin_slice(study, output, &worst))
        return false;
    study_conclude(study, OUTCOME_NO_CAUSE,
                   "Not decided: output '%s' agrees as a whole, but its part with index %zu on axis %zu, whose largest "
                   "magnitude is %.3g, has an error of %.2g: %.2g of its own scale. Pass a tolerance for it, such as "
                   "--atol %.1g, or make it an output of its own",
                   output, worst.index, worst.axis, worst.scale, worst.difference, worst.difference / worst.scale,
                   worst.scale / 100);
    return false;
}

double study_smallest_output(struct study_step *reference)
{
    struct study *study = reference->study;
    double ret = INFINITY;
    const json_t *item;
    size_t i;

    json_array_foreach (result_find(reference->result.root, "outputs"), i, item) {
        double largest = result_number(reference, item, "finite/largest_magnitude", 0);

        if (strstr(result_text(reference, item, "dtype"), "float") == NULL || !(largest > 0))
            continue;
        ret = fmin(ret, largest);
        if (largest < SMALL_OUTPUT)
            study_add_note(study,
                           "output '%s' is small everywhere, at most %.2g: where that is the rounding error of larger "
                           "values that cancel, an error of the suspect is none; pass --atol to allow it",
                           result_text(reference, item, "output"), largest);
    }
    return ret;
}
