/* debug/models/recorded.h: a model, A, and the tensors that another program, B, has computed from the same inputs:
 * where B's tensors first differ.
 *
 * Of B nothing but tensors is known, with any names. A tensor of A that equals one of B was computed rightly there, and
 * so was what it is computed from, as far as it matters. One that differs from B's tensor of the same name is wrong in
 * B. The nodes of A between these two kinds are where B goes wrong.
 */
#ifndef DEBUG_MODELS_RECORDED_H
#define DEBUG_MODELS_RECORDED_H

#include "base/container/bitset.h"
#include "comparator/data/loader.h"
#include "debug/models/values.h"

struct recorded_study {
    struct model *model; /* A: its nodes are sorted, its Constant nodes are initializers */
    const struct backend *backend;
    const struct backend_request *request;
    struct data_loader *loader;         /* the first iteration is used */
    const struct tensor_list *recorded; /* B's tensors */
    double tolerance;                   /* relative to the largest magnitude of a tensor; 0: derived */

    /* The answer: */
    uint32_t first_value;        /* of A: the first that differs, on the way to an output that does; VALUE_NONE */
    struct string_builder text;  /* how: tensor_distance_describe() */
    struct bitset nodes;         /* of A: what computes it from tensors that are equal in B */
    size_t equal_values, values; /* computed tensors of A: with an equal one in B; all */
    size_t equal_outputs, different_outputs; /* of A; the rest has no tensor of that name in B, nor an equal one */
    double error;                            /* the largest of the outputs, relative to their largest magnitudes */

    struct tensor_list feed; /* internal */
    struct run_values values_a, values_b;
    struct bitset equal, different; /* values of A */
};

/* Errors of the data loader and of the run of A. Release the study in any case. */
int recorded_study_run(struct recorded_study *study, struct error *err);
void recorded_study_release(struct recorded_study *study);

#endif
