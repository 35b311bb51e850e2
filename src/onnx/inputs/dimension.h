/* onnx/inputs/dimension.h: sizes as sums of unknown sizes, and equations between them.
 *
 * A size of a tensor is a constant plus multiples of variables: "past + 1". A system has the variables, and for each of
 * them, once it is solved, the dimension that it stands for.
 */
#ifndef ONNX_INPUTS_DIMENSION_H
#define ONNX_INPUTS_DIMENSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIMENSION_TERMS 4

struct dimension {
    bool known; /* false: nothing is known, and the rest is meaningless */
    int64_t constant;
    size_t count;
    struct dimension_term {
        uint32_t variable;
        int64_t factor; /* not 0 */
    } terms[DIMENSION_TERMS];
};

struct dimension_variable {
    bool solved;
    struct dimension value; /* if solved: in terms of other variables */
};

struct dimension_system {
    struct dimension_variable *items;
    size_t count, capacity;
};

/* What an equation says. */
enum dimension_equality {
    DIMENSION_EQUAL,     /* it holds, now if not before */
    DIMENSION_DIFFERENT, /* it cannot hold */
    DIMENSION_UNDECIDED, /* a side is unknown, or no variable of it has the factor 1 or -1 */
};

void dimension_system_init_copy(struct dimension_system *system, const struct dimension_system *from);
void dimension_system_release(struct dimension_system *system);

uint32_t dimension_system_add(struct dimension_system *system); /* a new variable */

struct dimension dimension_unknown(void);
struct dimension dimension_constant(int64_t value);
struct dimension dimension_variable(uint32_t variable);

/* The dimension in terms of unsolved variables. */
struct dimension dimension_normalize(const struct dimension_system *system, struct dimension dimension);

/* a + factor * b, and factor * a, normalized. Unknown if an operand is, on overflow, or with too many terms. */
struct dimension dimension_add(const struct dimension_system *system, struct dimension a, struct dimension b,
                               int64_t factor);
struct dimension dimension_multiply(const struct dimension_system *system, struct dimension a, int64_t factor);

/* a / divisor, unknown if a part of it is not divisible. */
struct dimension dimension_divide(const struct dimension_system *system, struct dimension a, int64_t divisor);

/* Whether both are known and equal whatever the values of unsolved variables. */
bool dimension_is_same(const struct dimension_system *system, struct dimension a, struct dimension b);

/* Whether it is known and has no variables; `ret` is its value. */
bool dimension_is_constant(const struct dimension_system *system, struct dimension a, int64_t *ret);

/* Demands that both are equal. `ret_solved` is the variable that this solves; DIMENSION_NONE: none. */
#define DIMENSION_NONE UINT32_MAX
enum dimension_equality dimension_equate(struct dimension_system *system, struct dimension a, struct dimension b,
                                         uint32_t *ret_solved);

#endif
