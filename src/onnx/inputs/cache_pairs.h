/* onnx/inputs/cache_pairs.h: which output of a decoder ("present") is an input ("past") of its next step.
 *
 * Pairs are those that the user gives, then those of matching names, then those that the graph shows: the output is
 * computed by appending entries to the input or by writing entries into it, or both are the cache of one operator, as
 * of GroupQueryAttention. Types and shapes of a pair are equal except for the number of entries.
 */
#ifndef ONNX_INPUTS_CACHE_PAIRS_H
#define ONNX_INPUTS_CACHE_PAIRS_H

#include "onnx/model/model.h"

enum cache_rule {
    CACHE_NOT_PAIRED,
    CACHE_GIVEN,    /* --cache */
    CACHE_BY_NAME,  /* past_key_values.0.key, present.0.key */
    CACHE_BY_GRAPH, /* names play no role */
};

/* Of an input. */
struct cache_pair {
    enum cache_rule rule;
    size_t output; /* its place among the model's outputs */
    size_t axis;   /* of the entries; SIZE_MAX: the size of the cache is fixed */
    /* CACHE_BY_NAME: the graph computes the output from this other input, by its place; SIZE_MAX: it does not */
    size_t other_source;
};

/* Fills `ret`, with an item for each of the model's inputs; `types` are theirs. `given`: "PAST:PRESENT".
 * ERR_INVALID if these words name nothing of the model, or if two inputs get one output; ERR_UNSUPPORTED if a given or
 * named pair does not match, or if there is no pair. */
int cache_pairs_find(const struct model *model, const struct words *given, const struct value_type *types,
                     struct cache_pair *ret, struct error *err);

/* "by name"; "" of inputs without a pair. */
const char *cache_rule_name(enum cache_rule rule);

#endif
