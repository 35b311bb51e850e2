/* onnx/quantizer/fault_words.h: faults of stored constants (faults.h) as text. */
#ifndef ONNX_QUANTIZER_FAULT_WORDS_H
#define ONNX_QUANTIZER_FAULT_WORDS_H

#include "base/text/string_builder.h"
#include "onnx/quantizer/faults.h"

/* Appends a predicate: "has scales that are 8 times too large (192 of 192 blocks)". */
void stored_fault_describe(const struct stored_fault *fault, struct string_builder *ret);

/* A word for programs: "scales", "coarse-scales", "zero-points", "halves-swapped", "blocks-swapped", "blocks-permuted",
 * "blocks-shifted", "elements-shifted", "unknown". */
const char *stored_fault_key(enum stored_fault_kind kind);

#endif
