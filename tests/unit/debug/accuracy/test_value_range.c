/* What float16 cannot hold of the values of a node. */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <stdlib.h>

#include "base/memory.h"
#include "debug/accuracy/hypotheses.h"

/* A node that multiplies `a` with the constant `tiny`. */
struct product {
    struct model *model;
    struct known_range *ranges;
    uint32_t node, input, constant, output;
};

static uint32_t value_called(const struct model *model, const char *name)
{
    return model_find_value(model, text_of(name));
}

static int make_product(void **state)
{
    struct product *product = memory_alloc_zero(1, sizeof(*product));

    product->model = fixture_open_lowered("out_of_half_range");
    product->ranges = memory_alloc_zero(product->model->values.count, sizeof(*product->ranges));
    product->node = fixture_node(product->model, "c");
    product->input = value_called(product->model, "a");
    product->constant = value_called(product->model, "tiny");
    product->output = value_called(product->model, "c");
    *state = product;
    return 0;
}

static int release_product(void **state)
{
    struct product *product = *state;

    free(product->ranges);
    model_free(product->model);
    free(product);
    return 0;
}

static void set_range(struct product *product, uint32_t value, double smallest, double largest)
{
    product->ranges[value] = (struct known_range){.is_known = true, .smallest = smallest, .largest = largest};
}

/* The error, and whose it is. */
static enum range_error range_error_in(const struct product *product, const struct float_format *format,
                                       uint32_t *ret_value)
{
    *ret_value = VALUE_NONE;
    return range_error_at_node(format, product->model, product->ranges, product->node, ret_value);
}

static void limits_are_those_of_the_type(void **state)
{
    struct product *product = *state;
    uint32_t value;
    static const struct {
        double smallest, largest;
        enum range_error in_float16, in_bfloat16;
    } cases[] = {
        {1, 65504, FITS, FITS},
        {1, 65505, IS_TOO_LARGE, FITS},
        {0x1p-24, 1, FITS, FITS},
        {0x1p-25, 1, HAS_TINY, FITS},
        {0x1p-14, 0x1p-14, FITS, FITS},
        {0x1p-15, 0x1p-15, IS_SUBNORMAL, FITS},
        {0x1p-30, 0x1p-25, IS_FLUSHED, FITS},
        {0, 0, FITS, FITS},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        set_range(product, product->output, cases[i].smallest, cases[i].largest);
        assert_int_equal(range_error_in(product, &format_float16, &value), cases[i].in_float16);
        assert_int_equal(range_error_in(product, &format_bfloat16, &value), cases[i].in_bfloat16);
        assert_int_equal(range_error_in(product, NULL, &value), FITS);
    }
}

static void worst_of_what_a_node_touches_counts(void **state)
{
    struct product *product = *state;
    uint32_t value;

    assert_int_equal(range_error_in(product, &format_float16, &value), FITS);
    set_range(product, product->constant, 1e-12, 1e-12);
    set_range(product, product->output, 1e-12, 1);
    assert_int_equal(range_error_in(product, &format_float16, &value), IS_FLUSHED);
    assert_int_equal(value, product->constant);
    set_range(product, product->input, 1, 1e6);
    assert_int_equal(range_error_in(product, &format_float16, &value), IS_TOO_LARGE);
    assert_int_equal(value, product->input);
    set_range(product, product->output, 1, 1e5);
    assert_int_equal(range_error_in(product, &format_float16, &value), IS_TOO_LARGE);
    assert_int_equal(value, product->output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(limits_are_those_of_the_type, make_product, release_product),
        cmocka_unit_test_setup_teardown(worst_of_what_a_node_touches_counts, make_product, release_product),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
