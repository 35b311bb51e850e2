/* tensor/values/text.h: the values of a tensor as NumPy prints them: "[[ 1.5  -2.25  0.  ]\n [  nan   inf  -inf]]". */
#ifndef TENSOR_VALUES_TEXT_H
#define TENSOR_VALUES_TEXT_H

#include "tensor/values/tensor.h"

struct tensor_text_options {
    size_t threshold;  /* a tensor with more elements is abbreviated with "..." */
    size_t edge_items; /* elements that an abbreviated dimension keeps at each end */
    size_t line_width; /* characters; a longer row is continued on the next line. SIZE_MAX: never */
};

#define TENSOR_TEXT_DEFAULTS ((struct tensor_text_options){.threshold = 1000, .edge_items = 3, .line_width = 75})

/* Appends the values to `text`, without a line break at the end. Lines after the first begin where the first would
 * begin in column 0: the caller indents. Undefined types print nothing. */
void tensor_to_text(const struct tensor *tensor, const struct tensor_text_options *options,
                    struct string_builder *text);

#endif
