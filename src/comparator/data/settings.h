/* comparator/data/settings.h: what a user says of the data that a model is fed: shapes, ranges, or files. */
#ifndef COMPARATOR_DATA_SETTINGS_H
#define COMPARATOR_DATA_SETTINGS_H

#include "backend/backend.h"

struct data_loader_range {
    const char *name;        /* of an input; "" is for all that are not named */
    double minimum, maximum; /* minimum <= maximum; may be infinite */
};

struct data_loader_ranges {
    const struct data_loader_range *items;
    size_t count;
};

struct data_loader_shape {
    const char *name;   /* of an input, or a pattern for several, see text_matches_pattern() */
    struct shape shape; /* -1 where the model decides */
};

struct data_loader_settings {
    int64_t seed;       /* 0 .. 2^32 - 1 */
    int64_t iterations; /* to generate; files bring their own */

    /* [0, 1] where nothing is said. The last two go before `ranges`. */
    struct data_loader_ranges ranges;
    bool has_integer_range, has_float_range;
    int64_t integer_minimum, integer_maximum;
    double float_minimum, float_maximum;

    const struct data_loader_shape *shapes;
    size_t shape_count;

    struct words files; /* of feed dicts, one after the other; with any, nothing is generated */
    bool by_name;       /* an input takes an entry of its own name or none */
    /* where data for an input that they lack come from; NULL: give it the name that the model has */
    const char *advice;
};

#endif
