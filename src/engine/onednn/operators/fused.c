/* engine/onednn/operators/fused.c: fused operations as oneDNN's post-ops. See engine/onednn/onednn.h. */
#include <string.h>

#include "base/memory.h"
#include "engine/onednn/onednn.h"

bool onednn_activation(enum activation activation, float alpha, float beta, struct onednn_eltwise *ret)
{
    struct onednn_eltwise eltwise = {ONEDNN_NO_ALGORITHM, alpha, beta};

    switch (activation) {
    case ACTIVATION_NONE:
        return false;
    case ACTIVATION_RELU:
        eltwise = (struct onednn_eltwise){ONEDNN_ELTWISE_RELU, 0.0f, 0.0f};
        break;
    case ACTIVATION_LEAKY_RELU:
        eltwise.algorithm = ONEDNN_ELTWISE_RELU;
        break;
    case ACTIVATION_CLIP:
        eltwise.algorithm = ONEDNN_ELTWISE_CLIP;
        break;
    case ACTIVATION_SIGMOID:
        eltwise.algorithm = ONEDNN_ELTWISE_LOGISTIC;
        break;
    case ACTIVATION_TANH:
        eltwise.algorithm = ONEDNN_ELTWISE_TANH;
        break;
    case ACTIVATION_ELU:
        eltwise.algorithm = ONEDNN_ELTWISE_ELU;
        break;
    case ACTIVATION_SWISH:
        eltwise.algorithm = ONEDNN_ELTWISE_SWISH;
        break;
    case ACTIVATION_HARD_SWISH:
        eltwise = (struct onednn_eltwise){ONEDNN_ELTWISE_HARDSWISH, 1.0f / 6.0f, 0.5f};
        break;
    case ACTIVATION_GELU_ERF:
        eltwise.algorithm = ONEDNN_ELTWISE_GELU_ERF;
        break;
    case ACTIVATION_EXP:
        eltwise.algorithm = ONEDNN_ELTWISE_EXP;
        break;
    case ACTIVATION_LOG:
        eltwise.algorithm = ONEDNN_ELTWISE_LOG;
        break;
    case ACTIVATION_ABS:
        eltwise.algorithm = ONEDNN_ELTWISE_ABS;
        break;
    case ACTIVATION_SQRT:
        eltwise.algorithm = ONEDNN_ELTWISE_SQRT;
        break;
    case ACTIVATION_SOFTPLUS:
        eltwise = (struct onednn_eltwise){ONEDNN_ELTWISE_SOFT_RELU, 1.0f, 0.0f};
        break;
    }
    if (eltwise.algorithm == ONEDNN_NO_ALGORITHM)
        return false;
    *ret = eltwise;
    return true;
}

static struct onednn_post_op *append_fused_operations(struct onednn_attempt *attempt)
{
    struct onednn_post_op *post_op = VECTOR_APPEND(&attempt->computation.post_ops);

    memset(post_op, 0, sizeof(*post_op));
    return post_op;
}

void onednn_append_eltwise(struct onednn_attempt *attempt, const struct onednn_eltwise *eltwise)
{
    *append_fused_operations(attempt) = (struct onednn_post_op){
        .kind = ONEDNN_POST_ELTWISE, .algorithm = eltwise->algorithm, .alpha = eltwise->alpha, .beta = eltwise->beta};
}

void onednn_append_binary(struct onednn_attempt *attempt, enum onednn_algorithm algorithm,
                          const struct onednn_memory_desc *operand)
{
    *append_fused_operations(attempt) =
        (struct onednn_post_op){.kind = ONEDNN_POST_BINARY, .algorithm = algorithm, .operand = *operand};
}

int onednn_next_operand(const struct onednn_attempt *attempt)
{
    return (attempt->onednn->dialect->post_op_argument * ((int)attempt->computation.post_ops.count + 1)) |
           ONEDNN_ARG_SRC_1;
}

static bool append_fused_activation(struct onednn_attempt *attempt, const struct fused_operation *fused)
{
    struct onednn_eltwise eltwise;

    if (!onednn_activation(fused->activation, fused->alpha, fused->beta, &eltwise))
        return false;
    onednn_append_eltwise(attempt, &eltwise);
    return true;
}

/* The operand has the output's shape: it is copied to the output, and the operation adds to that. */
static void append_sum_into_output(struct onednn_attempt *attempt, size_t position)
{
    struct onednn_argument *argument = VECTOR_APPEND(&attempt->arguments);

    *argument = (struct onednn_argument){.use = ONEDNN_ADDED_TO, .position = position};
    append_fused_operations(attempt)->kind = ONEDNN_POST_SUM;
}

