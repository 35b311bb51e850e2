/* cli/debug/accuracy_report.h: the page about a study. */
#ifndef CLI_DEBUG_ACCURACY_REPORT_H
#define CLI_DEBUG_ACCURACY_REPORT_H

#include "cli/options/groups.h"
#include "cli/parse/command.h"
#include "debug/accuracy/study.h"
#include "report/result.h"

/* Writes report.html and report.json, with the answer in `result`, to the folder of the study, and the same to where
 * --report and --report-data say. */
int accuracy_report_write(const struct command_context *context, const struct report_values *values,
                          struct study *study, const struct result *result, struct error *err);

#endif
