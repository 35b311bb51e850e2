/* tensor/values/element_text.h: single elements as text, in the manner of NumPy: all elements of an array share one
 * layout, which depends on the elements that are printed.
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

/* Characters before and after the decimal point, including the sign, without the exponent. */
struct number_width {
    int left, right;
};

struct element_layout {
    const struct tensor *tensor;
    int integer_width;
    double smallest, largest; /* finite magnitudes other than 0; infinity and 0 if there are none */
    /* widths of both layouts, "12.5" and "1.25e+01"; chosen when all elements are known */
    struct number_width fixed, scientific;
    int exponent_digits;
    bool has_nan, has_infinity, has_negative_infinity;
};

void element_layout_init(struct element_layout *layout, const struct tensor *tensor);
void element_layout_see(struct element_layout *layout, size_t element);

/* Appends the element, padded to the common width. Strings are quoted and not padded; nor are complex numbers. */
void element_to_text(const struct element_layout *layout, size_t element, struct string_builder *text);

/* Appends the element as NumPy prints a single value: "3.0", "True", a string without quotes. */
void element_to_text_alone(const struct tensor *tensor, size_t element, struct string_builder *text);

#endif
