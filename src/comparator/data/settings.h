/* comparator/data/settings.h: settings of input data: shapes, ranges, or files. */
#ifndef COMPARATOR_DATA_SETTINGS_H
#define COMPARATOR_DATA_SETTINGS_H

#include "backend/backend.h"

struct data_loader_range {
    const char *name;        /* of an input; "" applies to all others */
    double minimum, maximum; /* minimum <= maximum; may be infinite */
};

struct data_loader_ranges {
    const struct data_loader_range *items;
    size_t count;
};

struct data_loader_shape {
    const char *name;   /* of an input, or a pattern for several, see text_matches_pattern() */
    struct shape shape; /* -1: the model's dimension */
};

struct data_loader_settings {
    int64_t seed;       /* 0 .. 2^32 - 1 */
    int64_t iterations; /* to generate; files have their own number */

    /* Default: [0, 1]. The integer and float ranges have priority over `ranges`. */
    struct data_loader_ranges ranges;
    bool has_integer_range, has_float_range;
    int64_t integer_minimum, integer_maximum;
    double float_minimum, float_maximum;

    const struct data_loader_shape *shapes;
    size_t shape_count;

    enum generated_data {
        GENERATED_DEFAULT,        /* Polygraphy's data, as long as the model runs with them */
        GENERATED_REPRESENTATIVE, /* sizes and values that the model is used with, as far as it says what they are */
    } generated;
    bool whole_masks; /* representative masks are ones, without zeros at the end */

    struct words files; /* of feed dicts, concatenated; if there are any, nothing is generated */
    bool streamed;      /* files are read iteration by iteration, see data_loader_hold() */
    bool by_name;       /* inputs only use entries with their own names */
    /* advice for an input missing in the files; NULL: to rename an entry */
    const char *advice;
};

#endif
