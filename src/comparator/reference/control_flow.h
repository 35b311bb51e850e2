/* comparator/reference/control_flow.h: replaces If, Loop and Scan by what they do on the samples of the data loader.
 *
 * Tools cut the main graph, and know nothing of what bodies contain. For given data an If is the branch that it takes,
 * and a Loop or Scan a number of copies of its body.
 */
#ifndef COMPARATOR_REFERENCE_CONTROL_FLOW_H
#define COMPARATOR_REFERENCE_CONTROL_FLOW_H

#include "backend/backend.h"
#include "comparator/data/loader.h"
#include "onnx/model/model.h"

/* What runs the model on which samples; all of it is borrowed. */
struct sample_run {
    const struct backend *backend;
    const struct backend_request *request;
    struct data_loader *loader;
    struct log *log;
};

/* Whether the model has a node with a body: If, Loop or Scan. */
bool model_has_control_flow(const struct model *model);

/* Runs the model on the samples, and replaces each If by the branch that it takes (onnx/edit/inline_branches.h) and
 * each Loop and Scan by copies of its body (onnx/edit/unroll.h), also those inside of bodies. A node stays where
 * samples differ in its branch or its number of iterations, where that number is unknown, and where it would become too
 * many nodes. Renumbers nodes. `*ret_count` is the number of nodes that were replaced. Errors are those of
 * reference_values_record(), until a node is replaced: where the model with that node's body does not run, the bodies
 * inside of it stay. After an error the model can only be freed. */
int control_flow_inline(struct model *model, const struct sample_run *run, size_t *ret_count, struct error *err);

#endif
