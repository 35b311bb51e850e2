/* base/stopwatch.c: wall time. */
#include "base/stopwatch.h"

#include <time.h>

double stopwatch_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
