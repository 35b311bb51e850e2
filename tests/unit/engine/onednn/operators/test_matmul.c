/* Every tactic that oneDNN has for MatMul and Gemm, against sums in float64. */
#include "support/operator_test.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* The result of numpy's matmul. */
static struct shape result_of(const struct shape *a, const struct shape *b)
{
    struct shape result = {0}, longer = a->rank > b->rank ? *a : *b;
    size_t batch_a = a->rank > 2 ? a->rank - 2 : 0, batch_b = b->rank > 2 ? b->rank - 2 : 0;

    result.rank = longer.rank > 2 ? longer.rank - 2 : 0;
    for (size_t i = 0; i < result.rank; i++) {
        int64_t from_a = i + batch_a >= result.rank ? a->dims[i + batch_a - result.rank] : 1;
        int64_t from_b = i + batch_b >= result.rank ? b->dims[i + batch_b - result.rank] : 1;

        result.dims[i] = from_a > from_b ? from_a : from_b;
    }
    if (a->rank > 1)
        result.dims[result.rank++] = a->dims[a->rank - 2];
    if (b->rank > 1)
        result.dims[result.rank++] = b->dims[b->rank - 1];
    return result;
}

/* Where the matrix for batch number `batch` of the result begins, in elements. */
static size_t matrix_at(const struct shape *shape, const struct shape *batches, size_t batch)
{
    size_t own = shape->rank > 2 ? shape->rank - 2 : 0, at = 0, stride = 1;
    struct shape position;

    shape_position(batches, batch, &position);
    for (size_t i = 0; i < own; i++) {
        size_t axis = own - 1 - i;

        if (shape->dims[axis] > 1)
            at += (size_t)position.dims[batches->rank - 1 - i] * stride;
        stride *= (size_t)shape->dims[axis];
    }
    for (size_t i = own; i < shape->rank; i++)
        at *= (size_t)shape->dims[i];
    return at;
}

static double *multiply(const struct operator_test *test, const struct shape *result)
{
    const struct shape *a = &test->operands[0].shape, *b = &test->operands[1].shape;
    const float *left = test->operands[0].values, *right = test->operands[1].values;
    int64_t rows = a->rank > 1 ? a->dims[a->rank - 2] : 1, inner = a->dims[a->rank - 1];
    int64_t columns = b->rank > 1 ? b->dims[b->rank - 1] : 1;
    struct shape batches = {.rank = a->rank > b->rank ? a->rank : b->rank};
    double *values = doubles(result), *to = values;

    batches.rank = batches.rank > 2 ? batches.rank - 2 : 0;
    memcpy(batches.dims, result->dims, sizeof(batches.dims));
    for (size_t batch = 0; batch < shape_elements(&batches); batch++) {
        const float *x = left + matrix_at(a, &batches, batch), *y = right + matrix_at(b, &batches, batch);

        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++, to++)
                for (int64_t k = 0; k < inner; k++)
                    *to += (double)x[i * inner + k] * (double)y[k * columns + j];
    }
    return values;
}

/* Both with a constant second factor and with one that comes at run time. `added`: a tensor that is added to the
 * result, behind it a clip; rank TENSOR_MAX_RANK: none. */
static void check_matmul(struct shape a, struct shape b, const struct shape *added)
{
    for (int constant = 0; constant < 2; constant++) {
        struct operator_test test;
        struct shape result = result_of(&a, &b);
        double *expected;

        operator_begin(&test, LAYER_MATMUL, "MatMul", 13);
        operator_input(&test, a, 1.0f);
        if (constant)
            operator_constant(&test, b, 1.0f);
        else
            operator_input(&test, b, 1.0f);
        expected = multiply(&test, &result);
        if (added) {
            const float *values = operator_constant(&test, *added, 1.0f);
            size_t period = shape_elements(added);

            test.operands[2].constant = constant;
            test.adds = true;
            test.fused = ACTIVATION_RELU;
            for (size_t i = 0; i < shape_elements(&result); i++)
                expected[i] = fmax(expected[i] + (double)values[i % period], 0.0);
        }
        operator_check(&test, &result, expected, 1e-5);
    }
}

