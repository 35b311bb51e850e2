/* debug/session/progress.h: how far a debugging session is, for whoever shows it to people.
 *
 * The session tells, and does not care whether anybody looks. It may tell as often as it likes: whoever shows it
 * decides how often to draw.
 */
#ifndef DEBUG_SESSION_PROGRESS_H
#define DEBUG_SESSION_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct session_progress {
    int64_t done;             /* checks that have ended */
    int64_t expected;         /* that are thought to come yet, running ones included; -1: not known */
    bool exact;               /* there will be exactly as many */
    int64_t nodes_now;        /* of the smallest model that was seen to fail; -1: not known, or there is no model */
    int64_t nodes_whole;      /* of the original; -1 likewise */
    int running;              /* checks at the same time, at least 1 */
    double seconds_per_check; /* mean over those that have ended; 0: not known */
};

#endif
