/* support/tensor_fixture.h: tensors for tests, and those of the vectors in tests/golden/vectors. */
#ifndef SUPPORT_TENSOR_FIXTURE_H
#define SUPPORT_TENSOR_FIXTURE_H

#include <jansson.h>

#include "support/unit_test.h"
#include "tensor/values/tensor.h"

#define SHAPE(...) ((struct shape){sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), {__VA_ARGS__}})
#define SCALAR ((struct shape){.rank = 0})

/* A tensor that refers to `data`. */
#define VECTOR_OF(type, array) tensor_of((type), SHAPE((int64_t)(sizeof(array) / sizeof((array)[0]))), (array))

struct tensor tensor_of(enum data_type type, struct shape shape, const void *data);
void assert_shape(const struct shape *shape, const char *expected);
json_t *golden_vectors(const char *name);

/* {"dtype": "float32", "shape": [2, 3], "raw_le_hex": "..."}; the caller releases the tensor. */
struct tensor golden_tensor(const json_t *json);

/* A number, or the string "nan", "inf" or "-inf". */
double golden_number(const json_t *json);

#endif
