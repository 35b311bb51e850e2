/* onnx/inputs/symbols.c: see symbols.h. */
#include "onnx/inputs/symbols.h"

#include <string.h>

static struct text trim_blanks(struct text text)
{
    while (text.size > 0 && text.data[0] == ' ')
        text = (struct text){text.data + 1, text.size - 1};
    while (text.size > 0 && text.data[text.size - 1] == ' ')
        text.size--;
    return text;
}

static bool read_integer(struct text text, int64_t *ret)
{
    *ret = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9' || __builtin_mul_overflow(*ret, 10, ret) ||
            __builtin_add_overflow(*ret, text.data[i] - '0', ret))
            return false;
    }
    return text.size > 0;
}

/* A factor: an integer, or the name of a variable. */
static struct dimension read_factor(const struct name_map *variables, struct text text)
{
    uint32_t variable;
    int64_t value;

    text = trim_blanks(text);
    if (read_integer(text, &value))
        return dimension_constant(value);
    variable = text.size > 0 ? name_map_find(variables, text) : NAME_MAP_NONE;
    return variable != NAME_MAP_NONE ? dimension_variable(variable) : dimension_unknown();
}

/* A product of a variable and integers. */
static struct dimension read_product(const struct dimension_system *system, const struct name_map *variables,
                                     struct text text)
{
    const char *star = text.size > 0 ? memchr(text.data, '*', text.size) : NULL;
    struct dimension left, right;
    int64_t factor;

    if (star == NULL)
        return read_factor(variables, text);
    left = read_factor(variables, (struct text){text.data, (size_t)(star - text.data)});
    right = read_factor(variables, (struct text){star + 1, text.size - (size_t)(star - text.data) - 1});
    if (dimension_is_constant(system, left, &factor))
        return dimension_multiply(system, right, factor);
    if (dimension_is_constant(system, right, &factor))
        return dimension_multiply(system, left, factor);
    return dimension_unknown();
}

/* The end of the term that begins at `start`: the place of the next sign. */
static size_t find_sign(struct text text, size_t start)
{
    for (size_t i = start; i < text.size; i++)
        if (text.data[i] == '+' || text.data[i] == '-')
            return i;
    return text.size;
}

bool symbol_is_sum(struct text symbol)
{
    return find_sign(symbol, 0) < symbol.size || (symbol.size > 0 && memchr(symbol.data, '*', symbol.size) != NULL);
}

struct dimension dimension_from_symbol(const struct dimension_system *system, const struct name_map *variables,
                                       struct text symbol)
{
    struct dimension ret = dimension_constant(0);
    int64_t sign = 1;
    size_t start = 0;

    if (!symbol_is_sum(symbol))
        return read_factor(variables, symbol);
    while (start <= symbol.size) {
        size_t end = find_sign(symbol, start);
        struct text term = trim_blanks((struct text){symbol.data + start, end - start});

        if (term.size > 0)
            ret = dimension_add(system, ret, read_product(system, variables, term), sign);
        else if (start > 0)
            return dimension_unknown();
        sign = end < symbol.size && symbol.data[end] == '-' ? -1 : 1;
        start = end + 1;
    }
    return ret;
}
