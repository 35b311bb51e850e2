/* debug/models/transfer.h: a model with parts of another one: the experiment that decides on a difference. */
#ifndef DEBUG_MODELS_TRANSFER_H
#define DEBUG_MODELS_TRANSFER_H

#include "debug/models/differences.h"

/* Copies B and puts A's part in for each difference: its weight, attribute or input, or the nodes that produce a
 * tensor. Nodes of A are copied up to tensors that B has, too: `equal_in_b` has, for each value of A, the value of B
 * with equal content, type and shape, or VALUE_NONE. Values of B keep their numbers and names. B and A must outlive the
 * copy.
 *
 * ERR_UNSUPPORTED if A's part cannot be put in (other operator sets, bodies, an input that B lacks); ERR_CORRUPT if the
 * result has a cycle. */
int model_transfer(const struct model_pairing *pairing, const uint32_t *equal_in_b,
                   const struct model_difference *const *differences, size_t count, struct model **ret,
                   struct error *err);

#endif
