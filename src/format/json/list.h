/* format/json/list.h: arrays as nested JSON lists, written by hand: [[1, 2], [3, 4]], or 5 for a single number. */
#ifndef FORMAT_JSON_LIST_H
#define FORMAT_JSON_LIST_H

#include "format/json/reader.h"
#include "tensor/values/tensor.h"

/* Whether `value` may be one: a list, a number, a boolean or a string. */
bool json_list_is(const json_t *value);

/* Converts nested lists to a tensor: int64 if all numbers are integers, float64 if one is not (NaN and Infinity are
 * floats), bool or string if all values are; an empty list is float64. ERR_CORRUPT, with the position, for lists of
 * different lengths, mixed kinds of values, and integers that float64 cannot represent in a list with fractions;
 * ERR_UNSUPPORTED for more dimensions than TENSOR_MAX_RANK. */
int json_list_read(struct json_reader *reader, json_t *value, struct tensor *ret, struct error *err);

#endif
