/* engine/onednn/operators/matmul.c: MatMul and Gemm, as matrix product and as inner product of oneDNN. See
 * engine/onednn/onednn.h.
 *
 * All tensors are row-major and viewed as matrices: transposed ones by their strides; if the second factor has no
 * batch, the batch of the first one is merged into its rows.
 */
#include <string.h>

#include "base/memory.h"
#include "engine/onednn/onnx.h"
#include "onnx/proto/node_attribute.h"

enum { A, B, C };
enum { VARIANT_MATMUL, VARIANT_INNER_PRODUCT };

/* One side of a product: batch dimensions in front, then rows and columns. */
struct matrix {
    size_t rank;
    int64_t dims[ONEDNN_MAX_RANK], strides[ONEDNN_MAX_RANK];
};

struct product {
    struct matrix a, b;
    struct shape output; /* as in ONNX */
    struct matrix target;
    float alpha, beta; /* of Gemm */
};

/* Dense, row-major. A vector becomes a row or a column; dimensions of size 1 are prepended up to `rank`. */
static bool view_matrix(const struct shape *shape, bool vector_is_row, bool transposed, size_t rank, struct matrix *ret)
{
    struct shape seen = *shape;
    int64_t stride = 1;
    size_t ahead;

    if (shape->rank == 0 || shape->rank > ONEDNN_MAX_RANK || rank > ONEDNN_MAX_RANK)
        return false;
    if (shape->rank == 1) {
        seen.rank = 2;
        seen.dims[0] = vector_is_row ? 1 : shape->dims[0];
        seen.dims[1] = vector_is_row ? shape->dims[0] : 1;
    }
    rank = seen.rank > rank ? seen.rank : rank;
    ahead = rank - seen.rank;
    ret->rank = rank;
    for (size_t i = rank; i-- > 0;) {
        ret->dims[i] = i < ahead ? 1 : seen.dims[i - ahead];
        ret->strides[i] = stride;
        if (ret->dims[i] < 1 || __builtin_mul_overflow(stride, ret->dims[i], &stride))
            return false;
    }
    if (transposed) {
        struct matrix plain = *ret;

        ret->dims[rank - 2] = plain.dims[rank - 1];
        ret->dims[rank - 1] = plain.dims[rank - 2];
        ret->strides[rank - 2] = plain.strides[rank - 1];
        ret->strides[rank - 1] = plain.strides[rank - 2];
    }
    return true;
}

/* Merges a batch to one matrix by joining rows; for the first factor, which is dense. */
static void join_batch_dimensions(struct matrix *matrix)
{
    int64_t rows = 1, columns = matrix->dims[matrix->rank - 1];

    for (size_t i = 0; i + 1 < matrix->rank; i++)
        rows *= matrix->dims[i];
    *matrix = (struct matrix){.rank = 2, .dims = {rows, columns}, .strides = {columns, 1}};
}

/* Computes the shape of the result for ONNX and for oneDNN. False if the factors do not fit. */
static bool multiply_shapes(const struct shape *a, const struct shape *b, bool transposed_a, struct product *ret)
{
    struct matrix target = {.rank = ret->a.rank};
    size_t last = target.rank - 1;

    if (ret->a.dims[last] != ret->b.dims[last - 1])
        return false;
    for (size_t i = 0; i + 2 < target.rank; i++) {
        int64_t from_a = ret->a.dims[i], from_b = ret->b.dims[i];

        if (from_a != from_b && from_a != 1 && from_b != 1)
            return false;
        target.dims[i] = from_a > from_b ? from_a : from_b;
    }
    target.dims[last - 1] = ret->a.dims[last - 1];
    target.dims[last] = ret->b.dims[last];
    ret->output.rank = 0;
    for (size_t i = 0; i < target.rank; i++) {
        if ((i == last - 1 && a->rank == 1) || (i == last && b->rank == 1))
            continue;
        ret->output.dims[ret->output.rank++] = target.dims[i];
    }
    if (b->rank <= 2 && target.rank > 2 && !transposed_a) {
        join_batch_dimensions(&target);
        join_batch_dimensions(&ret->a);
        ret->b = (struct matrix){.rank = 2,
                                 .dims = {ret->b.dims[last - 1], ret->b.dims[last]},
                                 .strides = {ret->b.strides[last - 1], ret->b.strides[last]}};
    }
    ret->target = target;
    return true;
}

static bool read_product(const struct onednn_attempt *attempt, struct product *ret)
{
    /* if present */
    const struct shape *a = &attempt->request->inputs[A].shape, *b = &attempt->request->inputs[B].shape;
    bool gemm = text_equal_string(onednn_operator(attempt), "Gemm");
    struct span node = onednn_node(attempt);
    bool transposed_a = gemm && node_attribute_integer(node, "transA", 0) != 0;
    bool transposed_b = gemm && node_attribute_integer(node, "transB", 0) != 0;
    size_t rank;

    if ((!gemm && !text_equal_string(onednn_operator(attempt), "MatMul")) || !onednn_has_input(attempt, A) ||
        !onednn_has_input(attempt, B) || (gemm && (a->rank != 2 || b->rank != 2)))
        return false;
    rank = a->rank > b->rank ? a->rank : b->rank;
    ret->alpha = gemm ? onednn_float(attempt, "alpha", 1.0f) : 1.0f;
    ret->beta = gemm ? onednn_float(attempt, "beta", 1.0f) : 1.0f;
    return view_matrix(a, true, transposed_a, rank, &ret->a) && view_matrix(b, false, transposed_b, rank, &ret->b) &&
           multiply_shapes(a, b, transposed_a, ret);
}

