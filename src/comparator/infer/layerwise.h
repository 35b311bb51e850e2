/* comparator/infer/layerwise.h: all tensors of a model, computed in groups, so that they need not fit into memory
 * together.
 *
 * A group is a run of nodes whose results fit into a bound. It becomes a model of its own, which is fed with what
 * earlier groups have made, and gives what was asked for and what later groups read. So every node runs once, on the
 * very tensors that a model with all of them marked as outputs would have computed, and only the weights of one group
 * are loaded at a time.
 *
 * An optimization that spans groups (another memory layout for a chain of convolutions) is not made, which can change
 * last digits; without optimizations the bits are the same.
 *
 *   plan = (struct layerwise){.model = model, .backend = backend, .request = &request, .bound = bound};
 *   layerwise_plan(&plan, &feed, err);
 *   layerwise_run_init(&run, &plan, backend, &request);
 *   for (i = 0; i < plan.count; i++)
 *       layerwise_step(&run, i, &feed, &outputs, &seconds, err);
 *
 * Sequences and the like cannot be fed: nodes between which one passes stay in one group. Random operators without a
 * seed draw other numbers than in one session, and the same ones in each iteration.
 */
#ifndef COMPARATOR_INFER_LAYERWISE_H
#define COMPARATOR_INFER_LAYERWISE_H

#include "backend/backend.h"
#include "onnx/model/subgraph.h"

struct layerwise_group {
    uint32_t first, end;       /* nodes */
    struct value_list inputs;  /* from the feed or from groups before */
    struct value_list outputs; /* asked for, or read by groups behind */
};

struct layerwise {
    /* Filled in by the caller. The model has its nodes in order, and no Constant nodes that could be initializers; the
     * request gives options, its model is not used. */
    struct model *model;
    const struct backend *backend; /* is asked for types, with this request */
    const struct backend_request *request;
    uint64_t bound; /* bytes that the results of a group may take, where single nodes allow it */

    struct bitset wanted;       /* values: the outputs of the model that are tensors */
    struct value_list left_out; /* the other outputs */
    struct layerwise_group *groups;
    size_t count, capacity;
    uint32_t *last_use; /* of each value: the last group that reads it or makes it */
    uint64_t bytes;     /* of all wanted tensors, as far as sizes are known */
};

/* Makes the groups. The shapes in the model are forgotten, as far as they do not follow from `feed`. A size that cannot
 * be inferred counts as the largest one that can. ERR_BACKEND when the runtime refuses the model; the plan is released
 * then. */
int layerwise_plan(struct layerwise *plan, const struct tensor_list *feed, struct error *err);
void layerwise_release(struct layerwise *plan);

/* A run through all groups. */
struct layerwise_run {
    const struct layerwise *plan;
    const struct backend *backend;
    struct backend_request request;
    struct tensor *values; /* of each value, as long as it is needed */
    struct value_list held;
    int64_t warm_up; /* runs of each group beforehand */
};

/* `request` gives the options; its model is not used. */
void layerwise_run_init(struct layerwise_run *run, const struct layerwise *plan, const struct backend *backend,
                        const struct backend_request *request);
void layerwise_run_release(struct layerwise_run *run);

/* Runs group `index`; to be called for all groups in order. Appends the tensors that were asked for to `ret`, in the
 * order of nodes: they belong to the run and are valid until the next step. `seconds` is increased by the time of the
 * run. */
int layerwise_step(struct layerwise_run *run, size_t index, const struct tensor_list *feed, struct tensor_list *ret,
                   double *seconds, struct error *err);

#endif
