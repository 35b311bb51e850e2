/* debug/precision/blocks.h: layers that belong together: a change of precision between them would need Casts. */
#ifndef DEBUG_PRECISION_BLOCKS_H
#define DEBUG_PRECISION_BLOCKS_H

#include "engine/network/network.h"

/* Of each layer, the number of the first one in its block, malloc'd. A layer belongs to the block of the layers that it
 * reads from if that is one block, and nobody else reads what it reads: so blocks are what lies between forks and joins
 * of the graph. */
uint32_t *precision_blocks(const struct network *network);

#endif
