/* debug/session/progress.h: progress of a debugging session, for display.
 *
 * The session reports as often as it likes; the receiver decides how often to draw.
 */
#ifndef DEBUG_SESSION_PROGRESS_H
#define DEBUG_SESSION_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct session_progress {
    int64_t done;             /* finished checks */
    int64_t expected;         /* expected remaining checks, including running ones; -1: unknown */
    bool exact;               /* `expected` is exact */
    int64_t nodes_now;        /* of the smallest failing model; -1: unknown, or no model */
    int64_t nodes_whole;      /* of the original; -1: likewise */
    int running;              /* parallel checks, at least 1 */
    double seconds_per_check; /* mean of finished checks; 0: unknown */
};

#endif
