/* cli/run/report.h: the HTML report of `run --report`: the verdict, all tensors with their ranges and errors, and
 * histograms of values and errors of failing outputs.
 *
 * In a report the second of two results is the reference, as for relative differences.
 */
#ifndef CLI_RUN_REPORT_H
#define CLI_RUN_REPORT_H

#include "cli/parse/command.h"
#include "cli/run/divergence.h"
#include "report/report.h"

/* Draws an output that does not match while its values are in memory; only the first few are drawn. `report` may be
 * NULL. */
void run_page_add_comparison(struct report *report, size_t *drawn, const struct compared_outputs *compared);

/* What a report is made of. */
struct run_outcome {
    bool passed, validated;
    struct model *file;        /* the model as its file has it; NULL: not known */
    const struct model *model; /* model of the findings; NULL: no findings */
    const struct run_report *results;
    const struct divergence_findings *findings;
};

void run_page_fill(struct report *report, const struct run_outcome *outcome);

#endif
