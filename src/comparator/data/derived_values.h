/* comparator/data/derived_values.h: generates the values that a rule of a model demands (onnx/inputs/). */
#ifndef COMPARATOR_DATA_DERIVED_VALUES_H
#define COMPARATOR_DATA_DERIVED_VALUES_H

#include "onnx/inputs/derived_inputs.h"
#include "tensor/generate/data_generator.h"

/* Fills a tensor of integers or booleans by the rule of `input`, which has one (not DERIVED_ANY). Integers are random,
 * uniformly distributed, and limited to what the type can represent; other values do not use `random`. ERR_MEMORY if
 * the tensor cannot be allocated. */
int derived_values_generate(const struct derived_input *input, enum data_type type, const struct shape *shape,
                            struct mersenne_twister *random, struct tensor *ret, struct error *err);

#endif
