/* debug/cut/maker.h: creates candidates of one model, and keeps what is learnt about the model meanwhile.
 *
 * Candidates can be created ahead of their turn, with a muted log. One-time findings are stored and reported whenever
 * they matter; the log shows each once.
 */
#ifndef DEBUG_CUT_MAKER_H
#define DEBUG_CUT_MAKER_H

#include "backend/backend.h"
#include "comparator/data/loader.h"
#include "comparator/reference/values.h"

/* How a cut becomes a model. */
struct candidate_settings {
    const struct backend *backend;  /* computes types, shapes and values of the original */
    struct backend_request request; /* for it: library, custom operators, log */
    struct data_loader *loader;
    const struct backend *golden;          /* computes the values in place of `backend`; NULL: `backend` does */
    struct backend_request golden_request; /* for it */
    bool static_inference;                 /* ask the runtime for missing types and shapes */
    bool fixed_shapes;  /* if the model's inputs have fixed shapes, those of cuts do, too, if necessary from a run */
    bool random_data;   /* no --load-inputs: branches would be frozen to random values */
    bool cuts_anywhere; /* --mode minimal: also at tensors of unknown type */
    const char *iteration_inputs, *iteration_golden; /* files with the candidate's data; NULL: none */
};

/* What was learnt about the model while candidates were created. */
struct candidate_knowledge {
    struct known_types types;
    struct bitset not_tensors; /* values that are sequences, maps or optionals */
    bool values_missing;       /* the model does not run, so no tensor is frozen */
    struct error no_values;    /* the reason, unless known beforehand */
    struct error no_shapes;    /* reason why a run gives no shapes; code 0: it does */
    bool inference_done;
    struct error inference_error; /* code 0: none */
    bool whole_refused;           /* the runtime rejects the whole model: types of parts only can be inferred */
    /* --mode minimal also cuts at tensors of unknown type: */
    struct bitset untold;    /* values whose type neither inference nor a run determines */
    struct bitset valueless; /* values that no run determines */
    bool has_assumed;
    struct known_types assumed; /* assumed types of values at a candidate's border, once needed */
};

struct candidate_maker {
    const struct candidate_settings *settings;
    struct log *log;
    struct subgraph whole;      /* the prepared model */
    struct bitset whole_inputs; /* the inputs of `whole`, as a set of values */
    struct reference_values *reference;
    bool fixes_shapes; /* settings->fixed_shapes, and the model's inputs have fixed shapes */
    struct candidate_knowledge known;
    struct candidate_knowledge known_before; /* candidate_maker_look_ahead() */
    struct arena arena;                      /* descriptions */
};

/* `model` is not modified. The maker must not be moved: candidates point into it. */
void candidate_maker_init(struct candidate_maker *maker, const struct model *model,
                          const struct candidate_settings *settings, struct log *log);
void candidate_maker_release(struct candidate_maker *maker);

/* Candidates created ahead of their turn, which may never come, must not add knowledge, which would change how others
 * are written: knowledge gained between a call with `begins` and the next one without it is discarded. */
void candidate_maker_look_ahead(struct candidate_maker *maker, bool begins);

#endif
