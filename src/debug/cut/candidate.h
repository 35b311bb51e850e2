/* debug/cut/candidate.h: one cut of a model, made fit to be a model of its own.
 *
 * The module debug/cut/ makes candidates: parts of a model (maker.h) become models that a check can be given. Sets of
 * nodes and places to cut at come in; subgraphs with types (types.h), frozen constants, and files of models and their
 * data go out. It may use the layers below debug and the files of debug/candidate/, but not the session.
 *
 * A cut leaves tensors that nothing makes any more: these are frozen to the values that they have in the original.
 */
#ifndef DEBUG_CUT_CANDIDATE_H
#define DEBUG_CUT_CANDIDATE_H

#include "debug/candidate/place.h"
#include "debug/cut/types.h"
#include "onnx/write/model.h"
#include "search/index_search.h"

/* Where a model is cut: the node's outputs become the outputs, or its inputs the inputs. */
struct cut_place {
    enum index_direction direction;
    uint32_t node;
};

/* Cuts `base` there. `quiet`: nothing is logged. */
int candidate_cut(struct candidate_maker *maker, const struct subgraph *base, struct cut_place place, bool quiet,
                  struct subgraph *ret, struct error *err);

/* The model of these nodes alone. What they read of others becomes an input; but tensors of integers and truth values,
 * which are mostly shapes, axes and indices, become constants, unless they differ between samples. What nothing among
 * them reads becomes an output. */
int candidate_of_nodes(struct candidate_maker *maker, const struct bitset *nodes, struct subgraph *ret,
                       struct error *err);

/* Gets the values of what is frozen. To be called before the candidate is saved. */
int candidate_fill(struct candidate_maker *maker, struct subgraph *candidate, struct error *err);

/* Gets all values that writing the candidate for its check takes. */
int candidate_prepare(struct candidate_maker *maker, struct subgraph *candidate, struct error *err);

/* Writes it, prepared, and its data. `external` may be NULL: everything inside. */
int candidate_write(struct candidate_maker *maker, const struct subgraph *candidate,
                    const struct candidate_paths *paths, const struct external_settings *external, struct error *err);

/* Writes what its inputs hold in the original, for `run --load-inputs`, and its outputs, for `run --load-outputs`, of
 * every sample, as far as `paths` has files for them. They have to be recorded. */
int candidate_data_write(const struct reference_values *reference, const struct subgraph *candidate,
                         const struct candidate_paths *paths, struct error *err);

#endif
