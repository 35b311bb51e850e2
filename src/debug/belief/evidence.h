/* debug/belief/evidence.h: the output of the runs of a check.
 *
 * A check that does not work fails like one that works on a bad model. The difference is mostly in its output: it names
 * the reason, and is the same for every candidate.
 */
#ifndef DEBUG_BELIEF_EVIDENCE_H
#define DEBUG_BELIEF_EVIDENCE_H

#include "base/hash.h"
#include "base/process/process.h"
#include "base/text/string_builder.h"

struct check_evidence {
    int64_t runs;
    bool alike; /* all runs had the same exit code and output, ignoring times */

    /* Of the last one: */
    struct hash said; /* hash of exit code and output, ignoring times */
    bool silent;      /* it wrote nothing */
    bool timed_out;
    int code;       /* see check_exit_code() */
    double seconds; /* duration */
    char *line;     /* the most informative line of the output; "" if there was no output, NULL if there was no run */
    char *hidden;   /* the whole output with headings if the log has not shown it, else NULL */
};

void check_evidence_release(struct check_evidence *evidence);

/* Adds a run. `shown`: the log has shown its whole output. */
void check_evidence_add(struct check_evidence *evidence, const struct process_result *result, bool shown);

/* Removes the runs since `before` was copied from the counts; the record of the last run stays. */
void check_evidence_leave_out(struct check_evidence *evidence, const struct check_evidence *before);

/* Appends how the last run terminated: "exit code 2, output: python: can't open file". */
void check_evidence_describe(const struct check_evidence *evidence, struct string_builder *ret);

#endif
