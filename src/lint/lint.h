/* lint/lint.h: what is wrong with a model, and at which node.
 *
 * The module lint/ is the work of `check lint`: in come a model and a backend, out goes a list of findings. It may use
 * models, backends and input data, and prints nothing.
 *
 * First the graph is checked, without a runtime. If nothing is wrong with it, the whole model runs once. When it does
 * not, and when the graph was not in order, each node runs alone, on what the nodes in front of it have made. What lies
 * behind a node that fails cannot be judged.
 *
 * With a backend that is at work in a process of its own (backend/onnxrt/apart/backend.h) it is a finding, too, that
 * the runtime crashes on a node, or does not come to an end within its bounds.
 */
#ifndef LINT_LINT_H
#define LINT_LINT_H

#include "backend/backend.h"
#include "comparator/data/loader.h"
#include "lint/rules.h"
#include "onnx/model/model.h"

struct lint {
    struct model *model; /* its nodes get sorted */
    const struct backend *backend;
    const struct backend_request *request; /* model included */
    struct data_loader *loader;
    struct log *log;
    struct lint_report *report; /* gets what is found, which is also logged */
    char **labels;              /* names of the nodes, made up where they have none */
};

/* Checks everything. An error means that the check itself could not be done: data that do not fit, no runtime. */
int lint_run(struct lint *lint, struct error *err);

/* Adds an entry to the report and to the log. `node` is a number, or NODE_NONE when it is about the whole model. */
void lint_add(struct lint *lint, enum lint_rule_number rule, uint32_t node, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The node passes; it is the next one to run. */
void lint_add_passing(struct lint *lint, uint32_t node);

/* The first step alone: what needs no runtime. Returns whether the graph is in order. (graph.c) */
bool lint_check_graph(struct lint *lint);

/* Computes the outputs of a session that are tensors: sequences and maps cannot be read, nor handed on. `*ret_any`:
 * there are such outputs; else nothing is run. (nodes.c) */
int lint_run_session(const struct backend *backend, struct backend_session *session, const struct tensor_list *feed,
                     struct tensor_list *ret, bool *ret_any, struct error *err);

/* The last step alone: every node by itself, fed with `feed` in the beginning, which is emptied. (nodes.c) */
int lint_run_nodes(struct lint *lint, struct tensor_list *feed, struct error *err);

#endif
