/* tests/unit/tensor/tensor_test.h: what the tests of tensors share. */
#ifndef TENSOR_TEST_H
#define TENSOR_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/unit_test.h"
#include "tensor/values/tensor.h"

#define SHAPE(...) ((struct shape){sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), {__VA_ARGS__}})
#define SCALAR ((struct shape){.rank = 0})

/* A one-dimensional tensor of an array of elements in the test. */
#define VECTOR_OF(type, array) tensor_of((type), SHAPE((int64_t)(sizeof(array) / sizeof((array)[0]))), (array))

static inline struct tensor tensor_of(enum data_type type, struct shape shape, const void *data)
{
    struct tensor tensor;
    size_t elements = shape_elements(&shape);

    tensor_borrow(type, &shape, data,
                  type == DATA_STRING ? elements * sizeof(struct text) : tensor_bytes(type, elements), &tensor);
    return tensor;
}

static inline void assert_message_contains(const struct error *error, const char *part)
{
    if (!strstr(error->message, part))
        fail_msg("'%s' does not contain '%s'", error->message, part);
}

static inline void assert_shape(const struct shape *shape, const char *expected)
{
    struct string_builder text;

    string_init(&text);
    shape_to_text(shape, &text);
    assert_string_equal(text.data, expected);
    string_release(&text);
}

#endif
