/* engine/build/layout_wishes.h: which layout the readers of a tensor would like, for choosing among the layers that
 * make it.
 *
 * Layers are built in order, so a tactic's time says nothing about the layers behind it: a kernel that gives a
 * row-major tensor to three convolutions makes each of them reorder it. What that costs is estimated here, from the
 * operators of the readers.
 */
#ifndef ENGINE_BUILD_LAYOUT_WISHES_H
#define ENGINE_BUILD_LAYOUT_WISHES_H

#include "engine/network/network.h"
#include "engine/tactic/layout.h"

struct layout_wishes {
    const struct network *network;
    struct {
        uint32_t row_major, blocked; /* readers */
    } * values;                      /* model->values.count */
};

void layout_wishes_init(struct layout_wishes *wishes, const struct network *network);
void layout_wishes_release(struct layout_wishes *wishes);

/* About how many seconds the readers of `value` will spend on reorders when it has this layout. `bytes` is its size. */
double layout_wishes_cost(const struct layout_wishes *wishes, uint32_t value, const struct layout *layout,
                          size_t bytes);

#endif