/* ---- Gemm's third input ---- */

static bool has_third_input(const struct onednn_attempt *attempt)
{
    const struct model *model = attempt->request->network->model;

    return model->nodes.items[attempt->request->layer->nodes.items[0]].inputs.count > C && onednn_has_input(attempt, C);
}

/* Uses it as `arg` through this view, multiplied by beta. */
static bool use_scaled_tensor(struct onednn_attempt *attempt, float beta, int arg, const struct onednn_view *view,
                              struct onednn_memory_desc *ret)
{
    const struct kernel_input *input = &attempt->request->inputs[C];
    size_t count = shape_elements(&input->shape);
    float *values;

    if (beta == 1.0f)
        return onednn_use_view(attempt, C, arg, view, ret);
    if (!input->constant || input->type != DATA_FLOAT32 || count > SIZE_MAX / sizeof(*values))
        return false;
    values = memory_alloc(count * sizeof(*values));
    memcpy(values, input->constant, count * sizeof(*values));
    for (size_t i = 0; i < count; i++)
        values[i] *= beta;
    return onednn_use_values(attempt, arg, view, values, ret);
}

/* As a bias if it is one row and no operation comes first; else it is added to the result. */
static bool use_third_input(struct onednn_attempt *attempt, const struct product *product)
{
    const struct shape *shape = &attempt->request->inputs[C].shape;
    int64_t dims[2] = {1, 1};
    struct onednn_view view = {.rank = 2, .dims = dims};
    struct onednn_memory_desc memory;

    if (shape->rank > 2)
        return false;
    for (size_t i = 0; i < shape->rank; i++)
        dims[2 - shape->rank + i] = shape->dims[i];
    for (size_t i = 0; i < 2; i++) {
        if (dims[i] != 1 && dims[i] != product->target.dims[i])
            return false;
    }
    if (product->alpha == 1.0f && dims[0] == 1 && dims[1] == product->target.dims[1]) {
        if (attempt->variant == VARIANT_INNER_PRODUCT)
            view = (struct onednn_view){.rank = 1, .dims = dims + 1};
        return use_scaled_tensor(attempt, product->beta, ONEDNN_ARG_BIAS, &view, &attempt->computation.bias);
    }
    if (!use_scaled_tensor(attempt, product->beta, onednn_next_operand(attempt), &view, &memory))
        return false;
    onednn_append_binary(attempt, ONEDNN_BINARY_ADD, &memory);
    return true;
}

/* ---- description ---- */

/* Weights of an inner product are transposed: (outputs, inputs). */
static bool use_factor_tensors(struct onednn_attempt *attempt, const struct product *product)
{
    const struct matrix *a = &product->a;
    struct onednn_computation *computation = &attempt->computation;
    struct matrix weights = product->b;

    if (attempt->variant == VARIANT_INNER_PRODUCT) {
        if (a->rank != 2)
            return false;
        weights = (struct matrix){.rank = 2,
                                  .dims = {product->b.dims[1], product->b.dims[0]},
                                  .strides = {product->b.strides[1], product->b.strides[0]}};
    }
    return onednn_use_view(attempt, A, ONEDNN_ARG_SRC,
                           &(struct onednn_view){a->rank, a->dims, a->strides, .pack = true}, &computation->source) &&
           onednn_use_view(attempt, B, ONEDNN_ARG_WEIGHTS,
                           &(struct onednn_view){weights.rank, weights.dims, weights.strides, .pack = true},
                           &computation->second);
}

static bool describe_matmul(struct onednn_attempt *attempt)
{
    struct onednn_computation *computation = &attempt->computation;
    struct product product;

    computation->primitive = attempt->variant == VARIANT_INNER_PRODUCT ? ONEDNN_INNER_PRODUCT : ONEDNN_MATMUL;
    if (!read_product(attempt, &product) || !use_factor_tensors(attempt, &product) ||
        !onednn_use_output_view(attempt, ONEDNN_ARG_DST, &product.output,
                                &(struct onednn_view){product.target.rank, product.target.dims, NULL, false},
                                &computation->target))
        return false;
    if (product.alpha != 1.0f)
        onednn_append_eltwise(attempt, &(struct onednn_eltwise){ONEDNN_ELTWISE_LINEAR, product.alpha, 0.0f});
    return (!has_third_input(attempt) || use_third_input(attempt, &product)) && onednn_fuse(attempt);
}

static const char *const variants[] = {"", "inner_product", NULL};

const struct onednn_operation onednn_matmul = {
    .kind = LAYER_MATMUL,
    .layouts = ONEDNN_LAYOUTS_PLAIN,
    .variants = variants,
    .describe = describe_matmul,
};
