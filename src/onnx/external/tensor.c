/* onnx/external/tensor.c: see tensor.h. */
#include "onnx/external/tensor.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/edit/constants.h"
#include "onnx/external/data.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/pieces.h"

static void free_tensor_map(void *owner)
{
    file_map_release(owner);
    free(owner);
}

static int borrow_external_data(struct file_map *map, const struct tensor_header *header, struct tensor *ret,
                                struct error *err)
{
    uint64_t size = tensor_bytes(header->type, shape_elements(&header->shape));
    uint64_t offset = header->place.offset;

    if (header->type == DATA_UNDEFINED || header->type == DATA_STRING)
        return error_set(err, ERR_UNSUPPORTED, "tensor '" TEXT_FORMAT "' has external data of an unknown type",
                         TEXT_ARGS(header->name));
    if (header->place.has_length && header->place.length != size)
        return error_set(err, ERR_CORRUPT, "tensor '" TEXT_FORMAT "' has external data that do not fit its shape",
                         TEXT_ARGS(header->name));
    if (size == SIZE_MAX || offset > map->size || size > map->size - offset)
        return error_set(err, ERR_CORRUPT, "tensor '" TEXT_FORMAT "': its data are beyond the end of '%s' (%zu bytes)",
                         TEXT_ARGS(header->name), map->path, map->size);
    tensor_borrow(header->type, &header->shape, size > 0 ? (const void *)(map->data + offset) : "", (size_t)size, ret);
    ret->free_owner = free_tensor_map;
    ret->owner = map;
    return 0;
}

int external_tensor_read(const struct model *model, struct span message, struct tensor *ret, struct error *err)
{
    struct tensor_header header;
    struct file_map *map;
    char *path SCOPED_FREE = NULL;
    int rc = tensor_proto_read(message, &header, err);

    if (rc < 0)
        return rc;
    if (!header.external)
        return tensor_proto_decode(message, ret, err);
    rc = external_data_path(model, header.place.location, &path, err);
    if (rc < 0)
        return rc;
    map = memory_alloc(sizeof(*map));
    rc = file_map_open(path, map, err);
    if (rc < 0) {
        free(map);
        return rc;
    }
    rc = borrow_external_data(map, &header, ret, err);
    if (rc < 0)
        free_tensor_map(map);
    return rc;
}

/* Maps the file at `location`, unless it is mapped already. */
static int map_for_good(struct model *model, struct text location, struct file_map **ret, struct error *err)
{
    struct file_map map;
    char *path SCOPED_FREE = NULL;
    int rc;

    for (size_t i = 0; i < model->external_files.count; i++)
        if (text_equal(model->external_files.items[i].location, location)) {
            *ret = model->external_files.items[i].map;
            return 0;
        }
    rc = external_data_path(model, location, &path, err);
    if (rc < 0)
        return rc;
    rc = file_map_open(path, &map, err);
    if (rc < 0)
        return rc;
    *ret = memory_alloc(sizeof(**ret));
    **ret = map;
    *VECTOR_APPEND(&model->external_files) = (struct external_file){location, *ret};
    return 0;
}

int external_tensor_borrow(struct model *model, struct span message, struct tensor *ret, struct error *err)
{
    struct tensor_header header;
    struct file_map *map;
    struct tensor tensor;
    void *copy;
    int rc = tensor_proto_read(message, &header, err);

    if (rc < 0)
        return rc;
    if (header.external) {
        rc = map_for_good(model, header.place.location, &map, err);
        if (rc == 0)
            rc = borrow_external_data(map, &header, ret, err);
        if (rc == 0)
            ret->free_owner = NULL;
        return rc;
    }
    rc = tensor_proto_decode(message, &tensor, err);
    if (rc < 0)
        return rc;
    if (tensor.free_owner == NULL || tensor.type == DATA_STRING) { /* strings are allocated separately */
        *ret = tensor;
        return 0;
    }
    copy = model_allocate(model, tensor.size);
    if (copy != NULL && tensor.size > 0)
        memcpy(copy, tensor.data, tensor.size);
    if (copy != NULL)
        tensor_borrow(tensor.type, &tensor.shape, copy, tensor.size, ret);
    else
        rc = error_set(err, ERR_MEMORY, "not enough memory for tensor '" TEXT_FORMAT "' of %zu bytes",
                       TEXT_ARGS(header.name), tensor.size);
    tensor_release(&tensor);
    return rc;
}

static int read_narrowed(const struct initializer *initializer, struct tensor *ret, struct error *err)
{
    struct tensor_header header;
    struct piece_list pieces SCOPED(pieces_release) = {0};
    int rc = tensor_proto_read(initializer->message, &header, err);

    if (rc == 0)
        rc = tensor_allocate(header.type, &header.shape, ret, err);
    if (rc < 0)
        return rc;
    pieces_add_narrowed(&pieces, initializer->narrowed, initializer->narrowed_type);
    pieces_copy(&pieces, tensor_writable(ret));
    return 0;
}

int external_tensor_read_constant(const struct model *model, const struct initializer *initializer, struct tensor *ret,
                                  struct error *err)
{
    return initializer->narrowed.size > 0 ? read_narrowed(initializer, ret, err)
                                          : external_tensor_read(model, initializer->message, ret, err);
}

const struct file_map *external_tensor_map(const struct model *model, struct span bytes)
{
    if (model->map.fd >= 0 && file_map_holds(&model->map, bytes.data, bytes.size))
        return &model->map;
    for (size_t i = 0; i < model->external_files.count; i++)
        if (file_map_holds(model->external_files.items[i].map, bytes.data, bytes.size))
            return model->external_files.items[i].map;
    return NULL;
}

bool external_tensor_location(struct span message, struct text *ret)
{
    struct tensor_header header;

    if (tensor_proto_read(message, &header, NULL) < 0 || !header.external)
        return false;
    *ret = header.place.location;
    return true;
}
