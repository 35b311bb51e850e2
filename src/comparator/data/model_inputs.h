/* comparator/data/model_inputs.h: a graph's inputs as the data loader wants to see them, without loading the model. */
#ifndef COMPARATOR_DATA_MODEL_INPUTS_H
#define COMPARATOR_DATA_MODEL_INPUTS_H

#include "backend/backend.h"
#include "onnx/model/subgraph.h"

/* subgraph->inputs.count items, to be given back with model_inputs_free(). */
struct backend_io *model_inputs_new(const struct subgraph *whole);
void model_inputs_free(struct backend_io *inputs, size_t count);

#endif
