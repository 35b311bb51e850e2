/* format/numpy/npy.c: converts between .npy files and tensors. */
#include "format/numpy/npy.h"

#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/file/shared_map.h"
#include "format/numpy/npy_header.h"
#include "tensor/values/elements.h"

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* Iterates over the elements in C order and computes their positions in the file. */
struct element_walk {
    const struct shape *shape;
    size_t strides[TENSOR_MAX_RANK]; /* in elements */
    int64_t index[TENSOR_MAX_RANK];
    size_t element; /* position of the current element in the file, in elements */
};

static void walk_start(const struct npy_header *header, struct element_walk *ret)
{
    size_t rank = header->shape.rank;
    size_t stride = 1;

    *ret = (struct element_walk){.shape = &header->shape};
    for (size_t i = 0; i < rank; i++) {
        size_t dimension = header->fortran_order ? i : rank - 1 - i;

        ret->strides[dimension] = stride;
        stride *= (size_t)header->shape.dims[dimension];
    }
}

static void walk_step(struct element_walk *walk)
{
    for (size_t i = walk->shape->rank; i-- > 0;) {
        walk->element += walk->strides[i];
        if (++walk->index[i] < walk->shape->dims[i])
            return;
        walk->element -= walk->strides[i] * (size_t)walk->shape->dims[i];
        walk->index[i] = 0;
    }
}

/* Also in Fortran layout, an array with a single dimension longer than 1 has its elements in C order. */
static bool is_in_order(const struct npy_header *header)
{
    size_t long_dimensions = 0;

    for (size_t i = 0; i < header->shape.rank; i++)
        long_dimensions += header->shape.dims[i] > 1;
    return !header->fortran_order || long_dimensions <= 1 || header->elements == 0;
}

/* The bytes of one number: complex elements consist of two. */
static size_t number_size(const struct npy_header *header)
{
    bool is_complex = header->type == DATA_COMPLEX64 || header->type == DATA_COMPLEX128;

    return is_complex ? header->item_size / 2 : header->item_size;
}

static void swap_bytes(uint8_t *number, size_t size)
{
    for (size_t i = 0; i < size / 2; i++) {
        uint8_t byte = number[i];

        number[i] = number[size - 1 - i];
        number[size - 1 - i] = byte;
    }
}

static int convert_numbers(const struct npy_header *header, const uint8_t *data, struct tensor *ret, struct error *err)
{
    size_t item = header->item_size, number = number_size(header);
    struct element_walk walk;
    uint8_t *to;
    int rc = tensor_allocate(header->type, &header->shape, ret, err);

    if (rc < 0)
        return rc;
    to = tensor_writable(ret);
    if (is_in_order(header)) {
        memcpy(to, data, header->elements * item);
    } else {
        walk_start(header, &walk);
        for (size_t i = 0; i < header->elements; i++, walk_step(&walk))
            memcpy(to + i * item, data + walk.element * item, item);
    }
    if (header->big_endian)
        for (size_t i = 0; i < header->elements * item; i += number)
            swap_bytes(to + i, number);
    return 0;
}

/* Reading a byte other than 0 and 1 as a bool would be undefined behaviour. */
static int check_booleans(const struct npy_header *header, const uint8_t *data, struct error *err)
{
    for (size_t i = 0; i < header->elements; i++)
        if (data[i] > 1)
            return error_set(err, ERR_CORRUPT, "element %zu of the boolean array is %d", i, data[i]);
    return 0;
}

/* Appends a code point as UTF-8; false if it is invalid. */
static bool add_utf8(uint32_t character, struct string_builder *text)
{
    char *to = string_reserve(text, 4);

    if (character < 0x80) {
        to[0] = (char)character;
        text->size += 1;
    } else if (character < 0x800) {
        to[0] = (char)(0xC0 | character >> 6);
        to[1] = (char)(0x80 | (character & 0x3F));
        text->size += 2;
    } else if (character < 0x10000) {
        to[0] = (char)(0xE0 | character >> 12);
        to[1] = (char)(0x80 | (character >> 6 & 0x3F));
        to[2] = (char)(0x80 | (character & 0x3F));
        text->size += 3;
    } else {
        to[0] = (char)(0xF0 | character >> 18);
        to[1] = (char)(0x80 | (character >> 12 & 0x3F));
        to[2] = (char)(0x80 | (character >> 6 & 0x3F));
        to[3] = (char)(0x80 | (character & 0x3F));
        text->size += 4;
    }
    return character <= 0x10FFFF && (character < 0xD800 || character > 0xDFFF);
}

