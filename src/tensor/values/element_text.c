/* tensor/values/element_text.c: formats numbers, booleans and strings. */
#include "tensor/values/element_text.h"

#include <math.h>
#include <string.h>

#include "base/text/number.h"
#include "tensor/values/elements.h"

enum { MAX_FRACTION = 8 }; /* digits after the point at most */

/* Limits beyond which NumPy uses exponents: the largest number, the smallest, and the ratio of both. */
static const double fixed_limit = 1e8, fixed_smallest = 1e-4, fixed_ratio = 1000;

/* d1.d2d3... * 10^exponent; no digits for 0. */
struct element_decimal {
    char digits[24];
    int count;
    int exponent;
};

/* Of a number without sign, such as "0.00123", "120.0" or "1.2e-05". */
static struct element_decimal parse_decimal(const char *text)
{
    struct element_decimal ret = {.count = 0};
    int whole = (int)strcspn(text, ".e"); /* digits before the point */
    int seen = 0, first = 0;
    int64_t exponent = 0;

    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text == '.')
            continue;
        if (*text != '0' && ret.count == 0)
            first = seen;
        if (*text != '0' || ret.count > 0)
            ret.digits[ret.count++] = *text;
        seen++;
    }
    if (*text == 'e')
        number_parse_integer(text_of(text + 1), &exponent);
    ret.exponent = whole - 1 - first + (int)exponent;
    while (ret.count > 0 && ret.digits[ret.count - 1] == '0')
        ret.count--;
    return ret;
}

/* The shortest digits that identify a finite, non-negative number of its type. */
static struct element_decimal shortest_element_decimal(enum data_type type, double value)
{
    char text[NUMBER_TEXT_SIZE];
    double back = NAN;

    if (type == DATA_FLOAT64)
        return parse_decimal(number_to_text(value, text));
    if (type != DATA_FLOAT16)
        return parse_decimal(number_to_text_float32((float)value, text));
    for (int precision = 0; precision < 5; precision++) {
        number_to_text_rounded(value, 'e', precision, text);
        if (number_parse_float(text_of(text), &back) && float64_to_float16(back) == float64_to_float16(value))
            break;
    }
    return parse_decimal(text);
}

/* A number below `fixed_limit`: "12.5", "0.", "3.". */
static void fixed_text(enum data_type type, double value, char ret[NUMBER_TEXT_SIZE])
{
    struct element_decimal decimal = shortest_element_decimal(type, value);
    int whole = decimal.count > 0 && decimal.exponent >= 0 ? decimal.exponent + 1 : 0;
    char *end = ret;

    /* rounded from the exact value, not from the shortest digits */
    if (decimal.count - 1 - decimal.exponent > MAX_FRACTION) {
        number_to_text_rounded(value, 'f', MAX_FRACTION, ret);
        for (end = ret + strlen(ret); end[-1] == '0'; end--)
            end[-1] = '\0';
        return;
    }
    if (whole == 0)
        *end++ = '0';
    for (int i = 0; i < whole; i++)
        *end++ = i < decimal.count ? decimal.digits[i] : '0';
    *end++ = '.';
    for (int i = decimal.exponent + 1; i < 0; i++)
        *end++ = '0';
    for (int i = whole; i < decimal.count; i++)
        *end++ = decimal.digits[i];
    *end = '\0';
}

static int greater_width(int a, int b)
{
    return a > b ? a : b;
}

static void widen_number_width(struct number_width *width, int left, int right)
{
    width->left = greater_width(width->left, left);
    width->right = greater_width(width->right, right);
}

