/* debug/loop_log.h: what the loop says about an iteration. */
#ifndef DEBUG_LOOP_LOG_H
#define DEBUG_LOOP_LOG_H

#include "debug/loop.h"
#include "debug/seen_candidates.h"

/* The iteration `number`, counted from 1, begins. */
void loop_log_start(struct log *log, const struct loop_subject *subject, int64_t number);

/* `what` ("Iteration 1") has got its verdict, after so many seconds. */
void loop_log_end(struct log *log, enum verdict verdict, enum log_level fail_level, const char *what, double seconds);

/* The verdict is that of another candidate. */
void loop_log_reuse(struct log *log, const struct loop_subject *subject, const struct seen_candidate *seen);

#endif
