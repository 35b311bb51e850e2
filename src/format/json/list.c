/* format/json/list.c: see list.h. */
#include "format/json/list.h"

#include <stdlib.h>

#include "base/memory.h"

enum kind { KIND_INTEGER, KIND_FLOAT, KIND_BOOLEAN, KIND_STRING, KIND_COUNT };

struct list_walk {
    struct json_reader *reader;
    struct shape shape;
    size_t at[TENSOR_MAX_RANK]; /* current position */
    size_t element;             /* index of the current element */
    size_t counts[KIND_COUNT];

    /* Second pass: the destination. */
    enum data_type type;
    union {
        int64_t *integers;
        double *floats;
        bool *booleans;
        struct text *strings;
    } to;
};

/* The current position in the first `depth` dimensions, for example "[1][0]". */
static const char *describe_place(const struct list_walk *walk, size_t depth, struct string_builder *text)
{
    string_clear(text);
    for (size_t i = 0; i < depth; i++)
        string_add_format(text, "[%zu]", walk->at[i]);
    return depth > 0 ? text->data : "the beginning";
}

static int refuse_list(const struct list_walk *walk, size_t depth, const char *what, struct error *err)
{
    SCOPED_STRING(text);

    return error_set(err, ERR_CORRUPT, "at %s %s", describe_place(walk, depth, &text), what);
}

static int refuse_length(const struct list_walk *walk, size_t depth, size_t length, struct error *err)
{
    SCOPED_STRING(text);

    return error_set(err, ERR_CORRUPT,
                     "the list at %s has %zu item(s), but the first list of its dimension has %lld: an array needs "
                     "lists of equal length",
                     describe_place(walk, depth, &text), length, (long long)walk->shape.dims[depth]);
}

bool json_list_is(const json_t *value)
{
    return json_is_array(value) || json_is_number(value) || json_is_boolean(value) || json_is_string(value);
}

/* Finds the shape from the first item of each list. */
static int find_shape(json_t *value, struct shape *ret, struct error *err)
{
    *ret = (struct shape){0};
    while (json_is_array(value)) {
        if (ret->rank == TENSOR_MAX_RANK)
            return error_set(err, ERR_UNSUPPORTED,
                             "lists are nested more than %d deep, the maximum number of dimensions", TENSOR_MAX_RANK);
        ret->dims[ret->rank++] = (int64_t)json_array_size(value);
        value = json_array_get(value, 0);
    }
    return 0;
}

static int kind_of(struct list_walk *walk, const json_t *value, struct error *err)
{
    double number;

    if (json_is_integer(value))
        return KIND_INTEGER;
    if (json_is_boolean(value))
        return KIND_BOOLEAN;
    if (json_reader_number(walk->reader, value, &number))
        return KIND_FLOAT;
    if (json_is_string(value))
        return KIND_STRING;
    return refuse_list(walk, walk->shape.rank,
                       json_is_array(value)
                           ? "is a list, but the items before it are values: an array needs lists of equal depth"
                           : "is neither a number, a boolean nor a string",
                       err);
}

static int store_element(struct list_walk *walk, json_t *value, struct error *err)
{
    struct text text;
    double number = 0;
    int rc;

    switch (walk->type) {
    case DATA_INT64:
        walk->to.integers[walk->element] = json_integer_value(value);
        return 0;
    case DATA_BOOL:
        walk->to.booleans[walk->element] = json_is_true(value);
        return 0;
    case DATA_STRING:
        rc = json_reader_long_text(walk->reader, value, &text, err);
        walk->to.strings[walk->element] = text;
        return rc;
    default:
        json_reader_number(walk->reader, value, &number);
        walk->to.floats[walk->element] = number;
        if (json_is_integer(value) && (number >= 0x1p63 || (json_int_t)number != json_integer_value(value)))
            return refuse_list(walk, walk->shape.rank,
                               "is an integer that float64 cannot represent, in a list with fractions", err);
        return 0;
    }
}

/* Visits all values: the first pass counts their kinds, the second stores them. Recursion is limited by the rank. */
static int walk_values(struct list_walk *walk, json_t *value, size_t depth, struct error *err)
{
    int rc = 0;

    if (depth == walk->shape.rank) {
        if (walk->type != DATA_UNDEFINED) {
            rc = store_element(walk, value, err);
        } else {
            rc = kind_of(walk, value, err);
            if (rc >= 0)
                walk->counts[rc]++;
        }
        walk->element++;
        return rc < 0 ? rc : 0;
    }
    if (!json_is_array(value))
        return refuse_list(walk, depth,
                           "is a value, but the items before it are lists: an array needs lists of equal depth", err);
    if (json_array_size(value) != (size_t)walk->shape.dims[depth])
        return refuse_length(walk, depth, json_array_size(value), err);
    for (size_t i = 0; i < json_array_size(value); i++) {
        walk->at[depth] = i;
        rc = walk_values(walk, json_array_get(value, i), depth + 1, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int choose_type(const struct list_walk *walk, enum data_type *ret, struct error *err)
{
    const size_t *counts = walk->counts;

    if (counts[KIND_STRING] > 0 || counts[KIND_BOOLEAN] > 0) {
        enum kind kind = counts[KIND_STRING] > 0 ? KIND_STRING : KIND_BOOLEAN;

        *ret = kind == KIND_STRING ? DATA_STRING : DATA_BOOL;
        if (counts[kind] != walk->element)
            return error_set(err, ERR_CORRUPT, "%zu of %zu items are %s: all items of an array must have one type",
                             counts[kind], walk->element, kind == KIND_STRING ? "strings" : "booleans");
        return 0;
    }
    *ret = counts[KIND_FLOAT] > 0 || walk->element == 0 ? DATA_FLOAT64 : DATA_INT64;
    return 0;
}

static int store_strings(struct list_walk *walk, json_t *value, struct tensor *ret, struct error *err)
{
    int rc;

    walk->to.strings = memory_alloc_zero(walk->element + 1, sizeof(*walk->to.strings));
    walk->element = 0;
    rc = walk_values(walk, value, 0, err);
    if (rc == 0)
        rc = tensor_set_strings(&walk->shape, walk->to.strings, ret, err);
    free(walk->to.strings);
    return rc;
}

int json_list_read(struct json_reader *reader, json_t *value, struct tensor *ret, struct error *err)
{
    struct list_walk walk = {.reader = reader};
    struct tensor tensor;
    int rc = find_shape(value, &walk.shape, err);

    if (rc < 0)
        return rc;
    rc = walk_values(&walk, value, 0, err);
    if (rc < 0)
        return rc;
    rc = choose_type(&walk, &walk.type, err);
    if (rc < 0)
        return rc;
    if (walk.type == DATA_STRING)
        return store_strings(&walk, value, ret, err);
    rc = tensor_allocate(walk.type, &walk.shape, &tensor, err);
    if (rc < 0)
        return rc;
    walk.to.integers = tensor_writable(&tensor);
    walk.element = 0;
    rc = walk_values(&walk, value, 0, err);
    if (rc == 0)
        *ret = tensor;
    else
        tensor_release(&tensor);
    return rc;
}
