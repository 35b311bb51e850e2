/* debug/precision/blocks.h: groups layers into blocks: a change of precision inside of a block would need Casts. */
#ifndef DEBUG_PRECISION_BLOCKS_H
#define DEBUG_PRECISION_BLOCKS_H

#include "engine/network/network.h"

/* For each layer, the number of the first layer in its block. malloc'd. A layer belongs to the block of its producers
 * if that is one block and its inputs have no other consumers: blocks lie between forks and joins of the graph. */
uint32_t *precision_blocks(const struct network *network);

#endif
