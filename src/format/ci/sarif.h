/* format/ci/sarif.h: findings about one file as SARIF 2.1.0, which code scanning and editors read.
 *
 * It includes what GitHub requires beyond the standard: a help text for each rule, paths relative to the repository
 * with the base %SRCROOT%, a fingerprint that identifies a finding independently of its position, and a line, always 1,
 * because a model has no lines. The logical location contains the actual place: the node.
 */
#ifndef FORMAT_CI_SARIF_H
#define FORMAT_CI_SARIF_H

#include "base/error.h"
#include "format/polygraphy/lint_report.h"

struct sarif_run {
    const char *version; /* of this program */
    const char *command; /* as it can be typed */
    const char *path;    /* of the checked file */
    const char *folder;  /* absolute path of the repository's root, usually the working directory */
    const struct lint_rule *rules;
    size_t rule_count;
    const struct lint_report *report; /* its entries refer to these rules only */
};

/* Writes the file. ERR_IO. */
int sarif_save(const struct sarif_run *run, const char *path, struct error *err);

#endif
