/* Weights that are stored packed, as the integers that they are: worked out by hand. */
#include <string.h>

#include "onnx/edit/model.h"
#include "onnx/quantizer/packed.h"
#include "support/made_model.h"
#include "support/unit_test.h"
#include "tensor/values/elements.h"

#define MOST 64

struct unpacked {
    struct made_model made;
    struct model *model;
    struct packed_weight weight;
    struct unpacked_weight ret;
    const char *why;
};

/* Unpacks the weight of the model's only node. */
static void unpack(struct unpacked *unpacked, size_t place)
{
    struct error err = {0};

    made_output(&unpacked->made, "y");
    unpacked->model = made_open(&unpacked->made);
    unpacked->ret = (struct unpacked_weight){0};
    unpacked->why = packed_weight_find(unpacked->model, &unpacked->model->nodes.items[0], place, &unpacked->weight);
    if (unpacked->why == NULL &&
        packed_weight_unpack(unpacked->model, &unpacked->weight, &unpacked->ret, &unpacked->why, &err) < 0)
        fail_msg("%s", err.message);
}

static void release(struct unpacked *unpacked)
{
    unpacked_weight_release(&unpacked->ret);
    model_free(unpacked->model);
    made_release(&unpacked->made);
}

static void assert_elements(const struct tensor *tensor, enum data_type type, struct shape shape,
                            const double *expected)
{
    double elements[MOST];

    assert_int_equal(tensor->type, type);
    assert_true(shape_equal(&tensor->shape, &shape));
    elements_to_float64(tensor, 0, tensor_elements(tensor), elements);
    for (size_t i = 0; i < tensor_elements(tensor); i++)
        if (elements[i] != expected[i]) /* NOLINT: small integers */
            fail_msg("element %zu is %g, not %g", i, elements[i], expected[i]);
}

/* Two columns of 5 rows, in blocks of 4: 1 2 3 4 | 5, 9 10 11 12 | 13; the last blocks are padded. */
static const uint8_t columns[] = {0x21, 0x43, 0xF5, 0xFF, 0xA9, 0xCB, 0xFD, 0xFF};
static const float scales[] = {1, 2, 3, 4};

static void add_product(struct made_model *made, const char *inputs, int64_t rows, int64_t size)
{
    const struct node_attribute attributes[] = {INTEGER("K", rows), INTEGER("N", 2), INTEGER("bits", 4),
                                                INTEGER("block_size", size)};

    made_input(made, "x", MADE_SHAPE(1, 5));
    made_tensor(made, "b", DATA_UINT8, MADE_SHAPE(2, 2, 2), columns);
    made_tensor(made, "s", DATA_FLOAT32, MADE_SHAPE(4), scales);
    made_node(made, "mm", "com.microsoft.MatMulNBits", inputs, "y", attributes, 4);
}

static void a_product_has_columns_of_blocks_without_zero_points(void **state)
{
    const double expected[] = {-7, 1, -6, 2, -5, 3, -4, 4, -3, 5}, turned[] = {1, 3, 2, 4};
    struct unpacked unpacked;

    made_init(&unpacked.made, 17);
    add_product(&unpacked.made, "x b s", 5, 4);
    unpack(&unpacked, 1);
    assert_null(unpacked.why);
    assert_elements(&unpacked.ret.integers, DATA_INT4, MADE_SHAPE(5, 2), expected);
    assert_elements(&unpacked.ret.scale, DATA_FLOAT32, MADE_SHAPE(2, 2), turned);
    assert_null(unpacked.ret.zero_point.data);
    assert_null(unpacked.ret.groups.data);
    assert_int_equal(unpacked.ret.axis, 0);
    assert_int_equal(unpacked.ret.block_size, 4);
    release(&unpacked);
}

