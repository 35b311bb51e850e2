/* debug/models/values.c: see values.h. */
#include "debug/models/values.h"

#include <math.h>
#include <stdlib.h>

#include "backend/subgraph_session.h"
#include "base/memory.h"
#include "base/text/number.h"
#include "debug/accuracy/hypotheses.h"
#include "onnx/model/mark_outputs.h"
#include "onnx/quantizer/integer_operators.h"
#include "onnx/quantizer/quantizer.h"
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

/* Compares two tensors that are comparable and not empty; false if that is impossible. */
static bool compare_elements(const struct tensor *a, const struct tensor *b, struct compare_result *ret)
{
    struct compare_options options = COMPARE_DEFAULTS;
    struct tensor reshaped;
    struct error ignored; /* types and sizes are comparable */

    tensor_borrow(a->type, &b->shape, a->data, a->size, &reshaped);
    options.atol = options.rtol = 0;
    options.norm_tolerance = 0x1p-60; /* so that masks are compared by position */
    options.infinities_compare_equal = options.nans_compare_equal = true;
    return compare_outputs(b, &reshaped, &options, ret, &ignored) == 0;
}

double tensor_distance(const struct tensor *a, const struct tensor *b)
{
    struct compare_result result;

    if (a->type == b->type && a->size == b->size && tensor_identical(a, b))
        return 0;
    if (!are_comparable(a, b))
        return INFINITY;
    if (tensor_elements(a) == 0)
        return 0;
    if (!compare_elements(a, b, &result) || !isfinite(result.absolute.maximum))
        return INFINITY;
    if (elements_arithmetic(a->type) == ARITHMETIC_INTEGER)
        return result.mismatches > 0;
    return result.absolute.maximum == 0 ? 0 : result.norm > 0 ? result.absolute.maximum / result.norm : INFINITY;
}

void tensor_distance_describe(const struct tensor *a, const struct tensor *b, struct string_builder *ret)
{
    double distance = tensor_distance(a, b);
    struct compare_result result;
    char number[NUMBER_TEXT_SIZE];

    if (tensor_elements(a) != tensor_elements(b))
        string_add_format(ret, "has %zu elements, A's %zu", tensor_elements(b), tensor_elements(a));
    else if (!are_comparable(a, b) && a->type != b->type)
        string_add_format(ret, "is %s, A's %s", data_type_name(b->type), data_type_name(a->type));
    else if (!are_comparable(a, b))
        string_add(ret, "has other elements than A's");
    else if (isfinite(distance) && elements_arithmetic(a->type) != ARITHMETIC_INTEGER)
        string_add_format(ret, "differs from A's by %s of its largest magnitude",
                          number_to_text_short(distance, number));
    else if (compare_elements(a, b, &result) && isfinite(result.absolute.maximum))
        string_add_format(ret, "differs from A's in %zu of %zu elements", result.mismatches, result.elements);
    else
        string_add(ret, "has NaN or infinities at other positions than A's");
}

/* ---- Matches ---- */

/* What equal tensors have in common. */
struct value_summary {
    uint32_t value;
    size_t elements;
    struct value_range range;
    bool is_plain; /* without NaN, infinities and masks: the range can be compared */
};

static void summarize_tensor(uint32_t value, const struct tensor *tensor, struct value_summary *ret)
{
    *ret = (struct value_summary){.value = value, .elements = tensor_elements(tensor)};
    if (elements_arithmetic(tensor->type) == ARITHMETIC_NONE || ret->elements == 0)
        return;
    range_compute(tensor, &ret->range);
    ret->is_plain =
        ret->range.nans == 0 && ret->range.infinities == 0 && ret->range.scale >= ret->range.largest_magnitude;
}

