/* comparator/compare/pairing.h: pairs the outputs of two results: docs/coming-from-polygraphy.md, "Pairing outputs". */
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

/* The partner of an output is the one with the same name; else the first one whose name contains it or is contained in
 * it, ignoring case; else the one at the same position. An output never gets a partner whose name matches another
 * output. `by_name`: only equal names are paired. Outputs that
 * `ignored` names (name_rule_covers()) are neither paired nor counted. */
void pairing_init(struct pairing *pairing, const struct tensor_list *first, const struct tensor_list *second,
                  bool by_name, const struct words *ignored);
void pairing_release(struct pairing *pairing);

/* Separates a pair: both outputs count as unpaired. The pair stays in the list. */
void pairing_part(struct pairing *pairing, const struct output_pair *pair);

/* Whether both have the same name. */
bool output_pair_is_exact(const struct output_pair *pair);

#endif
