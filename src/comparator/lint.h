/* comparator/lint.h: what is wrong with a model, and at which node.
 *
 * First the graph is checked, without a runtime. If nothing is wrong with it, the whole model runs once. When it does not, and
 * when the graph was not in order, each node runs alone, on what the nodes in front of it have made. What lies behind a
 * node that fails cannot be judged.
 *
 * The runtime is at work in processes of its own (base/warm_process.h), where those can be had: that it crashes is a finding.
 */
#ifndef COMPARATOR_LINT_H
#define COMPARATOR_LINT_H

#include "backend/backend.h"
#include "base/bitset.h"
#include "comparator/data_loader.h"
#include "format/lint_report.h"
#include "onnx/model.h"

struct lint {
    struct model *model; /* its nodes get sorted */
    const struct backend *backend;
    const struct backend_request *request; /* model included */
    struct data_loader *loader;
    struct log *log;
    struct lint_report *report; /* gets what is found, which is also logged */
    char **labels;              /* names of the nodes, made up where they have none */
    const struct bitset *crash; /* nodes on which the runtime crashes, which are not run again; NULL: none are known */
    int events; /* in a process of its own: where findings go in place of report and log. 0: this is not one */
};

/* What a process of its own tells this one, in the order in which it happens. */
enum lint_event {
    LINT_EVENT_FINDING = 'F',
    LINT_EVENT_BEGUN = 'B', /* a node */
    LINT_EVENT_PASSING = 'P',
    LINT_EVENT_END = 'E',
};

/* Checks everything. An error means that the check itself could not be done: data that do not fit, no runtime. */
int lint_run(struct lint *lint, struct error *err);

/* Adds an entry to the report and to the log. `node` is a number, or NODE_NONE when it is about the whole model. */
void lint_add(struct lint *lint, enum lint_level level, enum lint_source source, uint32_t node, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The node passes; it is the next one to run. */
void lint_add_passing(struct lint *lint, uint32_t node);
void lint_add_begun(struct lint *lint, uint32_t node);

/* The first step alone: what needs no runtime. Returns whether the graph is in order. (lint_graph.c) */
bool lint_check_graph(struct lint *lint);

/* Runs the whole model once, on `feed`. The runtime's reason for not doing so is in `err`, not in the report. */
int lint_run_whole(struct lint *lint, const struct tensor_list *feed, struct error *err);

/* Computes the outputs of a session that are tensors: sequences and maps cannot be read, nor handed on. `*ret_any`: there are such
 * outputs; else nothing is run. (lint_nodes.c) */
int lint_run_session(const struct backend *backend, struct backend_session *session, const struct tensor_list *feed,
                     struct tensor_list *ret, bool *ret_any, struct error *err);

/* Does what has to be done with a runtime: the whole model, if the graph is `in_order`, then nodes. `*ret_ran`: the whole model ran. To be
 * called before there are threads. (lint_process.c) */
int lint_run_apart(struct lint *lint, struct tensor_list *feed, bool in_order, bool *ret_ran, struct error *err);

/* The last step alone: every node by itself, fed with `feed` in the beginning, which is emptied. (lint_nodes.c) */
int lint_run_nodes(struct lint *lint, struct tensor_list *feed, struct error *err);

#endif
