/* debug/accuracy/exact_value.c: see exact_value.h. */
#include "debug/accuracy/exact_value.h"

#include <math.h>
#include <string.h>

#include "backend/exact/exact.h"
#include "base/memory.h"
#include "format/data/file.h"
#include "onnx/edit/model.h"
#include "tensor/values/elements.h"

/* An error is no rounding when it is this many times as large as that of the evaluation with rounding: kernels have
 * other algorithms than that, such as Winograd's, and functions of less than full accuracy. */
#define MOST_ROUNDINGS 16.0

#define MUCH_NEARER 4.0
#define MOST_FEEDS 4 /* iterations of input data that are evaluated */

struct part_evaluation {
    struct study *study;
    struct model *model;
    struct feed_dicts feeds;
    struct run_results reference, suspect;
};

static void release_evaluation(struct part_evaluation *part)
{
    model_free(part->model);
    feed_dicts_release(&part->feeds);
    run_results_release(&part->reference);
    run_results_release(&part->suspect);
}

static int load_part(struct part_evaluation *part, const struct failing_case *subject, const char *suspect_outputs,
                     struct error *err)
{
    int rc = model_open(subject->model, part->study->settings->external_data_dir, &part->model, err);

    if (rc < 0)
        return rc;
    rc = model_lower_constants(part->model, err);
    if (rc < 0)
        return rc;
    rc = data_file_add_inputs(&part->feeds, subject->inputs, err);
    if (rc < 0)
        return rc;
    rc = run_results_load(&part->reference, subject->golden, err);
    if (rc < 0)
        return rc;
    rc = run_results_load(&part->suspect, suspect_outputs, err);
    if (rc == 0 && (part->feeds.count == 0 || part->reference.count != 1 || part->suspect.count != 1))
        return error_set(err, ERR_INVALID, "'%s' has not the outputs of one runner", suspect_outputs);
    return rc;
}

/* ---- Errors ---- */

/* The type that a side stores results in: that of its tensors, or a smaller one that the suspect computes in. */
static enum data_type rounded_type(enum data_type type, const char *precision)
{
    if (type == DATA_FLOAT16 || type == DATA_BFLOAT16)
        return type;
    if (strcmp(precision, "float16") == 0)
        return DATA_FLOAT16;
    return strcmp(precision, "bfloat16") == 0 ? DATA_BFLOAT16 : DATA_FLOAT32;
}

static double largest_finite(const struct tensor *exact)
{
    const double *items = exact->data;
    double ret = 0;

    for (size_t i = 0; i < tensor_elements(exact); i++)
        if (isfinite(items[i]))
            ret = fmax(ret, fabs(items[i]));
    return ret;
}

/* Infinities of a smaller type stand for numbers that it does not have. */
static double element_error(double exact, double got, double limit)
{
    if (got == exact || (got != got && exact != exact))
        return 0;
    if (isinf(got) && fabs(exact) > limit && (got > 0) == (exact > 0))
        return 0;
    return isfinite(got) && isfinite(exact) ? fabs(got - exact) : (double)INFINITY;
}

/* INFINITY where the shapes differ, or elements are no numbers. */
static double error_of_tensor(const struct tensor *exact, const struct tensor *got)
{
    const double *items = exact->data;
    double scale = largest_finite(exact), limit = got->type == DATA_FLOAT16 ? 65504 : 0x1.fffffep127, ret = 0;
    double run[ELEMENTS_RUN];

    if (!shape_equal(&exact->shape, &got->shape) || elements_arithmetic(got->type) == ARITHMETIC_NONE)
        return (double)INFINITY;
    for (size_t first = 0; first < tensor_elements(got); first += ELEMENTS_RUN) {
        size_t count = elements_in_run(tensor_elements(got), first);

        elements_to_float64(got, first, count, run);
        for (size_t i = 0; i < count; i++)
            ret = fmax(ret, element_error(items[first + i], run[i], limit));
    }
    return ret / (scale > 0 ? scale : 1);
}

