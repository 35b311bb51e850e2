/* format/numpy/ndarray.c: arrays in JSON. */
#include "format/numpy/ndarray.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text/base64.h"
#include "format/json/class.h"
#include "format/numpy/npy.h"
#include "format/numpy/npz.h"

#define ZIP_MAGIC "PK"

/* Reads a file in `data`, which is malloc'd and owned by this function. */
static int read_file(uint8_t *data, size_t size, struct tensor *ret, struct error *err)
{
    int rc;

    if (size < 2 || memcmp(data, ZIP_MAGIC, 2) != 0)
        return npy_read_owned(data, size, ret, err);
    rc = npz_read_first((struct span){data, size}, ret, err);
    free(data);
    return rc;
}

static int no_memory(size_t size, struct error *err)
{
    return error_set(err, ERR_MEMORY, "not enough memory for an array of %zu bytes", size);
}

/* Decodes base64 to the final buffer of the tensor. If the text is not base64, *ret_data is NULL. */
static int decode_base64(struct text text, uint8_t **ret_data, size_t *ret_size, struct error *err)
{
    uint8_t *data;
    size_t size;

    *ret_data = NULL;
    if (text.size % 4 != 0)
        return 0;
    data = malloc(text.size / 4 * 3 + 1);
    if (!data)
        return no_memory(text.size / 4 * 3, err);
    size = base64_decode(text.data, text.size, data);
    if (size == SIZE_MAX) {
        free(data);
        return 0;
    }
    *ret_data = data;
    *ret_size = size;
    return 0;
}

/* Converts UTF-8 text with characters below 256 to bytes (Latin-1). */
static int decode_latin1(struct text text, uint8_t **ret_data, size_t *ret_size, struct error *err)
{
    const uint8_t *at = (const uint8_t *)text.data, *end = at + text.size;
    uint8_t *data = malloc(text.size + 1);
    size_t size = 0;

    if (!data)
        return no_memory(text.size, err);
    while (at < end && (*at < 0x80 || (*at <= 0xC3 && end - at >= 2))) {
        data[size++] = (uint8_t)(*at < 0x80 ? *at : *at << 6 | (at[1] & 0x3F));
        at += *at < 0x80 ? 1 : 2;
    }
    if (at < end) {
        free(data);
        return error_set(err, ERR_CORRUPT, "the array's text is neither base64 nor bytes");
    }
    *ret_data = data;
    *ret_size = size;
    return 0;
}

static int read_array(struct json_reader *reader, json_t *object, struct tensor *ret, struct error *err)
{
    json_t *array = json_object_get(object, "array");
    uint8_t *data = NULL;
    struct text text;
    size_t size = 0;
    int rc = 0;

    if (json_reader_raw_text(reader, array, &text))
        rc = decode_base64(text, &data, &size, err);
    if (rc < 0)
        return rc;
    if (data)
        return read_file(data, size, ret, err);
    rc = json_reader_long_text(reader, array, &text, err);
    if (rc < 0)
        return rc;
    rc = decode_base64(text, &data, &size, err);
    if (rc == 0 && !data)
        rc = decode_latin1(text, &data, &size, err);
    return rc < 0 ? rc : read_file(data, size, ret, err);
}

int ndarray_read(struct json_reader *reader, json_t *value, struct tensor *ret, struct error *err)
{
    enum json_class found = json_class_of(reader, value);

    if (found == JSON_CLASS_LAZY_ARRAY) {
        value = json_object_get(value, "values");
        found = json_class_of(reader, value);
    }
    if (found == JSON_CLASS_ARRAY)
        return read_array(reader, value, ret, err);
    if (found == JSON_CLASS_TORCH_TENSOR)
        return error_set(err, ERR_UNSUPPORTED, "it is a torch Tensor, which only Python can read: save NumPy arrays");
    if (found == JSON_CLASS_FORMATTED_ARRAY)
        return error_set(err, ERR_UNSUPPORTED,
                         "it is a FormattedArray in one of TensorRT's vectorized layouts: save plain arrays");
    return error_set(err, ERR_CORRUPT, "expected an array, found %s", json_class_describe(reader, value));
}

int ndarray_read_members(struct json_reader *reader, json_t *object, const char *what, struct tensor_list *ret,
                         struct error *err)
{
    const char *name;
    json_t *value;

    if (!json_is_object(object) || json_class_of(reader, object) != JSON_CLASS_NONE)
        return error_set(err, ERR_CORRUPT, "expected a map of %ss by name, found %s", what,
                         json_class_describe(reader, object));
    json_object_foreach (object, name, value) {
        struct tensor tensor;

        if (ndarray_read(reader, value, &tensor, err) < 0)
            return error_context(err, "%s '%s'", what, name);
        tensor_list_add(ret, text_of(name), &tensor);
    }
    return 0;
}

static int add_base64(void *context, const void *data, size_t size, struct error *err)
{
    return json_writer_add_base64(context, data, size, err);
}

int ndarray_write(struct json_writer *writer, const struct tensor *tensor, struct error *err)
{
    struct npy_sink sink = {add_base64, writer};
    int rc;

    json_writer_begin_object(writer);
    json_writer_key(writer, "array");
    json_writer_begin_base64(writer);
    rc = npy_write(tensor, &sink, err);
    json_writer_end_base64(writer);
    json_writer_add_string(writer, "polygraphy_class", "ndarray");
    json_writer_end_object(writer);
    return rc;
}

int ndarray_write_lazy(struct json_writer *writer, const struct tensor *tensor, struct error *err)
{
    int rc;

    json_writer_begin_object(writer);
    json_writer_key(writer, "values");
    rc = ndarray_write(writer, tensor, err);
    json_writer_add_string(writer, "polygraphy_class", "LazyArray");
    json_writer_end_object(writer);
    return rc;
}
