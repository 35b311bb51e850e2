/* tensor/compare/logits.c: see logits.h. */
#include "tensor/compare/logits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tensor/values/elements.h"

bool tensor_is_logits(const struct tensor *tensor)
{
    const struct shape *shape = &tensor->shape;

    return data_type_is_float(tensor->type) && shape->rank >= 1 && shape->rank <= LOGITS_MOST_DIMENSIONS &&
           shape->dims[shape->rank - 1] >= 2;
}

bool tensor_is_tokens(const struct tensor *tensor)
{
    return data_type_is_integer(tensor->type);
}

/* Rows of two outputs, widened. */
struct logits_rows {
    const struct tensor *a, *b;
    size_t rows, length;
    double *first, *second; /* the current row of each; freed by release_rows() */
};

static int open_rows(const struct tensor *a, const struct tensor *b, struct logits_rows *ret, struct error *err)
{
    if (!tensor_is_logits(a) || !tensor_is_logits(b))
        return error_set(err, ERR_UNSUPPORTED, "outputs of type %s and %s are not logits", data_type_name(a->type),
                         data_type_name(b->type));
    *ret = (struct logits_rows){.a = a, .b = b, .length = (size_t)a->shape.dims[a->shape.rank - 1]};
    ret->rows = tensor_elements(a) / ret->length;
    ret->first = memory_alloc_zero(ret->length, sizeof(*ret->first));
    ret->second = memory_alloc_zero(ret->length, sizeof(*ret->second));
    return 0;
}

static void release_rows(struct logits_rows *rows)
{
    free(rows->first);
    free(rows->second);
}

static void read_row(const struct tensor *tensor, size_t row, size_t length, double *ret)
{
    for (size_t i = 0; i < length; i += ELEMENTS_RUN)
        elements_to_float64(tensor, row * length + i, elements_in_run(length, i), ret + i);
}

static void read_rows(struct logits_rows *rows, size_t row)
{
    read_row(rows->a, row, rows->length, rows->first);
    read_row(rows->b, row, rows->length, rows->second);
}

/* ---- Tokens ---- */

/* The position of the first greatest element; -1: the row has a NaN. */
static int64_t find_token(const double *row, size_t length)
{
    size_t ret = 0;

    for (size_t i = 0; i < length; i++) {
        if (isnan(row[i]))
            return -1;
        if (row[i] > row[ret])
            ret = i;
    }
    return (int64_t)ret;
}

static void note_different(struct token_agreement *ret, size_t row, int64_t token, int64_t reference, double margin)
{
    if (ret->different++ > 0)
        return;
    ret->first = row;
    ret->token = token;
    ret->reference = reference;
    ret->margin = margin;
}

static int compare_logits(const struct tensor *a, const struct tensor *b, struct token_agreement *ret,
                          struct error *err)
{
    struct logits_rows rows;
    int rc = open_rows(a, b, &rows, err);

    if (rc < 0)
        return rc;
    ret->rows = rows.rows;
    for (size_t row = 0; row < rows.rows; row++) {
        int64_t token, reference;
        double margin = NAN;

        read_rows(&rows, row);
        token = find_token(rows.first, rows.length);
        reference = find_token(rows.second, rows.length);
        if (token >= 0 && reference >= 0)
            margin = rows.second[reference] - rows.second[token]; /* of two infinities NaN */
        if (token >= 0 && token == reference)
            continue;
        if (token >= 0 && reference >= 0 && rows.second[reference] == rows.second[token])
            ret->ties++;
        else
            note_different(ret, row, token, reference, margin);
    }
    release_rows(&rows);
    return 0;
}

int tokens_compare(const struct tensor *a, const struct tensor *b, struct token_agreement *ret, struct error *err)
{
    *ret = (struct token_agreement){.margin = NAN};
    if (!tensor_is_tokens(a) || !tensor_is_tokens(b))
        return compare_logits(a, b, ret, err);
    ret->rows = tensor_elements(a);
    for (size_t first = 0; first < ret->rows; first += ELEMENTS_RUN) {
        uint64_t tokens[ELEMENTS_RUN], references[ELEMENTS_RUN];
        size_t count = elements_in_run(ret->rows, first);

        elements_to_integers(a, first, count, tokens);
        elements_to_integers(b, first, count, references);
        for (size_t i = 0; i < count; i++)
            if (tokens[i] != references[i])
                note_different(ret, first + i, (int64_t)tokens[i], (int64_t)references[i], NAN);
    }
    return 0;
}

