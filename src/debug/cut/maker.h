/* debug/cut/maker.h: what it takes to make candidates of one model, and what is learnt of the model on the way.
 *
 * Candidates can be made ahead of their turn, with a muted log. So what happens once is remembered, and said whenever
 * it matters: the log shows it the first time.
 */
#ifndef DEBUG_CUT_MAKER_H
#define DEBUG_CUT_MAKER_H

#include "backend/backend.h"
#include "comparator/data/loader.h"
#include "comparator/reference/values.h"

/* How a cut becomes a model of its own. */
struct candidate_settings {
    const struct backend *backend;  /* gives types, shapes and values of the original */
    struct backend_request request; /* its library, custom operators, log */
    struct data_loader *loader;
    const struct backend *golden;          /* gives the values in place of `backend`; NULL: that does */
    struct backend_request golden_request; /* for it */
    bool static_inference;                 /* ask the runtime for missing types and shapes */
    bool fixed_shapes;  /* where the model's inputs have fixed shapes, those of cuts get such, if need be from a run */
    bool random_data;   /* no --load-inputs: branches would be frozen to random values */
    bool cuts_anywhere; /* --mode minimal: also where nobody can tell what a tensor is */
    const char *iteration_inputs, *iteration_golden; /* files with the candidate's data; NULL: none */
};

/* What was found out about the model while candidates were made. */
struct candidate_knowledge {
    struct known_types types;
    struct bitset not_tensors; /* values that are known to be sequences, maps or the like */
    bool values_missing;       /* the model cannot be run for the values of its tensors, so none is frozen */
    struct error no_values;    /* why, unless that was known beforehand */
    struct error no_shapes;    /* why shapes cannot be taken from a run; code 0: they can */
    bool inference_done;
    struct error inference_error; /* code 0: there was none */
    bool whole_refused;           /* by the runtime that infers: only parts of the model can be asked about */
    /* --mode minimal also cuts where nobody can tell what a tensor is: */
    struct bitset untold;    /* values about which neither inference nor a run says enough for an input */
    struct bitset valueless; /* values that were asked for, and that no run gives */
    bool has_assumed;
    struct known_types assumed; /* what each value is taken for at a candidate's border, once that was needed */
};

struct candidate_maker {
    const struct candidate_settings *settings;
    struct log *log;
    struct subgraph whole;      /* the prepared model */
    struct bitset whole_inputs; /* values: the same as whole.inputs */
    struct reference_values *reference;
    bool fixes_shapes; /* settings->fixed_shapes, and the model's inputs have fixed shapes */
    struct candidate_knowledge known;
    struct candidate_knowledge known_before; /* candidate_maker_look_ahead() */
    struct arena arena;                      /* descriptions */
};

/* `model` stays as it is. The maker must not be moved: candidates point to what it knows of types. */
void candidate_maker_init(struct candidate_maker *maker, const struct model *model,
                          const struct candidate_settings *settings, struct log *log);
void candidate_maker_release(struct candidate_maker *maker);

/* A candidate that is made ahead of its turn, which may never come, must add nothing to what is known: others would be
 * written in another way then. What is learnt between `begins` and the next call without it is forgotten. */
void candidate_maker_look_ahead(struct candidate_maker *maker, bool begins);

#endif
