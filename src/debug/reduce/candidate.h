/* debug/reduce/candidate.h: one cut of a model, made fit to be a model of its own.
 *
 * A cut leaves tensors that nothing makes any more: these are frozen to the values that they have in the original.
 * Graph inputs need a type and a shape, outputs a type: what the file does not say is asked of the runtime, once, when
 * first needed.
 *
 * Candidates can be made ahead of their turn, with a muted log. So what happens once is remembered, and said whenever
 * it matters: the log shows it the first time.
 */
#ifndef DEBUG_REDUCE_CANDIDATE_H
#define DEBUG_REDUCE_CANDIDATE_H

#include "comparator/reference/values.h"
#include "debug/reduce/candidate_data.h"
#include "debug/reduce/reduce.h"

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
    const struct reduce_settings *settings;
    struct log *log;
    struct subgraph whole;      /* the prepared model */
    struct bitset whole_inputs; /* values: the same as whole.inputs */
    struct reference_values *reference;
    bool fixes_shapes; /* settings->fixed_shapes, and the model's inputs have fixed shapes */
    struct candidate_knowledge known;
    struct arena arena; /* descriptions */
};

/* `model` stays as it is. The maker must not be moved: candidates point to what it knows of types. */
void candidate_maker_init(struct candidate_maker *maker, const struct model *model,
                          const struct reduce_settings *settings, struct log *log);
void candidate_maker_release(struct candidate_maker *maker);

/* A candidate that is made ahead of its turn, which may never come, must add nothing to what is known: others would be
 * written in another way then. Ends with candidate_maker_forget(), which goes back to what was known here. */
void candidate_maker_remember(struct candidate_maker *maker, struct candidate_knowledge *ret);
void candidate_maker_forget(struct candidate_maker *maker, struct candidate_knowledge *before);

/* Takes all types and shapes from one run of the model (--force-fallback-shape-inference). */
int candidate_maker_force_shapes(struct candidate_maker *maker, struct error *err);

/* Cuts `base` at `node`: its outputs become the outputs, or its inputs the inputs. `quiet`: nothing is logged. */
int candidate_cut(struct candidate_maker *maker, const struct subgraph *base, enum index_direction direction,
                  uint32_t node, bool quiet, struct subgraph *ret, struct error *err);

/* The model of these nodes alone. What they read of others becomes an input; but tensors of integers and truth values,
 * which are mostly shapes, axes and indices, become constants, unless they differ between samples. What nothing among
 * them reads becomes an output. */
int candidate_of_nodes(struct candidate_maker *maker, const struct bitset *nodes, struct subgraph *ret,
                       struct error *err);

/* Describes the candidate's inputs and outputs as far as they lack it. `ret_not_a_tensor` is set to a value at the cut
 * that cannot be fed or compared because it is a sequence or the like, else to VALUE_NONE. ERR_BACKEND when nobody can
 * tell what an input is, but not with --mode minimal: see candidate_assume(). */
int candidate_complete(struct candidate_maker *maker, const struct subgraph *candidate, uint32_t *ret_not_a_tensor,
                       struct error *err);

/* The candidate as it is written, which shares all but its types with `candidate`: inputs about which nobody can tell
 * enough have the descriptions that they are taken to have. `ret_types` is to be released once it is written.
 * candidate_write() does it all itself. */
struct subgraph candidate_assume(struct candidate_maker *maker, const struct subgraph *candidate,
                                 struct known_types *ret_types);

/* Gets the values of what is frozen. To be called before the candidate is saved. */
int candidate_fill(struct candidate_maker *maker, struct subgraph *candidate, struct error *err);

/* Gets all values that writing the candidate for its check takes, and logs that it is written, to `path`; NULL: nothing
 * is logged. */
int candidate_prepare(struct candidate_maker *maker, struct subgraph *candidate, const char *path, struct error *err);

/* Writes it, prepared, and its data. `external` may be NULL: everything inside. */
int candidate_write(struct candidate_maker *maker, const struct subgraph *candidate,
                    const struct candidate_paths *paths, const struct external_settings *external, struct error *err);

#endif
