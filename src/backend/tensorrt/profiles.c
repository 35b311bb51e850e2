/* backend/tensorrt/profiles.c: see profiles.h. */
#include "backend/tensorrt/profiles.h"

#include <string.h>

#include "backend/tensorrt/interfaces.h"
#include "base/text/names.h"

enum { SELECT_MINIMUM, SELECT_OPTIMUM, SELECT_MAXIMUM, SELECTIONS }; /* nvinfer1::OptProfileSelector */

struct profile_input {
    const char *name;
    bool is_shape_tensor;
    bool has_shape;
    struct shape shape;
};

static const struct tensorrt_shapes *find_shapes(const struct tensorrt_profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->count; i++)
        if (strcmp(profile->items[i].name, name) == 0)
            return &profile->items[i];
    return NULL;
}

/* Names may be patterns. */
static const struct tensorrt_shapes *find_default(const struct tensorrt_profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->count; i++)
        if (text_matches_pattern(text_of(name), text_of(profile->items[i].name)))
            return &profile->items[i];
    return NULL;
}

static struct profile_input take_input(const struct tensorrt_network *network, int32_t index)
{
    void *tensor = TENSORRT_CALL(VNetworkDefinition, getInput, network->network, index);
    union tensorrt_dims dims = TENSORRT_GET(VTensor, getDimensions, tensor);
    struct profile_input ret = {.name = TENSORRT_GET(VTensor, getName, tensor),
                                .is_shape_tensor = TENSORRT_GET(VTensor, isShapeTensor, tensor)};

    ret.has_shape = tensorrt_dims_get(&dims, &ret.shape);
    return ret;
}

static bool needs_profile(const struct profile_input *input)
{
    return input->is_shape_tensor || !input->has_shape || !shape_is_static(&input->shape);
}

/* ---- Checks ---- */

static int check_shape(const struct profile_input *input, const struct shape *shape, struct error *err)
{
    SCOPED_STRING(text);

    if (!input->has_shape || input->is_shape_tensor || shape_fits(shape, &input->shape))
        return 0;
    shape_to_text(shape, &text);
    string_add(&text, " is no shape of the input ");
    string_add_quoted(&text, input->name);
    string_add(&text, ", which has ");
    shape_to_text(&input->shape, &text);
    return error_set(err, ERR_INVALID, "%s; -1 stands for any size", text.data);
}

static int check_order(const char *name, const char *lower, const struct shape *a, const char *upper,
                       const struct shape *b, struct error *err)
{
    bool fits = a->rank == b->rank;
    SCOPED_STRING(text);

    for (size_t i = 0; fits && i < a->rank; i++)
        fits = a->dims[i] <= b->dims[i];
    if (fits)
        return 0;
    string_add_format(&text, "input '%s': the %s shape ", name, lower);
    shape_to_text(a, &text);
    string_add_format(&text, " exceeds the %s shape ", upper);
    shape_to_text(b, &text);
    return error_set(err, ERR_INVALID, "%s", text.data);
}

static int check_shapes(const struct profile_input *input, const struct tensorrt_shapes *shapes, struct error *err)
{
    if (check_shape(input, &shapes->minimum, err) < 0 || check_shape(input, &shapes->optimum, err) < 0)
        return err->code;
    if (check_shape(input, &shapes->maximum, err) < 0 ||
        check_order(input->name, "minimum", &shapes->minimum, "optimum", &shapes->optimum, err) < 0)
        return err->code;
    return check_order(input->name, "optimum", &shapes->optimum, "maximum", &shapes->maximum, err);
}

static int check_profile(const struct tensorrt_network *network, const struct tensorrt_profile *profile,
                         struct error *err)
{
    int32_t count = TENSORRT_GET(VNetworkDefinition, getNbInputs, network->network);

    for (size_t i = 0; i < profile->count; i++) {
        const char *name = profile->items[i].name;
        struct close_names close;
        SCOPED_STRING(text);
        bool found = false;

        close_names_start(&close, text_of(name));
        for (int32_t k = 0; k < count && !found; k++) {
            struct profile_input input = take_input(network, k);

            found = strcmp(input.name, name) == 0;
            close_names_offer(&close, text_of(input.name));
            if (found && check_shapes(&input, &profile->items[i], err) < 0)
                return err->code;
        }
        close_names_add_to(&close, &text);
        if (!found)
            return error_set(err, ERR_INVALID, "shapes are given for '%s', which is no input of the model%s", name,
                             text.size > 0 ? text.data : "");
    }
    return 0;
}

/* ---- Shapes of one input ---- */

static void guess_shapes(const struct tensorrt_settings *settings, const struct profile_input *input,
                         struct tensorrt_shapes *ret)
{
    SCOPED_STRING(text);

    ret->optimum = input->shape;
    for (size_t i = 0; i < ret->optimum.rank; i++)
        if (ret->optimum.dims[i] < 0)
            ret->optimum.dims[i] = 1;
    shape_to_text(&ret->optimum, &text);
    log_once(settings->log, LOG_WARNING,
             "The engine is built for the shape %s of input '%s', of which the model leaves sizes open: say which with "
             "--trt-min-shapes, --trt-opt-shapes and --trt-max-shapes",
             text.data, input->name);
}

