/* format/ci/sarif.h: findings about one file as SARIF 2.1.0, which code scanning and editors read.
 *
 * It holds what GitHub demands beyond the standard: a help text for each rule, paths relative to the repository with
 * the base %SRCROOT%, a fingerprint that tells a finding from others whatever comes before it, and a line, which is
 * always the first one, because a model has no lines. Where a finding is in truth the logical location says: the node.
 */
#ifndef FORMAT_CI_SARIF_H
#define FORMAT_CI_SARIF_H

#include "base/error.h"
#include "format/polygraphy/lint_report.h"

struct sarif_run {
    const char *version; /* of this program */
    const char *command; /* as it can be typed */
    const char *path;    /* of the file that was looked at */
    const char *folder;  /* absolute: the root of the repository, as a rule where the command runs */
    const struct lint_rule *rules;
    size_t rule_count;
    const struct lint_report *report; /* its entries follow these rules, and no others */
};

/* Writes the file. ERR_IO. */
int sarif_save(const struct sarif_run *run, const char *path, struct error *err);

#endif
