/* onnx/model/captures.h: names that bodies of If, Loop, Scan, ... define, and tensors of the main graph that they
 * capture.
 *
 * Captured tensors are implicit inputs of the node: without them the body is invalid.
 */
#ifndef ONNX_MODEL_CAPTURES_H
#define ONNX_MODEL_CAPTURES_H

#include "base/container/name_map.h"
#include "base/error.h"

/* Maximum nesting of bodies; real models have two or three levels. A deeper model is refused when it is read, so every
 * other walk may stop at this depth. */
#define BODY_MAX_DEPTH 64

/* The names that a body defines. Other names in the body refer to the enclosing graphs. */
struct scope {
    struct name_map defined;
    const struct scope *outer; /* the enclosing body; NULL: the main graph */
    unsigned depth;            /* 1 for a body of the main graph's nodes */
};

/* Collects the names that `body` (a GraphProto) defines: inputs, initializers, outputs of its nodes. ERR_CORRUPT if
 * bodies are nested too deep; scope_leave() must not be called then. */
int scope_enter(struct scope *scope, struct span body, const struct scope *outer, struct error *err);
void scope_leave(struct scope *scope);

/* Whether this body or an enclosing one defines the name; false if `scope` is NULL. */
bool scope_defines(const struct scope *scope, struct text name);

bool captures_attribute_has_graph(struct span attribute);

/* Calls `use` once for each name of the main graph that the bodies of the NodeProto `node` capture. `file` contains all
 * of the model's bytes, for offsets in messages. */
int captures_visit(struct span node, struct span file, void (*use)(void *data, struct text name), void *data,
                   struct error *err);

#endif
