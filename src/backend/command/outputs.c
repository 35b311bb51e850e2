/* backend/command/outputs.c: see outputs.h. */
#include "backend/command/outputs.h"

#include <string.h>

#include "base/text/names.h"

#define MOST_NAMES 12 /* in a message */

static const struct backend_io *find_output(const struct command_outputs *outputs, const char *name)
{
    for (size_t i = 0; i < outputs->count; i++)
        if (strcmp(outputs->items[i].name, name) == 0)
            return &outputs->items[i];
    return NULL;
}

static void add_raw_name(struct short_list *list, const char *name)
{
    if (short_list_next(list))
        string_add_format(list->text, "'%s'", name);
}

/* `what` is the sentence's beginning, which the names that came and those that were expected follow. */
static int refuse_names(const char *what, enum command_failure why, const struct tensor_list *come,
                        const struct words *wanted, struct error *err)
{
    SCOPED_STRING(found);
    SCOPED_STRING(expected);
    struct short_list found_names = {.text = &found, .most = MOST_NAMES};
    struct short_list expected_names = {.text = &expected, .most = MOST_NAMES};

    for (size_t i = 0; i < come->count; i++)
        add_raw_name(&found_names, come->items[i].name);
    for (size_t i = 0; i < wanted->count; i++)
        add_raw_name(&expected_names, wanted->items[i]);
    string_add(&found, come->count == 0 ? "none" : "");
    string_add(&expected, wanted->count == 0 ? "none" : "");
    short_list_end(&found_names);
    short_list_end(&expected_names);
    error_set(err, ERR_BACKEND, "%s; came: %s; expected: %s", what, found.data, expected.data);
    if (err != NULL)
        err->foreign_code = (int)why;
    return ERR_BACKEND;
}

static int check_output_names(const struct command_outputs *outputs, const struct words *wanted,
                              const struct tensor_list *come, struct error *err)
{
    SCOPED_STRING(what);
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < wanted->count; i++)
        if (tensor_list_find(come, text_of(wanted->items[i])) == NULL) {
            string_add_format(&what, "it left no output '%s'", wanted->items[i]);
            rc = refuse_names(what.data, COMMAND_LEFT_TOO_FEW, come, wanted, err);
        }
    /* One that knows other tensors may know another model: an engine of another one, say. */
    for (size_t i = 0; rc == 0 && i < come->count; i++)
        if (find_output(outputs, come->items[i].name) == NULL) {
            string_add_format(&what, "it left '%s', which is no output of the model", come->items[i].name);
            rc = refuse_names(what.data, COMMAND_LEFT_STRANGERS, come, wanted, err);
        }
    return rc;
}

static int check_shape(const struct backend_io *output, const struct tensor *tensor, struct error *err)
{
    SCOPED_STRING(is);
    SCOPED_STRING(should);

    if (!output->has_shape || shape_fits(&tensor->shape, &output->shape))
        return 0;
    shape_to_text(&tensor->shape, &is);
    shape_to_text(&output->shape, &should);
    error_set(err, ERR_BACKEND, "it left output '%s' with shape %s; the model says %s", output->name, is.data,
              should.data);
    if (err != NULL)
        err->foreign_code = COMMAND_LEFT_WRONG_SHAPE;
    return ERR_BACKEND;
}

int command_outputs_take(const struct command_outputs *outputs, const struct words *wanted, struct tensor_list *come,
                         struct log *log, struct tensor_list *ret, struct error *err)
{
    int rc = check_output_names(outputs, wanted, come, err);

    for (size_t i = 0; rc == 0 && i < wanted->count; i++) {
        const struct backend_io *output = find_output(outputs, wanted->items[i]);

        if (output != NULL)
            rc = check_shape(output, &tensor_list_find(come, text_of(output->name))->tensor, err);
    }
    for (size_t i = 0; rc == 0 && i < wanted->count; i++) {
        struct tensor *tensor = &tensor_list_find(come, text_of(wanted->items[i]))->tensor;
        const struct backend_io *output = find_output(outputs, wanted->items[i]);

        if (output != NULL && output->type != DATA_UNDEFINED && output->type != tensor->type)
            log_once(log, LOG_WARNING, "Output '%s' came as %s; the model says %s", output->name,
                     data_type_name(tensor->type), data_type_name(output->type));
        tensor_list_add(ret, text_of(wanted->items[i]), tensor);
        *tensor = (struct tensor){0};
    }
    return rc;
}