static void see_float(struct element_layout *layout, double value)
{
    enum data_type type = layout->tensor->type;
    double magnitude = fabs(value);
    int sign = signbit(value) ? 1 : 0;
    char text[NUMBER_TEXT_SIZE];

    if (!isfinite(value)) {
        layout->has_nan |= isnan(value);
        layout->has_infinity |= isinf(value);
        layout->has_negative_infinity |= isinf(value) && value < 0;
        return;
    }
    if (magnitude > 0) {
        layout->smallest = fmin(layout->smallest, magnitude);
        layout->largest = fmax(layout->largest, magnitude);
    }
    if (magnitude < fixed_limit) {
        fixed_text(type, magnitude, text);
        int left = (int)strcspn(text, ".");
        widen_number_width(&layout->fixed, sign + left, (int)strlen(text) - left - 1);
    }

    int digits = shortest_element_decimal(type, magnitude).count;
    int precision = digits - 1 > MAX_FRACTION ? MAX_FRACTION : greater_width(digits - 1, 0);
    number_to_text_rounded(magnitude, 'e', precision, text);
    const char *exponent = strchr(text, 'e');
    for (const char *c = exponent; precision > 0 && c[-1] == '0'; c--) /* rounding may end in zeros */
        precision--;
    widen_number_width(&layout->scientific, sign + 1, precision);
    layout->exponent_digits = greater_width(layout->exponent_digits, (int)strlen(exponent) - 2);
}

static bool is_scientific(const struct element_layout *layout)
{
    enum data_type type = layout->tensor->type;
    double ratio = layout->largest / layout->smallest;

    if (type == DATA_FLOAT16) /* NumPy divides in the type of the array */
        ratio = (double)float16_to_float32(float64_to_float16(ratio));
    else if (type != DATA_FLOAT64)
        ratio = float64_round_to_float32(ratio);
    return layout->largest >= fixed_limit || layout->smallest < fixed_smallest || ratio > fixed_ratio;
}

static void add_blank_columns(struct string_builder *text, int count)
{
    for (int i = 0; i < count; i++)
        string_add_char(text, ' ');
}

/* "1.250e+01" with the common numbers of digits. */
static void add_scientific(const struct element_layout *layout, double magnitude, struct string_builder *text)
{
    char number[NUMBER_TEXT_SIZE];
    const char *exponent;

    number_to_text_rounded(magnitude, 'e', layout->scientific.right, number);
    exponent = strchr(number, 'e');
    string_add_bytes(text, number, (size_t)(exponent - number));
    if (layout->scientific.right == 0)
        string_add_char(text, '.');
    string_add_bytes(text, exponent, 2);
    for (int i = (int)strlen(exponent) - 2; i < layout->exponent_digits; i++)
        string_add_char(text, '0');
    string_add(text, exponent + 2);
}

static void add_float(const struct element_layout *layout, double value, struct string_builder *text)
{
    bool scientific = is_scientific(layout);
    struct number_width width = scientific ? layout->scientific : layout->fixed;
    int after = 1 + width.right + (scientific ? 2 + layout->exponent_digits : 0); /* from the point on */
    const char *sign = signbit(value) ? "-" : "";
    char number[NUMBER_TEXT_SIZE];

    if (layout->has_nan || layout->has_infinity)
        width.left = greater_width(width.left, 3 + layout->has_negative_infinity - after);
    if (!isfinite(value)) {
        number_to_text(value, number);
        add_blank_columns(text, width.left + after - (int)strlen(number));
        string_add(text, number);
    } else if (scientific) {
        add_blank_columns(text, width.left - (int)strlen(sign) - 1);
        string_add(text, sign);
        add_scientific(layout, fabs(value), text);
    } else {
        fixed_text(layout->tensor->type, fabs(value), number);
        int left = (int)strcspn(number, ".");
        add_blank_columns(text, width.left - (int)strlen(sign) - left);
        string_add(text, sign);
        string_add(text, number);
        add_blank_columns(text, left + after - (int)strlen(number));
    }
}

static void add_integer(const struct tensor *tensor, size_t element, int width, struct string_builder *text)
{
    uint64_t integer;

    elements_to_integers(tensor, element, 1, &integer);
    if (data_type_is_signed(tensor->type))
        string_add_format(text, "%*lld", width, (long long)integer);
    else
        string_add_format(text, "%*llu", width, (unsigned long long)integer);
}

