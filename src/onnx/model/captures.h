/* onnx/model/captures.h: what bodies of If, Loop, Scan, ... define, and which tensors of the main graph they use.
 *
 * These are inputs of the node in every sense but the listing: cut one off and the body refers to nothing.
 */
#ifndef ONNX_MODEL_CAPTURES_H
#define ONNX_MODEL_CAPTURES_H

#include "base/container/name_map.h"
#include "base/error.h"

/* Bodies inside bodies; real models have two or three levels. A model with more is refused when it is read, so that
 * every other walk over its bodies may end there. */
#define BODY_MAX_DEPTH 64

/* The names that a body defines. What else it uses is a tensor of the graph around it. */
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

bool captures_attribute_has_graph(struct span attribute);

/* Tells `use` each name of the main graph that the bodies of the NodeProto `node` use, once. `file` is all of the
 * model's bytes, for the place of damage in messages. */
int captures_visit(struct span node, struct span file, void (*use)(void *data, struct text name), void *data,
                   struct error *err);

#endif
