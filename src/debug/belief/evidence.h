/* debug/belief/evidence.h: what the runs of a check have written.
 *
 * A check that does not work at all fails like one that works on a bad model. What tells them apart is mostly in what
 * it writes: why it could not do its work, and that this is the same for every candidate.
 */
#ifndef DEBUG_BELIEF_EVIDENCE_H
#define DEBUG_BELIEF_EVIDENCE_H

#include "base/hash.h"
#include "base/process/process.h"
#include "base/text/string_builder.h"

struct check_evidence {
    int64_t runs;
    bool alike; /* all of them have ended with the same code and have written the same, apart from times */

    /* Of the last one: */
    struct hash said; /* the same for the same code and the same text, apart from times */
    bool silent;      /* it wrote nothing */
    bool timed_out;
    int code;       /* see check_exit_code() */
    double seconds; /* how long it ran */
    char *line;     /* the line that says most about why it failed; "" when it wrote nothing. NULL: there was no run */
    char *hidden;   /* all that it wrote, with headings, when the log has not shown that; else NULL */
};

void check_evidence_release(struct check_evidence *evidence);

/* Adds a run. `shown`: the log has shown all of its output. */
void check_evidence_add(struct check_evidence *evidence, const struct process_result *result, bool shown);

/* Runs since `before` was copied from the evidence count as if they had not been, but for what is kept of the last
 * one. */
void check_evidence_leave_out(struct check_evidence *evidence, const struct check_evidence *before);

/* Appends how the last run ended: "it ended with code 2, and wrote: python: can't open file". */
void check_evidence_describe(const struct check_evidence *evidence, struct string_builder *ret);

#endif
