/* format/numpy/npy_header.c: reads and writes the header dict of a .npy file. */
#include "format/numpy/npy_header.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/number.h"

#define MAGIC "\x93NUMPY"
#define MAGIC_SIZE 6
#define PREAMBLE_SIZE 10 /* magic number, version, and the 16-bit length of version 1.0 */
#define ALIGNMENT 64     /* of the data, as in NumPy */
#define GROWTH_DIGITS 21 /* NumPy reserves this many digits for the first dimension */

static const struct {
    char kind;
    size_t size;
    enum data_type type;
} types[] = {
    {'b', 1, DATA_BOOL},      {'i', 1, DATA_INT8},        {'i', 2, DATA_INT16},   {'i', 4, DATA_INT32},
    {'i', 8, DATA_INT64},     {'u', 1, DATA_UINT8},       {'u', 2, DATA_UINT16},  {'u', 4, DATA_UINT32},
    {'u', 8, DATA_UINT64},    {'f', 2, DATA_FLOAT16},     {'f', 4, DATA_FLOAT32}, {'f', 8, DATA_FLOAT64},
    {'c', 8, DATA_COMPLEX64}, {'c', 16, DATA_COMPLEX128},
};

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* A position in the dict. Each function below consumes the named token and preceding blanks, or returns false. */
struct header_cursor {
    const char *at, *end;
};

static void skip_blanks(struct header_cursor *cursor)
{
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t' || *cursor->at == '\n'))
        cursor->at++;
}

static bool take_char(struct header_cursor *cursor, char wanted)
{
    skip_blanks(cursor);
    if (cursor->at == cursor->end || *cursor->at != wanted)
        return false;
    cursor->at++;
    return true;
}

static bool take_word(struct header_cursor *cursor, const char *word)
{
    size_t length = strlen(word);

    if (!take_char(cursor, word[0]) || (size_t)(cursor->end - cursor->at) < length - 1 ||
        memcmp(cursor->at, word + 1, length - 1) != 0)
        return false;
    cursor->at += length - 1;
    return true;
}

static bool take_string(struct header_cursor *cursor, struct text *ret)
{
    char quote = take_char(cursor, '\'') ? '\'' : take_char(cursor, '"') ? '"' : '\0';
    const char *close = quote ? memchr(cursor->at, quote, (size_t)(cursor->end - cursor->at)) : NULL;

    if (!close)
        return false;
    *ret = (struct text){cursor->at, (size_t)(close - cursor->at)};
    cursor->at = close + 1;
    return true;
}

/* A decimal number; Python 2 appended an 'L' to long ones. */
static bool take_dimension(struct header_cursor *cursor, int64_t *ret)
{
    const char *start;

    skip_blanks(cursor);
    start = cursor->at;
    while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9')
        cursor->at++;
    if (!number_parse_integer((struct text){start, (size_t)(cursor->at - start)}, ret))
        return false;
    if (cursor->at < cursor->end && *cursor->at == 'L')
        cursor->at++;
    return true;
}

/* "()", "(3,)", "(2, 3)", "(2, 3,)"; "(3)" is not a tuple. */
static bool take_shape(struct header_cursor *cursor, struct shape *ret)
{
    bool comma = true;

    ret->rank = 0;
    if (!take_char(cursor, '('))
        return false;
    while (!take_char(cursor, ')')) {
        if (!comma || ret->rank == TENSOR_MAX_RANK || !take_dimension(cursor, &ret->dims[ret->rank]))
            return false;
        ret->rank++;
        comma = take_char(cursor, ',');
    }
    return comma || ret->rank > 1;
}

/* The values of the dict, as text. */
struct fields {
    struct text descr;
    bool has_descr, has_order, has_shape;
};

static bool take_field(struct header_cursor *cursor, struct fields *fields, struct npy_header *header)
{
    struct text key;

    if (!take_string(cursor, &key) || !take_char(cursor, ':'))
        return false;
    if (text_equal_string(key, "descr"))
        return fields->has_descr = take_string(cursor, &fields->descr);
    if (text_equal_string(key, "shape"))
        return fields->has_shape = take_shape(cursor, &header->shape);
    if (!text_equal_string(key, "fortran_order"))
        return false;
    header->fortran_order = take_word(cursor, "True");
    return fields->has_order = header->fortran_order || take_word(cursor, "False");
}

/* Members in any order; only blanks may follow the dict. */
static bool take_dict(struct header_cursor *cursor, struct fields *fields, struct npy_header *header)
{
    bool comma = true;

    if (!take_char(cursor, '{'))
        return false;
    while (!take_char(cursor, '}')) {
        if (!comma || !take_field(cursor, fields, header))
            return false;
        comma = take_char(cursor, ',');
    }
    skip_blanks(cursor);
    return fields->has_descr && fields->has_order && fields->has_shape && cursor->at == cursor->end;
}

