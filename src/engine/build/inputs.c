/* engine/build/inputs.c: see inputs.h. */
#include "engine/build/inputs.h"

#include <stdlib.h>

#include "backend/model_io.h"
#include "base/memory.h"
#include "base/text/names.h"
#include "onnx/proto/value_info.h"

static struct text network_input_name(const struct network *network, size_t input)
{
    return network->model->values.items[network->inputs.items[input]].name;
}

static void read_input_type(const struct network *network, size_t input, struct value_type *ret)
{
    value_info_decode(network->model->values.items[network->inputs.items[input]].info, ret);
}

/* NULL if the profile does not contain the input. */
static const struct input_profile *find_input_profile(const struct network *network,
                                                      const struct builder_settings *settings, size_t profile,
                                                      size_t input)
{
    for (size_t i = 0; i < settings->profile_sizes[profile]; i++)
        if (text_equal_string(network_input_name(network, input), settings->profiles[profile][i].name))
            return &settings->profiles[profile][i];
    return NULL;
}

/* ---- Checks ---- */

static int refuse_profile_shape(struct error *err, const char *name, const char *what, const struct shape *shape,
                                const char *why)
{
    SCOPED_STRING(text);

    shape_to_text(shape, &text);
    return error_set(err, ERR_INVALID, "input '%s': the profile's %s shape %s %s", name, what, text.data, why);
}

static bool shape_is_below(const struct shape *a, const struct shape *b)
{
    for (size_t i = 0; i < a->rank; i++)
        if (a->dims[i] > b->dims[i])
            return false;
    return true;
}

/* Static dimensions of the model must match. */
static bool shape_fits_model(const struct value_type *type, const struct shape *shape)
{
    if (!type->has_shape)
        return true;
    for (size_t i = 0; i < type->shape.rank && type->shape.rank == shape->rank; i++)
        if (type->shape.dims[i] >= 0 && type->shape.dims[i] != shape->dims[i])
            return false;
    return type->shape.rank == shape->rank;
}

static int check_input_profile(const struct network *network, const struct input_profile *profile, struct error *err)
{
    const struct shape *shapes[] = {&profile->minimum, &profile->optimum, &profile->maximum};
    static const char *const names[] = {"minimum", "optimum", "maximum"};
    struct value_type type;
    size_t input = 0;

    while (input < network->inputs.count && !text_equal_string(network_input_name(network, input), profile->name))
        input++;
    if (input == network->inputs.count) {
        struct close_names close;
        SCOPED_STRING(text);

        close_names_start(&close, text_of(profile->name));
        for (size_t i = 0; i < network->inputs.count; i++)
            close_names_offer(&close, network_input_name(network, i));
        close_names_add_to(&close, &text);
        return error_set(err, ERR_INVALID, "a profile names '%s', which is no input of the network%s", profile->name,
                         text.data);
    }
    read_input_type(network, input, &type);
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        if (!shape_is_static(shapes[i]))
            return refuse_profile_shape(err, profile->name, names[i], shapes[i], "has a dimension that is not known");
        if (!shape_fits_model(&type, shapes[i]))
            return refuse_profile_shape(err, profile->name, names[i], shapes[i], "is none that the model allows");
        if (i > 0 && (shapes[i]->rank != shapes[i - 1]->rank || !shape_is_below(shapes[i - 1], shapes[i])))
            return refuse_profile_shape(err, profile->name, names[i], shapes[i],
                                        i == 1 ? "is smaller than the minimum" : "is smaller than the optimum");
    }
    return 0;
}

int builder_check_profiles(const struct network *network, const struct builder_settings *settings, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; i < settings->profile_count; i++)
        for (size_t j = 0; rc == 0 && j < settings->profile_sizes[i]; j++)
            rc = check_input_profile(network, &settings->profiles[i][j], err);
    return rc;
}

/* ---- The sample ---- */

/* Describes the inputs for the source, with the first profile's optimal shapes. */
static struct backend_io *describe_sample_inputs(const struct network *network, const struct builder_settings *settings)
{
    struct backend_io *inputs = model_io_new(network->model, NULL, &network->inputs);

    for (size_t i = 0; settings->profile_count > 0 && i < network->inputs.count; i++) {
        const struct input_profile *profile = find_input_profile(network, settings, 0, i);

        if (profile == NULL)
            continue;
        inputs[i].has_shape = true;
        inputs[i].shape = profile->optimum;
        for (size_t k = 0; k < TENSOR_MAX_RANK; k++) {
            free(inputs[i].symbols[k]);
            inputs[i].symbols[k] = NULL;
        }
    }
    return inputs;
}

