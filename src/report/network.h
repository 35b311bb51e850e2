/* report/network.h: the network of a report, as its graph is drawn. */
#ifndef REPORT_NETWORK_H
#define REPORT_NETWORK_H

#include "format/json/writer.h"
#include "onnx/model/model.h"

struct report_network;

struct report_network *report_network_new(void);
void report_network_free(struct report_network *network);

/* Takes over what is drawn of the model's main graph. */
void report_network_set(struct report_network *network, struct model *model);

/* A node, by its label, that the report is about. */
void report_network_add_culprit(struct report_network *network, const char *node);

/* Appends the member "network" to the document; nothing where there is none. */
void report_network_write(struct report_network *network, struct json_writer *document);

#endif
