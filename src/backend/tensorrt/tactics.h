/* backend/tensorrt/tactics.h: tactics of a build: which TensorRT chose, and which it has to choose (up to TensorRT 10).
 */
#ifndef BACKEND_TENSORRT_TACTICS_H
#define BACKEND_TENSORRT_TACTICS_H

#include "backend/tensorrt/interfaces.h"
#include "format/polygraphy/tactic_replay.h"

/* IAlgorithmSelector of a build. */
struct tensorrt_tactics {
    struct tensorrt_interface interface;
    const struct tactic_replay *wanted; /* NULL: TensorRT chooses */
    bool frees_others;                  /* TensorRT chooses for layers that `wanted` lacks; else they are a failure */
    struct tactic_replay *chosen;       /* gets what the build has chosen */
    struct error failure;               /* the first layer whose tactic is not offered; code 0: none */
};

void tensorrt_tactics_init(struct tensorrt_tactics *tactics, const struct tactic_replay *wanted,
                           struct tactic_replay *chosen);

#endif
