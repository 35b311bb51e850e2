/* tensor/values/element_text.h: single elements as text, in the manner of NumPy: all elements of an array share one
 * layout, which follows from those that are shown.
 *
 *   element_layout_init(&layout, tensor);
 *   for (each element shown)
 *       element_layout_see(&layout, element);
 *   for (each element shown)
 *       element_to_text(&layout, element, text);
 */
#ifndef TENSOR_VALUES_ELEMENT_TEXT_H
#define TENSOR_VALUES_ELEMENT_TEXT_H

#include "tensor/values/tensor.h"

/* Characters that a number takes before and after its point, a sign included, an exponent not. */
struct number_width {
    int left, right;
};

struct element_layout {
    const struct tensor *tensor;
    int integer_width;
    double smallest, largest;              /* finite magnitudes but 0; infinity and 0 when there are none */
    struct number_width fixed, scientific; /* "12.5" and "1.25e+01": which of them it will be shows in the end */
    int exponent_digits;
    bool has_nan, has_infinity, has_negative_infinity;
};

void element_layout_init(struct element_layout *layout, const struct tensor *tensor);
void element_layout_see(struct element_layout *layout, size_t element);

/* Appends the element, padded to the common width. Strings are quoted and not padded; nor are complex numbers. */
void element_to_text(const struct element_layout *layout, size_t element, struct string_builder *text);

/* Appends the element as it looks outside of an array: "3.0", "True", a string without quotes. */
void element_to_text_alone(const struct tensor *tensor, size_t element, struct string_builder *text);

#endif
