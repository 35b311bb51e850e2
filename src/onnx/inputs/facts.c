/* onnx/inputs/facts.c: see facts.h. */
#include "onnx/inputs/facts.h"

#include <math.h>

#include "onnx/proto/node_attribute.h"
#include "onnx/proto/tensor_proto.h"
#include "tensor/values/elements.h"

/* ---- Facts ---- */

const struct fact *pass_input(const struct pass *pass, const struct node *node, size_t input)
{
    static const struct fact nothing = {.input = VALUE_NONE};
    uint32_t value = node_input(pass->model, node, input);

    return value != VALUE_NONE ? &pass->facts[value] : &nothing;
}

struct dimension *pass_copy(struct pass *pass, const struct dimension *dims, size_t count)
{
    struct dimension *ret = arena_alloc_zero(pass->arena, count + 1, sizeof(*ret));

    for (size_t i = 0; dims != NULL && i < count; i++)
        ret[i] = dimension_normalize(pass->system, dims[i]);
    return ret;
}

struct fact *pass_set_shape(struct pass *pass, const struct node *node, size_t output, const struct dimension *dims,
                            size_t rank)
{
    uint32_t value = node_output(pass->model, node, output);
    struct fact *ret;

    if (value == VALUE_NONE || rank > TENSOR_MAX_RANK)
        return NULL;
    ret = &pass->facts[value];
    *ret = (struct fact){.has_shape = true, .rank = rank, .dims = pass_copy(pass, dims, rank), .input = VALUE_NONE};
    return ret;
}

struct fact *pass_set_rank(struct pass *pass, const struct node *node, size_t output, size_t rank)
{
    return pass_set_shape(pass, node, output, NULL, rank);
}

void pass_set_numbers(struct pass *pass, struct fact *fact, const struct dimension *numbers, size_t count)
{
    if (fact == NULL || count > FACT_MOST_NUMBERS)
        return;
    fact->has_numbers = true;
    fact->number_count = count;
    fact->numbers = pass_copy(pass, numbers, count);
}

/* ---- Demands ---- */

void pass_report_conflict(struct pass *pass)
{
    if (!pass->has_conflict)
        pass->conflict = pass->node;
    pass->has_conflict = true;
}

enum dimension_equality pass_solve(struct pass *pass, struct dimension a, struct dimension b,
                                   enum dimension_source source)
{
    uint32_t solved;
    enum dimension_equality ret = dimension_equate(pass->system, a, b, &solved);

    if (solved != DIMENSION_NONE && pass->notes != NULL) {
        pass->notes[solved].source = (uint8_t)source;
        pass->notes[solved].source_node = pass->node;
    }
    return ret;
}

void pass_equate(struct pass *pass, struct dimension a, struct dimension b)
{
    if (pass_solve(pass, a, b, SOURCE_OPERATOR) == DIMENSION_DIFFERENT)
        pass_report_conflict(pass);
}

void pass_assume(struct pass *pass, struct dimension a, struct dimension b)
{
    if (pass->assumes)
        (void)pass_solve(pass, a, b, SOURCE_ASSUMED);
}

void pass_demand(struct pass *pass, struct dimension size, int64_t least)
{
    int64_t value;

    if (dimension_is_constant(pass->system, size, &value) && value < least)
        pass_report_conflict(pass);
}

struct dimension pass_broadcast(struct pass *pass, struct dimension a, struct dimension b)
{
    int64_t one, other;
    bool is_one = dimension_is_constant(pass->system, a, &one);
    bool is_other = dimension_is_constant(pass->system, b, &other);

    if (is_one && one == 1)
        return b;
    if (is_other && other == 1)
        return a;
    if (is_one && is_other && one != other)
        pass_report_conflict(pass);
    pass_assume(pass, a, b);
    if (is_one || dimension_is_same(pass->system, a, b))
        return a;
    return is_other ? b : dimension_unknown();
}

size_t pass_broadcast_shapes(struct pass *pass, const struct fact *a, const struct fact *b, size_t skip,
                             struct dimension *ret)
{
    size_t ranks[] = {a->rank > skip ? a->rank - skip : 0, b->rank > skip ? b->rank - skip : 0};
    size_t rank = ranks[0] > ranks[1] ? ranks[0] : ranks[1];

