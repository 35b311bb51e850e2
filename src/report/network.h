/* report/network.h: the network of a report: what is known of it, and how its graph is drawn. */
#ifndef REPORT_NETWORK_H
#define REPORT_NETWORK_H

#include "base/log.h"
#include "format/json/writer.h"
#include "onnx/model/model.h"

struct report_network;

struct report_network *report_network_new(void);
void report_network_free(struct report_network *network);

/* Takes over what is drawn of the model's main graph. */
void report_network_set(struct report_network *network, struct model *model);

/* A node, by its label, that the report is about. */
void report_network_add_culprit(struct report_network *network, const char *node);

/* A tensor that differs. The node that makes the first one of them is a culprit when no other is known. */
void report_network_add_bad_tensor(struct report_network *network, const char *tensor);

/* Nodes, by their labels, that one layer of an engine computes. */
void report_network_add_layer(struct report_network *network, const struct words *nodes);

/* Appends the member "network" to the document; nothing where there is none. Has the graph laid out, and says in the
 * log why that was not possible. ERR_INTERRUPTED is the only failure. */
int report_network_write(struct report_network *network, struct json_writer *document, struct log *log,
                         struct error *err);

#endif
