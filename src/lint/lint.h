/* lint/lint.h: finds problems of a model and the nodes that cause them.
 *
 * The module lint/ implements `check lint`: it checks a model, also with a backend, and returns a list of findings. It
 * depends on models, backends and input data, and prints nothing.
 *
 * First the graph is checked without a runtime. If it is valid, the whole model runs once. If that fails, or the graph
 * was invalid, each node runs alone on the outputs of the preceding nodes. Descendants of a failing node cannot be
 * checked.
 *
 * With a backend in a separate process (backend/onnxrt/apart/backend.h), a crash of the runtime on a node, or exceeding
 * its limits, is also a finding.
 */
#ifndef LINT_LINT_H
#define LINT_LINT_H

#include "backend/backend.h"
#include "comparator/data/loader.h"
#include "lint/groups.h"
#include "lint/rules.h"
#include "onnx/model/model.h"

struct lint {
    struct model *model; /* its nodes get sorted */
    const struct backend *backend;
    const struct backend_request *request; /* model included */
    struct data_loader *loader;
    struct log *log;
    struct lint_report *report; /* receives the findings, which are also logged */
    char **labels;              /* names of the nodes; generated for nodes without a name */
    struct lint_groups groups;  /* of findings that are nearly equal */

    /* Data are generated, and not proven valid: a failure at run time is no finding about the model. */
    bool data_are_uncertain;
    bool failed_at_run; /* there was such a failure */
};

/* Runs all checks. An error means that the check itself was impossible: unsuitable data, no runtime. */
int lint_run(struct lint *lint, struct error *err);

/* Adds an entry to the report and to the log. `node` is an index, or NODE_NONE for the whole model. */
void lint_add(struct lint *lint, enum lint_rule_number rule, uint32_t node, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Records that a node passes. */
void lint_add_passing(struct lint *lint, uint32_t node);

/* The first step: checks without a runtime. Returns whether the graph is valid. (graph.c) */
bool lint_check_graph(struct lint *lint);

/* Computes the tensor outputs of a session: sequences and maps cannot be read or passed on. `*ret_any`: whether there
 * are tensor outputs; if not, nothing is run. (nodes.c) */
int lint_run_session(const struct backend *backend, struct backend_session *session, const struct tensor_list *feed,
                     struct tensor_list *ret, bool *ret_any, struct error *err);

/* The last step: runs every node separately, starting with the inputs `feed`, which is emptied. A node that loads, but
 * fails on uncertain data, is only noted in `failed_at_run`. (nodes.c) */
int lint_run_nodes(struct lint *lint, struct tensor_list *feed, struct error *err);

#endif
