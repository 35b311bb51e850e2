/* debug/kernels/kernels.h: each node and each fused layer of a model alone, in one runtime, on the reference's values,
 * against float64.
 *
 * The module debug/kernels/ looks for wrong kernels directly: it cuts each node out (debug/cut/), and the nodes that
 * the runtime computes together (layers.h), has the runtime compute them, evaluates them in float64 (backend/exact/),
 * and compares the error with what rounding can make (bound.h). So it also finds what a whole model hides, finite
 * values behind an infinity for example; and it does not find what is wrong only between kernels, in layouts for
 * example. It may use the layers below debug, and debug/cut/.
 */
#ifndef DEBUG_KERNELS_KERNELS_H
#define DEBUG_KERNELS_KERNELS_H

#include "debug/cut/maker.h"
#include "debug/kernels/layers.h"

enum kernel_outcome {
    KERNEL_IS_WITHIN, /* its bound */
    KERNEL_IS_BEYOND,
    KERNEL_IS_REFUSED, /* by the runtime */
    KERNEL_NOT_TESTED,
};

struct kernel_finding {
    struct fused_layer nodes; /* one, or those of a fused layer */
    enum kernel_outcome outcome;
    const char *why;       /* KERNEL_IS_REFUSED, KERNEL_NOT_TESTED */
    const char *output;    /* the worst one; the rest is about it */
    double excess, error;  /* see struct kernel_comparison */
    size_t terms, element; /* see struct kernel_bound */
};

struct kernel_study {
    const struct model *model;                   /* its Constant nodes are initializers */
    const struct candidate_settings *candidates; /* the reference that gives the values */
    const struct backend *backend;               /* whose kernels are tested */
    const struct backend_request *request;       /* for it, without a model */
    const struct fused_layers *layers;           /* that it fuses */
    struct log *log;

    /* The answer: */
    struct kernel_finding *findings; /* of each node of the model, in its order; then of each layer */
    size_t finding_count;
    double seconds;     /* of the inferences alone */
    struct arena arena; /* texts */
};

/* Tests all nodes and layers. ERR_INTERRUPTED; errors of the reference, without whose values nothing is tested. Release
 * the study in any case. */
int kernel_study_run(struct kernel_study *study, struct error *err);
void kernel_study_release(struct kernel_study *study);

#endif
