/* debug/session/artifacts.h: moving what a check leaves behind into good/, bad/ and
 * skipped/ (docs/coming-from-polygraphy.md, "Artifacts"). */
#ifndef DEBUG_SESSION_ARTIFACTS_H
#define DEBUG_SESSION_ARTIFACTS_H

#include <stddef.h>
#include <time.h>

#include "base/error.h"
#include "base/log.h"
#include "base/text/text.h"
#include "debug/candidate/place.h"
#include "search/search.h"

struct artifact_settings {
    struct words paths;
    const char *folder; /* "polygraphy_artifacts" */
    time_t started;     /* of the session: its date and time are part of every name. session_new() fills in a 0 */
    struct candidate_paths usual, actual; /* an artifact at a usual path is at the actual one in this iteration */
};

/* Moves each artifact to <folder>/<good|bad>/<base>_<date>_<time><key><ext>. A missing artifact is logged as an error
 * and skipped. Of several artifacts with one basename the second gets "_2" before its key, and so on. Where the name is
 * taken, as by a session that began in the same second, the next free number is used: nothing is overwritten, nothing
 * stays behind. The timing cache beside a tactic replay (TACTIC_REPLAY_CACHE_SUFFIX) goes with it. */
int artifacts_sort(const struct artifact_settings *settings, enum verdict verdict, const char *key, struct log *log,
                   struct error *err);

/* The same after an iteration without a check: what a failed attempt left behind must not be taken for the next
 * iteration's. Missing artifacts are no error here. */
int artifacts_sort_leftovers(const struct artifact_settings *settings, enum verdict verdict, const char *key,
                             struct log *log, struct error *err);

#endif