/* The operand has the output's shape, and its layout if that is known. */
static bool append_operand_like_output(struct onednn_attempt *attempt, size_t position, int arg,
                                       struct onednn_memory_desc *ret)
{
    const struct kernel_input *input = &attempt->request->inputs[position];
    struct onednn_argument *argument = VECTOR_APPEND(&attempt->arguments);

    *argument = (struct onednn_argument){.use = ONEDNN_FROM_INPUT, .arg = arg, .position = position};
    *ret = attempt->output;
    attempt->adds_tensor = true;
    if (input->constant) {
        argument->use = ONEDNN_FROM_CONSTANT;
        argument->values = input->constant;
        return onednn_memory_of(&(struct layout){""}, &input->shape, &argument->given);
    }
    return !attempt->tactic || onednn_memory_of(&attempt->tactic->input_layouts[position], &input->shape, ret);
}

/* The operand is row-major; numpy broadcasting prepends dimensions of size 1. */
static bool append_broadcast_operand(struct onednn_attempt *attempt, size_t position, int arg,
                                     struct onednn_memory_desc *ret)
{
    const struct shape *shape = &attempt->request->inputs[position].shape;
    const struct shape *output = &attempt->output_shape;
    int64_t dims[ONEDNN_MAX_RANK];
    const int64_t *output_dims = attempt->output.shape.dims;
    size_t rank = attempt->output.shape.rank, ahead;
    struct onednn_view view = {.rank = rank, .dims = dims};

    /* If the output is a view with other dimensions, only some operands can be expressed. */
    if (attempt->output_fixed &&
        (rank != output->rank || memcmp(output_dims, output->dims, rank * sizeof(*output->dims)) != 0)) {
        if (shape_equal(shape, output))
            return onednn_use_view(attempt, position, arg, &(struct onednn_view){rank, output_dims, NULL, false}, ret);
        for (size_t i = 0; i < rank; i++)
            dims[i] = 1;
        if (shape_elements(shape) != 1) { /* then a vector along the last dimension, such as a bias */
            dims[rank - 1] = output_dims[rank - 1];
            if (dims[rank - 1] != output->dims[output->rank - 1] || shape->rank > output->rank ||
                shape->dims[shape->rank - 1] != dims[rank - 1] || shape_elements(shape) != (size_t)dims[rank - 1])
                return false;
        }
        return onednn_use_view(attempt, position, arg, &view, ret);
    }
    if (shape->rank > rank)
        return false;
    ahead = rank - shape->rank;
    for (size_t i = 0; i < rank; i++) {
        dims[i] = i < ahead ? 1 : shape->dims[i - ahead];
        if (dims[i] != 1 && dims[i] != output_dims[i])
            return false;
    }
    return onednn_use_view(attempt, position, arg, &view, ret);
}

static bool append_fused_operand(struct onednn_attempt *attempt, size_t position, bool *sum_is_free)
{
    int arg = onednn_next_operand(attempt);
    struct onednn_memory_desc memory;
    bool same;

    if (!onednn_has_input(attempt, position) || attempt->request->inputs[position].type != DATA_FLOAT32)
        return false;
    same = shape_equal(&attempt->request->inputs[position].shape, &attempt->output_shape);
    if (same && *sum_is_free && !attempt->request->inputs[position].constant) {
        *sum_is_free = false;
        append_sum_into_output(attempt, position);
        return true;
    }
    if (same && !attempt->output_fixed ? !append_operand_like_output(attempt, position, arg, &memory)
                                       : !append_broadcast_operand(attempt, position, arg, &memory))
        return false;
    onednn_append_binary(attempt, ONEDNN_BINARY_ADD, &memory);
    return true;
}

bool onednn_fuse(struct onednn_attempt *attempt)
{
    const struct layer *layer = attempt->request->layer;
    bool sum_is_free = attempt->add_as_sum;

    if (!attempt->output_known)
        return false;
    VECTOR_EACH (const struct fused_operation, fused, layer->fused)
        if (fused->kind == FUSED_ADD ? !append_fused_operand(attempt, fused->operand, &sum_is_free)
                                     : !append_fused_activation(attempt, fused))
            return false;
    attempt->fused = true;
    return !attempt->add_as_sum || !sum_is_free; /* without a sum the variant would be a duplicate */
}
