/* support/tensor_fixture.c: see tensor_fixture.h. */
#include "support/tensor_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tensor tensor_of(enum data_type type, struct shape shape, const void *data)
{
    struct tensor tensor;
    size_t elements = shape_elements(&shape);

    tensor_borrow(type, &shape, data,
                  type == DATA_STRING ? elements * sizeof(struct text) : tensor_bytes(type, elements), &tensor);
    return tensor;
}

void assert_shape(const struct shape *shape, const char *expected)
{
    struct string_builder text;

    string_init(&text);
    shape_to_text(shape, &text);
    assert_string_equal(text.data, expected);
    string_release(&text);
}

json_t *golden_vectors(const char *name)
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

struct tensor golden_tensor(const json_t *json)
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

double golden_number(const json_t *json)
{
    return json_is_string(json) ? strtod(json_string_value(json), NULL) : json_number_value(json);
}
