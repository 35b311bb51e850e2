/* tensor/values/tensor.c: creates, shares and releases tensors. */
#include "tensor/values/tensor.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/memory_limit.h"

/* Lists of at most this many tensors are searched linearly. */
enum { MOST_COMPARED = 16 };

size_t shape_elements(const struct shape *shape)
{
    size_t elements = 1;
    bool overflow = false;

    /* A zero anywhere makes the tensor empty, however large the product of the other dimensions would be. */
    for (size_t i = 0; i < shape->rank; i++) {
        if (shape->dims[i] < 0)
            return SIZE_MAX;
        if (shape->dims[i] == 0)
            elements = 0;
    }
    for (size_t i = 0; i < shape->rank && elements > 0; i++)
        overflow |= __builtin_mul_overflow(elements, shape->dims[i], &elements);
    return overflow ? SIZE_MAX : elements;
}

size_t shape_extent(const struct shape *shape, size_t first, size_t end)
{
    size_t ret = 1;

    for (size_t i = first; i < end; i++)
        ret *= (size_t)shape->dims[i];
    return ret;
}

int64_t shape_clamp_bound(int64_t bound, int64_t size)
{
    bound = bound < 0 ? bound + size : bound;
    return bound < 0 ? 0 : bound > size ? size : bound;
}

bool shape_equal(const struct shape *a, const struct shape *b)
{
    return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof(a->dims[0])) == 0;
}

bool shape_fits(const struct shape *shape, const struct shape *expected)
{
    if (shape->rank != expected->rank)
        return false;
    for (size_t i = 0; i < shape->rank; i++)
        if (expected->dims[i] >= 0 && shape->dims[i] != expected->dims[i])
            return false;
    return true;
}

bool shape_is_static(const struct shape *shape)
{
    for (size_t i = 0; i < shape->rank; i++) {
        if (shape->dims[i] < 0)
            return false;
    }
    return true;
}

void shape_to_text(const struct shape *shape, struct string_builder *text)
{
    string_add_char(text, '(');
    for (size_t i = 0; i < shape->rank; i++)
        string_add_format(text, "%s%lld", i > 0 ? ", " : "", shape->dims[i] < 0 ? -1LL : (long long)shape->dims[i]);
    string_add(text, shape->rank == 1 ? ",)" : ")");
}

void shape_position(const struct shape *shape, size_t element, struct shape *ret)
{
    ret->rank = shape->rank;
    for (size_t i = shape->rank; i-- > 0;) {
        ret->dims[i] = (int64_t)(element % (size_t)shape->dims[i]);
        element /= (size_t)shape->dims[i];
    }
}

size_t tensor_bytes(enum data_type type, size_t elements)
{
    size_t bits = data_type_bits(type);
    size_t bytes;

    if (bits < 8)
        return elements == SIZE_MAX ? SIZE_MAX : elements / 2 + elements % 2;
    return __builtin_mul_overflow(elements, bits / 8, &bytes) ? SIZE_MAX : bytes;
}

size_t tensor_elements(const struct tensor *tensor)
{
    return shape_elements(&tensor->shape);
}

static int too_large(enum data_type type, const struct shape *shape, struct error *err)
{
    SCOPED_STRING(text);

    shape_to_text(shape, &text);
    return error_set(err, ERR_MEMORY, "not enough memory for a %s tensor of shape %s", data_type_name(type), text.data);
}

int tensor_refuse_size(enum data_type type, const struct shape *shape, size_t size, struct error *err)
{
    SCOPED_STRING(text);

    string_add_format(&text, "a %s tensor of shape ", data_type_name(type));
    shape_to_text(shape, &text);
    return memory_limit_refuse(size, text.data, err);
}

