/* backend/node_support.h: which nodes of a model a backend can run, one by one. */
#ifndef BACKEND_NODE_SUPPORT_H
#define BACKEND_NODE_SUPPORT_H

#include "backend/backend.h"
#include "onnx/subgraph.h"

struct node_support {
    uint32_t node;
    char *reason; /* why the backend refuses it, one line; NULL: it does not */
};

struct node_support_list {
    struct node_support *items;
    size_t count, capacity;
};

/* Loads every node of `subgraph` as a model of its own; nothing is run. Types of tensors that the model does not describe
 * are learnt on the way and become part of it; a node that reads a tensor whose type stays unknown is refused for that
 * reason. `ret` is in the order of nodes and the caller's to release. `request` gives library and custom operators. */
int node_support_find(const struct subgraph *subgraph, const struct backend *backend,
                      const struct backend_request *request, struct node_support_list *ret, struct error *err);
void node_support_release(struct node_support_list *list);

#endif
