/* debug/models/values.c: see values.h. */
#include "debug/models/values.h"

#include <math.h>
#include <stdlib.h>

#include "backend/subgraph_session.h"
#include "base/memory.h"
#include "debug/accuracy/hypotheses.h"
#include "onnx/model/mark_outputs.h"
#include "tensor/compare/compare.h"
#include "tensor/statistics/range.h"
#include "tensor/values/elements.h"

#define LARGEST_TOLERANCE 0.1 /* what differs by more is not called equal, whatever the precision is */

/* ---- Runs ---- */

int model_values_run(const struct values_runner *runner, const struct model *model, const struct paired_model *side,
                     struct run_values *ret, struct error *err)
{
    struct subgraph_session session = {.session = NULL};
    struct subgraph marked SCOPED(subgraph_release) = {0};
    int rc;

    *ret = (struct run_values){.count = model->values.count};
    ret->items = memory_alloc_zero(ret->count + 1, sizeof(const struct tensor *));
    subgraph_init_whole(&marked, model);
    outputs_mark_all(&marked, NULL);
    rc = subgraph_session_open(&session, &marked, runner->backend, runner->request, err);
    if (rc == 0)
        rc = subgraph_session_run(&session, runner->feed, &ret->outputs, err);
    subgraph_session_close(&session);
    for (uint32_t i = 0; rc == 0 && i < ret->count; i++) {
        struct text name = model->values.items[i].name;
        const struct named_tensor *computed = tensor_list_find(&ret->outputs, name);
        const struct named_tensor *given = computed == NULL ? tensor_list_find(runner->feed, name) : computed;

        if (given != NULL)
            ret->items[i] = &given->tensor;
        else if (i < side->model->values.count && side->constants[i].type != DATA_UNDEFINED)
            ret->items[i] = &side->constants[i];
    }
    return rc;
}

void model_values_release(struct run_values *values)
{
    tensor_list_release(&values->outputs);
    free(values->items);
    *values = (struct run_values){.items = NULL};
}

/* ---- Distances ---- */

static bool are_comparable(const struct tensor *a, const struct tensor *b)
{
    enum arithmetic of_a = elements_arithmetic(a->type), of_b = elements_arithmetic(b->type);

    return tensor_elements(a) == tensor_elements(b) && of_a != ARITHMETIC_NONE && of_b != ARITHMETIC_NONE &&
           (of_a == ARITHMETIC_INTEGER) == (of_b == ARITHMETIC_INTEGER);
}

double tensor_distance(const struct tensor *a, const struct tensor *b)
{
    struct compare_options options = COMPARE_DEFAULTS;
    struct compare_result result;
    struct tensor reshaped;
    struct error ignored;

    if (a->type == b->type && a->size == b->size && tensor_identical(a, b))
        return 0;
    if (!are_comparable(a, b))
        return INFINITY;
    if (tensor_elements(a) == 0)
        return 0;
    tensor_borrow(a->type, &b->shape, a->data, a->size, &reshaped);
    options.atol = options.rtol = 0;
    options.norm_tolerance = 0x1p-60; /* so that masks are compared by position */
    options.infinities_compare_equal = options.nans_compare_equal = true;
    if (compare_outputs(b, &reshaped, &options, &result, &ignored) < 0)
        return INFINITY;
    if (elements_arithmetic(a->type) == ARITHMETIC_INTEGER)
        return result.mismatches > 0;
    if (isnan(result.absolute.maximum) || isinf(result.absolute.maximum))
        return INFINITY;
    return result.absolute.maximum == 0 ? 0 : result.norm > 0 ? result.absolute.maximum / result.norm : INFINITY;
}

/* ---- Matches ---- */

/* What equal tensors have in common. */
struct value_outline {
    uint32_t value;
    size_t elements;
    struct value_range range;
    bool is_plain; /* without NaN, infinities and masks: the range can be compared */
};

static void summarize_tensor(uint32_t value, const struct tensor *tensor, struct value_outline *ret)
{
    *ret = (struct value_outline){.value = value, .elements = tensor_elements(tensor)};
    if (elements_arithmetic(tensor->type) == ARITHMETIC_NONE || ret->elements == 0)
        return;
    range_compute(tensor, &ret->range);
    ret->is_plain =
        ret->range.nans == 0 && ret->range.infinities == 0 && ret->range.scale >= ret->range.largest_magnitude;
}

