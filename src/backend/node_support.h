/* backend/node_support.h: which nodes of a model a backend can run, one by one. */
#ifndef BACKEND_NODE_SUPPORT_H
#define BACKEND_NODE_SUPPORT_H

#include "backend/backend.h"
#include "onnx/model/model.h"

/* A node that is refused inside of a function of the model. */
struct inner_refusal {
    char *stack;   /* "call (Function) -> inner_call (Other)": the calls that lead to it, outermost first */
    char *op_type; /* the node's own, as are the two others */
    char *name;    /* or operator and number, where it has none */
    char *reason;
};

struct node_support {
    uint32_t node;
    char *reason; /* why the backend refuses it, one line; NULL: it does not */
    struct { /* of a node that calls a function: the nodes inside that are refused; empty: the reason is the call's */
        struct inner_refusal *items;
        size_t count, capacity;
    } inside;
};

struct node_support_list {
    struct node_support *items;
    size_t count, capacity;
    size_t not_looked_into; /* refused calls of functions, because there are too many: their reasons are the calls' */
};

/* Loads every node of `model` as a model of its own; nothing is run. Types of tensors that the model does not
 * describe are learnt on the way and become part of it; a node that reads a tensor whose type stays unknown is refused
 * for that reason. Where a call of the model's own function is refused, the function is looked into, each call by
 * itself, up to a thousand of them: functions of a small model can call each other any number of times. `ret` is in the
 * order of nodes and the caller's to release. `request` gives library and custom operators. */
int node_support_find(struct model *model, const struct backend *backend, const struct backend_request *request,
                      struct node_support_list *ret, struct error *err);
void node_support_release(struct node_support_list *list);

#endif
