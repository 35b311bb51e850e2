/* comparator/data/input_shape.h: chooses the shape of generated data for an input. */
#ifndef COMPARATOR_DATA_INPUT_SHAPE_H
#define COMPARATOR_DATA_INPUT_SHAPE_H

#include "comparator/data/settings.h"

struct input_shape_choice {
    struct shape shape; /* static */

    /* If not NULL, the numbers given as its shape are its values (docs/coming-from-polygraphy.md, "Shape tensors"). */
    const struct shape *values;

    bool guessed; /* some dimension is a default */
    bool given;   /* the user has specified its dynamic dimensions */
};

/* Chooses the shape of `input`: the user's shape, the model's static dimensions, and for unspecified dimensions those
 * of `derived` (may be NULL) if it fits, else 1 (with a warning). ERR_INVALID if the user's shape does not fit the
 * model's. */
int input_shape_choose(const struct data_loader_settings *settings, const struct shape *derived,
                       const struct backend_io *input, struct log *log, struct input_shape_choice *ret,
                       struct error *err);

/* The user's shape for the input: an entry with its exact name, else the first matching pattern; NULL if there is
 * none. */
const struct shape *input_shape_given(const struct data_loader_settings *settings, const char *name);

/* Appends a static shape as an option value, for example "x:[1,3]". */
void input_shape_to_option(const char *name, const struct shape *shape, struct string_builder *text);

/* Whether a tensor of this shape can be fed to `input`. */
bool input_shape_fits(const struct backend_io *input, const struct shape *shape);

/* Appends the input's shape with names for dynamic dimensions, as in "('N', 3)"; "unknown" if the model has none. */
void input_shape_to_text(const struct backend_io *input, struct string_builder *text);

/* Warns about shapes and ranges in `settings` whose names match no input. */
void input_names_check(const struct data_loader_settings *settings, const struct backend_io *inputs, size_t count,
                       struct log *log);

#endif
