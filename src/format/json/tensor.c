/* format/json/tensor.c: see tensor.h. */
#include "format/json/tensor.h"

#include "tensor/values/element_text.h"
#include "tensor/values/elements.h"

void tensor_json_type(struct json_writer *writer, const struct tensor *tensor)
{
    json_writer_add_string(writer, "dtype", data_type_name(tensor->type));
    json_writer_key(writer, "shape");
    json_writer_integers(writer, tensor->shape.dims, tensor->shape.rank);
}

void tensor_json_value_type(struct json_writer *writer, const struct value_type *type)
{
    json_writer_key(writer, "dtype");
    if (type->not_a_tensor != NULL)
        json_writer_string(writer, type->not_a_tensor);
    else if (type->element == DATA_UNDEFINED)
        json_writer_null(writer);
    else
        json_writer_string(writer, data_type_name(type->element));
    if (!json_writer_key_or_null(writer, "shape", type->has_shape))
        return;
    json_writer_begin_array(writer);
    for (size_t i = 0; i < type->shape.rank; i++)
        if (type->shape.dims[i] >= 0)
            json_writer_integer(writer, type->shape.dims[i]);
        else if (type->symbols[i].size > 0)
            json_writer_text(writer, type->symbols[i]);
        else
            json_writer_null(writer);
    json_writer_end_array(writer);
}

static void write_integers(struct json_writer *writer, const struct tensor *tensor)
{
    uint64_t run[ELEMENTS_RUN];

    for (size_t first = 0; first < tensor_elements(tensor); first += ELEMENTS_RUN) {
        size_t left = tensor_elements(tensor) - first, count = left < ELEMENTS_RUN ? left : ELEMENTS_RUN;

        elements_to_integers(tensor, first, count, run);
        for (size_t i = 0; i < count; i++)
            if (tensor->type == DATA_BOOL)
                json_writer_boolean(writer, run[i] != 0);
            else if (tensor->type == DATA_UINT64 && run[i] > INT64_MAX)
                json_writer_number(writer, (double)run[i]);
            else
                json_writer_integer(writer, (int64_t)run[i]);
    }
}

static void write_floats(struct json_writer *writer, const struct tensor *tensor)
{
    double run[ELEMENTS_RUN];

    for (size_t first = 0; first < tensor_elements(tensor); first += ELEMENTS_RUN) {
        size_t left = tensor_elements(tensor) - first, count = left < ELEMENTS_RUN ? left : ELEMENTS_RUN;

        elements_to_float64(tensor, first, count, run);
        for (size_t i = 0; i < count; i++)
            json_writer_number(writer, run[i]);
    }
}

/* Strings and complex numbers in the form of the text output. */
static void write_texts(struct json_writer *writer, const struct tensor *tensor)
{
    SCOPED_STRING(text);

    for (size_t i = 0; i < tensor_elements(tensor); i++) {
        string_clear(&text);
        element_to_text_alone(tensor, i, &text);
        json_writer_string(writer, text.data);
    }
}

void tensor_json_values(struct json_writer *writer, const struct tensor *tensor)
{
    json_writer_begin_array_member(writer, "values");
    switch (elements_arithmetic(tensor->type)) {
    case ARITHMETIC_INTEGER:
        write_integers(writer, tensor);
        break;
    case ARITHMETIC_FLOAT32:
    case ARITHMETIC_FLOAT64:
        write_floats(writer, tensor);
        break;
    case ARITHMETIC_NONE:
        write_texts(writer, tensor);
        break;
    }
    json_writer_end_array(writer);
}
