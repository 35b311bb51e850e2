/* backend/trtexec/raw_tensor.c: see raw_tensor.h. */
#include "backend/trtexec/raw_tensor.h"

#include <stdlib.h>

#include "base/file/file.h"
#include "base/memory.h"

int raw_tensor_narrow(const char *name, const struct tensor *from, enum data_type type, struct tensor *ret,
                      struct error *err)
{
    size_t count = tensor_elements(from);
    int rc;

    if (!(from->type == DATA_INT64 && type == DATA_INT32) && !(from->type == DATA_FLOAT64 && type == DATA_FLOAT32))
        return error_set(err, ERR_UNSUPPORTED, "the engine wants %s for input '%s', and is given %s",
                         data_type_name(type), name, data_type_name(from->type));
    rc = tensor_allocate(type, &from->shape, ret, err);
    for (size_t i = 0; i < count && rc == 0; i++) {
        if (type == DATA_FLOAT32) {
            ((float *)tensor_writable(ret))[i] = (float)((const double *)from->data)[i];
            continue;
        }
        int64_t value = ((const int64_t *)from->data)[i];
        if (value < INT32_MIN || value > INT32_MAX)
            rc = error_set(err, ERR_UNSUPPORTED,
                           "input '%s' holds %lld, and this TensorRT has no int64: it takes int32 in its place", name,
                           (long long)value);
        ((int32_t *)tensor_writable(ret))[i] = (int32_t)value;
    }
    if (rc < 0)
        tensor_release(ret);
    return rc;
}

static void free_map(void *map)
{
    file_map_release(map);
    free(map);
}

int raw_tensor_map(const char *path, enum data_type type, const struct shape *shape, struct tensor *ret,
                   struct error *err)
{
    struct file_map *map = memory_alloc_zero(1, sizeof(*map));
    size_t size = tensor_bytes(type, shape_elements(shape));
    int rc = file_map_open(path, map, err);

    if (rc < 0) {
        free(map);
        return rc;
    }
    if (map->size != size) {
        rc = error_set(err, ERR_BACKEND, "trtexec has left %zu bytes, where the tensor takes %zu", map->size, size);
        free_map(map);
        return rc;
    }
    if (size == 0) {
        free_map(map);
        return tensor_allocate(type, shape, ret, err);
    }
    tensor_borrow(type, shape, map->data, size, ret);
    ret->owner = map;
    ret->free_owner = free_map;
    return 0;
}
