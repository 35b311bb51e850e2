/* What engine/onednn_abi.h says of oneDNN's interface, against oneDNN's own headers where version 2 is installed. */
#include "support/unit_test.h"

#include <stddef.h>

#include "engine/onednn_library.h"

#if defined(__has_include)
#if __has_include(<oneapi/dnnl/dnnl.h>)
#include <oneapi/dnnl/dnnl.h>
#endif
#endif

#if defined(DNNL_VERSION_MAJOR) && DNNL_VERSION_MAJOR == 2

#define SAME(ours, theirs)                                                                                             \
    do {                                                                                                               \
        _Static_assert((int)(ours) == (int)(theirs), #ours);                                                           \
        assert_int_equal(ours, theirs);                                                                                \
    } while (0)

static void numbers_are_those_of_the_headers(void **state)
{
    SAME(ONEDNN_MAX_RANK, DNNL_MAX_NDIMS);
    SAME(ONEDNN_SUCCESS, dnnl_success);
    SAME(ONEDNN_F32, dnnl_f32);
    SAME(ONEDNN_S32, dnnl_s32);
    SAME(ONEDNN_S8, dnnl_s8);
    SAME(ONEDNN_U8, dnnl_u8);
    SAME(ONEDNN_F16, dnnl_f16);
    SAME(ONEDNN_BF16, dnnl_bf16);
    SAME(ONEDNN_FORMAT_KIND_ANY, dnnl_format_kind_any);
    SAME(ONEDNN_BLOCKED, dnnl_blocked);
    SAME(ONEDNN_FORMAT_KIND_WINO, dnnl_format_kind_wino);
    SAME(ONEDNN_CPU, dnnl_cpu);
    SAME(ONEDNN_STREAM_IN_ORDER, dnnl_stream_in_order);
    SAME(ONEDNN_FORWARD_INFERENCE, dnnl_forward_inference);
    SAME(ONEDNN_FPMATH_MODE_STRICT, dnnl_fpmath_mode_strict);
    SAME(ONEDNN_SCRATCHPAD_MODE_USER, dnnl_scratchpad_mode_user);
    SAME(ONEDNN_QUERY_IMPL_INFO_STR, dnnl_query_impl_info_str);
    SAME(ONEDNN_QUERY_SCRATCHPAD_MD, dnnl_query_scratchpad_md);
    SAME(ONEDNN_QUERY_EXEC_ARG_MD, dnnl_query_exec_arg_md);
    SAME(ONEDNN_CONVOLUTION_DIRECT, dnnl_convolution_direct);
    SAME(ONEDNN_CONVOLUTION_WINOGRAD, dnnl_convolution_winograd);
    SAME(ONEDNN_DECONVOLUTION_DIRECT, dnnl_deconvolution_direct);
    SAME(ONEDNN_DECONVOLUTION_WINOGRAD, dnnl_deconvolution_winograd);
    SAME(ONEDNN_ELTWISE_RELU, dnnl_eltwise_relu);
    SAME(ONEDNN_ELTWISE_TANH, dnnl_eltwise_tanh);
    SAME(ONEDNN_ELTWISE_ELU, dnnl_eltwise_elu);
    SAME(ONEDNN_ELTWISE_ABS, dnnl_eltwise_abs);
    SAME(ONEDNN_ELTWISE_SQRT, dnnl_eltwise_sqrt);
    SAME(ONEDNN_ELTWISE_LINEAR, dnnl_eltwise_linear);
    SAME(ONEDNN_ELTWISE_SOFT_RELU, dnnl_eltwise_soft_relu);
    SAME(ONEDNN_ELTWISE_LOGISTIC, dnnl_eltwise_logistic);
    SAME(ONEDNN_ELTWISE_EXP, dnnl_eltwise_exp);
    SAME(ONEDNN_ELTWISE_SWISH, dnnl_eltwise_swish);
    SAME(ONEDNN_ELTWISE_LOG, dnnl_eltwise_log);
    SAME(ONEDNN_ELTWISE_CLIP, dnnl_eltwise_clip);
    SAME(ONEDNN_ELTWISE_GELU_ERF, dnnl_eltwise_gelu_erf);
    SAME(ONEDNN_ELTWISE_HARDSWISH, dnnl_eltwise_hardswish);
    SAME(ONEDNN_POOLING_MAX, dnnl_pooling_max);
    SAME(ONEDNN_POOLING_AVG_INCLUDE_PADDING, dnnl_pooling_avg_include_padding);
    SAME(ONEDNN_POOLING_AVG_EXCLUDE_PADDING, dnnl_pooling_avg_exclude_padding);
    SAME(ONEDNN_LRN_ACROSS_CHANNELS, dnnl_lrn_across_channels);
    SAME(ONEDNN_BINARY_ADD, dnnl_binary_add);
    SAME(ONEDNN_BINARY_MUL, dnnl_binary_mul);
    SAME(ONEDNN_BINARY_MAX, dnnl_binary_max);
    SAME(ONEDNN_BINARY_MIN, dnnl_binary_min);
    SAME(ONEDNN_BINARY_DIV, dnnl_binary_div);
    SAME(ONEDNN_BINARY_SUB, dnnl_binary_sub);
    SAME(ONEDNN_RESAMPLING_NEAREST, dnnl_resampling_nearest);
    SAME(ONEDNN_RESAMPLING_LINEAR, dnnl_resampling_linear);
    SAME(ONEDNN_REDUCTION_MAX, dnnl_reduction_max);
    SAME(ONEDNN_REDUCTION_MIN, dnnl_reduction_min);
    SAME(ONEDNN_REDUCTION_SUM, dnnl_reduction_sum);
    SAME(ONEDNN_REDUCTION_MUL, dnnl_reduction_mul);
    SAME(ONEDNN_REDUCTION_MEAN, dnnl_reduction_mean);
    SAME(ONEDNN_REDUCTION_NORM_LP_SUM, dnnl_reduction_norm_lp_sum);
    SAME(ONEDNN_SOFTMAX_ACCURATE, dnnl_softmax_accurate);
    SAME(ONEDNN_SOFTMAX_LOG, dnnl_softmax_log);
    SAME(ONEDNN_USE_GLOBAL_STATS, dnnl_use_global_stats);
    SAME(ONEDNN_USE_SCALESHIFT, dnnl_use_scaleshift);
    SAME(ONEDNN_FUSE_NORM_RELU, dnnl_fuse_norm_relu);
    SAME(ONEDNN_USE_SCALE, dnnl_use_scale);
    SAME(ONEDNN_USE_SHIFT, dnnl_use_shift);
    SAME(ONEDNN_ARG_SRC, DNNL_ARG_SRC);
    SAME(ONEDNN_ARG_SRC_1, DNNL_ARG_SRC_1);
    SAME(ONEDNN_ARG_DST, DNNL_ARG_DST);
    SAME(ONEDNN_ARG_DST_1, DNNL_ARG_DST_1);
    SAME(ONEDNN_ARG_WEIGHTS, DNNL_ARG_WEIGHTS);
    SAME(ONEDNN_ARG_SCALE_SHIFT, DNNL_ARG_SCALE_SHIFT);
    SAME(ONEDNN_ARG_BIAS, DNNL_ARG_BIAS);
    SAME(ONEDNN_ARG_MEAN, DNNL_ARG_MEAN);
    SAME(ONEDNN_ARG_VARIANCE, DNNL_ARG_VARIANCE);
    SAME(ONEDNN_ARG_SCALE, DNNL_ARG_SCALE);
    SAME(ONEDNN_ARG_SHIFT, DNNL_ARG_SHIFT);
    SAME(ONEDNN_ARG_SCRATCHPAD, DNNL_ARG_SCRATCHPAD);
    SAME(ONEDNN_ARG_MULTIPLE_SRC, DNNL_ARG_MULTIPLE_SRC);
    SAME(ONEDNN_ARG_POST_OP_BASE * 3, DNNL_ARG_ATTR_MULTIPLE_POST_OP(2));
}

static void structures_have_the_sizes_of_the_headers(void **state)
{
    SAME(sizeof(struct onednn_memory_desc), sizeof(dnnl_memory_desc_t));
    SAME(offsetof(struct onednn_memory_desc, padded_dims), offsetof(dnnl_memory_desc_t, padded_dims));
    SAME(offsetof(struct onednn_memory_desc, offset0), offsetof(dnnl_memory_desc_t, offset0));
    SAME(offsetof(struct onednn_memory_desc, format_kind), offsetof(dnnl_memory_desc_t, format_kind));
    SAME(offsetof(struct onednn_memory_desc, format_desc), offsetof(dnnl_memory_desc_t, format_desc));
    SAME(offsetof(struct onednn_memory_desc, extra), offsetof(dnnl_memory_desc_t, extra));
    SAME(sizeof(struct onednn_blocking_desc), sizeof(dnnl_blocking_desc_t));
    SAME(offsetof(struct onednn_blocking_desc, inner_blks), offsetof(dnnl_blocking_desc_t, inner_blks));
    SAME(offsetof(struct onednn_blocking_desc, inner_idxs), offsetof(dnnl_blocking_desc_t, inner_idxs));
    SAME(sizeof(struct onednn_exec_arg), sizeof(dnnl_exec_arg_t));
    SAME(offsetof(struct onednn_exec_arg, memory), offsetof(dnnl_exec_arg_t, memory));
    SAME(offsetof(struct onednn_version, patch), offsetof(dnnl_version_t, patch));
}

static void operation_descriptors_fit(void **state)
{
    assert_true(sizeof(union onednn_op_desc) >= sizeof(dnnl_convolution_desc_t));
    assert_true(sizeof(union onednn_op_desc) >= sizeof(dnnl_pooling_v2_desc_t));
    assert_true(sizeof(union onednn_op_desc) >= sizeof(dnnl_inner_product_desc_t));
    assert_true(sizeof(union onednn_op_desc) >= sizeof(dnnl_batch_normalization_desc_t));
    assert_true(sizeof(union onednn_op_desc) >= sizeof(dnnl_layer_normalization_desc_t));
    assert_true(sizeof(union onednn_op_desc) >= sizeof(dnnl_softmax_v2_desc_t));
    assert_true(sizeof(union onednn_op_desc) >= sizeof(dnnl_matmul_desc_t));
    assert_true(sizeof(union onednn_op_desc) >= sizeof(dnnl_binary_desc_t));
    assert_true(sizeof(union onednn_op_desc) >= sizeof(dnnl_eltwise_desc_t));
    assert_true(sizeof(union onednn_op_desc) >= sizeof(dnnl_lrn_desc_t));
    assert_true(sizeof(union onednn_op_desc) >= sizeof(dnnl_resampling_desc_t));
    assert_true(sizeof(union onednn_op_desc) >= sizeof(dnnl_reduction_desc_t));
}

#else

static void numbers_are_those_of_the_headers(void **state)
{
    print_message("the headers of oneDNN 2 are not installed\n");
    skip();
}

static void structures_have_the_sizes_of_the_headers(void **state)
{
    skip();
}

static void operation_descriptors_fit(void **state)
{
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_the_headers),
        cmocka_unit_test(structures_have_the_sizes_of_the_headers),
        cmocka_unit_test(operation_descriptors_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
