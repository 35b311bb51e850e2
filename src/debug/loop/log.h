/* debug/loop/log.h: what the loop says about an iteration. */
#ifndef DEBUG_LOOP_LOG_H
#define DEBUG_LOOP_LOG_H

#include "debug/loop/loop.h"
#include "debug/loop/seen_candidates.h"

/* The iteration `number`, counted from 1, begins. */
void loop_log_start(struct log *log, const struct loop_subject *subject, int64_t number);

/* What has got a verdict. A failure apart from the iterations is what is hoped for as often as not: no reason for the
 * level of an error; and controls are about the check. */
enum checked { CHECKED_CANDIDATE, CHECKED_APART, CHECKED_CONTROL };

/* `what` ("Iteration 1") has got its verdict, after so many seconds. */
void loop_log_end(struct log *log, enum verdict verdict, enum checked what_it_was, const char *what, double seconds);

/* The verdict is that of another candidate. */
void loop_log_reuse(struct log *log, const struct loop_subject *subject, const struct seen_candidate *seen);

#endif
