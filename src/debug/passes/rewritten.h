/* debug/passes/rewritten.h: which nodes a decision has replaced by which: of two models as a runtime has rewritten
 * them, one without the decision, what only one of them has.
 */
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
    struct rewritten_list before, after; /* of the model without the decision; of the one with it */
    uint32_t regions;                    /* how many there are; 0: not known */
    struct arena arena;                  /* of texts */
};

/* A node is the same in both when operator, domain and names of inputs and outputs are. Bodies of nodes are not
 * looked into. Nodes are of one region when one reads what the other makes, or when one makes in one model what the
 * other makes in the other. */
void rewritten_nodes_find(struct model *without, struct model *with, struct rewritten_nodes *ret);
void rewritten_nodes_release(struct rewritten_nodes *nodes);

#endif
