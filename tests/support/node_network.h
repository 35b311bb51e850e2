/* support/node_network.h: a network with one layer for each node, made without the code that makes networks; and a way
 * to run it layer by layer, with the provider's first tactic of a given name. For tests of providers. */
#ifndef SUPPORT_NODE_NETWORK_H
#define SUPPORT_NODE_NETWORK_H

#include "engine/tactic/tactic.h"

/* `together`: all nodes form one layer with the model's inputs, initializers and outputs. */
void node_network_init(struct network *network, struct model *model, bool together);
void node_network_release(struct network *network);

/* The tensors of a run, by value of the model; data are NULL if not (yet) computed. */
struct node_values {
    struct tensor *items;
    size_t count;
};

void node_values_init(struct node_values *values, const struct network *network, const struct tensor_list *feed);
void node_values_release(struct node_values *values);

/* Borrows from `values`. Both arrays are layer->inputs.count long. */
void node_layer_inputs(const struct network *network, const struct layer *layer, const struct node_values *values,
                       struct kernel_input *inputs, struct tensor *tensors);

/* Runs one layer with the tactic of that name; NULL: the first one. Outputs go to `values`. */
int node_layer_run(const struct network *network, const struct layer *layer, struct tactic_provider *provider,
                   const char *name, struct node_values *values, struct error *err);

#endif
