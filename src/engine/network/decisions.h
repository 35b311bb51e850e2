/* engine/network/decisions.h: optimizations ("decisions") made while a model was compiled to a network, with names by
 * which they can be disabled.
 *
 *   folding:constants          constant folding
 *   folding:affine@bn1         the node bn1, which scales and shifts channels, is folded into the preceding weights
 *   fusion:relu@relu1          the node relu1, or nodes that end with it, are fused with preceding nodes
 *
 * A kind alone, "fusion:relu", matches all of that kind, and * ? [] are wildcards as in file names. Nodes are named by
 * their labels (node_labels_init()); a label that looks like a pattern also matches literally. A word with prefix
 * NAME_MAY_MISS may match nothing.
 */
#ifndef ENGINE_NETWORK_DECISIONS_H
#define ENGINE_NETWORK_DECISIONS_H

#include "base/container/name_map.h"
#include "base/log.h"
#include "base/text/names.h"
#include "onnx/model/model.h"

#define FOLDING_OF_CONSTANTS "folding:constants"
#define FOLDING_OF_AFFINE_NODES "folding:affine"

/* Labels of nodes. The texts live as long as the model. */
struct node_labels {
    struct text *items;
    size_t count, capacity;
};

/* Labels every node by its name, or "node_of_<first output>": UTF-8 without control characters. */
void node_labels_init(struct node_labels *labels, struct model *model);
void node_labels_release(struct node_labels *labels);

enum decision_state {
    DECISION_TAKEN,
    DECISION_OFF,       /* disabled; for constants not checked whether it would apply */
    DECISION_PREVENTED, /* prevented by other disabled decisions, or by a marked output */
};

struct decision {
    const char *name;  /* unique. Nodes of one name share it */
    const char *kind;  /* the part before the @ */
    struct text label; /* the part after the @; empty: about the whole model */
    enum decision_state state;
    const char *layer; /* the node's layer; lives as long as the network. NULL: none */
};

/* Texts live as long as the model. */
struct network_decisions {
    struct decision *items;
    size_t count, capacity;
    struct model *model;
    struct name_map names;
    struct decision_rule *rules; /* one for each disabled word */
    size_t rule_count;
    bool rehearses;
};

/* ERR_INVALID for a word with an unknown kind, with suggestions. */
int network_decisions_init(struct network_decisions *decisions, struct model *model, struct words disabled,
                           struct error *err);
void network_decisions_release(struct network_decisions *decisions);

/* Sets the final labels of nodes, before any query. ERR_INVALID for a word that matches no node, with suggestions. */
int network_decisions_set_labels(struct network_decisions *decisions, const struct node_labels *labels,
                                 struct error *err);

/* Whether a word disables this decision. */
bool network_decisions_are_off(const struct network_decisions *decisions, const char *kind, struct text label);

/* Whether the decision `kind` may be applied to the node with this label (empty: to the whole model). Records the
 * answer. In a rehearsal the answer is always true, and the decision is recorded as prevented until it is queried
 * again. */
bool network_decisions_allow(struct network_decisions *decisions, const char *kind, struct text label);
void network_decisions_rehearse(struct network_decisions *decisions, bool rehearses);

/* Final check: ERR_INVALID for a word without an effect, because no such decision would have been made, unless it
 * disables all fusions or all foldings. With a disabled folding this cannot always be determined: then it is logged
 * (`log` may be NULL). */
int network_decisions_check(const struct network_decisions *decisions, struct log *log, struct error *err);

#endif
