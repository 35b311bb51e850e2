/* debug/models/study.h: which difference between two models makes their outputs differ, by experiments.
 *
 * Both models run on the same inputs with all tensors as outputs. Where B's tensors first differ, A's part is put into
 * B (transfer.h): the differences of that node one by one, then all of them, then A's nodes. What makes the tensor
 * equal stays, until the outputs agree. Each part of the answer is necessary: without it the outputs differ.
 */
#ifndef DEBUG_MODELS_STUDY_H
#define DEBUG_MODELS_STUDY_H

#include "base/log.h"
#include "comparator/data/loader.h"
#include "debug/models/values.h"
#include "debug/models/differences.h"

enum models_outcome {
    MODELS_AGREE,
    MODELS_HAVE_CAUSE, /* B with A's parts of `causes` agrees with A */
    MODELS_DIFFER,     /* with A's parts of `causes` some tensors are equal, but not the outputs */
};

struct model_study {
    const struct model_pairing *pairing;
    const struct backend *backend; /* without optimizations */
    const struct backend_request *request;
    struct data_loader *loader; /* for the inputs of A; the first iteration is used */
    struct log *log;            /* may be NULL */
    double tolerance;           /* relative to the largest magnitude of a tensor; 0: derived */

    /* The answer: */
    enum models_outcome outcome;
    struct model_differences causes;
    uint32_t first_node, first_value; /* of B: where it diverges first; NODE_NONE */
    struct string_builder first_text; /* how `first_value` differs: tensor_distance_describe() */
    uint32_t worst_output;            /* of B */
    struct string_builder worst_text; /* how it differs */
    double error, error_after;        /* of the outputs, before and with A's parts */
    bool is_minimal;                  /* without any one of `causes` the outputs were seen to differ */
    size_t runs, untested;            /* runs of B; parts of A that could not be put in */
    size_t not_alone;                 /* differences that were tried together with others only */
    struct error why_untested;        /* the last of these */
    size_t uncompared_outputs;        /* of B: without a counterpart in A, or no tensors */
    size_t outputs_of_a_only;         /* without a counterpart among B's outputs */
    size_t nonfinite_outputs;         /* compared ones with NaN or infinities in A */
    struct model *repaired;           /* B with A's parts, if they are the cause */
    size_t equal_values, values;      /* computed tensors of B before: with an equal one in A; all */

    struct tensor_list feed_a, feed_b; /* internal */
    struct run_values values_a, values_b;
    uint32_t *matches, *equal_in_b;
};

/* Runs the experiments. Errors: inputs of B without a partner in A (ERR_MISSING), outputs without one, errors of the
 * runs of A and B; ERR_INTERRUPTED. Release the study in any case. */
int model_study_run(struct model_study *study, struct error *err);
void model_study_release(struct model_study *study);

#endif