/* The largest error of an output in the iterations that have these input data. */
static double error_of_side(const struct run_results *results, const struct tensor *exact, const char *output,
                            size_t feed, size_t feeds)
{
    const struct runner_results *runner = &results->items[0];
    double ret = 0;

    for (size_t i = feed; i < runner->count; i += feeds) {
        const struct named_tensor *item = tensor_list_find(&runner->items[i].outputs, text_of(output));

        if (item == NULL)
            return NAN;
        ret = fmax(ret, error_of_tensor(exact, &item->tensor));
    }
    return ret;
}

/* ---- What rounding makes ---- */

/* The outputs in float64, and with the rounding of a type in two orders. */
struct evaluated_outputs {
    struct tensor_list exact, forwards, backwards;
    enum data_type type;
};

static void release_outputs(struct evaluated_outputs *outputs)
{
    tensor_list_release(&outputs->exact);
    tensor_list_release(&outputs->forwards);
    tensor_list_release(&outputs->backwards);
}

static int evaluate_in_type(const struct part_evaluation *part, size_t feed, enum data_type type,
                            struct evaluated_outputs *ret, struct error *err)
{
    const struct exact_options forwards = {.type = type}, backwards = {.type = type, .backwards = true};
    int rc = exact_evaluate(part->model, &part->feeds.items[feed], &forwards, &ret->forwards, err);

    ret->type = type;
    return rc < 0 ? rc : exact_evaluate(part->model, &part->feeds.items[feed], &backwards, &ret->backwards, err);
}

static double rounding_of_output(const struct evaluated_outputs *outputs, const struct tensor *exact, size_t output)
{
    double ret = fmax(error_of_tensor(exact, &outputs->forwards.items[output].tensor),
                      error_of_tensor(exact, &outputs->backwards.items[output].tensor));

    return isfinite(ret) ? fmax(ret, data_type_unit_roundoff(outputs->type)) : ret;
}

/* ---- The verdict ---- */

static enum wrong_side find_wrong_side(const struct exact_judgement *judgement)
{
    bool suspect = judgement->suspect_error > MOST_ROUNDINGS * judgement->suspect_rounding;
    bool reference = judgement->reference_error > MOST_ROUNDINGS * judgement->reference_rounding;

    if (suspect && reference) {
        suspect = judgement->suspect_error > MUCH_NEARER * judgement->reference_error;
        reference = judgement->reference_error > MUCH_NEARER * judgement->suspect_error;
        return suspect ? SUSPECT_IS_WRONG : reference ? REFERENCE_IS_WRONG : BOTH_ARE_WRONG;
    }
    return suspect ? SUSPECT_IS_WRONG : reference ? REFERENCE_IS_WRONG : BOTH_ROUND;
}

/* How far beyond rounding an output is, on the side where it is farther. */
static double excess_of(const struct exact_judgement *judgement)
{
    return fmax(judgement->suspect_error / judgement->suspect_rounding,
                judgement->reference_error / judgement->reference_rounding);
}

/* Judges one output: keeps the judgement where it is the worst so far. */
static void judge_output(struct part_evaluation *part, const struct evaluated_outputs *reference,
                         const struct evaluated_outputs *suspect, size_t output, size_t feed,
                         struct exact_judgement *worst)
{
    const struct named_tensor *exact = &reference->exact.items[output];
    double limit =
        strcmp(part->study->settings->precision, "int8") == 0 || strcmp(part->study->settings->precision, "tf32") == 0
            ? part->study->settings->unit_roundoff
            : 0;
    struct exact_judgement judgement = {
        .output = study_text(part->study, "%s", exact->name),
        .reference_error = error_of_side(&part->reference, &exact->tensor, exact->name, feed, part->feeds.count),
        .suspect_error = error_of_side(&part->suspect, &exact->tensor, exact->name, feed, part->feeds.count),
        .reference_rounding = rounding_of_output(reference, &exact->tensor, output),
        .suspect_rounding = fmax(limit, rounding_of_output(suspect, &exact->tensor, output))};

