/* debug/passes/rewritten.h: nodes that an optimization replaces: the difference of two models as rewritten by a
 * runtime, without and with the optimization. */
#ifndef DEBUG_PASSES_REWRITTEN_H
#define DEBUG_PASSES_REWRITTEN_H

#include "base/container/arena.h"
#include "base/text/text.h"
#include "onnx/model/model.h"

struct rewritten_list {
    struct {
        const char *name, *op_type;
        uint32_t region; /* 0, 1, ...: nodes before and after with the same number replace each other */
    } * items;
    size_t count, capacity;
};

/* To be released. */
struct rewritten_nodes {
    struct rewritten_list before, after; /* in the model without, and with the optimization */
    uint32_t regions;                    /* number of regions; 0: unknown */
    struct arena arena;                  /* of texts */
};

/* A node is the same in both if operator, domain and names of inputs and outputs are equal. Subgraphs of nodes are
 * ignored. Nodes belong to one region if one consumes an output of the other, or if both produce the same tensor in
 * their models. */
void rewritten_nodes_find(struct model *without, struct model *with, struct rewritten_nodes *ret);
void rewritten_nodes_release(struct rewritten_nodes *nodes);

#endif
