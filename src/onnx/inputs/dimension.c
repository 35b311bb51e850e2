/* onnx/inputs/dimension.c: see dimension.h. */
#include "onnx/inputs/dimension.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void dimension_system_init_copy(struct dimension_system *system, const struct dimension_system *from)
{
    *system = (struct dimension_system){.count = from->count, .capacity = from->count};
    system->items = memory_alloc_zero(from->count + 1, sizeof(*system->items));
    if (from->count > 0)
        memcpy(system->items, from->items, from->count * sizeof(*system->items));
}

void dimension_system_release(struct dimension_system *system)
{
    free(system->items);
    *system = (struct dimension_system){0};
}

uint32_t dimension_system_add(struct dimension_system *system)
{
    *VECTOR_APPEND(system) = (struct dimension_variable){0};
    return (uint32_t)(system->count - 1);
}

struct dimension dimension_unknown(void)
{
    return (struct dimension){0};
}

struct dimension dimension_constant(int64_t value)
{
    return (struct dimension){.known = true, .constant = value};
}

struct dimension dimension_variable(uint32_t variable)
{
    return (struct dimension){.known = true, .count = 1, .terms = {{variable, 1}}};
}

/* Adds factor * variable. False if there is no room, or a factor overflows. */
static bool add_term(struct dimension *to, uint32_t variable, int64_t factor)
{
    size_t i = 0;

    while (i < to->count && to->terms[i].variable < variable)
        i++;
    if (i < to->count && to->terms[i].variable == variable) {
        if (__builtin_add_overflow(to->terms[i].factor, factor, &to->terms[i].factor))
            return false;
        if (to->terms[i].factor == 0) {
            memmove(&to->terms[i], &to->terms[i + 1], (to->count - i - 1) * sizeof(to->terms[0]));
            to->count--;
        }
        return true;
    }
    if (factor == 0)
        return true;
    if (to->count == DIMENSION_TERMS)
        return false;
    memmove(&to->terms[i + 1], &to->terms[i], (to->count - i) * sizeof(to->terms[0]));
    to->terms[i] = (struct dimension_term){variable, factor};
    to->count++;
    return true;
}

/* Adds factor * from, in terms of unsolved variables. A solved variable refers to variables that were unsolved when it
 * was solved, so this ends. */
static bool add_scaled(const struct dimension_system *system, struct dimension *to, const struct dimension *from,
                       int64_t factor)
{
    int64_t product;

    if (!from->known || __builtin_mul_overflow(from->constant, factor, &product) ||
        __builtin_add_overflow(to->constant, product, &to->constant))
        return false;
    for (size_t i = 0; i < from->count; i++) {
        const struct dimension_variable *variable = &system->items[from->terms[i].variable];

        if (__builtin_mul_overflow(from->terms[i].factor, factor, &product))
            return false;
        if (variable->solved ? !add_scaled(system, to, &variable->value, product)
                             : !add_term(to, from->terms[i].variable, product))
            return false;
    }
    return true;
}

struct dimension dimension_add(const struct dimension_system *system, struct dimension a, struct dimension b,
                               int64_t factor)
{
    struct dimension ret = dimension_constant(0);

    return add_scaled(system, &ret, &a, 1) && add_scaled(system, &ret, &b, factor) ? ret : dimension_unknown();
}

struct dimension dimension_multiply(const struct dimension_system *system, struct dimension a, int64_t factor)
{
    struct dimension ret = dimension_constant(0);

    return add_scaled(system, &ret, &a, factor) ? ret : dimension_unknown();
}

struct dimension dimension_normalize(const struct dimension_system *system, struct dimension dimension)
{
    return dimension_multiply(system, dimension, 1);
}

struct dimension dimension_divide(const struct dimension_system *system, struct dimension a, int64_t divisor)
{
    struct dimension ret = dimension_normalize(system, a);

    if (!ret.known || divisor <= 0 || ret.constant % divisor != 0)
        return dimension_unknown();
    ret.constant /= divisor;
    for (size_t i = 0; i < ret.count; i++) {
        if (ret.terms[i].factor % divisor != 0)
            return dimension_unknown();
        ret.terms[i].factor /= divisor;
    }
    return ret;
}

bool dimension_is_constant(const struct dimension_system *system, struct dimension a, int64_t *ret)
{
    struct dimension value = dimension_normalize(system, a);

    *ret = value.constant;
    return value.known && value.count == 0;
}

bool dimension_is_same(const struct dimension_system *system, struct dimension a, struct dimension b)
{
    struct dimension difference = dimension_add(system, a, b, -1);

    return difference.known && difference.count == 0 && difference.constant == 0;
}

static void solve_variable(struct dimension_system *system, uint32_t variable, struct dimension value)
{
    system->items[variable] = (struct dimension_variable){.solved = true, .value = value};
}

enum dimension_equality dimension_equate(struct dimension_system *system, struct dimension a, struct dimension b,
                                         uint32_t *ret_solved)
{
    struct dimension difference = dimension_add(system, a, b, -1);
    struct dimension_term term;
    size_t i = difference.count;

    *ret_solved = DIMENSION_NONE;
    if (!difference.known)
        return DIMENSION_UNDECIDED;
    if (difference.count == 0)
        return difference.constant == 0 ? DIMENSION_EQUAL : DIMENSION_DIFFERENT;
    if (difference.count == 1) {
        term = difference.terms[0];
        if (difference.constant % term.factor != 0)
            return DIMENSION_DIFFERENT;
        solve_variable(system, term.variable, dimension_constant(-difference.constant / term.factor));
        *ret_solved = term.variable;
        return DIMENSION_EQUAL;
    }
    while (i > 0 && difference.terms[i - 1].factor != 1 && difference.terms[i - 1].factor != -1)
        i--;
    if (i == 0)
        return DIMENSION_UNDECIDED;
    term = difference.terms[i - 1];
    add_term(&difference, term.variable, -term.factor);
    solve_variable(system, term.variable, dimension_multiply(system, difference, -term.factor));
    *ret_solved = term.variable;
    return DIMENSION_EQUAL;
}