    for (size_t i = 0; i < rank; i++) {
        size_t from_end = rank - i;
        struct dimension one = dimension_constant(1), other = dimension_constant(1);

        if (from_end <= ranks[0])
            one = a->dims[ranks[0] - from_end];
        if (from_end <= ranks[1])
            other = b->dims[ranks[1] - from_end];
        ret[i] = pass_broadcast(pass, one, other);
    }
    return rank;
}

/* ---- Numbers ---- */

bool pass_constants(const struct pass *pass, const struct fact *fact, int64_t *ret, size_t *ret_count)
{
    if (!fact->has_numbers)
        return false;
    for (size_t i = 0; i < fact->number_count; i++)
        if (!dimension_is_constant(pass->system, fact->numbers[i], &ret[i]))
            return false;
    *ret_count = fact->number_count;
    return true;
}

bool pass_read_numbers(const struct pass *pass, const struct node *node, size_t input, const char *attribute,
                       int64_t *ret, size_t *ret_count)
{
    if (input != SIZE_MAX && node_input(pass->model, node, input) != VALUE_NONE)
        return pass_constants(pass, pass_input(pass, node, input), ret, ret_count);
    *ret_count = node_attribute_integers(node->message, attribute, ret, FACT_MOST_NUMBERS);
    return *ret_count > 0 && *ret_count <= FACT_MOST_NUMBERS;
}

bool pass_axis(int64_t axis, size_t rank, size_t *ret)
{
    if (axis < 0)
        axis += (int64_t)rank;
    *ret = (size_t)axis;
    return axis >= 0 && axis < (int64_t)rank;
}

void pass_mark(struct pass *pass, struct dimension size, enum dimension_role role)
{
    struct dimension sum = dimension_normalize(pass->system, size);

    if (pass->notes == NULL || !sum.known)
        return;
    for (size_t i = 0; i < sum.count; i++) {
        struct dimension_note *note = &pass->notes[sum.terms[i].variable];

        if (note->role >= role || sum.terms[i].factor < 0 ||
            ((sum.count > 1 || sum.constant != 0) && role != ROLE_KEYS))
            continue;
        note->role = (uint8_t)role;
        note->role_node = pass->node;
    }
}

/* ---- Constants ---- */

void pass_set_constant(struct pass *pass, struct fact *fact, const struct shape *shape, const struct tensor *tensor)
{
    double numbers[FACT_MOST_NUMBERS];
    size_t count = shape_elements(shape);

    *fact = (struct fact){.has_shape = true, .rank = shape->rank, .input = VALUE_NONE};
    fact->dims = pass_copy(pass, NULL, shape->rank);
    for (size_t i = 0; i < shape->rank; i++)
        fact->dims[i] = dimension_constant(shape->dims[i]);
    if (tensor == NULL || count > FACT_MOST_NUMBERS || elements_arithmetic(tensor->type) == ARITHMETIC_NONE)
        return;
    fact->numbers = pass_copy(pass, NULL, count);
    fact->is_real = data_type_is_float(tensor->type);
    elements_to_float64(tensor, 0, count, numbers);
    for (size_t i = 0; i < count; i++) {
        if (!(fabs(numbers[i]) <= 0x1p63) || numbers[i] != floor(numbers[i]))
            return;
        fact->numbers[i] = dimension_constant(numbers[i] >= 0x1p63 ? INT64_MAX : (int64_t)numbers[i]);
    }
    fact->has_numbers = true;
    fact->number_count = count;
}

void pass_read_tensor(struct pass *pass, struct span message, struct fact *fact)
{
    struct tensor tensor SCOPED(tensor_release) = {0};
    struct tensor_header header;
    bool small;

    if (tensor_proto_read(message, &header, NULL) < 0)
        return;
    small = shape_elements(&header.shape) <= FACT_MOST_NUMBERS && tensor_proto_decode(message, &tensor, NULL) == 0;
    pass_set_constant(pass, fact, &header.shape, small ? &tensor : NULL);
}
