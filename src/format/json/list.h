/* format/json/list.h: arrays as people write them into JSON: [[1, 2], [3, 4]], or 5 for a single number. */
#ifndef FORMAT_JSON_LIST_H
#define FORMAT_JSON_LIST_H

#include "format/json/reader.h"
#include "tensor/values/tensor.h"

/* Whether `value` could be one: a list, a number, a boolean or a string. */
bool json_list_is(const json_t *value);

/* Makes a tensor of nested lists: int64 when all numbers are integers, float64 when one is not (NaN and Infinity are
 * floats), bool or string when all are that; an empty list is float64. ERR_CORRUPT, with the place, for lists of
 * different lengths side by side, kinds that are mixed, and integers that float64 cannot hold beside fractions;
 * ERR_UNSUPPORTED for more dimensions than tensors have. */
int json_list_read(struct json_reader *reader, json_t *value, struct tensor *ret, struct error *err);

#endif
