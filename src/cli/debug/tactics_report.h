/* cli/debug/tactics_report.h: what `debug tactics` says: before it begins, and what it found. */
#ifndef CLI_DEBUG_TACTICS_REPORT_H
#define CLI_DEBUG_TACTICS_REPORT_H

#include "debug/tactics/isolation.h"

void tactic_isolation_announce(const struct tactic_isolation *isolation, struct log *log);
void tactic_isolation_log(const struct tactic_isolation *isolation, struct log *log);
void tactic_isolation_write(const void *isolation, struct json_writer *writer); /* members of an open object */

#endif
