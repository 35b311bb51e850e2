/* backend/onnxrt/values.c: see values.h. */
#include "backend/onnxrt/values.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* What a tensor made of a value calls its owner. */
struct held_value {
    const struct ort_api *api;
    struct ort_value *value;
};

static void release_held_value(void *owner)
{
    struct held_value *held = owner;

    held->api->release_value(held->value);
    free(held);
}

/* --- tensor to value --- */

/* Elements of 4 bits come as bytes, and complex numbers as two numbers. */
static bool is_aligned(const struct tensor *tensor)
{
    size_t bytes = data_type_bits(tensor->type) / 8;
    size_t alignment = bytes > 8 ? 8 : bytes;

    return alignment < 2 || (uintptr_t)tensor->data % alignment == 0;
}

static struct ort_status *fill_strings(const struct ort_api *api, const struct tensor *tensor, struct ort_value *value)
{
    const struct text *texts = tensor->data;
    size_t count = tensor_elements(tensor);
    struct ort_status *status = NULL;

    for (size_t i = 0; i < count && !status; i++) {
        char *room;

        status = api->resize_string_element(value, i, texts[i].size, &room);
        if (!status && texts[i].size > 0)
            memcpy(room, texts[i].data, texts[i].size);
    }
    return status;
}

static struct ort_status *copy_tensor(const struct onnxrt *ort, const struct tensor *tensor, struct ort_value **ret)
{
    struct ort_value *value = NULL;
    struct ort_status *status;
    void *data;

    status = ort->api->create_tensor(ort->allocator, tensor->shape.dims, tensor->shape.rank, (int)tensor->type, &value);
    if (status)
        return status;
    if (tensor->type == DATA_STRING) {
        status = fill_strings(ort->api, tensor, value);
    } else {
        status = ort->api->tensor_data(value, &data);
        if (!status && tensor->size > 0)
            memcpy(data, tensor->data, tensor->size);
    }
    if (status)
        ort->api->release_value(value);
    else
        *ret = value;
    return status;
}

int onnxrt_value_new(const struct onnxrt *ort, const struct tensor *tensor, struct ort_value **ret, struct error *err)
{
    struct ort_status *status;

    if (tensor->type == DATA_STRING || !is_aligned(tensor))
        status = copy_tensor(ort, tensor, ret);
    else
        status = ort->api->create_tensor_with_data(ort->cpu_memory, (void *)tensor->data, tensor->size,
                                                   tensor->shape.dims, tensor->shape.rank, (int)tensor->type, ret);
    return onnxrt_check(ort, status, err, "ONNX Runtime does not take a tensor of %s", data_type_name(tensor->type));
}

/* --- value to tensor --- */

int onnxrt_read_shape(const struct onnxrt *ort, const struct ort_tensor_info *info, enum data_type *ret_type,
                      struct shape *ret_shape, struct error *err)
{
    const struct ort_api *api = ort->api;
    struct shape shape = {0};
    int type = DATA_UNDEFINED;
    struct ort_status *status;

    status = api->element_type(info, &type);
    if (!status)
        status = api->rank(info, &shape.rank);
    if (!status && shape.rank > TENSOR_MAX_RANK)
        return error_set(err, ERR_UNSUPPORTED, "it has %zu dimensions, more than %d", shape.rank, TENSOR_MAX_RANK);
    if (!status)
        status = api->dimensions(info, shape.dims, shape.rank);
    if (status)
        return onnxrt_check(ort, status, err, "ONNX Runtime does not tell its shape");
    *ret_type = type > DATA_UNDEFINED && type < DATA_TYPE_COUNT ? (enum data_type)type : DATA_UNDEFINED;
    *ret_shape = shape;
    return 0;
}

static int read_value_shape(const struct onnxrt *ort, const struct ort_value *value, enum data_type *ret_type,
                            struct shape *ret_shape, struct error *err)
{
    struct ort_tensor_info *info = NULL;
    int rc = onnxrt_check(ort, ort->api->value_tensor_info(value, &info), err, "ONNX Runtime does not tell its shape");

    if (rc == 0)
        rc = onnxrt_read_shape(ort, info, ret_type, ret_shape, err);
    if (info)
        ort->api->release_tensor_info(info);
    return rc;
}

/* The runtime gives all bytes in one piece, with the offset at which each string begins. */
static int read_strings(const struct onnxrt *ort, const struct ort_value *value, const struct shape *shape,
                        struct tensor *ret, struct error *err)
{
    size_t count = shape_elements(shape), size = 0;
    size_t *offsets SCOPED_FREE = NULL;
    struct text *texts SCOPED_FREE = NULL;
    char *bytes SCOPED_FREE = NULL;
    int rc =
        onnxrt_check(ort, ort->api->string_tensor_size(value, &size), err, "ONNX Runtime does not give its strings");

    if (rc < 0)
        return rc;
    bytes = malloc(size + 1);
    offsets = calloc(count + 1, sizeof(*offsets));
    texts = calloc(count + 1, sizeof(*texts));
    if (!bytes || !offsets || !texts)
        return error_set(err, ERR_MEMORY, "no memory for %zu strings of %zu bytes together", count, size);
    if (count > 0)
        rc = onnxrt_check(ort, ort->api->string_tensor_content(value, bytes, size, offsets, count), err,
                          "ONNX Runtime does not give its strings");
    if (rc < 0)
        return rc;
    offsets[count] = size;
    for (size_t i = 0; i < count; i++)
        texts[i] = (struct text){bytes + offsets[i], offsets[i + 1] - offsets[i]};
    return tensor_set_strings(shape, texts, ret, err);
}

static int hold_value(const struct onnxrt *ort, struct ort_value *value, enum data_type type, const struct shape *shape,
                      struct tensor *ret, struct error *err)
{
    static const uint64_t nothing[1]; /* the data of an empty tensor are never NULL */
    size_t size = tensor_bytes(type, shape_elements(shape));
    struct held_value *held;
    void *data = NULL;
    int rc = onnxrt_check(ort, ort->api->tensor_data(value, &data), err, "ONNX Runtime does not give its data");

    if (rc < 0)
        return rc;
    tensor_borrow(type, shape, data && size > 0 ? data : nothing, size, ret);
    held = memory_alloc(sizeof(*held));
    *held = (struct held_value){ort->api, value};
    ret->owner = held;
    ret->free_owner = release_held_value;
    return 0;
}

int onnxrt_value_take(const struct onnxrt *ort, struct ort_value *value, struct tensor *ret, struct error *err)
{
    enum data_type type = DATA_UNDEFINED;
    struct shape shape;
    int rc = read_value_shape(ort, value, &type, &shape, err);

    if (rc == 0 && type == DATA_UNDEFINED)
        rc = error_set(err, ERR_UNSUPPORTED, "its element type is not known to this program");
    if (rc == 0)
        rc = type == DATA_STRING ? read_strings(ort, value, &shape, ret, err)
                                 : hold_value(ort, value, type, &shape, ret, err);
    if (rc < 0 || type == DATA_STRING)
        ort->api->release_value(value);
    return rc;
}
