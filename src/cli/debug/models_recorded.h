/* cli/debug/models_recorded.h: the answer of `debug models --load-outputs`. */
#ifndef CLI_DEBUG_MODELS_RECORDED_H
#define CLI_DEBUG_MODELS_RECORDED_H

#include "debug/models/recorded.h"
#include "report/result.h"

/* Returns whether the outputs agree. */
bool models_recorded_fill(const struct recorded_study *study, struct result *result);

#endif
