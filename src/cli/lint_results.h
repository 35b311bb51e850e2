/* cli/lint_results.h: what `check lint` says to systems of continuous integration: SARIF, and test cases. */
#ifndef CLI_LINT_RESULTS_H
#define CLI_LINT_RESULTS_H

#include "cli/parse/command.h"
#include "lint/rules.h"

/* A test for each rule, in the context's: it fails when the rule was broken, passes when only warned of, with the
 * warnings, and is skipped when it could not be applied. Does nothing without --junit. */
void lint_results_add_tests(const struct command_context *context, const struct lint_report *report);

/* The findings as SARIF, at `path` (NULL: not wanted). ERR_IO. */
int lint_results_save_sarif(const struct command_context *context, const struct lint_report *report, const char *model,
                            const char *path, struct error *err);

#endif