    if (isnan(judgement.reference_error) || isnan(judgement.suspect_error))
        return;
    judgement.side = find_wrong_side(&judgement);
    if (worst->output == NULL || excess_of(&judgement) > excess_of(worst))
        *worst = judgement;
}

static int judge_feed(struct part_evaluation *part, size_t feed, struct exact_judgement *worst, struct error *err)
{
    const struct exact_options options = {.type = DATA_FLOAT64};
    struct evaluated_outputs reference SCOPED(release_outputs) = {0}, suspect SCOPED(release_outputs) = {0};
    const struct tensor_list *given = &part->reference.items[0].items[feed].outputs;
    enum data_type type = DATA_FLOAT32;
    int rc = exact_evaluate(part->model, &part->feeds.items[feed], &options, &reference.exact, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < reference.exact.count; i++) {
        const struct named_tensor *item = tensor_list_find(given, text_of(reference.exact.items[i].name));

        type = item != NULL ? rounded_type(item->tensor.type, "") : type;
    }
    rc = evaluate_in_type(part, feed, type, &reference, err);
    if (rc == 0)
        rc = evaluate_in_type(part, feed, rounded_type(type, part->study->settings->precision), &suspect, err);
    for (size_t i = 0; rc == 0 && i < reference.exact.count; i++)
        judge_output(part, &reference, &suspect, i, feed, worst);
    return rc;
}

void study_judge(struct study *study, const struct failing_case *subject, const char *suspect_outputs,
                 struct exact_judgement *ret)
{
    struct part_evaluation part SCOPED(release_evaluation) = {.study = study};
    struct error err;
    int rc;

    *ret = (struct exact_judgement){.why_not = "it was not run"};
    if (study_has_failed(study) || subject->model == NULL || suspect_outputs == NULL)
        return;
    rc = load_part(&part, subject, suspect_outputs, &err);
    for (size_t i = 0; rc == 0 && i < part.feeds.count && i < part.reference.items[0].count && i < MOST_FEEDS; i++)
        rc = judge_feed(&part, i, ret, &err);
    if (rc == ERR_INTERRUPTED)
        study->error = err;
    if (rc < 0)
        *ret = (struct exact_judgement){.why_not = study_text(study, "%s", err.message)};
    else if (ret->output == NULL)
        ret->why_not = "its outputs are not among those of both sides";
}

const char *describe_judgement(struct study *study, const struct exact_judgement *judgement)
{
    static const char *const verdicts[] = {
        [SIDE_NOT_KNOWN] = "not known",
        [SUSPECT_IS_WRONG] = "the suspect is wrong",
        [REFERENCE_IS_WRONG] = "the reference is wrong",
        [BOTH_ARE_WRONG] = "both are wrong",
        [BOTH_ROUND] = "both round differently",
    };
    bool same = judgement->suspect_rounding == judgement->reference_rounding;
    const char *rounding =
        same ? study_text(study, "%.2g", judgement->suspect_rounding)
             : study_text(study, "%.2g and %.2g", judgement->suspect_rounding, judgement->reference_rounding);

    return study_text(study,
                      "exact value of '%s' (float64): error of the suspect %.2g, of the reference %.2g, of rounding %s "
                      "(relative to its largest magnitude): %s",
                      judgement->output, judgement->suspect_error, judgement->reference_error, rounding,
                      judgement->side == BOTH_ROUND && !isfinite(judgement->suspect_rounding)
                          ? "it is beyond the range of the suspect's type"
                      : judgement->side == BOTH_ROUND && !same ? "each side is within the rounding of its type"
                                                               : verdicts[judgement->side]);
}

void study_add_judgement(struct study *study, const char *what, const struct exact_judgement *judgement)
{
    if (judgement->side == SIDE_NOT_KNOWN)
        study_add_not_tested(study, "which side is nearer to the exact value of %s: %s", what, judgement->why_not);
    else
        study_add_evidence(study, "%s", describe_judgement(study, judgement));
}
