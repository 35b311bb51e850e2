/* debug/session/speculation.h: keeping job slots busy with checks that will probably be needed (search/lookahead.h).
 *
 * The session decides as if it were alone. Here only the work is done that it will ask for: when its turn comes, a
 * check has been running for a while, or has ended. Work that is not needed any more is dropped.
 */
#ifndef DEBUG_SESSION_SPECULATION_H
#define DEBUG_SESSION_SPECULATION_H

#include "debug/session/state.h"

struct speculation;

/* The subject's search is about to ask for the candidate of iteration 0. */
struct speculation *speculation_new(struct debug_session *session, const struct session_subject *subject);
void speculation_free(struct speculation *speculation);

/* The search has got this verdict, and asks for the next candidate now. */
void speculation_advance(struct speculation *speculation, int64_t nodes, enum verdict verdict);

/* Starts what will probably be needed as far as there is room, and drops what will not; not the check that is needed
 * now. */
void speculation_fill(struct speculation *speculation, const struct job_slot *needed);

#endif
