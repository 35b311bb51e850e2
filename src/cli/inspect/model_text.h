/* cli/inspect/model_text.h: a whole model as text, as `inspect model` shows it. */
#ifndef CLI_INSPECT_MODEL_TEXT_H
#define CLI_INSPECT_MODEL_TEXT_H

#include "base/text/string_builder.h"
#include "engine/network/network.h"
#include "onnx/model/model.h"

struct graph_text_settings {
    bool layers;               /* nodes, and what they read and make */
    bool attributes;           /* of the nodes, bodies included; only with `layers` */
    bool weights;              /* values of initializers and of tensors in attributes */
    bool ignore_external_data; /* of those in other files, only the file's name */
};

/* Appends headline, inputs, outputs, initializers, nodes and functions. Weights in external files are read for their
 * values, unless they are to be ignored. On an error `out` holds a part. */
int graph_to_text(struct model *model, const struct graph_text_settings *settings, struct string_builder *out,
                  struct error *err);

/* Appends the network of an engine in the same way: its layers in place of nodes, and the nodes that each layer holds,
 * unless each is a node (`are_nodes`). */
int network_to_text(const struct network *network, const struct graph_text_settings *settings, bool are_nodes,
                    struct string_builder *out, struct error *err);

#endif
