/* comparator/data/feed_match.h: selects the tensor of a feed dict for an input; the rules are in loader.h. */
#ifndef COMPARATOR_DATA_FEED_MATCH_H
#define COMPARATOR_DATA_FEED_MATCH_H

#include "backend/backend.h"

/* The inputs for a feed dict. */
struct feed_inputs {
    const struct backend_io *items;
    size_t count;
    bool by_name;    /* only entries with the input's name are used */
    struct log *log; /* for guesses and conversions; may be NULL */
};

/* Fills `ret` for input `k` and returns 1; returns 0 if `feed` has no tensor for it. A tensor with the exact name is
 * converted, with a warning, if its type differs, and transposed or reshaped if its shape differs but has as many
 * elements; ERR_INVALID if that is impossible. `ret` may refer to the data of `feed`. */
int feed_match(const struct tensor_list *feed, const struct feed_inputs *inputs, size_t k, struct tensor *ret,
               struct error *err);

#endif
