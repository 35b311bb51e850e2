/* backend/tensorrt/feed.c: see feed.h. */
#include "backend/tensorrt/feed.h"

static int narrow_integers(const struct backend_io *input, const struct tensor *given, struct tensor *room,
                           struct error *err)
{
    const int64_t *from = given->data;
    int32_t *to = tensor_writable(room);
    size_t count = tensor_elements(given);

    for (size_t i = 0; i < count; i++) {
        if (from[i] < INT32_MIN || from[i] > INT32_MAX)
            return error_set(err, ERR_UNSUPPORTED,
                             "input '%s' holds %lld, and the engine has int32 in the place of int64", input->name,
                             (long long)from[i]);
        to[i] = (int32_t)from[i];
    }
    return 0;
}

static void narrow_floats(const struct tensor *given, struct tensor *room)
{
    const double *from = given->data;
    float *to = tensor_writable(room);
    size_t count = tensor_elements(given);

    for (size_t i = 0; i < count; i++)
        to[i] = (float)from[i];
}

static int check_shape(const struct backend_io *input, const struct shape *shape, struct error *err)
{
    SCOPED_STRING(text);

    if (!input->has_shape || shape_fits(shape, &input->shape))
        return 0;
    shape_to_text(shape, &text);
    string_add(&text, ", and the engine wants ");
    shape_to_text(&input->shape, &text);
    return error_set(err, ERR_INVALID, "input '%s' has the shape %s", input->name, text.data);
}

int tensorrt_feed_fit(const struct backend_io *input, const struct tensor *given, struct tensor *room,
                      const struct tensor **ret, struct error *err)
{
    bool is_integer = given->type == DATA_INT64 && input->type == DATA_INT32;
    bool is_float = given->type == DATA_FLOAT64 && input->type == DATA_FLOAT32;
    int rc = check_shape(input, &given->shape, err);

    if (rc < 0)
        return rc;
    if (given->type == input->type) {
        *ret = given;
        return 0;
    }
    if (!is_integer && !is_float)
        return error_set(err, ERR_UNSUPPORTED, "the engine wants %s for input '%s', and is given %s",
                         data_type_name(input->type), input->name, data_type_name(given->type));
    tensor_release(room);
    rc = tensor_allocate(input->type, &given->shape, room, err);
    if (rc == 0 && is_integer)
        rc = narrow_integers(input, given, room, err);
    else if (rc == 0)
        narrow_floats(given, room);
    *ret = room;
    return rc;
}

int tensorrt_widen(const struct tensor *given, struct tensor *ret, struct error *err)
{
    enum data_type type = given->type == DATA_INT32 ? DATA_INT64 : DATA_FLOAT64;
    size_t count = tensor_elements(given);
    int rc = tensor_allocate(type, &given->shape, ret, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < count; i++)
        if (type == DATA_INT64)
            ((int64_t *)tensor_writable(ret))[i] = ((const int32_t *)given->data)[i];
        else
            ((double *)tensor_writable(ret))[i] = (double)((const float *)given->data)[i];
    return 0;
}
