/* base/text/number.c: numbers as text.
 *
 * The C library's conversions are exact but follow the locale's decimal point. Printing verifies the text under the
 * same locale and then keeps only the digits; parsing inserts the locale's decimal point.
 */
#include "base/text/number.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define MOST_DECIMALS 20 /* of a rounded number; they fit in the buffer */

/* 0.d1d2d3... * 10^(exponent + 1), that is d1.d2d3... * 10^exponent. */
struct decimal {
    char digits[24];
    int count;
    int exponent;
};

static bool character_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool reads_back(const char *text, double value, bool single)
{
    return single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
}

/* Adds one to the last digit of "d.ddde+xx". Returns false when that would change the number of digits. */
static bool increment_last_digit(char *text)
{
    for (char *c = strchr(text, 'e'); c-- > text;) {
        if (character_is_digit(*c) && *c < '9') {
            (*c)++;
            return true;
        }
        if (character_is_digit(*c))
            *c = '0';
    }
    return false;
}

/* Prints a positive finite `value` with `precision` digits as "d.ddde+xx". Returns false if no text of that length
 * reads back as `value`. */
static bool print_exactly(double value, bool single, int precision, char *text, size_t size)
{
    int exponent;

    snprintf(text, size, "%.*e", precision - 1, value);
    if (reads_back(text, value, single))
        return true;
    /* Below a power of two floating-point numbers are twice as dense, so the nearest text may round to a neighbour
     * while the next text does not (2^-44 is 5.684341886080802e-14, not ...801...). */
    return frexp(value, &exponent) == 0.5 && increment_last_digit(text) && reads_back(text, value, single);
}

static struct decimal shortest_float_decimal(double value, bool single)
{
    struct decimal ret = {.count = 0};
    char text[48];
    int longest = single ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
    bool subnormal = value < (single ? (double)FLT_MIN : DBL_MIN);
    /* Texts of this many digits survive a round trip, so fewer need not be tried: trailing zeros are dropped below. */
    int precision = subnormal ? 1 : single ? FLT_DIG : DBL_DIG;

    while (!print_exactly(value, single, precision, text, sizeof(text)) && precision < longest)
        precision++;

    const char *c = text;
    for (; *c != 'e'; c++) {
        if (character_is_digit(*c))
            ret.digits[ret.count++] = *c;
    }
    ret.exponent = (int)strtol(c + 1, NULL, 10);
    while (ret.count > 1 && ret.digits[ret.count - 1] == '0')
        ret.count--;
    return ret;
}

static char *put_characters(char *end, const char *from, int count)
{
    memcpy(end, from, (size_t)count);
    return end + count;
}

/* With a sign and two or three digits. */
static char *put_exponent(char *end, int exponent)
{
    int magnitude = abs(exponent);

    *end++ = 'e';
    *end++ = exponent < 0 ? '-' : '+';
    if (magnitude >= 100)
        *end++ = (char)('0' + magnitude / 100);
    *end++ = (char)('0' + magnitude / 10 % 10);
    *end++ = (char)('0' + magnitude % 10);
    return end;
}

/* Returns the end of what was written. */
static char *lay_out_decimal(const struct decimal *decimal, char *end)
{
    static const char zeros[] = "0000000000000000";
    const char *digits = decimal->digits;
    int count = decimal->count, exponent = decimal->exponent;

    if (exponent < -4 || exponent >= 16) {
        *end++ = digits[0];
        if (count > 1) {
            *end++ = '.';
            end = put_characters(end, digits + 1, count - 1);
        }
        end = put_exponent(end, exponent);
    } else if (exponent < 0) {
        end = put_characters(end, "0.", 2);
        end = put_characters(end, zeros, -exponent - 1);
        end = put_characters(end, digits, count);
    } else {
        int whole = exponent + 1;
        end = put_characters(end, digits, whole < count ? whole : count);
        if (whole > count)
            end = put_characters(end, zeros, whole - count);
        *end++ = '.';
        if (whole < count)
            end = put_characters(end, digits + whole, count - whole);
        else
            *end++ = '0';
    }
    return end;
}

static const char *print_number(double value, bool single, char ret[NUMBER_TEXT_SIZE])
{
    char *end = ret;

    if (signbit(value) && !isnan(value)) {
        *end++ = '-';
        value = -value;
    }
    if (isnan(value)) {
        end = put_characters(end, "nan", 3);
    } else if (isinf(value)) {
        end = put_characters(end, "inf", 3);
    } else if (value == 0) {
        end = put_characters(end, "0.0", 3);
    } else {
        struct decimal decimal = shortest_float_decimal(value, single);
        end = lay_out_decimal(&decimal, end);
    }
    *end = '\0';
    return ret;
}

const char *number_to_text(double value, char ret[NUMBER_TEXT_SIZE])
{
    return print_number(value, false, ret);
}

