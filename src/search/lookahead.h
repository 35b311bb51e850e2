/* search/lookahead.h: speculation: the candidates that a search will probably need next, while verdicts are pending.
 *
 * A search spans a decision tree: each candidate has a branch for a failure and one for a pass. The tree is expanded in
 * descending order of the probability of reaching a node, the product of the probabilities of its branches. Idle job
 * slots check the first candidates in this order. Only verdicts that the search actually needs are used, so its result
 * does not depend on the number of parallel checks.
 *
 * The probability of a failure is the search's own expectation, else the failure rate of its candidates so far
 * (initially 1/2).
 */
#ifndef SEARCH_LOOKAHEAD_H
#define SEARCH_LOOKAHEAD_H

#include "base/hash.h"
#include "search/search.h"

/* What is known of a candidate in advance. */
struct foreseen {
    /* Candidates with equal identity and index are the same check. A repeated candidate on a path of the search has the
     * same verdict: a re-verification needs a different identity. */
    struct hash identity;
    int64_t nodes;        /* for the search, with the verdict */
    bool known;           /* a verdict exists already, or none is needed */
    enum verdict verdict; /* if known */
};

/* Describes the current candidate of `search`, for iteration `index`. False if it is unknown yet: then its branches are
 * not expanded. Descriptions are cached. */
typedef bool lookahead_describe(void *data, const void *search, int64_t index, struct foreseen *ret);

/* A check that the search may need. */
struct lookahead_item {
    struct hash identity;
    int64_t index;
    double probability; /* that the search will need it; 1 for its current candidate */
    /* its state at that candidate; valid until the next call of any function other than lookahead_list() */
    const void *search;
};

struct lookahead;

/* Starts from the state of `search` (copied), whose current candidate is that of iteration `index`. */
struct lookahead *lookahead_new(const struct search_ops *ops, const void *search, int64_t index,
                                lookahead_describe *describe, void *data);
void lookahead_free(struct lookahead *lookahead);

/* The search got this verdict on its current candidate: other branches are dropped. If the search is over, the list
 * stays empty. */
void lookahead_advance(struct lookahead *lookahead, int64_t nodes, enum verdict verdict);

/* A verdict on a speculative candidate has arrived. Wherever the candidate is in the tree, only this branch remains. */
void lookahead_learn(struct lookahead *lookahead, struct hash identity, int64_t index, enum verdict verdict);

/* Lists the most probable distinct checks without a verdict, at most `most`, in descending order of probability (ties:
 * the one found first). Returns their number: fewer than `most` if the search ends before, or if a long part of the
 * tree contains hardly any undecided candidates. */
size_t lookahead_list(struct lookahead *lookahead, size_t most, struct lookahead_item *ret);

#endif
