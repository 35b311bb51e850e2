/* debug/cut/candidate.h: a cut of a model, completed to a valid model.
 *
 * The module debug/cut/ creates candidates: subgraphs (maker.h) become models that a check can run. Inputs: sets of
 * nodes, or places to cut at. Outputs: subgraphs with types (types.h), frozen constants, and files of models and their
 * data. It may use the layers below debug and debug/candidate/, but not the session.
 *
 * Tensors that no node of a cut produces are frozen to their values in the original.
 */
#ifndef DEBUG_CUT_CANDIDATE_H
#define DEBUG_CUT_CANDIDATE_H

#include "debug/candidate/place.h"
#include "debug/cut/types.h"
#include "onnx/write/model.h"
#include "search/index_search.h"

/* A place to cut: the node's outputs become the outputs, or its inputs the inputs. */
struct cut_place {
    enum index_direction direction;
    uint32_t node;
};

/* Cuts `base` at `place`. `quiet`: without log lines. */
int candidate_cut(struct candidate_maker *maker, const struct subgraph *base, struct cut_place place, bool quiet,
                  struct subgraph *ret, struct error *err);

/* The subgraph of these nodes. Tensors that other nodes produce become inputs; integer and boolean ones, which are
 * mostly shapes, axes and indices, become constants, unless they differ between samples. Tensors without consumers in
 * the subgraph become outputs. */
int candidate_of_nodes(struct candidate_maker *maker, const struct bitset *nodes, struct subgraph *ret,
                       struct error *err);

/* Computes the values of frozen tensors. Call it before the candidate is saved. */
int candidate_fill(struct candidate_maker *maker, struct subgraph *candidate, struct error *err);

/* Computes all values that candidate_write() needs. */
int candidate_prepare(struct candidate_maker *maker, struct subgraph *candidate, struct error *err);

/* Writes the prepared candidate and its data. `external` NULL: all weights are inside of the model. `ret_hash` (may be
 * NULL): as in model_write(). */
int candidate_write(struct candidate_maker *maker, const struct subgraph *candidate,
                    const struct candidate_paths *paths, const struct external_settings *external,
                    struct hash *ret_hash, struct error *err);

/* Writes the values of its inputs in the original, for `run --load-inputs`, and those of its outputs, for `run
 * --load-outputs`, of every sample, to the files in `paths`, if any. The values must be recorded. */
int candidate_data_write(const struct reference_values *reference, const struct subgraph *candidate,
                         const struct candidate_paths *paths, struct error *err);

#endif
