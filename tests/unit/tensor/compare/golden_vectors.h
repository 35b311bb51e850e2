/* tests/unit/tensor/compare/golden_vectors.h: reading the vectors in tests/golden/vectors. */
#ifndef GOLDEN_VECTORS_H
#define GOLDEN_VECTORS_H

#include <jansson.h>
#include <math.h>

#include "unit/tensor/tensor_test.h"

static inline json_t *golden_vectors(const char *name)
{
    const char *root = getenv("POLYGRAPHY_ROOT");
    char path[4096];
    json_error_t error;

    snprintf(path, sizeof(path), "%s/tests/golden/vectors/%s", root ? root : ".", name);
    json_t *json = json_load_file(path, 0, &error);
    if (!json)
        fail_msg("%s: %s", path, error.text);
    return json;
}

/* {"dtype": "float32", "shape": [2, 3], "raw_le_hex": "..."}; the caller releases the tensor. */
static inline struct tensor golden_tensor(const json_t *json)
{
    const char *hex = json_string_value(json_object_get(json, "raw_le_hex"));
    json_t *dims = json_object_get(json, "shape");
    struct shape shape = {.rank = json_array_size(dims)};
    struct tensor tensor;

    for (size_t i = 0; i < shape.rank; i++)
        shape.dims[i] = json_integer_value(json_array_get(dims, i));
    enum data_type type = data_type_parse(text_of(json_string_value(json_object_get(json, "dtype"))));
    assert_int_equal(tensor_allocate(type, &shape, &tensor, NULL), 0);
    assert_int_equal(strlen(hex), 2 * tensor.size);
    for (size_t i = 0; i < tensor.size; i++) {
        unsigned byte = 0;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        ((uint8_t *)tensor_writable(&tensor))[i] = (uint8_t)byte;
    }
    return tensor;
}

/* A number, or the string "nan", "inf" or "-inf". */
static inline double golden_number(const json_t *json)
{
    return json_is_string(json) ? strtod(json_string_value(json), NULL) : json_number_value(json);
}

#endif