static void matrices_vectors_and_batches_multiply_as_in_numpy(void **state)
{
    const struct {
        struct shape a, b;
    } pairs[] = {
        {SHAPE(5, 7), SHAPE(7, 9)},
        {SHAPE(32, 64), SHAPE(64, 48)},
        {SHAPE(1, 100), SHAPE(100, 10)},
        {SHAPE(7), SHAPE(7, 3)},
        {SHAPE(4, 7), SHAPE(7)},
        {SHAPE(7), SHAPE(7)},
        {SHAPE(2, 4, 7), SHAPE(7)},
        {SHAPE(2, 3, 4, 5), SHAPE(5, 6)},
        {SHAPE(2, 3, 4, 5), SHAPE(2, 3, 5, 6)},
        {SHAPE(2, 1, 4, 5), SHAPE(1, 3, 5, 6)},
        {SHAPE(2, 3, 4, 5), SHAPE(3, 5, 6)},
        {SHAPE(4, 5), SHAPE(3, 5, 6)},
        {SHAPE(8, 16, 16), SHAPE(8, 16, 16)},
        {SHAPE(1, 1), SHAPE(1, 1)},
    };

    REQUIRE_ONEDNN();
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        check_matmul(pairs[i].a, pairs[i].b, NULL);
}

static void what_is_added_may_be_a_row_a_number_or_everything(void **state)
{
    REQUIRE_ONEDNN();
    check_matmul(SHAPE(5, 7), SHAPE(7, 9), &SHAPE(9));
    check_matmul(SHAPE(5, 7), SHAPE(7, 9), &SHAPE(5, 9));
    check_matmul(SHAPE(2, 5, 7), SHAPE(7, 9), &SHAPE(9));
    check_matmul(SHAPE(2, 5, 7), SHAPE(7, 9), &SHAPE(1, 1, 9));
    check_matmul(SHAPE(2, 5, 7), SHAPE(7, 9), &SHAPE(2, 5, 9));
    check_matmul(SHAPE(2, 5, 7), SHAPE(7, 9), &SHAPE(1));
    check_matmul(SHAPE(2, 5, 7), SHAPE(2, 7, 9), &SHAPE(9));
    check_matmul(SHAPE(2, 5, 7), SHAPE(2, 7, 9), &SHAPE(5, 9));
}

/* ---- Gemm ---- */

struct gemm {
    bool transposed_a, transposed_b;
    float alpha, beta;
    size_t third_rank; /* 0: no third input, or one of rank 0 */
    int64_t third[2];
    bool runtime;
};

#define M 6
#define K 20
#define N 17

static double gemm_element(const struct operator_test *test, const struct gemm *g, int64_t i, int64_t j)
{
    const float *a = test->operands[0].values, *b = test->operands[1].values, *c = test->operands[2].values;
    const int64_t *third = g->third + (g->third_rank == 2 ? 1 : 0);
    double sum = 0;

    for (int64_t k = 0; k < K; k++)
        sum += (double)a[g->transposed_a ? k * M + i : i * K + k] * (double)b[g->transposed_b ? j * K + k : k * N + j];
    sum *= (double)g->alpha;
    if (g->third_rank > 0) {
        int64_t row = g->third_rank == 2 && g->third[0] > 1 ? i : 0, column = third[0] > 1 ? j : 0;

        sum += (double)g->beta * (double)c[row * third[0] + column];
    }
    return sum;
}

