/* backend/trtexec/exported_output.c: see exported_output.h. */
#include "backend/trtexec/exported_output.h"

#include <string.h>

#include "base/text/number.h"
#include "base/text/string_builder.h"

static struct text from(struct text text, size_t begin)
{
    return (struct text){text.data + begin, text.size - begin};
}

static struct text without_blanks(struct text text)
{
    while (text.size > 0 && strchr(" \n", text.data[0]) != NULL)
        text = from(text, 1);
    while (text.size > 0 && strchr(" \n", text.data[text.size - 1]) != NULL)
        text.size--;
    return text;
}

/* Takes off everything up to and with `word`, and gives what stood before it. */
static bool take_until(struct text *text, struct text word, struct text *ret)
{
    size_t at = text_find(*text, word);

    if (at == SIZE_MAX)
        return false;
    *ret = (struct text){text->data, at};
    *text = from(*text, at + word.size);
    return true;
}

static bool parse_shape(struct text text, struct shape *ret)
{
    *ret = (struct shape){0};
    while (text.size > 0) {
        const char *end = memchr(text.data, 'x', text.size);
        size_t size = end != NULL ? (size_t)(end - text.data) : text.size;

        if (ret->rank == TENSOR_MAX_RANK ||
            !number_parse_integer((struct text){text.data, size}, &ret->dims[ret->rank]))
            return false;
        ret->rank++;
        text = from(text, end != NULL ? size + 1 : size);
    }
    return shape_is_static(ret);
}

static bool store(enum data_type type, int64_t value, uint8_t *ret)
{
    size_t size = data_type_bits(type) / 8;
    bool is_signed = data_type_is_signed(type) || type == DATA_BOOL;

    if (type == DATA_BOOL && value != 0 && value != 1)
        return false;
    if (size < 8 && type != DATA_BOOL) {
        int64_t limit = (int64_t)1 << (8 * size - (is_signed ? 1 : 0));

        if (value >= limit || value < (is_signed ? -limit : 0))
            return false;
    }
    memcpy(ret, &value, size); /* little-endian, as tensors are */
    return true;
}

static bool read_values(struct text text, enum data_type type, size_t count, uint8_t *ret)
{
    size_t size = data_type_bits(type) / 8;

    for (size_t i = 0; i < count; i++) {
        const char *comma = memchr(text.data, ',', text.size);
        size_t length = comma != NULL ? (size_t)(comma - text.data) : text.size;
        int64_t value;

        if ((comma == NULL) != (i + 1 == count) || !number_parse_integer((struct text){text.data, length}, &value) ||
            !store(type, value, ret + i * size))
            return false;
        text = from(text, comma != NULL ? length + 1 : length);
    }
    return count > 0 || text.size == 0;
}

static bool takes(enum data_type type)
{
    return (data_type_is_integer(type) && data_type_bits(type) >= 8) || type == DATA_BOOL;
}

int exported_output_read(struct text file, const char *name, enum data_type type, struct tensor *ret, struct error *err)
{
    SCOPED_STRING(beginning);
    struct text text = file, dimensions, values;
    struct shape shape;
    size_t count;
    bool found;
    int rc;

    if (!takes(type))
        return error_set(
            err, ERR_UNSUPPORTED,
            "the shape of output '%s' depends on data, and trtexec gives out such values with six digits, "
            "which is not enough to compare type %s; leave the output out (--trt-exclude-outputs), or take "
            "one in front of it (--trt-outputs)",
            name, data_type_name(type));
    string_add_format(&beginning, "{ \"name\" : \"%s\"\n  , \"dimensions\" : \"", name);
    found = take_until(&text, (struct text){beginning.data, beginning.size}, &values) &&
            take_until(&text, TEXT("\"\n  , \"values\" : ["), &dimensions) && take_until(&text, TEXT("]"), &values);
    if (found)
        values = without_blanks(values);
    if (found && text_find(values, TEXT("Final shape is ")) == 0) {
        values = from(values, sizeof("Final shape is ") - 1);
        found = take_until(&values, TEXT(" reported by the output allocator."), &dimensions);
        values = without_blanks(values);
    }
    if (!found || !parse_shape(dimensions, &shape))
        return error_set(err, ERR_CORRUPT, "what trtexec has exported does not tell the shape of output '%s'", name);
    count = shape_elements(&shape);
    /* each value takes a digit and, but for the last, a comma */
    if (count > values.size)
        return error_set(err, ERR_CORRUPT, "what trtexec has exported holds fewer values of output '%s' than it says",
                         name);
    rc = tensor_allocate(type, &shape, ret, err);
    if (rc < 0)
        return rc;
    if (read_values(values, type, count, tensor_writable(ret)))
        return 0;
    tensor_release(ret);
    return error_set(err, ERR_CORRUPT,
                     "what trtexec has exported of output '%s' are not as many whole numbers as its "
                     "shape has, or some are beyond its type",
                     name);
}
