/* cli/debug/tactics_result.h: the answer of `debug tactics`. */
#ifndef CLI_DEBUG_TACTICS_RESULT_H
#define CLI_DEBUG_TACTICS_RESULT_H

#include "debug/tactics/isolation.h"
#include "engine/network/network.h"
#include "report/result.h"

/* Fills the answer. `network`: the layers of the replays. */
void tactics_result_fill(const struct tactic_isolation *isolation, const struct network *network, struct result *ret);

#endif