/* Each column's zero points begin in a byte of their own. */
static void zero_points_are_packed_or_of_the_type_of_scales(void **state)
{
    const uint8_t packed[] = {0x76, 0x98};
    const float floats[] = {6, 7, 8, 9}, fractions[] = {6, 7.5F, 8, 9};
    const double stored[] = {1, 9, 2, 10, 3, 11, 4, 12, 5, 13}, turned[] = {6, 8, 7, 9};
    struct unpacked unpacked;

    for (int form = 0; form < 3; form++) {
        made_init(&unpacked.made, 17);
        add_product(&unpacked.made, "x b s z", 5, 4);
        if (form == 0)
            made_tensor(&unpacked.made, "z", DATA_UINT8, MADE_SHAPE(2), packed);
        else
            made_tensor(&unpacked.made, "z", DATA_FLOAT32, MADE_SHAPE(4), form == 1 ? floats : fractions);
        unpack(&unpacked, 1);
        if (form == 2) {
            assert_string_equal(unpacked.why, "a zero point is not an integer of its type");
            assert_null(unpacked.ret.integers.data);
        } else {
            assert_null(unpacked.why);
            assert_elements(&unpacked.ret.integers, DATA_UINT4, MADE_SHAPE(5, 2), stored);
            assert_elements(&unpacked.ret.zero_point, DATA_UINT4, MADE_SHAPE(2, 2), turned);
        }
        release(&unpacked);
    }
}

static void groups_in_order_are_blocks(void **state)
{
    static const struct {
        int32_t groups[5];
        const char *why;
        bool has_groups;
    } cases[] = {
        {{0, 0, 0, 0, 1}, NULL, false},
        {{1, 0, 0, 1, 0}, NULL, true},
        {{1, 0, 2, 1, 0}, "a group is out of range", false},
        {{-1, 0, 0, 1, 0}, "a group is out of range", false},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct unpacked unpacked;

        made_init(&unpacked.made, 17);
        add_product(&unpacked.made, "x b s - g", 5, 4);
        made_tensor(&unpacked.made, "g", DATA_INT32, MADE_SHAPE(5), cases[i].groups);
        unpack(&unpacked, 1);
        if (cases[i].why != NULL)
            assert_string_equal(unpacked.why, cases[i].why);
        else
            assert_null(unpacked.why);
        assert_int_equal(unpacked.ret.groups.data != NULL, cases[i].has_groups);
        release(&unpacked);
    }
}

