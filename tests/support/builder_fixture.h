/* support/builder_fixture.h: a builder with a fake provider, a small network and a captured log. */
#ifndef SUPPORT_BUILDER_FIXTURE_H
#define SUPPORT_BUILDER_FIXTURE_H

#include "support/build_fixture.h"
#include "support/captured_log.h"

#include "engine/build/builder.h"

#define SLOW 0.03 /* seconds: far more than anything else here takes */

/* Tests change the members between init and build. */
struct builder_fixture {
    struct small_network small;
    struct fake_provider fake;
    struct tactic_provider *providers[1];
    struct builder_settings settings;
    struct captured_log log;
    int fed;
    struct shape given; /* shape of x; rank 0: the requested shape, with 2 for dynamic dimensions */
};

void builder_fixture_init(struct builder_fixture *fixture, struct fake_tactic *tactics, size_t count);
void builder_fixture_release(struct builder_fixture *fixture);

struct engine *builder_fixture_build(struct builder_fixture *fixture); /* fails the test on an error */

/* Builds; fails the test unless that fails with `code` and a message that contains both parts. */
void builder_fixture_fails(struct builder_fixture *fixture, int code, const char *part, const char *another);

/* Fails the test unless these are the tactics of the three layers. */
void builder_fixture_chose(const struct engine *engine, const char *first, const char *second, const char *third);

#endif
