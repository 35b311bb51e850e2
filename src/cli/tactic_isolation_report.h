/* cli/tactic_isolation_report.h: what `debug tactics` says: before it begins, and what it found. */
#ifndef CLI_TACTIC_ISOLATION_REPORT_H
#define CLI_TACTIC_ISOLATION_REPORT_H

#include "debug/tactic_isolation.h"

void tactic_isolation_announce(const struct tactic_isolation *isolation, struct log *log);
void tactic_isolation_log(const struct tactic_isolation *isolation, struct log *log);
int tactic_isolation_save(const struct tactic_isolation *isolation, const char *path, struct error *err); /* as JSON */

#endif
