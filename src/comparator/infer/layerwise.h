/* comparator/infer/layerwise.h: computes all tensors of a model in groups of nodes, so that they need not fit in memory
 * together.
 *
 * A group is a sequence of nodes whose results fit in a memory limit. It becomes a separate model, whose inputs are
 * outputs of earlier groups, and whose outputs are requested tensors and inputs of later groups. So every node runs
 * once, on the same tensors that a model with all tensors marked as outputs would compute, and only the weights of one
 * group are loaded at a time.
 *
 * Optimizations across groups (such as a different memory layout for a chain of convolutions) are impossible, which can
 * change last digits; without optimizations results are bit-identical.
 *
 *   plan = (struct layerwise){.model = model, .backend = backend, .request = &request, .bound = bound};
 *   layerwise_plan(&plan, &feed, err);
 *   layerwise_run_init(&run, &plan, backend, &request);
 *   for (i = 0; i < plan.count; i++)
 *       layerwise_step(&run, i, &feed, &outputs, &seconds, err);
 *
 * Values other than tensors (sequences, maps) cannot be fed: nodes that pass them to each other stay in one group.
 * Random operators without a seed produce different numbers than in one session, and the same ones in each iteration.
 */
#ifndef COMPARATOR_INFER_LAYERWISE_H
#define COMPARATOR_INFER_LAYERWISE_H

#include "backend/backend.h"
#include "onnx/model/subgraph.h"

struct layerwise_group {
    uint32_t first, end;       /* nodes */
    struct value_list inputs;  /* from the feed or from earlier groups */
    struct value_list outputs; /* requested, or read by later groups */
};

struct layerwise {
    /* Set by the caller. The model's nodes must be sorted, and its Constant nodes lowered to initializers; the request
     * provides options, its model is not used. */
    struct model *model;
    const struct backend *backend; /* for type inference, with this request */
    const struct backend_request *request;
    uint64_t bound; /* maximum bytes of the results of a group, unless a single node exceeds it */

    struct bitset wanted;       /* values: the outputs of the model that are tensors */
    struct value_list left_out; /* the other outputs */
    struct layerwise_group *groups;
    size_t count, capacity;
    uint32_t *last_use; /* of each value: the last group that reads or produces it */
    uint64_t bytes;     /* of all wanted tensors of known size */
};

/* Determines the groups. Shapes in the model that do not follow from `feed` are removed. A size that cannot be inferred
 * counts as the largest known one. ERR_BACKEND if the runtime refuses the model; then the plan is released. */
int layerwise_plan(struct layerwise *plan, const struct tensor_list *feed, struct error *err);
void layerwise_release(struct layerwise *plan);

/* A run through all groups. */
struct layerwise_run {
    const struct layerwise *plan;
    const struct backend *backend;
    struct backend_request request;
    struct tensor *values; /* of each value, while it is needed */
    struct value_list held;
    int64_t warm_up; /* untimed runs of each group */
};

/* The bytes of a tensor with this ValueInfoProto; UINT64_MAX: unknown, or strings. */
uint64_t layerwise_value_size(struct span info);

/* `request` provides the options; its model is not used. */
void layerwise_run_init(struct layerwise_run *run, const struct layerwise *plan, const struct backend *backend,
                        const struct backend_request *request);
void layerwise_run_release(struct layerwise_run *run);

/* Runs group `index`; call it for all groups in order. Appends the requested tensors to `ret`, in the order of nodes:
 * the run owns them, and they are valid until the next step. Adds the run time to `seconds`. */
int layerwise_step(struct layerwise_run *run, size_t index, const struct tensor_list *feed, struct tensor_list *ret,
                   double *seconds, struct error *err);

#endif