static int check_sample_tensor(const struct network *network, const struct builder_settings *settings, size_t input,
                               const struct tensor *tensor, struct error *err)
{
    struct text name = network_input_name(network, input);
    const struct input_profile *profile =
        settings->profile_count > 0 ? find_input_profile(network, settings, 0, input) : NULL;
    SCOPED_STRING(text);
    struct value_type type;
    int rc = 0;

    shape_to_text(&tensor->shape, &text);
    read_input_type(network, input, &type);
    if (type.element != DATA_UNDEFINED && type.element != tensor->type)
        rc = error_set(err, ERR_INVALID, "input '" TEXT_FORMAT "' is %s, but the sample data are %s", TEXT_ARGS(name),
                       data_type_name(type.element), data_type_name(tensor->type));
    else if (!shape_fits_model(&type, &tensor->shape))
        rc = error_set(err, ERR_INVALID, "input '" TEXT_FORMAT "': the model does not allow the sample data's shape %s",
                       TEXT_ARGS(name), text.data);
    else if (profile &&
             (tensor->shape.rank != profile->minimum.rank || !shape_is_below(&profile->minimum, &tensor->shape) ||
              !shape_is_below(&tensor->shape, &profile->maximum)))
        rc = error_set(err, ERR_INVALID,
                       "input '" TEXT_FORMAT "': the sample data's shape %s is outside of the first profile",
                       TEXT_ARGS(name), text.data);
    return rc;
}

int builder_feed(const struct network *network, const struct builder_settings *settings, int64_t iteration,
                 struct tensor_list *ret, struct error *err)
{
    size_t count = network->inputs.count;
    struct backend_io *inputs = describe_sample_inputs(network, settings);
    int rc = 0;

    for (size_t i = 0; i < count; i++)
        if (inputs[i].not_a_tensor != NULL) {
            rc = error_set(err, ERR_UNSUPPORTED, "input '%s' is no tensor (%s): an engine cannot be fed with it",
                           inputs[i].name, inputs[i].not_a_tensor);
            goto done;
        }
    if (count > 0)
        rc = settings->sample.feed(settings->sample.context, inputs, count, iteration, ret, err);
    if (rc < 0)
        goto done;
    if (ret->count != count)
        rc = error_set(err, ERR_INVALID, "the sample data are %zu tensors for %zu inputs", ret->count, count);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = check_sample_tensor(network, settings, i, &ret->items[i].tensor, err);
done:
    model_io_free(inputs, count);
    if (rc < 0)
        tensor_list_release(ret);
    return rc;
}

/* ---- Profiles of the engine ---- */

static void set_profile_bounds(const struct network *network, size_t input, const struct shape *sample,
                               const struct engine_profile *ret)
{
    struct value_type type;

    read_input_type(network, input, &type);
    ret->minimum[input] = ret->optimum[input] = ret->maximum[input] = *sample;
    for (size_t i = 0; i < sample->rank; i++)
        if (!type.has_shape || type.shape.dims[i] < 0) {
            ret->minimum[input].dims[i] = 0;
            ret->maximum[input].dims[i] = INT64_MAX;
        }
}

void builder_add_profiles(struct engine *engine, const struct builder_settings *settings,
                          const struct tensor_list *feed)
{
    const struct network *network = engine->network;
    size_t inputs = network->inputs.count;

    for (size_t i = 0; i < settings->profile_count || i == 0; i++) {
        struct engine_profile *profile = VECTOR_APPEND(&engine->profiles);

        profile->minimum = memory_alloc_zero(inputs, sizeof(*profile->minimum));
        profile->optimum = memory_alloc_zero(inputs, sizeof(*profile->optimum));
        profile->maximum = memory_alloc_zero(inputs, sizeof(*profile->maximum));
        for (size_t j = 0; j < inputs; j++) {
            const struct shape *sample = &feed->items[j].tensor.shape;
            const struct input_profile *given =
                settings->profile_count > 0 ? find_input_profile(network, settings, i, j) : NULL;

            if (settings->profile_count == 0) {
                set_profile_bounds(network, j, sample, profile);
            } else {
                profile->minimum[j] = given ? given->minimum : *sample;
                profile->optimum[j] = given ? given->optimum : *sample;
                profile->maximum[j] = given ? given->maximum : *sample;
            }
        }
    }
}
