/* cli/inspect/network.h: the network of an engine, before any tactic is chosen, as `inspect model --display-as trt`
 * shows it. */
#ifndef CLI_INSPECT_NETWORK_H
#define CLI_INSPECT_NETWORK_H

#include "cli/inspect/model_text.h"
#include "cli/options/groups.h"
#include "cli/parse/command.h"
#include "engine/network/network.h"
#include "format/json/writer.h"

/* Shows the network from which the engine of `--trt` is built, and saves it as JSON with --json: inputs, outputs, and
 * layers with their nodes. Takes ownership of the model. */
int inspect_network(const struct command_context *context, const struct model_file_settings *file,
                    const struct json_values *json, struct model *model, const struct graph_text_settings *settings,
                    struct error *err);

/* Adds a list of tensor names as a member, "" for omitted ones. */
void network_write_values(struct json_writer *writer, const char *key, const struct network *network,
                          const struct value_list *values);

/* Adds the members "nodes", "inputs" and "outputs" of a layer. */
void network_write_layer_members(struct json_writer *writer, const struct network *network, const struct layer *layer);

#endif
