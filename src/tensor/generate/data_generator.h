/* tensor/generate/data_generator.h: random input data, the same as Polygraphy's.
 *
 * For iteration i the caller seeds a generator with seed + i; all inputs draw from it in their order:
 *
 *   mersenne_twister_seed(&random, seed + iteration);
 *   for (i = 0; i < count; i++)
 *       tensor_generate(&random, inputs[i].type, &shapes[i], 0, 1, &tensors[i], err);
 */
#ifndef TENSOR_GENERATE_DATA_GENERATOR_H
#define TENSOR_GENERATE_DATA_GENERATOR_H

#include "tensor/generate/mersenne_twister.h"
#include "tensor/values/tensor.h"

/* Fills a fresh tensor with values between `minimum` and `maximum`.
 *
 * Floating types: evenly spread, `maximum` excluded; an infinite bound makes every value that infinity. Integers: the
 * bounds are truncated to integers and both included, and two of 4 bits share a byte, the first in its lower half;
 * ERR_INVALID when they are in the wrong order or do not fit the type (the double nearest the largest 64-bit integer
 * stands for that integer). Bool: both values unless the bounds are both zero or both not. Strings: the text of
 * floating values. Other types: ERR_UNSUPPORTED. */
int tensor_generate(struct mersenne_twister *random, enum data_type type, const struct shape *shape, double minimum,
                    double maximum, struct tensor *ret, struct error *err);

#endif
