/* base/stopwatch.h: wall time that no clock change disturbs. */
#ifndef BASE_STOPWATCH_H
#define BASE_STOPWATCH_H

/* Seconds since an arbitrary fixed moment (CLOCK_MONOTONIC). */
double stopwatch_now(void);

#endif
