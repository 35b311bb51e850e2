/* engine/build/layout_wishes.h: layouts preferred by the consumers of a tensor, for selecting the tactic of its
 * producer.
 *
 * Layers are built in order, so a tactic's time does not include costs in later layers: if a kernel passes a row-major
 * tensor to three convolutions, each of them must reorder it. This cost is estimated here from the operators of the
 * consumers.
 */
#ifndef ENGINE_BUILD_LAYOUT_WISHES_H
#define ENGINE_BUILD_LAYOUT_WISHES_H

#include "engine/network/network.h"
#include "engine/tactic/layout.h"

struct layout_wishes {
    const struct network *network;
    struct {
        uint32_t row_major, blocked; /* number of consumers */
    } * values;                      /* model->values.count */
};

void layout_wishes_init(struct layout_wishes *wishes, const struct network *network);
void layout_wishes_release(struct layout_wishes *wishes);

/* Estimated seconds that the consumers of `value` spend on reorders if it has this layout. `bytes` is its size. */
double layout_wishes_cost(const struct layout_wishes *wishes, uint32_t value, const struct layout *layout,
                          size_t bytes);

#endif
