/* cli/run/blamed_nodes.h: what --first-divergence says about the nodes that it has found. */
#ifndef CLI_RUN_BLAMED_NODES_H
#define CLI_RUN_BLAMED_NODES_H

#include "comparator/data/loader.h"
#include "onnx/model/subgraph.h"

struct blamed_nodes {
    struct model *model; /* with all tensors as outputs */
    const struct backend *backend;
    const struct backend_request *request; /* options */
    struct data_loader *loader;
    struct log *log;
};

void blamed_nodes_log_differing(const struct blamed_nodes *blamed, const struct value_list *nodes);

/* Runs the model up to the first node again, to show what went into it. */
int blamed_nodes_log_invalid(const struct blamed_nodes *blamed, const struct value_list *nodes, struct error *err);

#endif
