/* debug/check/report.h: what the log says about a check that has ended. */
#ifndef DEBUG_CHECK_REPORT_H
#define DEBUG_CHECK_REPORT_H

#include "base/process/process.h"
#include "debug/check/check.h"

/* A check without a time limit that took longer than this many seconds is worth a hint. */
#define CHECK_LONG_SECONDS 60.0

/* Shows the captured output if it is wanted, and what is odd about the end of the check: that it ran out of time, that
 * its crash counts as a pass, that it took very long. `first`: it is the first check of this session. */
void check_report(const struct check_settings *settings, const struct process_result *result, enum verdict verdict,
                  bool first, struct log *log);

/* Whether check_report() shows all output of a run with this verdict. */
bool check_report_shows_output(const struct check_settings *settings, enum verdict verdict, const struct log *log);

#endif
