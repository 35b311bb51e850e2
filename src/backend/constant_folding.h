/* backend/constant_folding.h: computes beforehand what depends on constants alone.
 *
 * In passes, until one changes nothing: shapes that have become known (onnx/edit/shape_folding.h), nodes all of whose
 * inputs are constant, which the runtime computes in pieces (backend/constant_values.h), `If` nodes that are decided
 * (onnx/edit/inline_branches.h), and then nodes that nothing needs any more are gone; on request also in bodies of If,
 * Loop and Scan and in the model's functions (onnx/edit/inner_graphs.h).
 */
#ifndef BACKEND_CONSTANT_FOLDING_H
#define BACKEND_CONSTANT_FOLDING_H

#include "backend/backend.h"
#include "onnx/model/model.h"

/* What to do when the runtime cannot compute all constants of a pass together. */
enum folding_partition {
    FOLDING_WHOLE,  /* nothing: warn, and end */
    FOLDING_HALVES, /* compute the halves apart; what one of them refuses stays */
    FOLDING_NODES,  /* go on halving down to single nodes */
};

/* What was done, added up. */
struct folding_counts {
    size_t passes;
    size_t nodes_before, nodes_after; /* those in bodies included */
    size_t shapes;                    /* tensors that follow from shapes alone */
    size_t constants;                 /* Constant nodes that have become initializers */
    size_t computed;                  /* tensors that the runtime has computed */
    size_t casts;                     /* pairs of casts around arithmetic on shapes that went */
    size_t branches;                  /* `If` nodes that were replaced by the branch that is taken */
    size_t refused;                   /* nodes that the runtime could not compute */
};

struct folding_settings {
    const struct backend *backend;
    struct backend_request request; /* library, custom operators; its model is not used */
    struct log *log;
    int64_t passes; /* at most; -1: as many as change something */
    enum folding_partition partition;
    bool keep_shapes;              /* leave Shape nodes, and casts around arithmetic on shapes, alone */
    bool infer_types;              /* before each pass */
    bool inner_graphs;             /* fold in bodies and functions, too */
    uint64_t size_limit;           /* bytes: larger tensors are not made constants; UINT64_MAX: no limit */
    size_t piece_nodes;            /* computed together; 0: as many as are best */
    struct folding_counts *counts; /* filled; may be NULL */
};

/* Changes `model`, whose nodes are in order afterwards. What the runtime refuses to compute stays as it is, with a
 * warning: only a model that is damaged, or a lack of memory, is an error, and a runtime that crashes or has to be
 * ended in a process of its own (bounded_process_is_end()). */
int constants_fold(struct model *model, const struct folding_settings *settings, struct error *err);

#endif