int tensor_allocate(enum data_type type, const struct shape *shape, struct tensor *ret, struct error *err)
{
    size_t elements = shape_elements(shape);
    size_t size = 0;
    bool overflow = elements == SIZE_MAX;

    if (type == DATA_STRING)
        overflow |= __builtin_mul_overflow(elements, sizeof(struct text), &size);
    else
        size = tensor_bytes(type, elements);
    /* An object of more than half of the address space is impossible: pointer arithmetic would overflow. */
    if (overflow || size >= PTRDIFF_MAX)
        return too_large(type, shape, err);
    if (!memory_limit_allows(size))
        return tensor_refuse_size(type, shape, size, err);

    size_t room = size > 0 ? size : 1;
    void *data = type == DATA_STRING ? calloc(1, room) : malloc(room);
    if (!data)
        return too_large(type, shape, err);
    *ret =
        (struct tensor){.type = type, .shape = *shape, .data = data, .size = size, .free_owner = free, .owner = data};
    return 0;
}

void *tensor_writable(struct tensor *tensor)
{
    return tensor->owner;
}

void tensor_borrow(enum data_type type, const struct shape *shape, const void *data, size_t size, struct tensor *ret)
{
    *ret = (struct tensor){.type = type, .shape = *shape, .data = data ? data : "", .size = size};
}

int tensor_copy(const struct tensor *from, struct tensor *ret, struct error *err)
{
    if (from->type == DATA_STRING)
        return tensor_set_strings(&from->shape, from->data, ret, err);

    int rc = tensor_allocate(from->type, &from->shape, ret, err);
    if (rc == 0)
        memcpy(tensor_writable(ret), from->data, ret->size);
    return rc;
}

int tensor_set_strings(const struct shape *shape, const struct text *texts, struct tensor *ret, struct error *err)
{
    size_t elements = shape_elements(shape);
    size_t size = 0, room = 0;
    bool overflow = elements == SIZE_MAX || __builtin_mul_overflow(elements, sizeof(struct text), &size);

    room = size;
    for (size_t i = 0; i < elements && !overflow; i++)
        overflow |= __builtin_add_overflow(room, texts[i].size, &room);
    struct text *items = overflow ? NULL : malloc(room > 0 ? room : 1);
    if (!items)
        return too_large(DATA_STRING, shape, err);

    char *bytes = (char *)items + size;
    for (size_t i = 0; i < elements; i++) {
        if (texts[i].size > 0)
            memcpy(bytes, texts[i].data, texts[i].size);
        items[i] = (struct text){bytes, texts[i].size};
        bytes += texts[i].size;
    }
    *ret = (struct tensor){
        .type = DATA_STRING, .shape = *shape, .data = items, .size = size, .free_owner = free, .owner = items};
    return 0;
}

void tensor_release(struct tensor *tensor)
{
    if (tensor->free_owner)
        tensor->free_owner(tensor->owner);
    *tensor = (struct tensor){0};
}

static bool same_strings(const struct text *a, const struct text *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!text_equal(a[i], b[i]))
            return false;
    }
    return true;
}

bool tensor_identical(const struct tensor *a, const struct tensor *b)
{
    if (a->type != b->type || !shape_equal(&a->shape, &b->shape))
        return false;

    size_t elements = tensor_elements(a);
    if (a->type == DATA_STRING)
        return same_strings(a->data, b->data, elements);
    if (a->size != b->size)
        return false;
    if (data_type_bits(a->type) == 4 && elements % 2 == 1) { /* the upper half of the last byte is padding */
        const uint8_t *left = a->data, *right = b->data;
        size_t last = elements / 2;
        return memcmp(left, right, last) == 0 && (left[last] & 15) == (right[last] & 15);
    }
    return memcmp(a->data, b->data, a->size) == 0;
}

void tensor_list_release(struct tensor_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].name);
        tensor_release(&list->items[i].tensor);
    }
    free(list->items);
    name_map_release(&list->places);
    *list = (struct tensor_list){0};
}

static void add_place(struct tensor_list *list, size_t place)
{
    name_map_add(&list->places, text_of(list->items[place].name), (uint32_t)place);
}

