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
    } * items;
    size_t count, capacity;
};

/* To be released. */
struct rewritten_nodes {
    struct rewritten_list before, after; /* of the model without the decision; of the one with it */
    struct arena arena;                  /* of texts */
};

/* A node is the same in both when operator, domain and names of inputs and outputs are. Bodies of nodes are not
 * looked into. */
void rewritten_nodes_find(struct model *without, struct model *with, struct rewritten_nodes *ret);
void rewritten_nodes_release(struct rewritten_nodes *nodes);

#endif
