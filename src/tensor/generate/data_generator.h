/* tensor/generate/data_generator.h: random input data, the same as Polygraphy's.
 *
 * The module tensor/generate/ contains the generation of random tensors: for the same seed, types, shapes and ranges it
 * produces the same data as Polygraphy (docs/coming-from-polygraphy.md, "Generated data"). It depends on
 * tensor/values/.
 *
 * For iteration i the caller seeds a generator with seed + i, which generates all inputs in their order:
 *
 *   mersenne_twister_seed(&random, seed + iteration);
 *   for (i = 0; i < count; i++)
 *       tensor_generate(&random, inputs[i].type, &shapes[i], (struct number_range){0, 1}, &tensors[i], err);
 */
#ifndef TENSOR_GENERATE_DATA_GENERATOR_H
#define TENSOR_GENERATE_DATA_GENERATOR_H

#include "tensor/generate/mersenne_twister.h"
#include "tensor/values/tensor.h"

struct number_range {
    double minimum, maximum;
};

/* Allocates a tensor and fills it with values of the range.
 *
 * Floating types: uniformly distributed, the maximum excluded; with an infinite bound every value is that infinity.
 * Integers: the bounds are truncated to integers and both included, and two of 4 bits share a byte, the first in its
 * lower half; ERR_INVALID when they are in the wrong order or do not fit the type (the double nearest to the largest
 * 64-bit integer means that integer). Bool: both values unless the bounds are both zero or both not. Strings: floating
 * values as text. Other types: ERR_UNSUPPORTED. */
int tensor_generate(struct mersenne_twister *random, enum data_type type, const struct shape *shape,
                    struct number_range range, struct tensor *ret, struct error *err);

#endif