/* Appends one text, without its NUL padding. */
static bool add_item_text(const struct npy_header *header, const uint8_t *item, struct string_builder *text)
{
    size_t unit = header->text == NPY_UTF32 ? 4 : 1;
    size_t size = header->item_size;

    while (size > 0 && memcmp(item + size - unit, "\0\0\0", unit) == 0)
        size -= unit;
    if (header->text == NPY_BYTES) {
        string_add_bytes(text, item, size);
        return true;
    }
    for (size_t i = 0; i < size; i += 4) {
        const uint8_t *c = item + i;
        uint32_t character = header->big_endian
                                 ? (uint32_t)c[0] << 24 | (uint32_t)c[1] << 16 | (uint32_t)c[2] << 8 | c[3]
                                 : (uint32_t)c[3] << 24 | (uint32_t)c[2] << 16 | (uint32_t)c[1] << 8 | c[0];

        if (!add_utf8(character, text))
            return false;
    }
    return true;
}

static int convert_texts(const struct npy_header *header, const uint8_t *data, struct tensor *ret, struct error *err)
{
    struct text *texts SCOPED_FREE = calloc(header->elements ? header->elements : 1, sizeof(*texts));
    SCOPED_STRING(bytes);
    struct element_walk walk;
    const char *at;

    if (!texts)
        return error_set(err, ERR_MEMORY, "not enough memory for %zu texts", header->elements);
    walk_start(header, &walk);
    for (size_t i = 0; i < header->elements; i++, walk_step(&walk)) {
        size_t before = bytes.size;

        if (!add_item_text(header, data + walk.element * header->item_size, &bytes))
            return error_set(err, ERR_CORRUPT, "text %zu contains a character that is not valid Unicode", i);
        texts[i].size = bytes.size - before;
    }
    at = bytes.data;
    for (size_t i = 0; i < header->elements; at += texts[i].size, i++)
        texts[i].data = at;
    return tensor_set_strings(&header->shape, texts, ret, err);
}

int npy_read(struct span file, struct tensor *ret, struct error *err)
{
    struct npy_header header;
    const uint8_t *data;
    bool is_aligned;
    int rc = npy_header_read(file, &header, err);

    if (rc < 0)
        return rc;
    data = file.data + header.data_offset;
    if (header.text != NPY_NO_TEXT)
        return convert_texts(&header, data, ret, err);
    if (header.type == DATA_BOOL) {
        rc = check_booleans(&header, data, err);
        if (rc < 0)
            return rc;
    }
    is_aligned = (uintptr_t)data % number_size(&header) == 0;
    if (!is_aligned || header.big_endian || !is_in_order(&header))
        return convert_numbers(&header, data, ret, err);
    tensor_borrow(header.type, &header.shape, data, header.elements * header.item_size, ret);
    return 0;
}

int npy_load(const char *path, struct tensor *ret, struct error *err)
{
    struct shared_map *map;
    int rc = shared_map_open(path, &map, err);

    if (rc < 0)
        return rc;
    rc = npy_read(shared_map_content(map), ret, err);
    if (rc == 0 && !ret->free_owner) {
        ret->owner = shared_map_join(map);
        ret->free_owner = shared_map_leave;
    }
    shared_map_leave(map);
    return rc < 0 ? error_context(err, "'%s'", path) : 0;
}

