/* tensor/compare/logits.h: what two outputs choose: tokens, and distributions over them.
 *
 * A row of logits lies along the last axis, one element a token or class. The second output is the reference.
 */
#ifndef TENSOR_COMPARE_LOGITS_H
#define TENSOR_COMPARE_LOGITS_H

#include "tensor/values/tensor.h"

/* Tensors of these types and at most LOGITS_MOST_DIMENSIONS dimensions are logits: floating point, with at least two
 * elements in the last axis. Integers of any shape are tokens. A cache of a decoder, with four dimensions, is neither.
 */
#define LOGITS_MOST_DIMENSIONS 3

bool tensor_is_logits(const struct tensor *tensor);
bool tensor_is_tokens(const struct tensor *tensor);

/* Of logits the token is the position of the greatest element. */
struct token_agreement {
    size_t rows;
    size_t different;         /* rows whose tokens differ; the reference's row does not have both as its maximum */
    size_t ties;              /* rows whose tokens differ, but are both the maximum of the reference's row */
    size_t first;             /* the first different row; valid with different > 0 */
    int64_t token, reference; /* its tokens; -1: NaN in the row */
    double margin;            /* of logits: reference's logit of its own token less that of the other; else NaN */
};

/* Compares tokens of outputs of equal shape: of logits, or integers as they are. ERR_UNSUPPORTED for others. */
int tokens_compare(const struct tensor *a, const struct tensor *b, struct token_agreement *ret, struct error *err);

struct logits_divergence {
    double mean, maximum; /* over rows, in nats; NaN if any row has a NaN or +infinity */
    size_t worst;         /* the row of the maximum */
};

/* The Kullback-Leibler divergence of softmax(b) from softmax(a), sum of p_b (log p_b - log p_a), of each row, in
 * float64 (S. Kullback, R. A. Leibler, On Information and Sufficiency, 1951). A logit of -infinity has probability 0.
 * Shapes are equal. ERR_UNSUPPORTED unless both are logits. */
int logits_diverge(const struct tensor *a, const struct tensor *b, struct logits_divergence *ret, struct error *err);

struct logits_overlap {
    double mean, minimum; /* over rows: the share of the k best that both have; NaN if any row has a NaN */
    size_t worst;         /* the row of the minimum */
};

/* How many of the k greatest elements of each row of `a` are among the k greatest of `b`, divided by k. An element that
 * is tied with the k-th of the reference's row is among them. In rows of at most k elements all are. Shapes are equal,
 * k >= 1. ERR_UNSUPPORTED unless both are logits. */
int logits_overlap_compute(const struct tensor *a, const struct tensor *b, size_t k, struct logits_overlap *ret,
                           struct error *err);

#endif
