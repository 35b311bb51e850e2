/* tensor/values/elements.h: reads elements of any numeric type as one of the few types used for arithmetic.
 *
 * Code that computes on tensors is written for these types only and processes a tensor in runs of at most ELEMENTS_RUN
 * elements, which fit in the L1 cache. Data need not be aligned: they may be anywhere in a mapped file.
 */
#ifndef TENSOR_VALUES_ELEMENTS_H
#define TENSOR_VALUES_ELEMENTS_H

#include "tensor/values/tensor.h"

#define ELEMENTS_RUN 1024

/* The length of the run that starts at element `first` of `total`. */
static inline size_t elements_in_run(size_t total, size_t first)
{
    return total - first < ELEMENTS_RUN ? total - first : ELEMENTS_RUN;
}

enum arithmetic {
    ARITHMETIC_NONE,    /* strings, complex numbers, undefined */
    ARITHMETIC_INTEGER, /* integers and bool */
    ARITHMETIC_FLOAT32, /* floating types whose every value is a float32 value */
    ARITHMETIC_FLOAT64,
};

enum arithmetic elements_arithmetic(enum data_type type);

/* Read `count` elements from element `first` on. */

/* Integers and bool, sign-extended to 64 bits in two's complement (bool: 0 or 1). */
void elements_to_integers(const struct tensor *tensor, size_t first, size_t count, uint64_t *ret);

/* Bool and types for which elements_arithmetic() returns ARITHMETIC_FLOAT32. */
void elements_to_float32(const struct tensor *tensor, size_t first, size_t count, float *ret);

/* Every type that has an arithmetic. 64-bit integers are rounded to nearest. */
void elements_to_float64(const struct tensor *tensor, size_t first, size_t count, double *ret);

/* Stores a number, rounded to nearest, as an element of data of type float64, float32, float16 or bfloat16. */
void element_store_float(enum data_type type, double value, size_t element, void *data);

#endif
