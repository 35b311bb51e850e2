/* debug/session/artifacts.h: moves artifacts of a check to good/, bad/ and skipped/ (docs/coming-from-polygraphy.md,
 * "Artifacts"). */
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
    const char *folder;                   /* "polygraphy_artifacts" */
    time_t started;                       /* start of the session, part of every name; session_new() replaces a 0 */
    struct candidate_paths usual, actual; /* an artifact with a usual path has the actual one in this iteration */
};

/* Moves each artifact to <folder>/<good|bad>/<base>_<date>_<time><key><ext>. A missing artifact is logged as an error
 * and skipped. Further artifacts with the same basename get "_2", "_3" ... before the key. If the name is taken, for
 * instance by a session that began in the same second, the next free number is used: nothing is overwritten or left.
 * The timing cache of a tactic replay (TACTIC_REPLAY_CACHE_SUFFIX) moves with it. */
int artifacts_sort(const struct artifact_settings *settings, enum verdict verdict, const char *key, struct log *log,
                   struct error *err);

/* The same after an iteration without a check, so that files of a failed attempt are not attributed to the next
 * iteration. Missing artifacts are not an error. */
int artifacts_sort_leftovers(const struct artifact_settings *settings, enum verdict verdict, const char *key,
                             struct log *log, struct error *err);

#endif
