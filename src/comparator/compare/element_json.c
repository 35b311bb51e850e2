/* comparator/compare/element_json.c: see element_json.h. */
#include "comparator/compare/element_json.h"

#include <stdlib.h>

#include "tensor/values/element_text.h"
#include "tensor/values/elements.h"

void element_value_read(const struct tensor *tensor, size_t element, struct element_value *ret)
{
    struct string_builder text;

    *ret = (struct element_value){.type = tensor->type};
    switch (elements_arithmetic(tensor->type)) {
    case ARITHMETIC_INTEGER:
        elements_to_integers(tensor, element, 1, &ret->integer);
        break;
    case ARITHMETIC_FLOAT32:
    case ARITHMETIC_FLOAT64:
        elements_to_float64(tensor, element, 1, &ret->number);
        break;
    case ARITHMETIC_NONE:
        string_init(&text);
        element_to_text_alone(tensor, element, &text);
        ret->text = string_take(&text);
        break;
    }
}

void element_value_release(struct element_value *value)
{
    free(value->text);
    value->text = NULL;
}

void element_value_write(const struct element_value *value, struct json_writer *json)
{
    if (value->text != NULL)
        json_writer_string(json, value->text);
    else if (value->type == DATA_BOOL)
        json_writer_boolean(json, value->integer != 0);
    else if (elements_arithmetic(value->type) != ARITHMETIC_INTEGER)
        json_writer_number(json, value->number);
    else if (value->type == DATA_UINT64 && value->integer > INT64_MAX)
        json_writer_number(json, (double)value->integer);
    else
        json_writer_integer(json, (int64_t)value->integer);
}

void element_position_write(const struct shape *shape, size_t element, struct json_writer *json)
{
    struct shape position;

    shape_position(shape, element, &position);
    json_writer_integers(json, position.dims, position.rank);
}
