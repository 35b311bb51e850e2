/* debug/session/speculation.h: runs checks speculatively that will probably be needed (search/lookahead.h).
 *
 * The session's decisions do not depend on it: when a candidate's turn comes, its check already runs or has finished.
 * Checks that are no longer needed are dropped.
 */
#ifndef DEBUG_SESSION_SPECULATION_H
#define DEBUG_SESSION_SPECULATION_H

#include "debug/session/state.h"

struct speculation;

/* Begins before the subject's search asks for the candidate of iteration 0. */
struct speculation *speculation_new(struct debug_session *session, const struct session_subject *subject);
void speculation_free(struct speculation *speculation);

/* Called after the search has received this verdict, before it asks for the next candidate. */
void speculation_advance(struct speculation *speculation, int64_t nodes, enum verdict verdict);

/* Starts probable checks if there is room, and drops improbable ones; never the one that is needed now. */
void speculation_fill(struct speculation *speculation, const struct job_slot *needed);

#endif