static int choose_shapes(const struct tensorrt_settings *settings, const struct tensorrt_profile *profile,
                         const struct profile_input *input, struct tensorrt_shapes *ret, struct error *err)
{
    const struct tensorrt_shapes *given = find_shapes(profile, input->name);
    const struct tensorrt_shapes *usual = find_default(&settings->default_shapes, input->name);

    if (given != NULL) {
        *ret = *given;
        return 0;
    }
    if (input->is_shape_tensor)
        return error_set(err, ERR_INVALID,
                         "the input '%s' is a shape tensor: give its values with --trt-min-shapes, --trt-opt-shapes "
                         "and --trt-max-shapes, for instance %s:[1,64]",
                         input->name, input->name);
    if (usual != NULL && shape_is_static(&usual->optimum))
        ret->optimum = usual->optimum;
    else if (input->has_shape)
        guess_shapes(settings, input, ret);
    else
        return error_set(err, ERR_INVALID,
                         "the model does not say how many dimensions the input '%s' has: give its shape with "
                         "--trt-opt-shapes",
                         input->name);
    ret->minimum = ret->maximum = ret->optimum;
    return check_shape(input, &ret->optimum, err);
}

static bool set_values(void *profile, const char *name, int32_t select, const struct shape *values)
{
    int32_t narrow[TENSOR_MAX_RANK];

    if (tensorrt_has(TENSORRT_METHOD(VOptimizationProfile, setShapeValuesV2)))
        return TENSORRT_CALL(VOptimizationProfile, setShapeValuesV2, profile, name, select, values->dims,
                             (int32_t)values->rank);
    for (size_t i = 0; i < values->rank; i++)
        narrow[i] = (int32_t)values->dims[i];
    return TENSORRT_CALL(VOptimizationProfile, setShapeValues, profile, name, select, narrow, (int32_t)values->rank);
}

static bool set_sizes(void *profile, const char *name, int32_t select, const union tensorrt_dims *dims)
{
    return tensorrt_is_before(10)
               ? TENSORRT_CALL(VOptimizationProfile, setDimensionsByValue, profile, name, select, dims->narrow)
               : TENSORRT_CALL(VOptimizationProfile, setDimensions, profile, name, select, dims);
}

static int set_input(void *profile, const struct profile_input *input, const struct tensorrt_shapes *shapes,
                     struct error *err)
{
    const struct shape *all[SELECTIONS] = {&shapes->minimum, &shapes->optimum, &shapes->maximum};
    SCOPED_STRING(text);

    for (int32_t i = 0; i < SELECTIONS; i++) {
        union tensorrt_dims dims;
        bool taken = tensorrt_dims_set(all[i], &dims);

        if (taken && input->is_shape_tensor)
            taken = set_values(profile, input->name, i, all[i]);
        else if (taken)
            taken = set_sizes(profile, input->name, i, &dims);
        if (!taken) {
            shape_to_text(all[i], &text);
            return error_set(err, ERR_INVALID, "TensorRT does not take %s for the input '%s' in a profile", text.data,
                             input->name);
        }
    }
    return 0;
}

/* ---- All of them ---- */

/* Where no input needs one: `ret` is NULL. */
static int make_profile(const struct tensorrt_network *network, const struct tensorrt_profile *given, void **ret,
                        struct error *err)
{
    int32_t count = TENSORRT_GET(VNetworkDefinition, getNbInputs, network->network);
    void *profile = NULL;

    *ret = NULL;
    for (int32_t i = 0; i < count; i++) {
        struct profile_input input = take_input(network, i);
        struct tensorrt_shapes shapes = {0};

        if (!needs_profile(&input))
            continue;
        if (profile == NULL)
            profile = tensorrt_object(TENSORRT_GET(VBuilder, createOptimizationProfile, network->builder));
        if (profile == NULL)
            return tensorrt_failure(err, "TensorRT gives no optimization profile");
        if (choose_shapes(network->settings, given, &input, &shapes, err) < 0 ||
            set_input(profile, &input, &shapes, err) < 0)
            return err->code;
    }
    *ret = profile;
    return 0;
}

static int add_profile(const struct tensorrt_network *network, void *config, const struct tensorrt_profile *given,
                       struct error *err)
{
    void *profile;
    int rc = make_profile(network, given, &profile, err);

    if (rc < 0 || profile == NULL)
        return rc;
    return TENSORRT_CALL(VBuilderConfig, addOptimizationProfile, config, profile) >= 0
               ? 0
               : tensorrt_failure(err, "TensorRT refuses the optimization profile");
}

int tensorrt_profile_for_calibration(const struct tensorrt_network *network, void *config,
                                     const struct tensorrt_profile *given, struct error *err)
{
    void *profile;
    int rc = make_profile(network, given, &profile, err);

    if (rc < 0 || profile == NULL)
        return rc;
    return TENSORRT_CALL(VBuilderConfig, setCalibrationProfile, config, profile)
               ? 0
               : tensorrt_failure(err, "TensorRT refuses the profile of the calibration data");
}

int tensorrt_profiles_add(const struct tensorrt_network *network, void *config, struct error *err)
{
    static const struct tensorrt_profile nothing;
    const struct tensorrt_settings *settings = network->settings;

    for (size_t i = 0; i < settings->profiles.count; i++)
        if (check_profile(network, &settings->profiles.items[i], err) < 0)
            return err->code;
    for (size_t i = 0; i < settings->profiles.count; i++)
        if (add_profile(network, config, &settings->profiles.items[i], err) < 0)
            return err->code;
    return settings->profiles.count > 0 ? 0 : add_profile(network, config, &nothing, err);
}
