/* debug/check/counts.h: how the runs of a check have ended, and what they have said. */
#ifndef DEBUG_CHECK_COUNTS_H
#define DEBUG_CHECK_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "base/process/process.h"
#include "search/search.h"

struct check_counts {
    int64_t failed;        /* with the failure that is looked for */
    int64_t other_failure; /* with another one (--signature) */
    int64_t passed;
    int64_t skipped; /* by --skip-code or --on-timeout */

    /* Of all those: */
    int64_t timed_out;
    int64_t signaled; /* ended by a signal, but not by running out of time */
};

/* Counts a run that ended like that. `other_failure`: it is why the verdict is VERDICT_SKIP. */
void check_counts_add(struct check_counts *counts, enum process_end end, enum verdict verdict, bool other_failure);

int64_t check_counts_runs(const struct check_counts *counts);

/* Logs all of them in one line, when there is more to be told than how many have failed and passed. */
void check_counts_log(const struct check_counts *counts, struct log *log);

#endif
