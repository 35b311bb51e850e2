/* comparator/compare/pairing.h: which output of one result belongs to which output of another:
 * docs/coming-from-polygraphy.md, "Pairing outputs". */
#ifndef COMPARATOR_COMPARE_PAIRING_H
#define COMPARATOR_COMPARE_PAIRING_H

#include "tensor/values/tensor.h"

struct output_pair {
    const struct named_tensor *first, *second;
};

/* Outputs of one result without a partner in the other one. */
struct lonely {
    size_t count;
    struct string_builder names; /* of the first few, see name_list_add() */
};

struct pairing {
    struct output_pair *items; /* in the order of the first result */
    size_t count, capacity;
    struct lonely first_alone, second_alone;
};

/* The partner of an output is the one with its name; else the first one whose name holds it or is held by it, ignoring
 * case; else the one at the same position. But an output never gets a partner that belongs to another one by its
 * name. `by_name`: the one with its name, or none. */
void pairing_init(struct pairing *pairing, const struct tensor_list *first, const struct tensor_list *second,
                  bool by_name);
void pairing_release(struct pairing *pairing);

/* Two that were no partners after all: both count as alone. The pair stays where it is. */
void pairing_part(struct pairing *pairing, const struct output_pair *pair);

/* True when the two have the same name. */
bool output_pair_is_exact(const struct output_pair *pair);

#endif