void tensor_list_add(struct tensor_list *list, struct text name, struct tensor *tensor)
{
    struct named_tensor *item = VECTOR_APPEND(list);

    *item = (struct named_tensor){.name = memory_copy(name.data, name.size), .tensor = *tensor};
    *tensor = (struct tensor){0};
    for (size_t i = 0; list->count == MOST_COMPARED + 1 && i + 1 < list->count; i++)
        add_place(list, i);
    if (list->count > MOST_COMPARED)
        add_place(list, list->count - 1);
}

struct named_tensor *tensor_list_find(const struct tensor_list *list, struct text name)
{
    if (list->count > MOST_COMPARED) {
        uint32_t place = name_map_find(&list->places, name);

        return place != NAME_MAP_NONE ? &list->items[place] : NULL;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (text_equal_string(name, list->items[i].name))
            return &list->items[i];
    }
    return NULL;
}

/* ---- Transposing and reshaping ---- */

/* Finds the axis of `from` for each dimension of `to`. Returns false if the dimensions are not a permutation. */
static bool find_permutation(const struct shape *from, const struct shape *to, size_t *axes)
{
    bool taken[TENSOR_MAX_RANK] = {false};

    if (from->rank != to->rank)
        return false;
    for (size_t i = 0; i < to->rank; i++) {
        size_t axis = 0;
        while (axis < from->rank && (taken[axis] || from->dims[axis] != to->dims[i]))
            axis++;
        if (axis == from->rank)
            return false;
        taken[axis] = true;
        axes[i] = axis;
    }
    return true;
}

static void copy_element(const struct tensor *from, size_t source, struct tensor *to, size_t target)
{
    size_t size = from->type == DATA_STRING ? sizeof(struct text) : data_type_bits(from->type) / 8;
    uint8_t *data = tensor_writable(to);

    if (size > 0) {
        memcpy(data + target * size, (const uint8_t *)from->data + source * size, size);
        return;
    }
    uint8_t half = ((const uint8_t *)from->data)[source / 2] >> (source % 2 * 4) & 15;
    if (target % 2 == 0)
        data[target / 2] = half;
    else
        data[target / 2] = (uint8_t)(data[target / 2] | half << 4);
}

static int copy_transposed(const struct tensor *tensor, const size_t *axes, const struct shape *wanted,
                           struct tensor *ret, struct error *err)
{
    size_t elements = tensor_elements(tensor);
    size_t strides[TENSOR_MAX_RANK]; /* of the tensor's axes, in elements */
    struct shape position = {.rank = wanted->rank};
    size_t source = 0, stride = 1;

    int rc = tensor_allocate(tensor->type, wanted, ret, err);
    if (rc < 0 || elements == 0)
        return rc;
    for (size_t axis = wanted->rank; axis-- > 0;) {
        strides[axis] = stride;
        stride *= (size_t)tensor->shape.dims[axis];
    }
    for (size_t target = 0; target < elements; target++) {
        copy_element(tensor, source, ret, target);
        for (size_t i = wanted->rank; i-- > 0;) { /* the next position, last dimension first */
            source += strides[axes[i]];
            if (++position.dims[i] < wanted->dims[i])
                break;
            source -= strides[axes[i]] * (size_t)wanted->dims[i];
            position.dims[i] = 0;
        }
    }
    return 0;
}

int tensor_match_shape(const struct tensor *tensor, const struct shape *wanted, struct tensor *ret, struct error *err)
{
    size_t axes[TENSOR_MAX_RANK];
    SCOPED_STRING(text);

    if (!shape_equal(&tensor->shape, wanted) && find_permutation(&tensor->shape, wanted, axes))
        return copy_transposed(tensor, axes, wanted, ret, err);
    if (tensor_elements(tensor) == shape_elements(wanted)) {
        tensor_borrow(tensor->type, wanted, tensor->data, tensor->size, ret);
        return 0;
    }
    shape_to_text(&tensor->shape, &text);
    string_add(&text, " cannot be reshaped to ");
    shape_to_text(wanted, &text);
    return error_set(err, ERR_INVALID, "a tensor of shape %s: they differ in their number of elements", text.data);
}
