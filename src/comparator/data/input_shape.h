/* comparator/data/input_shape.h: the shape for which data of an input are generated. */
#ifndef COMPARATOR_DATA_INPUT_SHAPE_H
#define COMPARATOR_DATA_INPUT_SHAPE_H

#include "comparator/data/settings.h"

struct input_shape_choice {
    struct shape shape; /* static */

    /* The numbers given for it are its values, not its shape (docs/coming-from-polygraphy.md, "Shape tensors"). NULL:
     * they are not. */
    const struct shape *values;

    bool guessed; /* something of it was said by nobody */
    bool given;   /* somebody has given a shape for it, as far as the model leaves that open */
};

/* Decides on the shape of `input`: what the user gave, with the model's fixed dimensions, and 1 for what nobody gave
 * (with a warning). ERR_INVALID when the user's shape does not fit the model's. */
int input_shape_choose(const struct data_loader_settings *settings, const struct backend_io *input, struct log *log,
                       struct input_shape_choice *ret, struct error *err);

/* Appends a static shape in the form in which users give it, as in "x:[1,3]". */
void input_shape_to_option(const char *name, const struct shape *shape, struct string_builder *text);

/* True when a tensor of shape `shape` can be fed to `input`. */
bool input_shape_fits(const struct backend_io *input, const struct shape *shape);

/* Appends the input's shape with names for dynamic dimensions, as in "('N', 3)"; "unknown" when the model has none. */
void input_shape_to_text(const struct backend_io *input, struct string_builder *text);

/* Warns of shapes and ranges in `settings` whose names belong to none of the inputs. */
void input_names_check(const struct data_loader_settings *settings, const struct backend_io *inputs, size_t count,
                       struct log *log);

#endif
