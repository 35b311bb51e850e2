/* comparator/data/feed_match.h: which tensor of a feed dict an input gets; the rules stand in loader.h. */
#ifndef COMPARATOR_DATA_FEED_MATCH_H
#define COMPARATOR_DATA_FEED_MATCH_H

#include "backend/backend.h"

/* What a feed dict is for. */
struct feed_inputs {
    const struct backend_io *items;
    size_t count;
    bool by_name;    /* no entry of another name is taken */
    struct log *log; /* of what is guessed or converted; may be NULL */
};

/* Fills `ret` for input `k` and returns 1; returns 0 when `feed` has nothing for it. A tensor found by its exact name
 * is converted, with a warning, when it has another type, and transposed or reshaped when it has another shape of as
 * many elements; ERR_INVALID when that cannot be done. `ret` may refer to the data of `feed`. */
int feed_match(const struct tensor_list *feed, const struct feed_inputs *inputs, size_t k, struct tensor *ret,
               struct error *err);

#endif
