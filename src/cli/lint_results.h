/* cli/lint_results.h: the results of `check lint` for CI systems: SARIF, and test cases. */
#ifndef CLI_LINT_RESULTS_H
#define CLI_LINT_RESULTS_H

#include "cli/parse/command.h"
#include "lint/rules.h"

/* Adds a test case for each rule to the context's: it fails if the rule was violated, passes with the warnings if there
 * are only warnings, and is skipped if the rule was not applied. Does nothing without --junit. */
void lint_results_add_tests(const struct command_context *context, const struct lint_report *report);

/* Writes the findings as SARIF to `path` (NULL: does nothing). Fails with ERR_IO. */
int lint_results_save_sarif(const struct command_context *context, const struct lint_report *report, const char *model,
                            const char *path, struct error *err);

#endif