/* The letter of the escape sequence for `c`, or 0. */
static char escape_letter(char c, char quote)
{
    switch (c) {
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return c == quote || c == '\\' ? c : '\0';
    }
}

/* Uses single quotes, unless the text contains single quotes and no double quotes, as Python does. */
static void add_python_quoted(struct text string, struct string_builder *text)
{
    char quote = text_contains(string, TEXT("'")) && !text_contains(string, TEXT("\"")) ? '"' : '\'';
    size_t i = 0;

    string_add_char(text, quote);
    while (i < string.size) {
        unsigned char c = (unsigned char)string.data[i];
        char letter = escape_letter((char)c, quote);
        size_t length = text_utf8_length(string.data + i, string.size - i);
        if (letter != '\0')
            string_add_format(text, "\\%c", letter);
        else if (length == 0 || c < ' ' || c == 0x7f)
            string_add_format(text, "\\x%02x", c);
        else
            string_add_bytes(text, string.data + i, length);
        i += length > 0 ? length : 1;
    }
    string_add_char(text, quote);
}

/* "(1.0-2.5j)" */
static void add_complex(const struct tensor *tensor, size_t element, struct string_builder *text)
{
    struct tensor parts = *tensor;
    double values[2];
    char number[NUMBER_TEXT_SIZE];

    parts.type = tensor->type == DATA_COMPLEX64 ? DATA_FLOAT32 : DATA_FLOAT64;
    elements_to_float64(&parts, 2 * element, 2, values);
    for (int i = 0; i < 2; i++) {
        if (parts.type == DATA_FLOAT32)
            number_to_text_float32((float)values[i], number);
        else
            number_to_text(values[i], number);
        string_add(text, i == 0 ? "(" : number[0] == '-' ? "" : "+");
        string_add(text, number);
    }
    string_add(text, "j)");
}

void element_layout_init(struct element_layout *layout, const struct tensor *tensor)
{
    *layout = (struct element_layout){.tensor = tensor, .smallest = INFINITY};
}

void element_layout_see(struct element_layout *layout, size_t element)
{
    const struct tensor *tensor = layout->tensor;
    struct string_builder text;
    double value;

    if (data_type_is_float(tensor->type)) {
        elements_to_float64(tensor, element, 1, &value);
        see_float(layout, value);
    } else if (data_type_is_integer(tensor->type)) {
        string_init(&text);
        add_integer(tensor, element, 0, &text);
        layout->integer_width = greater_width(layout->integer_width, (int)text.size);
        string_release(&text);
    }
}

void element_to_text(const struct element_layout *layout, size_t element, struct string_builder *text)
{
    const struct tensor *tensor = layout->tensor;
    double value;

    if (data_type_is_float(tensor->type)) {
        elements_to_float64(tensor, element, 1, &value);
        add_float(layout, value, text);
    } else if (data_type_is_integer(tensor->type)) {
        add_integer(tensor, element, layout->integer_width, text);
    } else if (tensor->type == DATA_BOOL) {
        string_add(text, ((const uint8_t *)tensor->data)[element] ? " True" : "False");
    } else if (tensor->type == DATA_STRING) {
        add_python_quoted(((const struct text *)tensor->data)[element], text);
    } else {
        add_complex(tensor, element, text);
    }
}

void element_to_text_alone(const struct tensor *tensor, size_t element, struct string_builder *text)
{
    char number[NUMBER_TEXT_SIZE];
    struct element_layout layout;
    double value;

    if (data_type_is_float(tensor->type)) {
        elements_to_float64(tensor, element, 1, &value);
        string_add(text, tensor->type == DATA_FLOAT64 ? number_to_text(value, number)
                                                      : number_to_text_float32((float)value, number));
    } else if (tensor->type == DATA_BOOL) {
        string_add(text, ((const uint8_t *)tensor->data)[element] ? "True" : "False");
    } else if (tensor->type == DATA_STRING) {
        string_add_text(text, ((const struct text *)tensor->data)[element]);
    } else {
        element_layout_init(&layout, tensor);
        element_to_text(&layout, element, text);
    }
}
