/* cli/inspect/tactic_ranking.h: how `inspect diff-tactics` shows which tactics the evidence speaks against. */
#ifndef CLI_INSPECT_TACTIC_RANKING_H
#define CLI_INSPECT_TACTIC_RANKING_H

#include "debug/tactics/diff.h"

/* Logs the ranking: the leading suspects, and at the verbose level all of them. */
void tactic_ranking_log(const struct tactic_diff *diff, struct log *log);

#endif
