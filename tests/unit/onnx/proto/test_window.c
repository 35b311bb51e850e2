/* test_window.c: attributes of convolutions and pools, their defaults, and padding that depends on the input. */
#include "support/unit_test.h"

#include "base/memory.h"
#include "onnx/edit/node.h"
#include "onnx/proto/window.h"
#include "onnx/proto/wire.h"

#define INTEGERS(what, ...)                                                                                            \
    {                                                                                                                  \
        .name = TEXT(what), .kind = ATTRIBUTE_KIND_INTEGERS, .integers = (const int64_t[]){__VA_ARGS__},               \
        .count = sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)                                              \
    }
#define STRING(what, value)                                                                                            \
    {                                                                                                                  \
        .name = TEXT(what), .kind = ATTRIBUTE_KIND_STRING, .string = TEXT(value)                                       \
    }

/* Reads the window of a node with these attributes and two axes of space. */
static bool read_window(const struct node_attribute *attributes, size_t count, struct window *ret)
{
    const struct node_recipe recipe = {.op_type = TEXT("MaxPool"), .attributes = attributes, .attribute_count = count};
    SCOPED_ARENA(arena);

    return window_read(wire_content(node_build(&arena, &recipe)), 2, ret);
}

static void missing_attributes_have_defaults(void **state)
{
    struct window window;

    (void)state;
    assert_true(read_window(NULL, 0, &window));
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(window.kernel[i], 1);
        assert_int_equal(window.strides[i], 1);
        assert_int_equal(window.dilations[i], 1);
        assert_int_equal(window.before[i], 0);
        assert_int_equal(window.after[i], 0);
    }
    assert_int_equal(window.padding, WINDOW_PADS);
    assert_false(window.rounds_up);
}

static void pads_are_first_those_before_all_axes(void **state)
{
    const struct node_attribute attributes[] = {INTEGERS("kernel_shape", 3, 5), INTEGERS("dilations", 2, 1),
                                                INTEGERS("pads", 1, 2, 3, 4)};
    struct window window;

    (void)state;
    assert_true(read_window(attributes, ARRAY_LEN(attributes), &window));
    assert_int_equal(window.before[0], 1);
    assert_int_equal(window.before[1], 2);
    assert_int_equal(window.after[0], 3);
    assert_int_equal(window.after[1], 4);
    assert_int_equal(window_extent(&window, 0), 5);
    assert_int_equal(window_extent(&window, 1), 5);
    window_pad_to_same(&window, (const int64_t[]){9, 9}); /* nothing to do */
    assert_int_equal(window.before[0], 1);
}

static void the_odd_element_of_same_padding_is_after_or_before(void **state)
{
    static const char *const words[] = {"SAME_UPPER", "SAME_LOWER"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        struct node_attribute attributes[] = {INTEGERS("kernel_shape", 2, 3), INTEGERS("strides", 1, 2),
                                              STRING("auto_pad", "")};
        struct window window;

        attributes[2].string = text_of(words[i]);
        assert_true(read_window(attributes, ARRAY_LEN(attributes), &window));
        window_pad_to_same(&window, (const int64_t[]){5, 5});
        assert_int_equal(window.before[0], i == 0 ? 0 : 1);
        assert_int_equal(window.after[0], i == 0 ? 1 : 0);
        assert_int_equal(window.before[1], 1); /* 3 results: 2 * 2 + 3 - 5 = 2 elements */
        assert_int_equal(window.after[1], 1);
    }
}

static void what_no_window_has_is_refused(void **state)
{
    const struct node_attribute refused[] = {INTEGERS("strides", 1),
                                             INTEGERS("strides", 0, 1),
                                             INTEGERS("dilations", 1, (int64_t)1 << 31),
                                             INTEGERS("kernel_shape", 3, 3, 3),
                                             INTEGERS("pads", 0, 0),
                                             INTEGERS("pads", 0, 0, 0, -1),
                                             STRING("auto_pad", "SAME")};
    const struct node_attribute valid[] = {STRING("auto_pad", "VALID"), INTEGERS("pads", 1, 1, 1, 1)};
    struct window window;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        assert_false(read_window(&refused[i], 1, &window));
    assert_true(read_window(valid, ARRAY_LEN(valid), &window));
    assert_int_equal(window.before[0], 0);
    assert_false(window_read((struct span){NULL, 0}, 0, &window));
    assert_false(window_read((struct span){NULL, 0}, TENSOR_MAX_RANK + 1, &window));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_attributes_have_defaults),
        cmocka_unit_test(pads_are_first_those_before_all_axes),
        cmocka_unit_test(the_odd_element_of_same_padding_is_after_or_before),
        cmocka_unit_test(what_no_window_has_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
