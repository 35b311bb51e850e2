/* library/checked_search.h: a minimal search that asks an oracle: budget, answers, and sets that have an answer
 * already.
 *
 * The module library/ holds the functions of include/polygraphy/reduce.h: reduce_graph.c and reduce_model.c read a
 * request and make candidates of sets, this one leads the search. A request with the caller's oracle comes in, the
 * smallest part that fails goes out. It may use everything but what shows something to people.
 */
#ifndef LIBRARY_CHECKED_SEARCH_H
#define LIBRARY_CHECKED_SEARCH_H

#include "base/error.h"
#include "polygraphy/reduce.h"
#include "search/minimal_search.h"

struct checked_search {
    const struct dag *dag;
    uint64_t max_checks; /* 0: no limit */

    /* Has `set` checked. `ret_answer` is what the oracle said, whatever that is. A set that cannot be made a candidate
     * is none: `ret_asked` is set to false, and it is passed over. */
    int (*ask)(void *data, const struct bitset *set, const struct polygraphy_progress *progress, int32_t *ret_answer,
               bool *ret_asked, struct error *err);
    void *data;
};

struct checked_result {
    int32_t outcome; /* POLYGRAPHY_MINIMAL, ... */
    uint64_t checks;
    struct bitset smallest; /* that was seen to fail; empty when nothing was. The caller's to release */
};

/* Checks the whole, and then smaller sets. `ret` is filled after an error, too, with what was known until then. */
int checked_search_run(const struct checked_search *search, struct checked_result *ret, struct error *err);

/* Gives an error to a caller of the library, who may not want it. Returns its code, or 0 when `rc` is 0. */
int32_t library_return(int rc, const struct error *err, struct polygraphy_error *ret);

#endif