int npy_read_owned(uint8_t *data, size_t size, struct tensor *ret, struct error *err)
{
    int rc = npy_read((struct span){data, size}, ret, err);

    if (rc == 0 && !ret->free_owner) { /* the tensor refers to the file */
        ret->free_owner = free;
        ret->owner = data;
    } else {
        free(data);
    }
    return rc;
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* The NumPy type for values of `type`. */
static enum data_type written_type(enum data_type type)
{
    switch (type) {
    case DATA_BFLOAT16:
    case DATA_FLOAT8E4M3FN:
    case DATA_FLOAT8E4M3FNUZ:
    case DATA_FLOAT8E5M2:
    case DATA_FLOAT8E5M2FNUZ:
    case DATA_FLOAT4E2M1:
        return DATA_FLOAT32;
    case DATA_INT4:
        return DATA_INT8;
    case DATA_UINT4:
        return DATA_UINT8;
    default:
        return type;
    }
}

static int write_widened(const struct tensor *tensor, const struct npy_sink *sink, struct error *err)
{
    bool is_float = written_type(tensor->type) == DATA_FLOAT32;
    size_t elements = tensor_elements(tensor);
    uint64_t integers[ELEMENTS_RUN];
    uint8_t bytes[ELEMENTS_RUN];
    float floats[ELEMENTS_RUN];
    int rc = 0;

    for (size_t start = 0; start < elements && rc == 0; start += ELEMENTS_RUN) {
        size_t count = elements - start < ELEMENTS_RUN ? elements - start : ELEMENTS_RUN;

        if (is_float) {
            elements_to_float32(tensor, start, count, floats);
            rc = sink->add(sink->context, floats, count * sizeof(float), err);
        } else {
            elements_to_integers(tensor, start, count, integers);
            for (size_t i = 0; i < count; i++)
                bytes[i] = (uint8_t)integers[i];
            rc = sink->add(sink->context, bytes, count, err);
        }
    }
    return rc;
}

/* The number of code points, or SIZE_MAX when the text is not UTF-8. */
static size_t count_characters(struct text text)
{
    size_t count = 0, length;

    for (size_t i = 0; i < text.size; i += length, count++) {
        length = text_utf8_length(text.data + i, text.size - i);
        if (length == 0)
            return SIZE_MAX;
    }
    return count;
}

/* Chooses the encoding of texts: UTF-32 if all are UTF-8. `ret_item_size` is never 0, as in NumPy. */
static enum npy_text choose_text(const struct text *texts, size_t count, size_t *ret_item_size)
{
    size_t longest_size = 1, longest_count = 1;
    bool is_utf8 = true;

    for (size_t i = 0; i < count; i++) {
        size_t characters = is_utf8 ? count_characters(texts[i]) : SIZE_MAX;

        is_utf8 = characters != SIZE_MAX;
        if (is_utf8 && characters > longest_count)
            longest_count = characters;
        if (texts[i].size > longest_size)
            longest_size = texts[i].size;
    }
    *ret_item_size = is_utf8 ? longest_count * 4 : longest_size;
    return is_utf8 ? NPY_UTF32 : NPY_BYTES;
}

/* Appends valid UTF-8 as little-endian UTF-32. */
static void add_utf32(struct text text, struct string_builder *ret)
{
    const uint8_t *bytes = (const uint8_t *)text.data;

    for (size_t i = 0; i < text.size;) {
        size_t length = text_utf8_length(text.data + i, text.size - i);
        uint32_t character = length == 1 ? bytes[i] : bytes[i] & (0x7Fu >> length);

        for (size_t k = 1; k < length; k++)
            character = character << 6 | (bytes[i + k] & 0x3Fu);
        for (unsigned shift = 0; shift < 32; shift += 8)
            string_add_char(ret, (char)(character >> shift & 0xFF));
        i += length;
    }
}

static int add_zeros(size_t count, const struct npy_sink *sink, struct error *err)
{
    static const uint8_t zeros[4096];
    int rc = 0;

    while (count > 0 && rc == 0) {
        size_t piece = count < sizeof(zeros) ? count : sizeof(zeros);

        rc = sink->add(sink->context, zeros, piece, err);
        count -= piece;
    }
    return rc;
}

static int write_texts(const struct tensor *tensor, enum npy_text text, size_t item_size, const struct npy_sink *sink,
                       struct error *err)
{
    const struct text *texts = tensor->data;
    size_t count = tensor_elements(tensor);
    SCOPED_STRING(item);
    int rc = 0;

    for (size_t i = 0; i < count && rc == 0; i++) {
        string_clear(&item);
        if (text == NPY_UTF32)
            add_utf32(texts[i], &item);
        else
            string_add_text(&item, texts[i]);
        rc = sink->add(sink->context, item.data, item.size, err);
        if (rc == 0)
            rc = add_zeros(item_size - item.size, sink, err);
    }
    return rc;
}

int npy_write(const struct tensor *tensor, const struct npy_sink *sink, struct error *err)
{
    enum data_type type = written_type(tensor->type);
    enum npy_text text = NPY_NO_TEXT;
    SCOPED_STRING(header);
    size_t item_size = 0;
    int rc;

    if (type == DATA_UNDEFINED || type >= DATA_TYPE_COUNT)
        return error_set(err, ERR_UNSUPPORTED, "cannot write a tensor without an element type");
    if (type == DATA_STRING)
        text = choose_text(tensor->data, tensor_elements(tensor), &item_size);

    npy_header_write(type, text, item_size, &tensor->shape, &header);
    rc = sink->add(sink->context, header.data, header.size, err);
    if (rc < 0)
        return rc;
    if (type == DATA_STRING)
        return write_texts(tensor, text, item_size, sink, err);
    if (type != tensor->type)
        return write_widened(tensor, sink, err);
    return sink->add(sink->context, tensor->data, tensor->size, err);
}

static int add_to_file(void *context, const void *data, size_t size, struct error *err)
{
    return file_writer_add(context, data, size, err);
}

int npy_save(const struct tensor *tensor, const char *path, enum file_durability durability, struct error *err)
{
    struct file_writer writer;
    struct npy_sink sink = {add_to_file, &writer};
    int rc = file_writer_open(&writer, path, err);

    if (rc < 0)
        return rc;
    rc = npy_write(tensor, &sink, err);
    if (rc == 0)
        rc = file_writer_commit(&writer, durability, err);
    file_writer_release(&writer);
    return rc;
}
