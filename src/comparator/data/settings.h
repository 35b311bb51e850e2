/* comparator/data/settings.h: what a user says of the data that a model is fed: shapes, ranges, or files. */
#ifndef COMPARATOR_DATA_SETTINGS_H
#define COMPARATOR_DATA_SETTINGS_H

#include "backend/backend.h"

struct data_loader_range {
    const char *name;        /* of an input; "" is for all that are not named */
    double minimum, maximum; /* minimum <= maximum; may be infinite */
};

struct data_loader_shape {
    const char *name;   /* of an input, or a pattern for several, see text_matches_pattern() */
    struct shape shape; /* -1 where the model decides */
};

struct data_loader_settings {
    uint32_t seed;
    int64_t iterations; /* to generate; files bring their own */

    /* [0, 1] where nothing is said. The last two go before `ranges`. */
    const struct data_loader_range *ranges;
    size_t range_count;
    bool has_integer_range, has_float_range;
    double integer_minimum, integer_maximum;
    double float_minimum, float_maximum;

    const struct data_loader_shape *shapes;
    size_t shape_count;

    const char *const *files; /* of feed dicts, one after the other; with any, nothing is generated */
    size_t file_count;
    bool by_name; /* an input takes an entry of its own name or none */
    /* where data for an input that they lack come from; NULL: give it the name that the model has */
    const char *advice;
};

#endif
