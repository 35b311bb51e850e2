/* base/text/number.h: numbers as text, the same in every locale. */
#ifndef BASE_TEXT_NUMBER_H
#define BASE_TEXT_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/text.h"

#define NUMBER_TEXT_SIZE 32

/* The shortest decimal text that reads back as the same double, laid out as Python's repr(): "1e-05", "100.0",
 * "66.66666666666667", "nan", "inf", "-inf". Exponents below -4 or from 16 on use exponent form. Returns `ret`. */
const char *number_to_text(double value, char ret[NUMBER_TEXT_SIZE]);

/* The same for a float32 value: shortest text that reads back as the same float ("2.0763083"). */
const char *number_to_text_float32(float value, char ret[NUMBER_TEXT_SIZE]);

/* As printf() writes it with "%.<precision><form>", `form` being 'e', 'f' or 'g'; "nan" never has a sign. Longer text
 * is truncated: for moderate numbers and precisions only. */
const char *number_to_text_rounded(double value, char form, int precision, char ret[NUMBER_TEXT_SIZE]);

/* For people: three significant digits, and never an exponent (0.00295, 8.7, 16.7, 1234). */
const char *number_to_text_short(double value, char ret[NUMBER_TEXT_SIZE]);

/* Like Python's int(): decimal digits with optional sign and single underscores between digits, blanks around. */
bool number_parse_integer(struct text text, int64_t *ret);

/* The value 0 to 15 of a hexadecimal digit of either case; -1 for other characters. */
int number_hexadecimal_digit(char c);

/* Like Python's float(): also "inf", "-Infinity", "nan" in any case, underscores between digits; blanks around. */
bool number_parse_float(struct text text, double *ret);

#endif
