/* onnx/inputs/facts.h: what a walk over a model's nodes (pass.h) knows of its tensors, and what operators add to it.
 *
 * Shapes, and the values of small integer tensors (which become shapes), are dimensions: sums of the unknown sizes of
 * the model's inputs. If all of these are solved, the walk computes real sizes, and a conflict means that the model
 * cannot run with them. A node whose operator is not known here gives tensors of which nothing is known.
 */
#ifndef ONNX_INPUTS_FACTS_H
#define ONNX_INPUTS_FACTS_H

#include "onnx/inputs/dimension.h"
#include "onnx/model/model.h"

#define FACT_MOST_NUMBERS 16 /* elements of an integer tensor whose values are kept */

/* What is known of a tensor. Arrays are in the arena of the pass. */
struct fact {
    bool has_shape;
    size_t rank;
    struct dimension *dims;
    bool has_numbers; /* it has whole numbers, these */
    bool is_real;     /* of a floating-point type */
    size_t number_count;
    struct dimension *numbers;
    /* Upper bounds, excluded, of its integers: of all (1), or of each place along the last axis; 0: none. */
    size_t limit_count;
    struct dimension *limits;
    uint32_t input; /* the value of the model's input of which it has the elements; or VALUE_NONE */
};

/* What a size is for. Of two, the one farther down counts. */
enum dimension_role {
    ROLE_FREE,     /* no operator says anything */
    ROLE_ROWS,     /* of a tensor in which indices look things up */
    ROLE_KEYS,     /* a Softmax normalizes along it */
    ROLE_SEQUENCE, /* it counts indices, queries or steps of a recurrence */
    ROLE_SPATIAL,  /* a window (Conv, pooling) moves along it, or it is padded with itself */
    ROLE_CACHE,    /* entries of a cache, to which a node appends */
};

/* Where the value of a variable comes from. */
enum dimension_source {
    SOURCE_NONE,
    SOURCE_GIVEN,    /* by the user */
    SOURCE_OPERATOR, /* a node demands it */
    SOURCE_NAME,     /* names of dimensions say it */
    SOURCE_ASSUMED,  /* a node accepts 1 as well, but uses all of it with this */
};

/* What is noted of a variable. */
struct dimension_note {
    uint8_t role, source; /* enum dimension_role, enum dimension_source */
    uint32_t role_node, source_node;
};

struct pass {
    const struct model *model;
    struct dimension_system *system;
    struct arena *arena;
    struct fact *facts;           /* for each value */
    struct dimension_note *notes; /* for each variable of the system; may be NULL */
    bool assumes;                 /* also equates sizes that may differ, where one of them would be 1 */
    bool proves;                  /* facts hold for all sizes with which the model runs: nothing is guessed */
    size_t unknown;               /* number of nodes of which too little is known */

    uint32_t node; /* the node that is looked at */
    bool has_conflict;
    uint32_t conflict; /* the first node with sizes that it cannot have */
};

/* An operator: reads the facts of the node's inputs, and sets those of its outputs. */
typedef void (*operator_facts)(struct pass *pass, const struct node *node);

/* The facts of an input; of nothing, if it is omitted. Never NULL. */
const struct fact *pass_input(const struct pass *pass, const struct node *node, size_t input);

/* Sets the shape of an output. Returns its fact, to which more can be added; NULL if the node has no such output. */
struct fact *pass_set_shape(struct pass *pass, const struct node *node, size_t output, const struct dimension *dims,
                            size_t rank);

/* Like pass_set_shape(), for one of this rank of which no dimension is known. */
struct fact *pass_set_rank(struct pass *pass, const struct node *node, size_t output, size_t rank);

/* An array in the arena, with a copy of `dims` (may be NULL: unknown dimensions). */
struct dimension *pass_copy(struct pass *pass, const struct dimension *dims, size_t count);

/* Adds integers to a fact; does nothing without a fact, or if they are more than FACT_MOST_NUMBERS. */
void pass_set_numbers(struct pass *pass, struct fact *fact, const struct dimension *numbers, size_t count);

/* Demands that two sizes are equal, and reports a conflict if they are not. `assume`: only in a pass that assumes, and
 * without a conflict. */
void pass_equate(struct pass *pass, struct dimension a, struct dimension b);
void pass_assume(struct pass *pass, struct dimension a, struct dimension b);
void pass_report_conflict(struct pass *pass);

/* Equates, and notes the source at the variable that this solves. */
enum dimension_equality pass_solve(struct pass *pass, struct dimension a, struct dimension b,
                                   enum dimension_source source);

/* Demands that a size is at least `least`, if it is known. */
void pass_demand(struct pass *pass, struct dimension size, int64_t least);

/* The size that two sizes give, one of which may be 1. */
struct dimension pass_broadcast(struct pass *pass, struct dimension a, struct dimension b);

/* The dimensions of two shapes, the first `skip` of the last ones not counted, broadcast; `ret` has room for
 * TENSOR_MAX_RANK. Returns their number. */
size_t pass_broadcast_shapes(struct pass *pass, const struct fact *a, const struct fact *b, size_t skip,
                             struct dimension *ret);

/* Integers of a constant, or computed of shapes: true if all of them are known and constant. At most
 * FACT_MOST_NUMBERS. */
bool pass_constants(const struct pass *pass, const struct fact *fact, int64_t *ret, size_t *ret_count);

/* Numbers of an input, else of an attribute. `input` is SIZE_MAX if there is only an attribute. */
bool pass_read_numbers(const struct pass *pass, const struct node *node, size_t input, const char *attribute,
                       int64_t *ret, size_t *ret_count);

/* The facts of a constant of this shape; `tensor`: with its integers, NULL: they are too many, or not known. */
void pass_set_constant(struct pass *pass, struct fact *fact, const struct shape *shape, const struct tensor *tensor);

/* The facts of a TensorProto. */
void pass_read_tensor(struct pass *pass, struct span message, struct fact *fact);

/* An axis counted from the end becomes one from the beginning. False if there is none. */
bool pass_axis(int64_t axis, size_t rank, size_t *ret);

/* The variable that a size is, gets this role; ROLE_KEYS: all variables of a sum. */
void pass_mark(struct pass *pass, struct dimension size, enum dimension_role role);

#endif