/* Attributes that do not match the constants, up to sizes whose product has more than 64 bits. */
static void what_does_not_match_is_not_unpacked(void **state)
{
    static const struct {
        int64_t rows, size;
        const char *why;
    } cases[] = {
        {9, 4, "the size of its integers does not match the attributes of its operator"},
        {5, 8, "the type or the number of its scales is not valid"},
        {INT32_MAX, INT32_MAX - 1, "the size of its integers does not match the attributes of its operator"},
        {INT32_MAX, 2, "the size of its integers does not match the attributes of its operator"},
        {INT64_MAX, 4, "its shape is not valid"},
        {0, 4, "its shape is not valid"},
        {-5, 4, "its shape is not valid"},
        {5, 0, "its block size is not valid"},
        {5, -4, "its block size is not valid"},
        {5, 3, "its block size is not valid"},
        {5, INT64_MAX, "its block size is not valid"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct unpacked unpacked;

        made_init(&unpacked.made, 17);
        add_product(&unpacked.made, "x b s", cases[i].rows, cases[i].size);
        unpack(&unpacked, 1);
        assert_non_null(unpacked.why);
        assert_string_equal(unpacked.why, cases[i].why);
        release(&unpacked);
    }
}

static void a_weight_that_is_computed_is_not_unpacked(void **state)
{
    const struct node_attribute attributes[] = {INTEGER("K", 5), INTEGER("N", 2), INTEGER("bits", 4),
                                                INTEGER("block_size", 4)};
    struct unpacked unpacked;

    made_init(&unpacked.made, 17);
    made_input(&unpacked.made, "x", MADE_SHAPE(1, 5));
    made_input(&unpacked.made, "s", MADE_SHAPE(4));
    made_tensor(&unpacked.made, "b", DATA_UINT8, MADE_SHAPE(2, 2, 2), columns);
    made_node(&unpacked.made, "mm", "com.microsoft.MatMulNBits", "x b s", "y", attributes, 4);
    unpack(&unpacked, 1);
    assert_string_equal(unpacked.why, "its scales are not a dense constant");
    release(&unpacked);
}

/* Rows of 4 elements, in bytes or with a type of 4 bits, whose own zero point is 0. */
static void an_embedding_is_packed_in_bytes_or_has_a_type_of_4_bits(void **state)
{
    const uint8_t rows[] = {0x21, 0x43, 0xA9, 0xCB};
    const struct node_attribute attributes[] = {INTEGER("gather_axis", 0), INTEGER("quantize_axis", 1),
                                                INTEGER("block_size", 2), INTEGER("bits", 4)};
    const double less_8[] = {-7, -6, -5, -4, 1, 2, 3, 4}, plain[] = {1, 2, 3, 4, 9, 10, 11, 12};
    struct unpacked unpacked;

    for (int has_type = 0; has_type < 2; has_type++) {
        made_init(&unpacked.made, 21);
        made_typed_input(&unpacked.made, "ids", DATA_INT64, MADE_SHAPE(1));
        made_tensor(&unpacked.made, "t", has_type ? DATA_UINT4 : DATA_UINT8, MADE_SHAPE(2, has_type ? 4 : 2), rows);
        made_tensor(&unpacked.made, "s", DATA_FLOAT32, MADE_SHAPE(2, 2), scales);
        made_node(&unpacked.made, "e", "com.microsoft.GatherBlockQuantized", "t ids s", "y", attributes, 4);
        unpack(&unpacked, 0);
        assert_null(unpacked.why);
        assert_elements(&unpacked.ret.integers, has_type ? DATA_UINT4 : DATA_INT4, MADE_SHAPE(2, 4),
                        has_type ? plain : less_8);
        assert_elements(&unpacked.ret.scale, DATA_FLOAT32, MADE_SHAPE(2, 2), (const double[]){1, 2, 3, 4});
        assert_int_equal(unpacked.ret.axis, 1);
        release(&unpacked);
    }
}

/* Two experts of 3 rows; a scale for each row, and zero points packed along the rows of an expert. */
static void experts_have_a_scale_for_each_row(void **state)
{
    const uint8_t rows[12] = {0x21, 0x43, 0x65, 0x87, 0xA9, 0xCB, 0x10, 0x32, 0x54, 0x76, 0x98, 0xBA};
    const uint8_t zero_points[] = {0x21, 0x03, 0x54, 0x06};
    const double expected[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    const float for_rows[] = {1, 2, 3, 4, 5, 6};
    struct unpacked unpacked;

    made_init(&unpacked.made, 21);
    made_input(&unpacked.made, "x", MADE_SHAPE(1, 4));
    made_tensor(&unpacked.made, "w", DATA_UINT8, MADE_SHAPE(2, 3, 2), rows);
    made_tensor(&unpacked.made, "s", DATA_FLOAT32, MADE_SHAPE(2, 3), for_rows);
    made_tensor(&unpacked.made, "z", DATA_UINT8, MADE_SHAPE(2, 2), zero_points);
    made_node(&unpacked.made, "m", "com.microsoft.QMoE", "x x w s - w s - - - - z", "y",
              &INTEGER("expert_weight_bits", 4), 1);
    unpack(&unpacked, 2);
    assert_null(unpacked.why);
    assert_elements(&unpacked.ret.integers, DATA_UINT4, MADE_SHAPE(2, 3, 4), expected);
    assert_elements(&unpacked.ret.scale, DATA_FLOAT32, MADE_SHAPE(2, 3, 1), (const double[]){1, 2, 3, 4, 5, 6});
    assert_elements(&unpacked.ret.zero_point, DATA_UINT4, MADE_SHAPE(2, 3, 1), (const double[]){1, 2, 3, 4, 5, 6});
    assert_int_equal(unpacked.ret.block_size, 4);
    release(&unpacked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_product_has_columns_of_blocks_without_zero_points),
        cmocka_unit_test(zero_points_are_packed_or_of_the_type_of_scales),
        cmocka_unit_test(groups_in_order_are_blocks),
        cmocka_unit_test(what_does_not_match_is_not_unpacked),
        cmocka_unit_test(a_weight_that_is_computed_is_not_unpacked),
        cmocka_unit_test(an_embedding_is_packed_in_bytes_or_has_a_type_of_4_bits),
        cmocka_unit_test(experts_have_a_scale_for_each_row),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
