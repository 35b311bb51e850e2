/* support/operator_test.h: one ONNX operator with its inputs, computed by all of oneDNN's tactics for it, in all
 * layouts that its inputs may have, and compared with expected values.
 *
 *   struct operator_test test;
 *   operator_begin(&test, LAYER_SOFTMAX, "Softmax", 13);
 *   operator_attribute(&test, INTEGER("axis", 1));
 *   operator_input(&test, SHAPE(2, 5, 3), 2.0f);
 *   expected = ...;                              (of test.operands[0].values)
 *   operator_check(&test, &shape, expected, 1e-6);
 *   operator_end(&test);
 */
#ifndef SUPPORT_OPERATOR_TEST_H
#define SUPPORT_OPERATOR_TEST_H

#include "engine/tactic/tactic.h"
#include "support/made_model.h"
#include "support/tensor_fixture.h"
#include "support/unit_test.h"

#define MAX_OPERANDS 8

struct operand {
    bool omitted, constant;
    enum data_type type;
    struct shape shape;
    void *values; /* owned */
};

struct operator_test {
    enum layer_kind kind;
    const char *op_type;
    int64_t opset;
    struct node_attribute attributes[8];
    size_t attribute_count, output_count;
    struct operand operands[MAX_OPERANDS];
    size_t operand_count;
    enum activation activation; /* of the layer */
    float alpha, beta;
    enum activation fused; /* activation after it */
    float fused_alpha, fused_beta;
    bool may_refuse; /* creating a listed tactic may fail: the builder skips such tactics */
    bool adds;       /* the last operand is not an input of the node: it is added to the result, before `fused` */

    struct string_builder bytes;
    struct network network;
    struct layer layer;
};

extern struct tactic_provider *onednn;

int open_onednn(void **state);
int close_onednn(void **state);

#define REQUIRE_ONEDNN()                                                                                               \
    do {                                                                                                               \
        if (!onednn)                                                                                                   \
            skip();                                                                                                    \
    } while (0)

/* `values` must remain valid until operator_end(). */
struct node_attribute integers(const char *attribute, const int64_t *values, size_t count);
void operator_begin(struct operator_test *test, enum layer_kind kind, const char *op_type, int64_t opset);
void operator_attribute(struct operator_test *test, struct node_attribute attribute);

/* Values between -`range` and `range`, the same in each run. */
void spread(float *values, size_t count, float range, uint32_t seed);
struct operand *operator_operand(struct operator_test *test, enum data_type type, struct shape shape);
float *operator_input(struct operator_test *test, struct shape shape, float range);
float *operator_constant(struct operator_test *test, struct shape shape, float range);
void operator_integers(struct operator_test *test, const int64_t *values, size_t count);
void operator_omitted(struct operator_test *test);
void operator_build(struct operator_test *test);

/* Makes the layer of the operator, as network_build() would describe it. */
void operator_make_layer(struct operator_test *test);
void operator_end(struct operator_test *test);
void *converted(const struct operand *operand, const struct layout *from, const void *values, const struct layout *to);
double error_of(double got, double expected);

/* Records an error for the tactic's implementation: its name without the layouts. */
void note_error(const char *tactic, double error);

/* Describes the layer's inputs: the operands that are not omitted, row-major. */
void describe_operands(const struct operator_test *test, struct kernel_input *ret);

/* Runs all tactics of the layer, which must have been made, in all layouts that the first input's rank allows, and
 * compares with `expected` (NULL: lists them only). Errors are relative to the expected value if that is above 1.
 * Returns the number of tactics. */
size_t operator_run_layouts(struct operator_test *test, const struct shape *shape, const double *expected,
                            double tolerance);

/* Makes the layer and runs it. */
size_t operator_run(struct operator_test *test, const struct shape *shape, const double *expected, double tolerance);

/* The same, but fails if there are no tactics; frees `expected`. */
void operator_check(struct operator_test *test, const struct shape *shape, double *expected, double tolerance);

/* Fails if there is a tactic. */
void operator_refuse(struct operator_test *test);
double *doubles(const struct shape *shape);

#endif
