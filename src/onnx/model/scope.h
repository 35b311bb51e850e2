/* onnx/model/scope.h: the names that bodies of If, Loop, Scan, ... define. What else a body uses is a tensor of the
 * graph around it.
 */
#ifndef ONNX_MODEL_SCOPE_H
#define ONNX_MODEL_SCOPE_H

#include "base/container/name_map.h"
#include "base/text/text.h"
#include "base/error.h"

struct scope {
    struct name_map defined;
    const struct scope *outer; /* the body around this one; NULL: there is only the main graph */
    unsigned depth;            /* 1 for a body of the main graph's nodes */
};

/* Gathers what `body` (a GraphProto) defines itself: inputs, initializers, outputs of its nodes. ERR_CORRUPT when
 * bodies are nested too deep; nothing is to be left then. */
int scope_enter(struct scope *scope, struct span body, const struct scope *outer, struct error *err);
void scope_leave(struct scope *scope);

/* Whether this body or one around it defines the name. `scope` may be NULL: no body does. */
bool scope_defines(const struct scope *scope, struct text name);

#endif
