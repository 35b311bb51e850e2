/* engine/network/decisions.h: what was decided while a network was made of a model, by names that switch it off.
 *
 *   folding:constants          what depends on constants alone is computed beforehand
 *   folding:affine@bn1         the node bn1, which scales and shifts channels, goes into the weights before it
 *   fusion:relu@relu1          the node relu1, or those that end with it, are computed with what is before them
 *
 * A kind alone, "fusion:relu", stands for all of that kind, and * ? [] for any characters as in file names. Nodes are
 * called by their labels (node_labels_init()); a node whose name looks like a pattern is meant by its name. A word with
 * NAME_MAY_MISS in front needs not be about anything.
 */
#ifndef ENGINE_NETWORK_DECISIONS_H
#define ENGINE_NETWORK_DECISIONS_H

#include "base/container/name_map.h"
#include "base/log.h"
#include "base/text/names.h"
#include "onnx/model/model.h"

#define FOLDING_OF_CONSTANTS "folding:constants"
#define FOLDING_OF_AFFINE_NODES "folding:affine"

/* What nodes are called. The texts live as long as the model. */
struct node_labels {
    struct text *items;
    size_t count, capacity;
};

/* Labels every node by its name, or "node_of_<first output>": UTF-8 without control characters. */
void node_labels_init(struct node_labels *labels, struct model *model);
void node_labels_release(struct node_labels *labels);

enum decision_state {
    DECISION_TAKEN,
    DECISION_OFF,       /* it would have been taken, but for its name; of constants that is not looked at */
    DECISION_PREVENTED, /* it would have been taken, but for others that are off, or for an output that was marked */
};

struct decision {
    const char *name;  /* unique. Nodes of one name share it */
    const char *kind;  /* the beginning of it, up to the @ */
    struct text label; /* what follows; empty: the decision is about the whole model */
    enum decision_state state;
    const char *layer; /* the one that the node is in; lives as long as the network. NULL: there is none */
};

/* Texts live as long as the model. */
struct network_decisions {
    struct decision *items;
    size_t count, capacity;
    struct model *model;
    struct name_map names;
    struct decision_rule *rules; /* for each word of what is to be off */
    size_t rule_count;
    bool rehearses;
};

/* ERR_INVALID for a word that is about no kind of decision; it names those that are close. */
int network_decisions_init(struct network_decisions *decisions, struct model *model, struct words disabled,
                           struct error *err);
void network_decisions_release(struct network_decisions *decisions);

/* When nodes have their last names, and before anything is asked about one. ERR_INVALID for a word that is about none
 * of them; it names those that are close. */
int network_decisions_set_labels(struct network_decisions *decisions, const struct node_labels *labels,
                                 struct error *err);

/* Whether a word is about this. */
bool network_decisions_are_off(const struct network_decisions *decisions, const char *kind, struct text label);

/* Whether something may be done: `kind` to the node with this label (empty: to the whole model). Notes the answer. In
 * a rehearsal the answer is yes, and what is asked is noted as prevented until it is asked again. */
bool network_decisions_allow(struct network_decisions *decisions, const char *kind, struct text label);
void network_decisions_rehearse(struct network_decisions *decisions, bool rehearses);

/* In the end. ERR_INVALID for a word that has switched off nothing, as nothing like that would have been decided,
 * unless it is about all fusions or all foldings. Where a folding is off that cannot always be told: then that is said
 * in the log (may be NULL). */
int network_decisions_check(const struct network_decisions *decisions, struct log *log, struct error *err);

#endif
