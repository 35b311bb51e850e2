/* comparator/reference/run.h: one run of a model over all samples that records values. Internal to values.c.
 *
 * Values that were not requested are also kept while there is space, so that later requests need no further run.
 */
#ifndef COMPARATOR_REFERENCE_RUN_H
#define COMPARATOR_REFERENCE_RUN_H

#include "backend/backend.h"
#include "comparator/reference/value_store.h"
#include "onnx/model/subgraph.h"

struct reference_run {
    const struct subgraph *whole;
    const struct backend *backend;
    const struct backend_request *request; /* of sessions of groups; NULL: the model is run whole */
    struct tensor_list *feeds;             /* one for each sample */
    size_t samples;
    struct value_store *store;
    uint64_t memory, disk; /* limits: see reference_values_set_bounds() */

    struct {
        uint32_t value;
        bool asked;         /* requested; otherwise it may be left out */
        bool dropped;       /* was left out */
        struct tensor *row; /* of each sample */
    } * items;
    size_t count, capacity;
    struct model *copy; /* of the model, for groups */
};

void reference_run_add(struct reference_run *run, uint32_t value, bool asked);
void reference_run_release(struct reference_run *run); /* including rows that were not moved out */

/* Determines whether the tensors of a sample exceed the memory limit, so that they must be computed in groups. */
int reference_run_plan(struct reference_run *run, bool *ret_groups, struct error *err);

/* Runs a session of the model with all tensors marked as outputs, which keeps all of them in memory. */
int reference_run_session(struct reference_run *run, struct backend_session *session, struct error *err);

/* Runs the model group by group. */
int reference_run_groups(struct reference_run *run, struct error *err);

#endif
