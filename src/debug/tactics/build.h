/* debug/tactics/build.h: engines as candidates of the session, and `debug build`: one network, built again and again.
 */
#ifndef DEBUG_TACTICS_BUILD_H
#define DEBUG_TACTICS_BUILD_H

#include "debug/candidate/engine_maker.h"
#include "debug/session/session.h"

struct build_session {
    struct engine_maker maker;
    struct log *log;
    struct repetition until; /* what was seen is enough */
    const char *tactics;     /* where those of each build are saved, which the check may look at; NULL: nowhere */
};

/* Builds and checks until that is so. An engine that cannot be built is a failed iteration, which the log
 * tells; but what the next build cannot get right either (a layer or a file that is not there), and an interruption,
 * are errors; and in a settings that only a good engine ends, so are the first builds when all fail alike. */
int build_run(struct build_session *settings, struct debug_session *session, struct error *err);

#endif
