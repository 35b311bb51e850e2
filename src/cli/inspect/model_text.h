/* cli/inspect/model_text.h: a complete model as text, as `inspect model` shows it.
 *
 * The module cli/inspect/ contains the subtools of `inspect`, one file each: they read a model, an engine or data, and
 * write text, or JSON with --json. It may use the shared code of cli/ and its other modules.
 */
#ifndef CLI_INSPECT_MODEL_TEXT_H
#define CLI_INSPECT_MODEL_TEXT_H

#include "base/text/string_builder.h"
#include "engine/network/network.h"
#include "onnx/model/model.h"

struct graph_text_settings {
    bool layers;               /* nodes with their inputs and outputs */
    bool attributes;           /* attributes of nodes, with bodies; only with `layers` */
    bool weights;              /* values of initializers and of tensors in attributes */
    bool ignore_external_data; /* show only the file name of external weights */
};

/* Appends title, inputs, outputs, initializers, nodes and functions. Values of weights in external files are read
 * unless ignored. After an error `out` contains a part of the text. */
int graph_to_text(struct model *model, const struct graph_text_settings *settings, struct string_builder *out,
                  struct error *err);

/* Appends the network of an engine in the same form: layers instead of nodes, with the nodes of each layer. */
int network_to_text(const struct network *network, const struct graph_text_settings *settings,
                    struct string_builder *out, struct error *err);

#endif
