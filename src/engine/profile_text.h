/* engine/profile_text.h: where the time of an engine goes, for people (--profile). */
#ifndef ENGINE_PROFILE_TEXT_H
#define ENGINE_PROFILE_TEXT_H

#include "engine/run/executor.h"

/* One table: milliseconds of a run, share, precision, tactic and name of each layer, the longest first. Nothing
 * before a run was profiled. */
void engine_log_profile(const struct engine *engine, const struct executor *executor, struct log *log);

#endif