static bool may_be_equal(const struct value_outline *a, const struct value_outline *b, double tolerance)
{
    double room = 2 * tolerance * a->range.largest_magnitude + 1e-300;

    if (a->elements != b->elements || a->is_plain != b->is_plain)
        return false;
    return !a->is_plain ||
           (fabs(a->range.minimum - b->range.minimum) <= room && fabs(a->range.maximum - b->range.maximum) <= room &&
            fabs(a->range.mean - b->range.mean) <= room);
}

static int compare_summaries(const void *one, const void *other)
{
    const struct value_outline *a = one, *b = other;

    return a->elements != b->elements ? (a->elements > b->elements) - (a->elements < b->elements)
                                      : (a->value > b->value) - (a->value < b->value);
}

static size_t find_first_summary(const struct value_outline *summaries, size_t count, size_t elements)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (summaries[middle].elements < elements)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t *model_values_match(const struct model_pairing *pairing, const struct run_values *a,
                             const struct run_values *b, double tolerance)
{
    struct value_outline *summaries SCOPED_FREE = memory_alloc_zero(a->count + 1, sizeof(*summaries));
    size_t of_b = pairing->b.model->values.count, count = 0;
    uint32_t *ret = memory_alloc((of_b + 1) * sizeof(*ret));

    for (uint32_t i = 0; i < a->count; i++)
        if (a->items[i] != NULL)
            summarize_tensor(i, a->items[i], &summaries[count++]);
    qsort(summaries, count, sizeof(*summaries), compare_summaries);
    for (uint32_t i = 0; i < of_b; i++) {
        uint32_t partner = pairing->b.values[i];
        struct value_outline summary;

        ret[i] = VALUE_NONE;
        if (b->items[i] == NULL)
            continue;
        if (partner != VALUE_NONE && a->items[partner] != NULL &&
            tensor_distance(a->items[partner], b->items[i]) <= tolerance) {
            ret[i] = partner;
            continue;
        }
        summarize_tensor(i, b->items[i], &summary);
        for (size_t k = find_first_summary(summaries, count, summary.elements);
             k < count && summaries[k].elements == summary.elements && ret[i] == VALUE_NONE; k++)
            if (may_be_equal(&summaries[k], &summary, tolerance) &&
                tensor_distance(a->items[summaries[k].value], b->items[i]) <= tolerance)
                ret[i] = summaries[k].value;
    }
    return ret;
}

/* ---- The tolerance ---- */

static double find_coarsest_rounding(const struct run_values *values)
{
    double ret = 0x1p-24;

    for (size_t i = 0; i < values->count; i++)
        if (values->items[i] != NULL)
            ret = fmax(ret, values->items[i]->type == DATA_BFLOAT16  ? 0x1p-8
                            : values->items[i]->type == DATA_FLOAT16 ? 0x1p-11
                                                                     : 0);
    return ret;
}

/* Of quantized tensors: half a step of 255, or of 15 for 4 bits, relative to the largest magnitude. */
static double find_quantization_step(const struct model *model)
{
    double ret = 0;

    for (size_t i = 0; i < model->nodes.count; i++) {
        struct text name = model->nodes.items[i].op_type;

        if (text_contains(name, TEXT("NBits")) || text_contains(name, TEXT("BlockQuantized")))
            ret = 0x1p-4;
        else if (text_contains(name, TEXT("Quantize")) || text_contains(name, TEXT("Integer")) ||
                 text_begins_with(name, "QLinear"))
            ret = fmax(ret, 0x1p-8);
    }
    return ret;
}

double model_values_tolerance(const struct model_pairing *pairing, const struct run_values *a,
                              const struct run_values *b)
{
    double step_a = find_quantization_step(pairing->a.model), step_b = find_quantization_step(pairing->b.model);
    struct rounding_paths of_a, of_b;
    double unit = fmax(find_coarsest_rounding(a), find_coarsest_rounding(b));

    if (step_a != step_b) /* models with the same quantizers have the same errors */
        unit = fmax(unit, fmax(step_a, step_b));
    rounding_paths_of(pairing->a.model, &of_a);
    rounding_paths_of(pairing->b.model, &of_b);
    of_a.depth = of_a.depth > of_b.depth ? of_a.depth : of_b.depth;
    of_a.terms = of_a.terms > of_b.terms ? of_a.terms : of_b.terms;
    return fmin(LARGEST_TOLERANCE, rounding_tolerance(unit, &of_a));
}
