/* base/text/named_values.h: values by name, as users specify them: `[<name>:]<value>`. A name may be a pattern; ""
 * applies to everything else. */
#ifndef BASE_TEXT_NAMED_VALUES_H
#define BASE_TEXT_NAMED_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct named_number {
    const char *name;
    double value;
    bool is_integer; /* written without a point and an exponent: Python keeps it an integer */
};

struct named_numbers {
    const struct named_number *items;
    size_t count;
};

struct named_integer {
    const char *name;
    int64_t value;
};

struct named_integers {
    const struct named_integer *items;
    size_t count;
};

struct named_word {
    const char *name, *value;
};

struct named_words {
    const struct named_word *items;
    size_t count;
};

/* The value for `name`: its own, else that of the first pattern that matches, else the unnamed one, else `fallback`
 * (name_rule_find()). */
double named_number_find(const struct named_numbers *list, const char *name, double fallback);
bool named_number_is_integer(const struct named_numbers *list, const char *name); /* false for the fallback */
int64_t named_integer_find(const struct named_integers *list, const char *name, int64_t fallback);
const char *named_word_find(const struct named_words *list, const char *name, const char *fallback);

#endif
