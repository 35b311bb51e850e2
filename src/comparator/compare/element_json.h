/* comparator/compare/element_json.h: copies of single elements, and their encoding as JSON. */
#ifndef COMPARATOR_COMPARE_ELEMENT_JSON_H
#define COMPARATOR_COMPARE_ELEMENT_JSON_H

#include "format/json/writer.h"
#include "tensor/values/tensor.h"

struct element_value {
    enum data_type type;
    double number;    /* of a floating type */
    uint64_t integer; /* of an integer or bool, sign-extended */
    char *text;       /* owned, of any other type: its text in the log */
};

void element_value_read(const struct tensor *tensor, size_t element, struct element_value *ret);
void element_value_release(struct element_value *value);

/* Writes numbers as numbers (NaN and infinities as in Python), bools as bools, everything else as a string. */
void element_value_write(const struct element_value *value, struct json_writer *json);

/* Writes the coordinates of an element as an array. */
void element_position_write(const struct shape *shape, size_t element, struct json_writer *json);

#endif
