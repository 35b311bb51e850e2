/* search/lookahead.h: which candidates a search will ask for, the most probable ones first, while verdicts are still
 * out.
 *
 * A search spans a tree of decisions: each candidate has a branch
 * for a failure and one for a pass. Here that tree is expanded in the order of the probability that the search will get
 * there, the product of the probabilities of its branches. Checks that have time to spare run what comes first in this
 * order. Since only the search itself decides in the end, what it finds is the same with any number of checks at a
 * time.
 *
 * The probability of a failure is what the search itself expects, or else the rate at which its candidates have failed
 * so far, 1/2 in the beginning.
 */
#ifndef SEARCH_LOOKAHEAD_H
#define SEARCH_LOOKAHEAD_H

#include "base/hash.h"
#include "search/search.h"

/* What is known of a candidate beforehand. */
struct foreseen {
    /* Candidates of equal identity and index are the same check. One that comes again on the way of a search has the
     * verdict that it had there: a second look at the same candidate needs an identity of its own. */
    struct hash identity;
    int64_t nodes;        /* for the search, with the verdict */
    bool known;           /* there is a verdict already, or none is needed */
    enum verdict verdict; /* if so */
};

/* Describes the candidate that `search` asks for; it would be that of iteration `index`. False when this cannot be told
 * yet: then nothing behind it is looked at. What was told once is not asked for again. */
typedef bool lookahead_describe(void *data, const void *search, int64_t index, struct foreseen *ret);

/* A check that may be needed. */
struct lookahead_item {
    struct hash identity;
    int64_t index;
    double probability; /* that the search will ask for it; 1 for the one that it asks for now */
    const void *search; /* as it is when it asks; valid until the next call of any function but lookahead_list() */
};

struct lookahead;

/* Looks ahead from the state of `search` (copied), which asks for the candidate of iteration `index`. */
struct lookahead *lookahead_new(const struct search_ops *ops, const void *search, int64_t index,
                                lookahead_describe *describe, void *data);
void lookahead_free(struct lookahead *lookahead);

/* The search itself has got this verdict on the candidate that it asked for: other branches are dropped. When the
 * search is over with that, there is nothing to list any more. */
void lookahead_advance(struct lookahead *lookahead, int64_t nodes, enum verdict verdict);

/* The verdict on a candidate has come in ahead of its turn. Only one branch is left behind it wherever it is in the
 * tree. */
void lookahead_learn(struct lookahead *lookahead, struct hash identity, int64_t index, enum verdict verdict);

/* Lists the most probable checks without a verdict, at most `most` different ones, in falling order of probability
 * (equal ones: the one that was found first). Returns how many: fewer than `most` when the search ends before, or when
 * next to nothing is left to be decided for a long way. */
size_t lookahead_list(struct lookahead *lookahead, size_t most, struct lookahead_item *ret);

#endif