static bool may_be_equal(const struct value_summary *a, const struct value_summary *b, double tolerance)
{
    double room = 2 * tolerance * a->range.largest_magnitude + 1e-300;

    if (a->elements != b->elements || a->is_plain != b->is_plain)
        return false;
    return !a->is_plain ||
           (fabs(a->range.minimum - b->range.minimum) <= room && fabs(a->range.maximum - b->range.maximum) <= room &&
            fabs(a->range.mean - b->range.mean) <= room);
}

void value_summaries_make(const struct run_values *values, struct value_summaries *ret)
{
    *ret = (struct value_summaries){.items = memory_alloc_zero(values->count + 1, sizeof(*ret->items))};
    for (uint32_t i = 0; i < values->count; i++)
        if (values->items[i] != NULL)
            summarize_tensor(i, values->items[i], &ret->items[ret->count++]);
}

void value_summaries_release(struct value_summaries *summaries)
{
    free(summaries->items);
}

uint32_t value_summaries_find(const struct value_summaries *summaries, const struct run_values *values,
                              const struct tensor *tensor, double tolerance)
{
    struct value_summary summary;

    summarize_tensor(0, tensor, &summary);
    for (size_t i = 0; i < summaries->count; i++)
        if (may_be_equal(&summaries->items[i], &summary, tolerance) &&
            tensor_distance(values->items[summaries->items[i].value], tensor) <= tolerance)
            return summaries->items[i].value;
    return VALUE_NONE;
}

uint32_t *model_values_match(const struct model_pairing *pairing, const struct run_values *a,
                             const struct run_values *b, double tolerance)
{
    struct value_summaries summaries SCOPED(value_summaries_release);
    size_t of_b = pairing->b.model->values.count;
    uint32_t *ret = memory_alloc((of_b + 1) * sizeof(*ret));

    value_summaries_make(a, &summaries);
    for (uint32_t i = 0; i < of_b; i++) {
        uint32_t partner = pairing->b.values[i];

        ret[i] = VALUE_NONE;
        if (b->items[i] == NULL)
            continue;
        if (partner != VALUE_NONE && a->items[partner] != NULL &&
            tensor_distance(a->items[partner], b->items[i]) <= tolerance)
            ret[i] = partner;
        else
            ret[i] = value_summaries_find(&summaries, a, b->items[i], tolerance);
    }
    return ret;
}

/* ---- The tolerance ---- */

static double find_coarsest_rounding(const struct run_values *values)
{
    double ret = 0x1p-24;

    for (size_t i = 0; i < values->count; i++)
        if (values->items[i] != NULL)
            ret = fmax(ret, data_type_unit_roundoff(values->items[i]->type));
    return ret;
}

/* Of quantized tensors: half a step of 255, or of 15 for 4 bits, relative to the largest magnitude. */
static double find_quantization_step(const struct model *model)
{
    double ret = 0;

    for (size_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];

        if (text_contains(node->op_type, TEXT("NBits")) || text_contains(node->op_type, TEXT("BlockQuantized")))
            return 0x1p-4;
        if (node_quantizes(node) || node_dequantizes(node) || node_is_on_integers(node))
            ret = 0x1p-8;
    }
    return ret;
}

double model_values_tolerance(const struct model *model_a, const struct model *model_b, const struct run_values *a,
                              const struct run_values *b)
{
    double step_a = find_quantization_step(model_a), step_b = model_b != NULL ? find_quantization_step(model_b) : 0;
    struct rounding_paths of_a, of_b = {0};
    double unit = fmax(find_coarsest_rounding(a), find_coarsest_rounding(b));

    if (step_a != step_b) /* models with the same quantizers have the same errors */
        unit = fmax(unit, fmax(step_a, step_b));
    rounding_paths_of(model_a, &of_a);
    if (model_b != NULL)
        rounding_paths_of(model_b, &of_b);
    of_a.depth = of_a.depth > of_b.depth ? of_a.depth : of_b.depth;
    of_a.terms = of_a.terms > of_b.terms ? of_a.terms : of_b.terms;
    return fmin(LARGEST_TOLERANCE, rounding_tolerance(unit, &of_a));
}