const char *number_to_text_float32(float value, char ret[NUMBER_TEXT_SIZE])
{
    return print_number(value, true, ret);
}

const char *number_to_text_rounded(double value, char form, int precision, char ret[NUMBER_TEXT_SIZE])
{
    const char format[] = {'%', '.', '*', form, '\0'};
    const char *point = localeconv()->decimal_point;

    if (!isfinite(value))
        return number_to_text(value, ret);
    snprintf(ret, NUMBER_TEXT_SIZE, format, precision, value);
    char *at = strstr(ret, point);
    if (at) { /* the locale's point may be longer than a byte */
        const char *rest = at + strlen(point);
        *at = '.';
        memmove(at + 1, rest, strlen(rest) + 1);
    }
    return ret;
}

const char *number_to_text_short(double value, char ret[NUMBER_TEXT_SIZE])
{
    int decimals = value == 0 || !isfinite(value) ? 0 : 2 - (int)floor(log10(fabs(value)));
    size_t length;

    number_to_text_rounded(value, 'f', decimals < 0 ? 0 : decimals > MOST_DECIMALS ? MOST_DECIMALS : decimals, ret);
    length = strlen(ret);
    while (strchr(ret, '.') != NULL && strchr("0.", ret[length - 1]) != NULL)
        ret[--length] = '\0';
    return ret;
}

static bool character_is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct text trim_blanks(struct text text)
{
    while (text.size > 0 && character_is_blank(text.data[0])) {
        text.data++;
        text.size--;
    }
    while (text.size > 0 && character_is_blank(text.data[text.size - 1]))
        text.size--;
    return text;
}

/* Removes a leading '+' or '-'. Returns true for '-'. */
static bool take_sign(struct text *text)
{
    bool negative = text->size > 0 && text->data[0] == '-';

    if (text->size > 0 && (negative || text->data[0] == '+')) {
        text->data++;
        text->size--;
    }
    return negative;
}

/* Removes leading digits with single underscores between them and appends the digits to `*end`. Returns their
 * number. */
static size_t take_digits(struct text *text, char **end)
{
    size_t count = 0, i = 0;

    while (i < text->size) {
        bool underscore =
            text->data[i] == '_' && count > 0 && i + 1 < text->size && character_is_digit(text->data[i + 1]);
        if (underscore)
            i++;
        if (!character_is_digit(text->data[i]))
            break;
        *(*end)++ = text->data[i++];
        count++;
    }
    text->data += i;
    text->size -= i;
    return count;
}

bool number_parse_integer(struct text text, int64_t *ret)
{
    text = trim_blanks(text);
    if (text.size == 0)
        return false;
    bool negative = take_sign(&text);
    char *digits = memory_alloc(text.size);
    char *end = digits;
    int64_t value = 0;
    bool valid = take_digits(&text, &end) > 0 && text.size == 0;

    for (const char *c = digits; valid && c < end; c++) {
        int digit = negative ? '0' - *c : *c - '0'; /* counted downwards, INT64_MIN needs no special care */
        valid = !__builtin_mul_overflow(value, 10, &value) && !__builtin_add_overflow(value, digit, &value);
    }
    free(digits);
    if (valid)
        *ret = value;
    return valid;
}

static bool equals_lower_case(struct text text, const char *lower)
{
    struct text other = text_of(lower);

    return text.size == other.size && text_contains_ignoring_case(text, other);
}

/* Writes the number in `text` to `end` in the form that strtod() accepts in the current locale. */
static bool normalize_float(struct text text, char *end)
{
    size_t digits = take_digits(&text, &end);

    if (text.size > 0 && text.data[0] == '.') {
        text.data++;
        text.size--;
        end = stpcpy(end, localeconv()->decimal_point);
        digits += take_digits(&text, &end);
    }
    if (digits == 0)
        return false;
    if (text.size > 0 && (text.data[0] == 'e' || text.data[0] == 'E')) {
        text.data++;
        text.size--;
        *end++ = 'e';
        *end++ = take_sign(&text) ? '-' : '+';
        if (take_digits(&text, &end) == 0)
            return false;
    }
    *end = '\0';
    return text.size == 0;
}

int number_hexadecimal_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool number_parse_float(struct text text, double *ret)
{
    text = trim_blanks(text);
    if (text.size == 0)
        return false;
    bool negative = take_sign(&text);
    double value;

    if (equals_lower_case(text, "inf") || equals_lower_case(text, "infinity")) {
        value = INFINITY;
    } else if (equals_lower_case(text, "nan")) {
        value = NAN;
    } else {
        /* In addition to the text: a longer decimal point, the exponent's sign, the NUL. */
        char *number SCOPED_FREE = memory_alloc(text.size + strlen(localeconv()->decimal_point) + 2);
        bool valid = normalize_float(text, number);
        value = valid ? strtod(number, NULL) : 0;
        if (!valid)
            return false;
    }
    *ret = negative ? -value : value;
    return true;
}
