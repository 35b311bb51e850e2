/* debug/tactics/build.h: `debug build`: builds an engine of a network repeatedly, as candidates of a session. */
#ifndef DEBUG_TACTICS_BUILD_H
#define DEBUG_TACTICS_BUILD_H

#include "debug/candidate/engine_maker.h"
#include "debug/session/session.h"

struct build_session {
    struct engine_maker maker;
    struct log *log;
    struct repetition until; /* when to stop */
    const char *tactics;     /* path for the tactics of each build, which the check may read; NULL: not saved */
};

/* Builds and checks engines until `until` is satisfied. An engine that cannot be built is a failed iteration, which is
 * logged; errors are those that the next build would repeat (an unsupported layer, a missing file), an interruption,
 * and, if only a good engine ends the session, equal failures of all first builds. */
int build_run(struct build_session *settings, struct debug_session *session, struct error *err);

#endif
