/* debug/accuracy/condition.c: is the error only magnified? The reference's own values are changed by one unit in the
 * last place, in several directions. Where the reference fails as well then, no other implementation can be expected to
 * pass: the network behind them is ill-conditioned (Higham, Accuracy and Stability of Numerical Algorithms, ch. 1).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "debug/accuracy/hypotheses.h"
#include "debug/accuracy/subgraph.h"
#include "format/data/file.h"
#include "tensor/generate/mersenne_twister.h"

#define UNIT_IN_LAST_PLACE 0x1p-23 /* of float32, relative, at the most */
#define DIRECTIONS 4               /* up, down, and two at random */
#define NO_DIRECTION -1            /* a control: values stay as they are */

/* Where one unit in the last place becomes less than so many of them, the tolerance is what is out of the ordinary. */
#define LEAST_FACTOR 64.0

/* ---- Values that are changed ---- */

/* One unit in the last place, `up` away from 0. Zeros and what is not finite stay. */
static float move_by_one_unit(float value, bool up)
{
    if (value == 0 || !isfinite(value))
        return value;
    return nextafterf(value, up ? copysignf(INFINITY, value) : 0);
}

/* Whether it has numbers to be changed. */
static bool perturb_tensor(struct tensor *tensor, int direction, struct mersenne_twister *random, struct error *err)
{
    struct tensor moved;
    float *items;

    if (tensor->type != DATA_FLOAT32 || tensor_copy(tensor, &moved, err) < 0)
        return false;
    items = tensor_writable(&moved);
    for (size_t i = 0; i < tensor_elements(&moved); i++)
        items[i] = move_by_one_unit(items[i], direction < 2 ? direction == 0 : mersenne_twister_next(random) % 2 == 0);
    tensor_release(tensor);
    *tensor = moved;
    return true;
}

/* Writes the reference's values of these tensors, changed. NULL where there are none of them. */
static const char *write_perturbed_values(struct study *study, const struct value_list *tensors, int direction)
{
    const char *path =
        study_text(study, "%s/perturbed_%d%s", study->settings->folder, direction + 1, strrchr(study->values, '.'));
    struct run_results all = {0}, changed = {0};
    struct mersenne_twister random;
    struct runner_results *runner;
    bool has_any = false;

    mersenne_twister_seed(&random, (uint32_t)direction);
    if (run_results_load(&all, study->values, &study->error) < 0)
        return NULL;
    runner = run_results_add_runner(&changed, text_of("perturbed"));
    for (size_t i = 0; all.count > 0 && i < all.items[0].count; i++) {
        struct iteration_result *iteration = runner_results_add_iteration(runner, 0);

        for (size_t k = 0; k < tensors->count; k++) {
            struct text name = text_of(tensor_label(study, tensors->items[k]));
            struct named_tensor *item = tensor_list_find(&all.items[0].items[i].outputs, name);
            struct tensor tensor;

            if (item == NULL)
                continue;
            if (tensor_copy(&item->tensor, &tensor, &study->error) < 0)
                break;
            has_any |= direction == NO_DIRECTION || perturb_tensor(&tensor, direction, &random, &study->error);
            tensor_list_add(&iteration->outputs, name, &tensor);
        }
    }
    if (has_any && !study_has_failed(study))
        run_results_save(&changed, path, &study->error);
    run_results_release(&changed);
    run_results_release(&all);
    return has_any && !study_has_failed(study) ? path : NULL;
}

/* The same changed in one direction after the other, until the reference cannot run with it. */
static bool fails_if_perturbed(struct study *study, const struct bitset *nodes, const struct value_list *tensors,
                               double *ret_error)
{
    struct injection_base base;
    /* A reference that fuses a pattern wrongly has other outputs because these nodes are cut off, whatever their values
     * are: so changed values are compared with unchanged ones in the same place. */
    const char *path = write_perturbed_values(study, tensors, NO_DIRECTION);
    bool ret = false;

    if (path == NULL || !study_make_injection_base(study, nodes, path, &base))
        return false;
    for (int direction = 0; direction < DIRECTIONS && !study_has_failed(study); direction++) {
        double error = 0;
        enum agreement agreement;

        path = write_perturbed_values(study, tensors, direction);
        agreement = path != NULL ? study_inject_outputs(study, nodes, path, &base, &error) : UNKNOWN;
        if (agreement == REFUSES || agreement == UNKNOWN)
            break;
        ret |= agreement == DIFFERS;
        *ret_error = fmax(*ret_error, error);
    }
    return ret;
}

