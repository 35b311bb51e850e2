/* backend/exact/einsum.c: Einsum, as a sum over all labels that the output does not have. */
#include <ctype.h>
#include <string.h>

#include "backend/exact/kernels.h"
#include "base/memory.h"

#define MOST_LABELS TENSOR_MAX_RANK
#define MOST_OPERANDS 8

/* Labels are numbered: those of the output first. */
struct einsum_plan {
    char labels[MOST_LABELS];
    int64_t sizes[MOST_LABELS];                 /* -1: not known yet */
    size_t count, outputs;                      /* labels, and how many of them the output has */
    size_t strides[MOST_OPERANDS][MOST_LABELS]; /* elements from one to the next */
    size_t terms;                               /* of each sum */
};

static size_t find_label(const struct einsum_plan *plan, char label)
{
    const char *found = plan->count > 0 ? memchr(plan->labels, label, plan->count) : NULL;

    return found != NULL ? (size_t)(found - plan->labels) : plan->count;
}

static bool add_label(struct einsum_plan *plan, char label)
{
    if (!isalpha((unsigned char)label) || plan->count == MOST_LABELS)
        return false;
    if (find_label(plan, label) == plan->count)
        plan->labels[plan->count++] = label;
    return true;
}

/* Without "->" the output has the labels that occur once, in the order of the alphabet. */
static bool add_implied_outputs(struct einsum_plan *plan, const char *inputs)
{
    for (int label = 'A'; label <= 'z'; label++) {
        const char *first = isalpha(label) ? strchr(inputs, label) : NULL;

        if (first != NULL && strchr(first + 1, label) == NULL && !add_label(plan, (char)label))
            return false;
    }
    return true;
}

/* Splits "ab,bc->ac", without blanks, in place. */
static bool read_equation(struct einsum_plan *plan, char *equation, char **ret_inputs)
{
    char *arrow = strstr(equation, "->");

    *ret_inputs = equation;
    if (arrow == NULL) {
        if (!add_implied_outputs(plan, equation))
            return false;
    } else {
        *arrow = '\0';
        for (const char *label = arrow + 2; *label != '\0'; label++)
            if (find_label(plan, *label) < plan->count || !add_label(plan, *label))
                return false;
    }
    plan->outputs = plan->count;
    for (const char *label = equation; *label != '\0'; label++)
        if (*label != ',' && !add_label(plan, *label))
            return false;
    return true;
}

/* Gives the labels of one operand their sizes and strides. A label that occurs twice is a diagonal. */
static bool plan_operand(struct einsum_plan *plan, const struct shape *shape, const char *labels, size_t operand)
{
    size_t stride = 1;

    if (strlen(labels) != shape->rank)
        return false;
    for (size_t axis = shape->rank; axis-- > 0;) {
        size_t label = find_label(plan, labels[axis]);

        if (plan->sizes[label] >= 0 && plan->sizes[label] != shape->dims[axis])
            return false;
        plan->sizes[label] = shape->dims[axis];
        plan->strides[operand][label] += stride;
        stride *= (size_t)shape->dims[axis];
    }
    return true;
}

/* Adds to `places` those of number `index` among the labels `first` .. `end`. */
static void add_places(const struct einsum_plan *plan, size_t first, size_t end, size_t index, size_t operands,
                       size_t *places)
{
    for (size_t label = end; label-- > first;) {
        size_t at = index % (size_t)plan->sizes[label];

        index /= (size_t)plan->sizes[label];
        for (size_t i = 0; i < operands; i++)
            places[i] += at * plan->strides[i][label];
    }
}

static double sum_products(const struct exact_call *call, const struct einsum_plan *plan, size_t output)
{
    size_t places[MOST_OPERANDS] = {0};
    double sum = 0;

    add_places(plan, 0, plan->outputs, output, call->input_count, places);
    for (size_t i = 0; i < plan->terms; i++) {
        size_t at[MOST_OPERANDS], term = call->options->backwards ? plan->terms - 1 - i : i;
        double product = 1;

        memcpy(at, places, sizeof(at));
        add_places(plan, plan->outputs, plan->count, term, call->input_count, at);
        for (size_t k = 0; k < call->input_count; k++)
            product *= exact_items(call->inputs[k])[at[k]];
        sum = exact_round_sum(call->options, sum + product);
    }
    return sum;
}

/* False: the equation is not supported. */
static bool plan_einsum(const struct exact_call *call, char *equation, struct einsum_plan *plan)
{
    char *inputs;

    if (!read_equation(plan, equation, &inputs))
        return false;
    for (size_t i = 0; i < plan->count; i++)
        plan->sizes[i] = -1;
    for (size_t i = 0; i < call->input_count; i++) {
        char *end = inputs + strcspn(inputs, ",");
        bool is_last = *end == '\0';

        *end = '\0';
        if (is_last != (i + 1 == call->input_count) || !plan_operand(plan, exact_shape(call->inputs[i]), inputs, i))
            return false;
        inputs = end + 1;
    }
    for (size_t i = 0; i < plan->count; i++)
        if (plan->sizes[i] < 0)
            return false;
    return true;
}

/* The shape of the output, and the terms of each sum. False: there are too many products. */
static bool plan_sums(struct einsum_plan *plan, size_t operands, struct shape *ret)
{
    *ret = (struct shape){.rank = plan->outputs};
    plan->terms = 1;
    for (size_t i = 0; i < plan->count; i++)
        if (i < plan->outputs)
            ret->dims[i] = plan->sizes[i];
        else if (__builtin_mul_overflow(plan->terms, (size_t)plan->sizes[i], &plan->terms))
            return false;
    return (double)shape_elements(ret) * (double)plan->terms * (double)operands <= (double)EXACT_MOST_PRODUCTS;
}

static int compute_einsum(struct exact_call *call, struct error *err)
{
    struct einsum_plan plan = {0};
    struct shape shape;
    SCOPED_STRING(equation);
    struct text given;
    double *ret;
    int rc;

    if (call->input_count > MOST_OPERANDS)
        return exact_refuse(call, err, "so many operands are not computed in float64");
    given = exact_text_attribute(call, "equation", "");
    for (size_t i = 0; i < given.size; i++)
        if (given.data[i] != ' ')
            string_add_char(&equation, given.data[i]);
    if (!plan_einsum(call, equation.data, &plan))
        return exact_refuse(call, err, "its equation is not computed in float64");
    if (!plan_sums(&plan, call->input_count, &shape))
        return exact_refuse(call, err, "it is too large to be computed in float64");
    rc = exact_allocate(call, 0, call->inputs[0]->type, &shape, &ret, err);
    for (size_t i = 0; rc == 0 && i < shape_elements(&shape); i++)
        ret[i] = exact_round(call->options, sum_products(call, &plan, i));
    return rc;
}

const struct exact_operator exact_einsum_operators[] = {{"Einsum", EXACT_ALL_INPUTS, false, compute_einsum, NULL}, {0}};
