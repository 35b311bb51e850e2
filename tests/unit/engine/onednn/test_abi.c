/* What engine/onednn/abi.h, engine/onednn/v2.h and engine/onednn/v3.h say of oneDNN's interface, against oneDNN's own
 * headers as far as they are installed, and against the library that is loaded. */
#include "support/unit_test.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/memory.h"
#include "engine/onednn/onednn.h"

#if defined(__has_include)
#if __has_include(<oneapi/dnnl/dnnl.h>)
#include <oneapi/dnnl/dnnl.h>
#include <oneapi/dnnl/dnnl_debug.h>
#endif
#endif

#ifndef DNNL_VERSION_MAJOR
#define DNNL_VERSION_MAJOR 0
#endif

#define SAME(ours, theirs)                                                                                             \
    do {                                                                                                               \
        _Static_assert((int)(ours) == (int)(theirs), #ours);                                                           \
        assert_int_equal(ours, theirs);                                                                                \
    } while (0)

#define SAME_ALGORITHM(ours, theirs, two, three) SAME(DNNL_VERSION_MAJOR == 2 ? (two) : (three), dnnl_##theirs);

static void numbers_of_both_versions_are_those_of_the_headers(void **state)
{
#if DNNL_VERSION_MAJOR >= 2
    ONEDNN_ALGORITHMS(SAME_ALGORITHM)
    SAME(ONEDNN_MAX_RANK, DNNL_MAX_NDIMS);
    SAME(ONEDNN_SUCCESS, dnnl_success);
    SAME(ONEDNN_F32, dnnl_f32);
    SAME(ONEDNN_FORMAT_KIND_ANY, dnnl_format_kind_any);
    SAME(ONEDNN_BLOCKED, dnnl_blocked);
    SAME(ONEDNN_CPU, dnnl_cpu);
    SAME(ONEDNN_STREAM_IN_ORDER, dnnl_stream_in_order);
    SAME(ONEDNN_FORWARD_INFERENCE, dnnl_forward_inference);
    SAME(ONEDNN_FPMATH_MODE_STRICT, dnnl_fpmath_mode_strict);
    SAME(ONEDNN_SCRATCHPAD_MODE_USER, dnnl_scratchpad_mode_user);
    SAME(ONEDNN_QUERY_IMPL_INFO_STR, dnnl_query_impl_info_str);
    SAME(ONEDNN_QUERY_SCRATCHPAD_MD, dnnl_query_scratchpad_md);
    SAME(ONEDNN_QUERY_EXEC_ARG_MD, dnnl_query_exec_arg_md);
    SAME(ONEDNN_ARG_SRC, DNNL_ARG_SRC);
    SAME(ONEDNN_ARG_SRC_1, DNNL_ARG_SRC_1);
    SAME(ONEDNN_ARG_DST, DNNL_ARG_DST);
    SAME(ONEDNN_ARG_WEIGHTS, DNNL_ARG_WEIGHTS);
    SAME(ONEDNN_ARG_BIAS, DNNL_ARG_BIAS);
    SAME(ONEDNN_ARG_MEAN, DNNL_ARG_MEAN);
    SAME(ONEDNN_ARG_VARIANCE, DNNL_ARG_VARIANCE);
    SAME(ONEDNN_ARG_SCALE, DNNL_ARG_SCALE);
    SAME(ONEDNN_ARG_SHIFT, DNNL_ARG_SHIFT);
    SAME(ONEDNN_ARG_SCRATCHPAD, DNNL_ARG_SCRATCHPAD);
    SAME(ONEDNN_ARG_MULTIPLE_SRC, DNNL_ARG_MULTIPLE_SRC);
    SAME(sizeof(struct onednn_exec_arg), sizeof(dnnl_exec_arg_t));
    SAME(offsetof(struct onednn_exec_arg, memory), offsetof(dnnl_exec_arg_t, memory));
    SAME(offsetof(struct onednn_version, patch), offsetof(dnnl_version_t, patch));
#else
    print_message("the headers of oneDNN are not installed\n");
    skip();
#endif
}

#if DNNL_VERSION_MAJOR == 2

#include "engine/onednn/v2.h"

static void numbers_of_this_version_are_those_of_the_headers(void **state)
{
    SAME(ONEDNN_V2_USE_GLOBAL_STATS, dnnl_use_global_stats);
    SAME(ONEDNN_V2_USE_SCALE, dnnl_use_scale);
    SAME(ONEDNN_V2_USE_SHIFT, dnnl_use_shift);
    SAME(ONEDNN_V2_POST_OP_BASE * 3, DNNL_ARG_ATTR_MULTIPLE_POST_OP(2));
}

static void structures_have_the_sizes_of_the_headers(void **state)
{
    SAME(sizeof(struct dnnl_memory_desc), sizeof(dnnl_memory_desc_t));
    SAME(offsetof(struct dnnl_memory_desc, padded_dims), offsetof(dnnl_memory_desc_t, padded_dims));
    SAME(offsetof(struct dnnl_memory_desc, offset0), offsetof(dnnl_memory_desc_t, offset0));
    SAME(offsetof(struct dnnl_memory_desc, format_kind), offsetof(dnnl_memory_desc_t, format_kind));
    SAME(offsetof(struct dnnl_memory_desc, format_desc), offsetof(dnnl_memory_desc_t, format_desc));
    SAME(offsetof(struct dnnl_memory_desc, extra), offsetof(dnnl_memory_desc_t, extra));
    SAME(sizeof(struct onednn_v2_blocking), sizeof(dnnl_blocking_desc_t));
    SAME(offsetof(struct onednn_v2_blocking, inner_blks), offsetof(dnnl_blocking_desc_t, inner_blks));
    SAME(offsetof(struct onednn_v2_blocking, inner_idxs), offsetof(dnnl_blocking_desc_t, inner_idxs));
    assert_true(sizeof(union onednn_v2_op_desc) >= sizeof(dnnl_convolution_desc_t));
    assert_true(sizeof(union onednn_v2_op_desc) >= sizeof(dnnl_pooling_v2_desc_t));
    assert_true(sizeof(union onednn_v2_op_desc) >= sizeof(dnnl_inner_product_desc_t));
    assert_true(sizeof(union onednn_v2_op_desc) >= sizeof(dnnl_batch_normalization_desc_t));
    assert_true(sizeof(union onednn_v2_op_desc) >= sizeof(dnnl_layer_normalization_desc_t));
    assert_true(sizeof(union onednn_v2_op_desc) >= sizeof(dnnl_softmax_v2_desc_t));
    assert_true(sizeof(union onednn_v2_op_desc) >= sizeof(dnnl_matmul_desc_t));
    assert_true(sizeof(union onednn_v2_op_desc) >= sizeof(dnnl_binary_desc_t));
    assert_true(sizeof(union onednn_v2_op_desc) >= sizeof(dnnl_eltwise_desc_t));
    assert_true(sizeof(union onednn_v2_op_desc) >= sizeof(dnnl_lrn_desc_t));
    assert_true(sizeof(union onednn_v2_op_desc) >= sizeof(dnnl_resampling_desc_t));
    assert_true(sizeof(union onednn_v2_op_desc) >= sizeof(dnnl_reduction_desc_t));
}

/* Structures without a tag cannot be told from ours by the compiler, so there is little to compare. */
static void functions_have_the_types_of_the_headers(void **state)
{
    skip();
}

#elif DNNL_VERSION_MAJOR == 3

#include "engine/onednn/v3.h"

static void numbers_of_this_version_are_those_of_the_headers(void **state)
{
    SAME(ONEDNN_V3_USE_GLOBAL_STATS, dnnl_use_global_stats);
    SAME(ONEDNN_V3_USE_SCALE, dnnl_use_scale);
    SAME(ONEDNN_V3_USE_SHIFT, dnnl_use_shift);
    SAME(ONEDNN_V3_POST_OP_BASE * 3, DNNL_ARG_ATTR_MULTIPLE_POST_OP(2));
    SAME(ONEDNN_V3_FORMAT_TAG_ANY, dnnl_format_tag_any);
    SAME(ONEDNN_V3_QUERY_STRIDES, dnnl_query_strides);
    SAME(ONEDNN_V3_QUERY_NDIMS_S32, dnnl_query_ndims_s32);
    SAME(ONEDNN_V3_QUERY_DIMS, dnnl_query_dims);
    SAME(ONEDNN_V3_QUERY_DATA_TYPE, dnnl_query_data_type);
    SAME(ONEDNN_V3_QUERY_SUBMEMORY_OFFSET_S64, dnnl_query_submemory_offset_s64);
    SAME(ONEDNN_V3_QUERY_PADDED_DIMS, dnnl_query_padded_dims);
    SAME(ONEDNN_V3_QUERY_PADDED_OFFSETS, dnnl_query_padded_offsets);
    SAME(ONEDNN_V3_QUERY_FORMAT_KIND, dnnl_query_format_kind);
    SAME(ONEDNN_V3_QUERY_INNER_NBLKS_S32, dnnl_query_inner_nblks_s32);
    SAME(ONEDNN_V3_QUERY_INNER_BLKS, dnnl_query_inner_blks);
    SAME(ONEDNN_V3_QUERY_INNER_IDXS, dnnl_query_inner_idxs);
}

/* Descriptors of this version are opaque. */
static void structures_have_the_sizes_of_the_headers(void **state)
{
    skip();
}

/* But for one, whose arguments are a structure without a tag: the compiler cannot tell that it is ours. */
static void functions_have_the_types_of_the_headers(void **state)
{
#define SAME_TYPE(result, name, parameters)                                                                            \
    _Static_assert(sizeof(#name) == sizeof("primitive_execute") ||                                                     \
                       __builtin_types_compatible_p(__typeof__(&dnnl_##name), result(*) parameters),                   \
                   #name);
    ONEDNN_FUNCTIONS(SAME_TYPE)
    ONEDNN_V3_FUNCTIONS(SAME_TYPE)
#undef SAME_TYPE
}

#else

static void numbers_of_this_version_are_those_of_the_headers(void **state)
{
    skip();
}

static void structures_have_the_sizes_of_the_headers(void **state)
{
    skip();
}

static void functions_have_the_types_of_the_headers(void **state)
{
    skip();
}

#endif

/* ---- the library that is loaded ---- */

static const struct onednn *load(void)
{
    const struct onednn *onednn = NULL;
    struct error err = {0};

    if (onednn_load(&onednn, &err) < 0) {
        print_message("%s\n", err.message);
        skip();
    }
    return onednn;
}

static void the_dialect_is_that_of_the_loaded_version(void **state)
{
    const struct onednn *onednn = load();

    assert_ptr_equal(onednn->dialect, onednn->version_text[0] == '2' ? &onednn_v2 : &onednn_v3);
    assert_int_equal(onednn->dialect->major, onednn->version_text[0] - '0');
}

/* A small example of each kind of primitive; false: there is none of that number. */
static bool example(enum onednn_primitive primitive, struct onednn_computation *ret)
{
    static const struct shape image = {4, {2, 16, 6, 6}}, matrix = {2, {4, 16}}, square = {2, {16, 16}};
    static const struct shape weights = {4, {16, 16, 1, 1}}, half = {4, {2, 16, 3, 3}}, row = {4, {2, 16, 6, 1}};
    static const struct shape doubled = {4, {2, 32, 6, 6}};
    const struct shape *source = &image, *second = NULL, *target = &image;
    struct onednn_computation computation = {.primitive = primitive, .alpha = 1.0f, .k = 1.0f, .epsilon = 1e-5f};

    for (size_t i = 0; i < 2; i++)
        computation.window.kernel[i] = computation.window.strides[i] = 1;
    switch (primitive) {
    case ONEDNN_CONVOLUTION:
    case ONEDNN_DECONVOLUTION:
        computation.algorithm =
            primitive == ONEDNN_CONVOLUTION ? ONEDNN_CONVOLUTION_DIRECT : ONEDNN_DECONVOLUTION_DIRECT;
        second = &weights;
        break;
    case ONEDNN_MATMUL:
    case ONEDNN_INNER_PRODUCT:
        source = target = &matrix;
        second = &square;
        break;
    case ONEDNN_POOLING:
        computation.algorithm = ONEDNN_POOLING_MAX;
        computation.window.kernel[0] = computation.window.kernel[1] = 2;
        computation.window.strides[0] = computation.window.strides[1] = 2;
        target = &half;
        break;
    case ONEDNN_ELTWISE:
        computation.algorithm = ONEDNN_ELTWISE_TANH;
        break;
    case ONEDNN_BINARY:
        computation.algorithm = ONEDNN_BINARY_SUB;
        second = &image;
        break;
    case ONEDNN_CONCAT:
        computation.axis = 1;
        computation.source_count = 2;
        computation.sources = memory_alloc_zero(2, sizeof(*computation.sources));
        for (size_t i = 0; i < 2; i++)
            assert_true(onednn_memory_of(&(struct layout){""}, &image, &computation.sources[i]));
        target = &doubled;
        break;
    case ONEDNN_SOFTMAX:
        computation.algorithm = ONEDNN_SOFTMAX_LOG;
        computation.axis = 1;
        break;
    case ONEDNN_BATCH_NORMALIZATION:
    case ONEDNN_LAYER_NORMALIZATION:
        computation.has_scale = computation.has_shift = true;
        break;
    case ONEDNN_LRN:
        computation.algorithm = ONEDNN_LRN_ACROSS_CHANNELS;
        computation.size = 3;
        break;
    case ONEDNN_RESAMPLING:
        computation.algorithm = ONEDNN_RESAMPLING_NEAREST;
        target = &half;
        break;
    case ONEDNN_REDUCTION:
        computation.algorithm = ONEDNN_REDUCTION_MEAN;
        target = &row;
        break;
    default:
        return false;
    }
    assert_true(onednn_memory_of(&(struct layout){""}, source, &computation.source));
    assert_true(onednn_memory_of(&(struct layout){""}, target, &computation.target));
    if (second)
        assert_true(onednn_memory_of(&(struct layout){""}, second, &computation.second));
    *ret = computation;
    return true;
}

static const struct onednn *loaded;

static bool count(void *context, const struct dnnl_primitive_desc *descriptor)
{
    size_t *seen = context;
    const char *name = NULL;

    assert_int_equal(loaded->primitive_desc_query(descriptor, ONEDNN_QUERY_IMPL_INFO_STR, 0, &name), ONEDNN_SUCCESS);
    assert_non_null(name);
    assert_true(name[0] != '\0');
    (*seen)++;
    return true;
}

static void every_kind_of_primitive_has_implementations(void **state)
{
    struct onednn_computation computation;
    unsigned primitive = 0;

    loaded = load();
    for (; example((enum onednn_primitive)primitive, &computation); primitive++) {
        size_t seen = 0;

        onednn_computation_each(loaded, &computation, count, &seen);
        if (seen == 0)
            fail_msg("oneDNN %s has nothing for primitive %u", loaded->version_text, primitive);
        free(computation.sources);
    }
    assert_int_equal(primitive, ONEDNN_REDUCTION + 1);
}

static bool count_one(void *context, const struct dnnl_primitive_desc *descriptor)
{
    count(context, descriptor);
    return false;
}

static void a_visit_ends_when_it_has_seen_enough(void **state)
{
    struct onednn_computation computation;
    size_t all = 0, seen = 0;

    loaded = load();
    assert_true(example(ONEDNN_CONVOLUTION, &computation));
    onednn_computation_each(loaded, &computation, count, &all);
    onednn_computation_each(loaded, &computation, count_one, &seen);
    assert_true(all > 1);
    assert_int_equal(seen, 1);
}

/* The second of two post-ops has an operand, of the size of the example's matrix. */
static bool has_operand(void *context, const struct dnnl_primitive_desc *descriptor)
{
    int arg = loaded->dialect->post_op_argument * 2 | ONEDNN_ARG_SRC_1;
    const struct shape matrix = {2, {4, 16}};
    struct onednn_memory_desc expected;
    const struct dnnl_memory_desc *memory = loaded->primitive_desc_query_md(descriptor, ONEDNN_QUERY_EXEC_ARG_MD, arg);

    assert_non_null(memory);
    assert_true(onednn_memory_of(&(struct layout){""}, &matrix, &expected));
    assert_true(onednn_memory_equal(loaded, &expected, memory));
    return count(context, descriptor);
}

static void operands_of_post_ops_are_where_the_dialect_says(void **state)
{
    struct onednn_post_op post_ops[2] = {{.kind = ONEDNN_POST_ELTWISE, .algorithm = ONEDNN_ELTWISE_TANH},
                                         {.kind = ONEDNN_POST_BINARY, .algorithm = ONEDNN_BINARY_ADD}};
    struct onednn_computation computation;
    size_t seen = 0;

    loaded = load();
    assert_true(example(ONEDNN_MATMUL, &computation));
    post_ops[1].operand = computation.target;
    computation.post_ops.items = post_ops;
    computation.post_ops.count = 2;
    onednn_computation_each(loaded, &computation, has_operand, &seen);
    assert_true(seen > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_both_versions_are_those_of_the_headers),
        cmocka_unit_test(numbers_of_this_version_are_those_of_the_headers),
        cmocka_unit_test(structures_have_the_sizes_of_the_headers),
        cmocka_unit_test(functions_have_the_types_of_the_headers),
        cmocka_unit_test(the_dialect_is_that_of_the_loaded_version),
        cmocka_unit_test(every_kind_of_primitive_has_implementations),
        cmocka_unit_test(a_visit_ends_when_it_has_seen_enough),
        cmocka_unit_test(operands_of_post_ops_are_where_the_dialect_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