/* "<f4": byte order, kind, and size in bytes, or for '<U' in code points of four bytes. */
static int read_descr(struct text descr, struct npy_header *header, struct error *err)
{
    const char *at = descr.data, *end = descr.data + descr.size;
    char order = at < end && strchr("<>|=", *at) ? *at++ : '=';
    char kind = at < end ? *at++ : '\0';
    int64_t size = 0;
    bool has_size = number_parse_integer((struct text){at, (size_t)(end - at)}, &size);

    header->big_endian = order == '>';
    if (kind == 'O')
        return error_set(err, ERR_UNSUPPORTED, "it is an array of Python objects, which only Python can read");
    if ((kind == 'U' || kind == 'S') && has_size && size > 0 && size <= INT32_MAX) {
        header->type = DATA_STRING;
        header->text = kind == 'U' ? NPY_UTF32 : NPY_BYTES;
        header->item_size = (size_t)size * (kind == 'U' ? 4 : 1);
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (has_size && types[i].kind == kind && (int64_t)types[i].size == size) {
            header->type = types[i].type;
            header->item_size = types[i].size;
            return 0;
        }
    return error_set(err, ERR_UNSUPPORTED, "its elements have the type '" TEXT_FORMAT "', which is not supported",
                     TEXT_ARGS(descr));
}

/* Finds the dict: magic number, version, and a length of 2 bytes (version 1) or 4 (versions 2 and 3). */
static int find_dict(struct span file, struct header_cursor *ret, struct error *err)
{
    const uint8_t *data = file.data;
    size_t length, start;

    if (file.size < PREAMBLE_SIZE || memcmp(data, MAGIC, MAGIC_SIZE) != 0)
        return error_set(err, ERR_CORRUPT, "not a .npy file: it does not begin with '\\x93NUMPY'");
    if (data[MAGIC_SIZE] < 1 || data[MAGIC_SIZE] > 3)
        return error_set(err, ERR_UNSUPPORTED, ".npy version %d is not supported: expected 1, 2 or 3",
                         data[MAGIC_SIZE]);
    start = data[MAGIC_SIZE] == 1 ? PREAMBLE_SIZE : PREAMBLE_SIZE + 2;
    length = (size_t)(data[8] | data[9] << 8);
    if (data[MAGIC_SIZE] > 1 && file.size >= start)
        length |= (size_t)data[10] << 16 | (size_t)data[11] << 24;
    if (start > file.size || length > file.size - start)
        return error_set(err, ERR_CORRUPT, "the .npy header is truncated (expected %zu bytes, got %zu)", length,
                         start > file.size ? 0 : file.size - start);
    *ret = (struct header_cursor){(const char *)data + start, (const char *)data + start + length};
    return 0;
}

int npy_header_read(struct span file, struct npy_header *ret, struct error *err)
{
    struct npy_header header = {0};
    struct fields fields = {0};
    struct header_cursor cursor = {0};
    int rc = find_dict(file, &cursor, err);

    if (rc < 0)
        return rc;
    header.data_offset = (size_t)(cursor.end - (const char *)file.data);
    if (!take_dict(&cursor, &fields, &header))
        return error_set(err, ERR_UNSUPPORTED,
                         "the .npy header is not valid at byte %zu: expected a dict of 'descr' (no record), "
                         "'fortran_order' and 'shape' (at most %d dimensions)",
                         header.data_offset - (size_t)(cursor.end - cursor.at), TENSOR_MAX_RANK);
    rc = read_descr(fields.descr, &header, err);
    if (rc < 0)
        return rc;
    header.elements = shape_elements(&header.shape);
    if (header.elements > (file.size - header.data_offset) / header.item_size)
        return error_set(err, ERR_CORRUPT,
                         "the .npy file is truncated: %zu bytes of data for %zu elements of %zu bytes",
                         file.size - header.data_offset, header.elements, header.item_size);
    *ret = header;
    return 0;
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

static void add_descr(enum data_type type, enum npy_text text, size_t item_size, struct string_builder *dict)
{
    if (text == NPY_UTF32)
        string_add_format(dict, "<U%zu", item_size / 4);
    if (text == NPY_BYTES)
        string_add_format(dict, "|S%zu", item_size);
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (types[i].type == type)
            string_add_format(dict, "%c%c%zu", types[i].size == 1 ? '|' : '<', types[i].kind, types[i].size);
}

/* Pads the first dimension with blanks to GROWTH_DIGITS digits. */
static void add_room_to_grow(const struct shape *shape, struct string_builder *dict)
{
    char digits[32];
    int length = shape->rank > 0 ? snprintf(digits, sizeof(digits), "%lld", (long long)shape->dims[0]) : GROWTH_DIGITS;

    while (length++ < GROWTH_DIGITS)
        string_add_char(dict, ' ');
}

void npy_header_write(enum data_type type, enum npy_text text, size_t item_size, const struct shape *shape,
                      struct string_builder *ret)
{
    SCOPED_STRING(dict);
    size_t padding;
    uint8_t length[2];

    string_add(&dict, "{'descr': '");
    add_descr(type, text, item_size, &dict);
    string_add(&dict, "', 'fortran_order': False, 'shape': ");
    shape_to_text(shape, &dict);
    string_add(&dict, ", }");
    add_room_to_grow(shape, &dict);
    /* 64 rather than 0 if it is aligned already, as NumPy */
    padding = ALIGNMENT - (PREAMBLE_SIZE + dict.size + 1) % ALIGNMENT;
    while (padding-- > 0)
        string_add_char(&dict, ' ');
    string_add_char(&dict, '\n');

    length[0] = (uint8_t)(dict.size & 0xFF); /* at most 32 dimensions of 19 digits: 16 bits suffice */
    length[1] = (uint8_t)(dict.size >> 8);
    string_add_bytes(ret, MAGIC "\x01\x00", MAGIC_SIZE + 2);
    string_add_bytes(ret, length, sizeof(length));
    string_add_bytes(ret, dict.data, dict.size);
}
