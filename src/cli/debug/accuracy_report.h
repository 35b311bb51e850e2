/* cli/debug/accuracy_report.h: the page about an investigation. */
#ifndef CLI_DEBUG_ACCURACY_REPORT_H
#define CLI_DEBUG_ACCURACY_REPORT_H

#include "cli/options/groups.h"
#include "cli/parse/command.h"
#include "debug/accuracy/investigation.h"

/* Writes report.html and report.json to the folder of the investigation, and the same to where --report and
 * --report-data say. */
int accuracy_report_write(const struct command_context *context, const struct report_values *values,
                          struct investigation *investigation, struct error *err);

#endif