static void check_gemm(struct gemm g)
{
    struct shape result = SHAPE(M, N), third = {.rank = g.third_rank, .dims = {g.third[0], g.third[1]}};
    double *expected = doubles(&result);
    struct operator_test test;

    operator_begin(&test, LAYER_MATMUL, "Gemm", 13);
    operator_attribute(&test, INTEGER("transA", g.transposed_a));
    operator_attribute(&test, INTEGER("transB", g.transposed_b));
    operator_attribute(&test, FLOAT("alpha", g.alpha));
    operator_attribute(&test, FLOAT("beta", g.beta));
    operator_input(&test, g.transposed_a ? SHAPE(K, M) : SHAPE(M, K), 1.0f);
    operator_constant(&test, g.transposed_b ? SHAPE(N, K) : SHAPE(K, N), 1.0f);
    test.operands[1].constant = !g.runtime;
    if (g.third_rank > 0) {
        operator_constant(&test, third, 1.0f);
        test.operands[2].constant = !g.runtime;
    }
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++)
            expected[i * N + j] = gemm_element(&test, &g, i, j);
    operator_check(&test, &result, expected, 1e-5);
}

static void transposed_factors_are_read_the_other_way(void **state)
{
    REQUIRE_ONEDNN();
    for (int bits = 0; bits < 8; bits++)
        check_gemm((struct gemm){.transposed_a = bits & 1,
                                 .transposed_b = bits & 2,
                                 .runtime = bits & 4,
                                 .alpha = 1.0f,
                                 .beta = 1.0f,
                                 .third_rank = 1,
                                 .third = {N}});
}

static void the_third_input_is_broadcast(void **state)
{
    static const struct gemm thirds[] = {
        {.third_rank = 1, .third = {1}},    {.third_rank = 1, .third = {N}},    {.third_rank = 2, .third = {1, N}},
        {.third_rank = 2, .third = {M, 1}}, {.third_rank = 2, .third = {M, N}}, {.third_rank = 2, .third = {1, 1}},
    };

    REQUIRE_ONEDNN();
    for (size_t i = 0; i < ARRAY_LEN(thirds); i++) {
        struct gemm g = thirds[i];

        g.alpha = g.beta = 1.0f;
        check_gemm(g);
        g.runtime = true;
        check_gemm(g);
    }
}

static void alpha_and_beta_scale(void **state)
{
    REQUIRE_ONEDNN();
    check_gemm((struct gemm){.alpha = 0.5f, .beta = 1.0f});
    check_gemm((struct gemm){.alpha = 0.5f, .beta = 0.25f, .third_rank = 1, .third = {N}});
    check_gemm((struct gemm){.alpha = 1.0f, .beta = 0.25f, .third_rank = 2, .third = {M, N}});
    check_gemm((struct gemm){.alpha = -2.0f, .beta = 0.0f, .third_rank = 2, .third = {M, 1}});
    check_gemm((struct gemm){.alpha = -2.0f, .beta = 1.0f, .third_rank = 1, .third = {N}, .runtime = true});
}

static void what_onednn_cannot_say_has_no_tactics(void **state)
{
    struct operator_test test;

    REQUIRE_ONEDNN();
    operator_begin(&test, LAYER_MATMUL, "MatMul", 13);
    operator_input(&test, SHAPE(3, 0), 1.0f);
    operator_input(&test, SHAPE(0, 3), 1.0f);
    operator_refuse(&test);

    operator_begin(&test, LAYER_MATMUL, "MatMul", 13);
    operator_operand(&test, DATA_INT32, SHAPE(3, 3));
    operator_operand(&test, DATA_INT32, SHAPE(3, 3));
    operator_refuse(&test);

    operator_begin(&test, LAYER_MATMUL, "Gemm", 13); /* a run-time third input that is scaled */
    operator_attribute(&test, FLOAT("beta", 0.5f));
    operator_input(&test, SHAPE(3, 3), 1.0f);
    operator_input(&test, SHAPE(3, 3), 1.0f);
    operator_input(&test, SHAPE(3), 1.0f);
    operator_refuse(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_vectors_and_batches_multiply_as_in_numpy),
        cmocka_unit_test(what_is_added_may_be_a_row_a_number_or_everything),
        cmocka_unit_test(transposed_factors_are_read_the_other_way),
        cmocka_unit_test(the_third_input_is_broadcast),
        cmocka_unit_test(alpha_and_beta_scale),
        cmocka_unit_test(what_onednn_cannot_say_has_no_tactics),
    };

    return cmocka_run_group_tests(tests, open_onednn, close_onednn);
}
