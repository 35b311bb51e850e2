/* onnx/inputs/symbols.h: names of dimensions, and sums of them, as exporters write them. */
#ifndef ONNX_INPUTS_SYMBOLS_H
#define ONNX_INPUTS_SYMBOLS_H

#include "base/container/name_map.h"
#include "onnx/inputs/dimension.h"

/* The dimension that a name stands for: a name of `variables`, or a sum or difference of such names and of integers,
 * each with an integer factor: "s0 + s70", "past_sequence_length + 1", "2*s3". Unknown if it is anything else. */
struct dimension dimension_from_symbol(const struct dimension_system *system, const struct name_map *variables,
                                       struct text symbol);

/* Whether it is a sum, not a single name. */
bool symbol_is_sum(struct text symbol);

#endif