/* ---- Distributions ---- */

/* Replaces logits by logarithms of probabilities; NaN if one is NaN or +infinity, or all are -infinity. */
static void take_log_softmax(double *row, size_t length)
{
    double greatest = -INFINITY, sum = 0;

    for (size_t i = 0; i < length; i++)
        greatest = row[i] > greatest ? row[i] : greatest;
    for (size_t i = 0; i < length; i++)
        sum += exp(row[i] - greatest);
    for (size_t i = 0; i < length; i++)
        row[i] -= greatest + log(sum);
}

static double sum_divergence(const double *first, const double *second, size_t length)
{
    double ret = 0;

    for (size_t i = 0; i < length; i++)
        if (second[i] != -INFINITY) /* p log p is 0 for p = 0 */
            ret += exp(second[i]) * (second[i] - first[i]);
        else if (isnan(first[i]))
            return NAN;
    return ret;
}

int logits_diverge(const struct tensor *a, const struct tensor *b, struct logits_divergence *ret, struct error *err)
{
    struct logits_rows rows;
    int rc = open_rows(a, b, &rows, err);
    double sum = 0;

    if (rc < 0)
        return rc;
    *ret = (struct logits_divergence){0};
    for (size_t row = 0; row < rows.rows && !isnan(ret->maximum); row++) {
        double divergence;

        read_rows(&rows, row);
        take_log_softmax(rows.first, rows.length);
        take_log_softmax(rows.second, rows.length);
        divergence = sum_divergence(rows.first, rows.second, rows.length);
        sum += divergence;
        if (isnan(divergence) || divergence > ret->maximum) {
            ret->maximum = divergence;
            ret->worst = row;
        }
    }
    ret->mean = rows.rows > 0 ? sum / (double)rows.rows : 0;
    release_rows(&rows);
    return 0;
}

/* ---- The best ---- */

/* Descending, NaN last. */
static int order_descending(const void *first, const void *second)
{
    double a = *(const double *)first, b = *(const double *)second;

    return isnan(a) || isnan(b) ? isnan(a) - isnan(b) : (a < b) - (a > b);
}

/* The k-th greatest element; `sorted` has room for the row. NaN: the row has one. */
static double find_kth(const double *row, size_t length, size_t k, double *sorted)
{
    memcpy(sorted, row, length * sizeof(*row));
    qsort(sorted, length, sizeof(*sorted), order_descending);
    return isnan(sorted[length - 1]) ? NAN : sorted[k - 1];
}

/* Each element that is greater than the k-th is among the k best of a row; of those that are equal to it some are:
 * the ones that the reference has are counted first. */
static double find_overlap(const struct logits_rows *rows, size_t k, double *sorted)
{
    double least = find_kth(rows->first, rows->length, k, sorted);
    double least_of_reference = find_kth(rows->second, rows->length, k, sorted);
    size_t above = 0, common = 0, common_ties = 0;

    if (isnan(least) || isnan(least_of_reference))
        return NAN;
    for (size_t i = 0; i < rows->length; i++) {
        bool is_common = rows->second[i] >= least_of_reference;

        above += rows->first[i] > least;
        common += rows->first[i] > least && is_common;
        common_ties += rows->first[i] == least && is_common;
    }
    common += common_ties < k - above ? common_ties : k - above;
    return (double)common / (double)k;
}

int logits_overlap_compute(const struct tensor *a, const struct tensor *b, size_t k, struct logits_overlap *ret,
                           struct error *err)
{
    struct logits_rows rows;
    int rc = open_rows(a, b, &rows, err);
    double *sorted, sum = 0;

    if (rc < 0)
        return rc;
    *ret = (struct logits_overlap){.minimum = 1};
    k = k < rows.length ? k : rows.length;
    sorted = memory_alloc_zero(rows.length, sizeof(*sorted));
    for (size_t row = 0; row < rows.rows && !isnan(ret->minimum); row++) {
        double overlap;

        read_rows(&rows, row);
        overlap = find_overlap(&rows, k, sorted);
        sum += overlap;
        if (isnan(overlap) || overlap < ret->minimum) {
            ret->minimum = overlap;
            ret->worst = row;
        }
    }
    ret->mean = rows.rows > 0 ? sum / (double)rows.rows : 1;
    free(sorted);
    release_rows(&rows);
    return 0;
}
