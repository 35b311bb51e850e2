/* cli/run/junit.h: test cases of `run --junit`: one for each comparison of two outputs, and for each output that was
 * checked for NaN and infinities, or only computed.
 */
#ifndef CLI_RUN_JUNIT_H
#define CLI_RUN_JUNIT_H

#include "comparator/compare/run_report.h"
#include "format/ci/junit.h"

/* `junit` may be NULL. */
void run_junit_fill(struct junit *junit, const struct run_report *results);

#endif
