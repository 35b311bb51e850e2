/* debug/models/values.h: the tensors of two models on the same inputs, and which of them are equal. */
#ifndef DEBUG_MODELS_VALUES_H
#define DEBUG_MODELS_VALUES_H

#include "backend/backend.h"
#include "debug/models/pairing.h"

/* The tensors of one run. */
struct run_values {
    struct tensor_list outputs;
    const struct tensor **items; /* of each value, constants and inputs too; NULL: not a tensor, or not computed */
    size_t count;
};

/* How models are run. */
struct values_runner {
    const struct backend *backend;
    const struct backend_request *request;
    const struct tensor_list *feed;
};

/* Runs a model with all tensors as outputs: one of the pairing's models, or a copy of it with more values, whose
 * constants are `side`'s. `side` and the feed must outlive the values. Release them in any case. */
int model_values_run(const struct values_runner *runner, const struct model *model, const struct paired_model *side,
                     struct run_values *ret, struct error *err);
void model_values_release(struct run_values *values);

/* The largest difference of `b` from `a`, relative to the largest magnitude of `a` other than masks. Infinite if they
 * cannot be compared: other numbers of elements, other kinds of types, other places of NaN or infinities. Shapes may
 * differ. Integers are equal (0) or not (1), texts 0 or infinite. */
double tensor_distance(const struct tensor *a, const struct tensor *b);

/* Appends the same as the predicate of a sentence about `b`: "differs from A's by 0.25 of its largest magnitude". */
void tensor_distance_describe(const struct tensor *a, const struct tensor *b, struct string_builder *ret);

/* Summaries of tensors, by which those that cannot be equal to a given one are told apart quickly. */
struct value_summaries {
    struct value_summary *items;
    size_t count;
};

void value_summaries_make(const struct run_values *values, struct value_summaries *ret);
void value_summaries_release(struct value_summaries *summaries);

/* The first of these values with a distance of `tensor` from it of at most `tolerance`; VALUE_NONE: there is none. */
uint32_t value_summaries_find(const struct value_summaries *summaries, const struct run_values *values,
                              const struct tensor *tensor, double tolerance);

/* For each value of B a value of A with a distance of at most `tolerance`: its partner, if that has; VALUE_NONE if
 * there is none. malloc'd. */
uint32_t *model_values_match(const struct model_pairing *pairing, const struct run_values *a,
                             const struct run_values *b, double tolerance);

/* The tolerance that rounding explains, derived from the lowest precision of the tensors in both models, of quantizers
 * that only one of them has, and their depth; at most 0.1. `model_b` may be NULL: it is not known. */
double model_values_tolerance(const struct model *model_a, const struct model *model_b, const struct run_values *a,
                              const struct run_values *b);

#endif