bool study_is_ill_conditioned(struct study *study, const struct bitset *nodes, double *ret_error)
{
    struct value_list tensors SCOPED_ITEMS = {0};

    *ret_error = 0;
    if (study_has_failed(study) || !study_make_values(study))
        return false;
    study_list_replaced_values(study, nodes, &tensors);
    return fails_if_perturbed(study, nodes, &tensors, ret_error);
}

/* ---- The input data ---- */

static const char *write_perturbed_inputs(struct study *study, int direction)
{
    const char *path = study_text(study, "%s/perturbed_inputs_%d.json", study->settings->folder, direction);
    struct mersenne_twister random;
    struct feed_dicts feeds = {0};
    bool has_any = false;

    mersenne_twister_seed(&random, (uint32_t)direction);
    if (data_file_add_inputs(&feeds, study->whole.inputs, &study->error) < 0)
        return NULL;
    for (size_t i = 0; i < feeds.count; i++)
        for (size_t k = 0; k < feeds.items[i].count; k++)
            has_any |= perturb_tensor(&feeds.items[i].items[k].tensor, direction, &random, &study->error);
    if (has_any && !study_has_failed(study))
        feed_dicts_save(&feeds, path, &study->error);
    feed_dicts_release(&feeds);
    return has_any && !study_has_failed(study) ? path : NULL;
}

/* Whether ONNX Runtime's outputs change by less than the tolerance with these input data, so that it is the reference
 * that magnifies the change, not the network. False where it is the reference, or does not run. */
static bool is_stable_elsewhere(struct study *study, const char *perturbed)
{
    struct words independent = study_independent_runner(study);
    struct failing_case subject = study->whole;
    struct study_step *step;

    if (study->settings->reference_is_onnxrt)
        return false;
    step = step_begin_model(study, "independent", "ONNX Runtime without optimizations", independent);
    subject.golden = step_path(step, "golden.json");
    step_add_inputs(step, study->whole.inputs, 1);
    step_add(step, "--save-outputs", subject.golden, NULL);
    if (!step_run(step) || step->exit_status != 0) {
        study_add_not_tested(study,
                             "whether it is the network or the reference that magnifies the change: ONNX Runtime "
                             "without optimizations does not run the model");
        return false;
    }
    subject.inputs = perturbed;
    step = step_begin_comparison(study, &subject, "independent-perturbed", "The same on the changed input data");
    step_add_words(step, independent);
    return step_try(step) == AGREES;
}

void accuracy_test_condition(struct study *study)
{
    const char *perturbed = NULL;
    double error = 0;
    bool fails = false;

    for (int direction = 0; direction < DIRECTIONS && !fails && !study_has_failed(study); direction++) {
        struct failing_case subject = study->whole;
        struct study_step *step;

        subject.inputs = perturbed = write_perturbed_inputs(study, direction);
        if (perturbed == NULL)
            return;
        step = step_begin_control(study, &subject, "perturbed",
                                  "The reference on input data that are changed by one unit in the last place");
        fails = step_try(step) == DIFFERS;
        error = fails ? comparison_error(step) : error;
    }
    if (!fails || study_has_failed(study))
        return;
    if (is_stable_elsewhere(study, perturbed)) {
        study_add_note(study,
                       "input data changed by one unit in the last place (float32) change an output of the reference "
                       "by %.2g of its largest magnitude, and those of ONNX Runtime by less than the tolerance: it is "
                       "the reference that magnifies the change, not the network, by a lower precision for example",
                       error);
        return;
    }
    study->cause.kind = CAUSE_CONDITION;
    study->cause.whole_agrees = true;
    study->cause.sentence = study_text(
        study,
        "%s: input data changed by one unit in the last place (float32) change an output of the reference by "
        "%.2g of its largest magnitude",
        error < LEAST_FACTOR * UNIT_IN_LAST_PLACE ? "the tolerance is below rounding" : "ill-conditioned network",
        error);
    study_add_evidence(study, "the reference itself fails with input data that are changed by one unit in the last "
                              "place");
}

void conclude_condition(struct study *study, const char *where, double error)
{
    struct cause *cause = &study->cause;

    cause->kind = CAUSE_CONDITION;
    cause->whole_agrees = true;
    cause->fix = (struct cause_fix){0};
    cause->sentence =
        error < LEAST_FACTOR * UNIT_IN_LAST_PLACE
            ? study_text(study,
                         "the tolerance is below rounding: one unit in the last place (float32) of the outputs of %s "
                         "becomes %.2g of the largest magnitude of an output of the model",
                         where, error)
            : study_text(study,
                         "ill-conditioned network behind %s: one unit in the last place (float32) of what is computed "
                         "there becomes %.2g of the largest magnitude of an output, a factor of about %.2g",
                         where, error, error / UNIT_IN_LAST_PLACE);
    study_add_evidence(
        study, "the reference itself fails when its own values there are changed by one unit in the last place");
}
