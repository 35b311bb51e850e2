/* cli/debug/passes/assignment.h: which nodes a provider of ONNX Runtime runs, as decisions.
 *
 * ASSIGNMENT_KIND:OPERATOR@LABEL: the provider runs this node. Disabled, the processor does
 * (backend/onnxrt/assignment.h). */
#ifndef CLI_DEBUG_PASSES_ASSIGNMENT_H
#define CLI_DEBUG_PASSES_ASSIGNMENT_H

#include "cli/debug/passes/runner.h"

/* Only on request: all nodes of the model, in its order. */
extern const struct decision_source assignment_source;

#endif
