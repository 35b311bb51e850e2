/* support/build_fixture.h: a provider and a network for tests of the builder.
 *
 * The kernels of the provider add 1 to their first input, whatever the layer's operation; they can be slow or fail. The
 * network:
 *
 *   x -> first: Neg -> a -> second: Neg -> b -> third: MatMul with w -> y
 *
 * x, a, b and y are 2 x 3 float32, w is 3 x 3. `rows` may be -1: then the first dimension of x is dynamic. */
#ifndef SUPPORT_BUILD_FIXTURE_H
#define SUPPORT_BUILD_FIXTURE_H

#include "engine/network/compile.h"
#include "engine/tactic/tactic.h"

struct fake_tactic {
    const char *name;
    double seconds;        /* minimum time of a run */
    const char *layout;    /* of first input and output; NULL: row-major */
    const char *for_layer; /* NULL: all layers */
    bool create_fails, run_fails;
    int created, runs; /* number of calls */
};

struct fake_provider {
    struct tactic_provider provider;
    struct fake_tactic *tactics;
    size_t count;
    int created, alive; /* kernels */
};

void fake_provider_init(struct fake_provider *fake, struct fake_tactic *tactics, size_t count);

struct small_network {
    struct string_builder bytes;
    struct network *network;
};

void small_network_init(struct small_network *small, int64_t rows);
void small_network_release(struct small_network *small);

#endif
