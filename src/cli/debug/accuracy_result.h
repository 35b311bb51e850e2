/* cli/debug/accuracy_result.h: the answer of `debug accuracy`. */
#ifndef CLI_DEBUG_ACCURACY_RESULT_H
#define CLI_DEBUG_ACCURACY_RESULT_H

#include "debug/accuracy/study.h"
#include "report/result.h"

/* Fills the answer: the cause with its evidence and fix, and all steps. docs/formats.md describes the JSON document. */
void accuracy_result_fill(const struct study *study, struct result *ret);

#endif
