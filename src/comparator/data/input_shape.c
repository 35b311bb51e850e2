/* comparator/data/input_shape.c: see input_shape.h. */
#include "comparator/data/input_shape.h"

#include <string.h>

#include "base/text/names.h"

bool input_shape_fits(const struct backend_io *input, const struct shape *shape)
{
    if (!input->has_shape)
        return true;
    if (input->shape.rank != shape->rank)
        return false;
    for (size_t i = 0; i < shape->rank; i++)
        if (input->shape.dims[i] >= 0 && shape->dims[i] >= 0 && input->shape.dims[i] != shape->dims[i])
            return false;
    return true;
}

void input_shape_to_text(const struct backend_io *input, struct string_builder *text)
{
    if (!input->has_shape) {
        string_add(text, "unknown");
        return;
    }
    string_add_char(text, '(');
    for (size_t i = 0; i < input->shape.rank; i++) {
        const char *symbol = input->symbols != NULL ? input->symbols[i] : NULL;

        string_add(text, i > 0 ? ", " : "");
        if (input->shape.dims[i] < 0 && symbol != NULL && symbol[0] != '\0')
            string_add_format(text, "'%s'", symbol);
        else
            string_add_format(text, "%lld", (long long)input->shape.dims[i]);
    }
    string_add(text, input->shape.rank == 1 ? ",)" : ")");
}

void input_shape_to_option(const char *name, const struct shape *shape, struct string_builder *text)
{
    string_add_format(text, "%s:[", name);
    for (size_t i = 0; i < shape->rank; i++)
        string_add_format(text, "%s%lld", i > 0 ? "," : "", (long long)shape->dims[i]);
    string_add_char(text, ']');
}

const struct shape *input_shape_given(const struct data_loader_settings *settings, const char *name)
{
    for (size_t i = 0; i < settings->shape_count; i++)
        if (strcmp(settings->shapes[i].name, name) == 0)
            return &settings->shapes[i].shape;
    for (size_t i = 0; i < settings->shape_count; i++)
        if (text_matches_pattern(text_of(name), text_of(settings->shapes[i].name)))
            return &settings->shapes[i].shape;
    return NULL;
}

static bool could_be_values(const struct backend_io *input, const struct shape *given)
{
    return data_type_is_integer(input->type) && input->has_shape && input->shape.rank == 1 &&
           shape_is_static(&input->shape) && (uint64_t)input->shape.dims[0] == given->rank;
}

static int refuse_given_shape(const struct backend_io *input, const struct shape *given, struct error *err)
{
    SCOPED_STRING(text);

    shape_to_text(given, &text);
    string_add(&text, ", does not fit the model's, ");
    input_shape_to_text(input, &text);
    return error_set(err, ERR_INVALID, "input '%s': the shape given for it, %s: give one that does, or none",
                     input->name, text.data);
}

static void warn_of_guess(const struct backend_io *input, const struct shape *shape, struct log *log)
{
    SCOPED_STRING(text);

    string_add_format(&text, "Input tensor: %s (dtype=%s, shape=", input->name, data_type_name(input->type));
    input_shape_to_text(input, &text);
    string_add(&text, ") | Will generate data of shape: ");
    shape_to_text(shape, &text);
    log_once(log, LOG_WARNING, "%s.\nIf this is not what you want, say so with an input shape: %s:[...]", text.data,
             input->name);
}

static void warn_of_values(const struct backend_io *input, const struct shape *values, struct log *log)
{
    SCOPED_STRING(text);

    shape_to_text(values, &text);
    log_once(log, LOG_WARNING, "Assuming that input '%s' is a shape tensor: %s, given as its shape, becomes its value",
             input->name, text.data);
}

int input_shape_choose(const struct data_loader_settings *settings, const struct shape *derived,
                       const struct backend_io *input, struct log *log, struct input_shape_choice *ret,
                       struct error *err)
{
    const struct shape *given = input_shape_given(settings, input->name);

    *ret = (struct input_shape_choice){.given = given != NULL};
    if (given != NULL && !input_shape_fits(input, given)) {
        if (!could_be_values(input, given))
            return refuse_given_shape(input, given, err);
        warn_of_values(input, given, log);
        ret->values = given;
        given = NULL;
    }
    if (given == NULL && !input->has_shape)
        return error_set(err, ERR_INVALID,
                         "input '%s': the model does not tell its rank: give its shape, as in %s:[1,3]", input->name,
                         input->name);
    ret->shape = input->has_shape ? input->shape : *given;
    if (derived != NULL && !input_shape_fits(input, derived))
        derived = NULL;
    for (size_t i = 0; i < ret->shape.rank; i++) {
        int64_t *dim = &ret->shape.dims[i];

        if (*dim < 0 && given != NULL)
            *dim = given->dims[i];
        if (*dim < 0 && derived != NULL)
            *dim = derived->dims[i];
        if (*dim < 0) {
            *dim = 1;
            ret->guessed = true;
        }
    }
    if (ret->guessed)
        warn_of_guess(input, &ret->shape, log);
    return 0;
}

/* Whether a name is used; `patterns`: it may also be a pattern that matches. */
static bool is_used(const char *name, const struct backend_io *inputs, size_t count, bool patterns)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(inputs[i].name, name) == 0 ||
            (patterns && text_matches_pattern(text_of(inputs[i].name), text_of(name))))
            return true;
    return name[0] == '\0';
}

static void warn_of_extra(const struct string_builder *extra, const char *what, const struct backend_io *inputs,
                          size_t count, struct log *log)
{
    SCOPED_STRING(names);

    if (extra->size == 0)
        return;
    for (size_t i = 0; i < count; i++)
        name_list_add(&names, inputs[i].name);
    log_once(log, LOG_WARNING, "Extra items in %s: [%s]. The model's inputs are: [%s]", what, extra->data, names.data);
}

void input_names_check(const struct data_loader_settings *settings, const struct backend_io *inputs, size_t count,
                       struct log *log)
{
    SCOPED_STRING(extra);

    for (size_t i = 0; i < settings->shape_count; i++)
        if (!is_used(settings->shapes[i].name, inputs, count, true))
            name_list_add(&extra, settings->shapes[i].name);
    warn_of_extra(&extra, "input shapes", inputs, count, log);
    string_clear(&extra);
    for (size_t i = 0; i < settings->ranges.count; i++)
        if (!is_used(settings->ranges.items[i].name, inputs, count, false))
            name_list_add(&extra, settings->ranges.items[i].name);
    warn_of_extra(&extra, "value ranges", inputs, count, log);
}
