/* Layouts: what is one, where elements lie, copies from one to another, and oneDNN's reorders of the same. */
#include "support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/onednn/onednn.h"

#define SHAPE(...)                                                                                                     \
    (struct shape)                                                                                                     \
    {                                                                                                                  \
        .rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), .dims = { __VA_ARGS__ }                            \
    }

static struct layout layout_from(const char *text)
{
    struct layout layout = {""};

    assert_true(strlen(text) < sizeof(layout.text));
    snprintf(layout.text, sizeof(layout.text), "%s", text);
    return layout;
}

static bool resolves(const char *text, struct shape shape, struct layout_strides *ret)
{
    struct layout layout = layout_from(text);

    return layout_resolve(&layout, &shape, ret);
}

static void row_major_and_channels_last_have_their_strides(void **state)
{
    struct layout_strides strides;

    assert_true(resolves("", SHAPE(2, 3, 4, 5), &strides));
    assert_int_equal(strides.elements, 120);
    assert_int_equal(strides.strides[0], 60);
    assert_int_equal(strides.strides[1], 20);
    assert_int_equal(strides.strides[3], 1);
    assert_true(resolves("acdb", SHAPE(2, 3, 4, 5), &strides));
    assert_int_equal(strides.strides[0], 60);
    assert_int_equal(strides.strides[1], 1);
    assert_int_equal(strides.strides[2], 15);
    assert_int_equal(strides.strides[3], 3);
    assert_true(resolves("", (struct shape){0}, &strides));
    assert_int_equal(strides.elements, 1);
}

static void blocks_round_their_dimension_up(void **state)
{
    struct layout_strides strides;

    assert_true(resolves("aBcd16b", SHAPE(2, 20, 4, 5), &strides));
    assert_int_equal(strides.padded[1], 32);
    assert_int_equal(strides.elements, 2 * 32 * 4 * 5);
    assert_int_equal(strides.strides[1], 16 * 20);
    assert_int_equal(strides.strides[3], 16);
    assert_true(resolves("ABcd4b16a2b", SHAPE(17, 9, 1, 1), &strides));
    assert_int_equal(strides.padded[0], 32);
    assert_int_equal(strides.padded[1], 16);
    assert_int_equal(strides.block_count, 3);
    assert_int_equal(strides.strides[1], 128);
}

static void an_empty_tensor_has_no_elements(void **state)
{
    struct layout row_major = layout_from(""), blocked = layout_from("aB8b");

    assert_int_equal(layout_bytes(&row_major, DATA_FLOAT32, &SHAPE(3, 0)), 0);
    assert_int_equal(layout_bytes(&blocked, DATA_FLOAT32, &SHAPE(0, 3)), 0);
    assert_int_equal(layout_bytes(&blocked, DATA_FLOAT32, &SHAPE(1, 3)), 32);
}

static void what_is_no_layout_is_refused(void **state)
{
    static const char *const texts[] = {"a",        "abcde",   "abca",     "abce",          "abcd16b",       "aBcd",
                                        "aBcd16",   "aBcd16c", "aBcd0b",   "aBcd-1b",       "aBcd99999999b", "aBcd16b ",
                                        "aBcd16bb", "?bcd",    "aBcd16bx", "aBcd2b2b2b2b2b"};
    struct layout unended;
    struct layout_strides strides;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (resolves(texts[i], SHAPE(2, 3, 4, 5), &strides))
            fail_msg("'%s' is taken for a layout", texts[i]);
    memset(unended.text, 'a', sizeof(unended.text));
    assert_false(layout_resolve(&unended, &SHAPE(2), &strides));
    assert_false(resolves("", SHAPE(2, -1), &strides));
    assert_int_equal(layout_bytes(&(struct layout){"b"}, DATA_FLOAT32, &SHAPE(2)), SIZE_MAX);
}

static void sizes_that_overflow_are_refused(void **state)
{
    struct layout_strides strides;

    assert_false(resolves("", SHAPE(INT64_MAX, 2), &strides));
    assert_false(resolves("aB16b", SHAPE(2, INT64_MAX), &strides));
    assert_int_equal(layout_bytes(&(struct layout){""}, DATA_FLOAT64, &SHAPE(INT64_MAX / 2)), SIZE_MAX);
}

static void row_major_has_two_spellings(void **state)
{
    struct layout empty = layout_from(""), spelled = layout_from("abcd"), last = layout_from("acdb");

    assert_true(layout_is_row_major(&empty));
    assert_true(layout_is_row_major(&spelled));
    assert_false(layout_is_row_major(&last));
    assert_true(layout_equal(&empty, &spelled));
    assert_false(layout_equal(&last, &spelled));
    assert_true(layout_equal(&last, &last));
}

/* ---- copies ---- */

static void *allocate(size_t size)
{
    void *data = malloc(size + 1);

    assert_non_null(data);
    memset(data, 0x5a, size + 1);
    return data;
}

static void a_conversion_puts_each_element_where_the_layout_says(void **state)
{
    struct layout row_major = layout_from(""), blocked = layout_from("aB2b");
    const uint16_t values[] = {1, 2, 3, 4, 5, 6}, expected[] = {1, 2, 3, 0, 4, 5, 6, 0};
    uint16_t target[8];
    struct error err = {0};

    assert_int_equal(
        layout_convert(&(struct layout_change){DATA_UINT16, &SHAPE(2, 3), &row_major, &blocked}, values, target, &err),
        0);
    assert_memory_equal(target, expected, sizeof(expected));
}

/* Converts there and back; with oneDNN's reorder the way there has to give the same bytes. */
static void check_round_trip(enum data_type type, struct shape shape, const char *there)
{
    struct layout row_major = layout_from(""), layout = layout_from(there);
    size_t size = layout_bytes(&row_major, type, &shape), padded = layout_bytes(&layout, type, &shape);
    unsigned char *values = allocate(size), *converted = allocate(padded), *back = allocate(size);
    unsigned char *reordered = allocate(padded);
    struct reorder *reorder = NULL;
    struct error err = {0};

    for (size_t i = 0; i < size; i++)
        values[i] = (unsigned char)(i * 7 % 113); /* no float NaN among these */
    assert_int_equal(
        layout_convert(&(struct layout_change){type, &shape, &row_major, &layout}, values, converted, &err), 0);
    assert_int_equal(layout_convert(&(struct layout_change){type, &shape, &layout, &row_major}, converted, back, &err),
                     0);
    assert_memory_equal(values, back, size);
    for (int again = 0; again < 2; again++) {
        memset(reordered, 0x5a, padded);
        assert_int_equal(
            reorder_run(&reorder, &(struct layout_change){type, &shape, &row_major, &layout}, values, reordered, &err),
            0);
        assert_memory_equal(reordered, converted, padded);
        memset(back, 0x5a, size);
        assert_int_equal(
            reorder_run(&reorder, &(struct layout_change){type, &shape, &layout, &row_major}, reordered, back, &err),
            0);
        assert_memory_equal(values, back, size);
    }
    reorder_free(reorder);
    free(values);
    free(converted);
    free(back);
    free(reordered);
}

static void reorders_do_what_conversions_do(void **state)
{
    static const enum data_type types[] = {DATA_FLOAT32, DATA_INT8, DATA_FLOAT16, DATA_INT64};

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        check_round_trip(types[i], SHAPE(2, 20, 4, 5), "aBcd16b");
        check_round_trip(types[i], SHAPE(2, 20, 4, 5), "aBcd8b");
        check_round_trip(types[i], SHAPE(2, 3, 4, 5), "acdb");
        check_round_trip(types[i], SHAPE(3, 4, 5, 2, 3), "acdeb");
        check_round_trip(types[i], SHAPE(7, 9), "ba");
        check_round_trip(types[i], SHAPE(1, 1, 1, 1), "aBcd16b");
        check_round_trip(types[i], SHAPE(17, 9, 1, 1), "ABcd4b16a2b");
        check_round_trip(types[i], SHAPE(6), "");
        check_round_trip(types[i], (struct shape){0}, "");
        check_round_trip(types[i], SHAPE(3, 0), "ba");
    }
    reorder_free(NULL);
}

static void types_without_whole_bytes_are_refused(void **state)
{
    struct layout row_major = layout_from(""), turned = layout_from("ba");
    struct error err = {0};
    char data[8] = {0}, target[8];

    assert_int_equal(
        layout_convert(&(struct layout_change){DATA_INT4, &SHAPE(2, 2), &row_major, &turned}, data, target, &err),
        ERR_UNSUPPORTED);
    assert_int_equal(
        layout_convert(&(struct layout_change){DATA_STRING, &SHAPE(2, 2), &row_major, &turned}, data, target, &err),
        ERR_UNSUPPORTED);
    assert_int_equal(
        layout_convert(&(struct layout_change){DATA_FLOAT32, &SHAPE(2), &row_major, &turned}, data, target, &err),
        ERR_INVALID);
}

/* ---- descriptors ---- */

/* What the library's descriptor of `memory` says; false when it says no layout. */
static bool describe(const struct onednn_memory_desc *memory, struct layout *ret)
{
    const struct onednn *onednn;
    struct dnnl_memory_desc *described;
    struct error err = {0};
    bool found;

    if (onednn_load(&onednn, &err) < 0) {
        print_message("%s\n", err.message);
        skip();
    }
    described = onednn->dialect->memory_desc_new(memory);
    assert_non_null(described);
    assert_true(onednn_memory_equal(onednn, memory, described));
    found = onednn_layout_of(onednn, described, ret);
    onednn->dialect->memory_desc_free(described);
    return found;
}

static void a_descriptor_gives_the_layout_that_it_was_made_of(void **state)
{
    static const struct {
        struct shape shape;
        const char *text;
    } cases[] = {
        {{4, {2, 20, 4, 5}}, "aBcd16b"},
        {{4, {2, 20, 4, 5}}, ""},
        {{4, {2, 20, 4, 5}}, "acdb"},
        {{4, {1, 1, 4, 5}}, "acdb"},
        {{4, {2, 16, 3, 3}}, "aBcd16b"},
        {{4, {1, 16, 1, 1}}, "aBcd16b"},
        {{4, {1, 8, 1, 1}}, "acdb"},
        {{2, {7, 9}}, "ba"},
        {{4, {17, 9, 1, 1}}, "ABcd8b16a2b"},
        {{3, {2, 5, 6}}, "acb"},
        {{1, {5}}, ""},
        {{0, {0}}, ""},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct layout layout = layout_from(cases[i].text), found;
        struct onednn_memory_desc memory;

        assert_true(onednn_memory_of(&layout, &cases[i].shape, &memory));
        assert_true(describe(&memory, &found));
        assert_string_equal(found.text, cases[i].text);
    }
}

static void a_descriptor_with_gaps_is_no_layout(void **state)
{
    struct onednn_memory_desc memory;
    struct layout found;

    assert_true(onednn_memory_of(&(struct layout){""}, &SHAPE(2, 3), &memory));
    memory.kind = ONEDNN_MEMORY_STRIDES;
    memory.strides[0] = 4;
    memory.strides[1] = 1;
    assert_false(describe(&memory, &found));
    memory.strides[0] = 3;
    assert_true(describe(&memory, &found));
    memory.kind = ONEDNN_MEMORY_OPEN;
    assert_false(describe(&memory, &found));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(row_major_and_channels_last_have_their_strides),
        cmocka_unit_test(blocks_round_their_dimension_up),
        cmocka_unit_test(an_empty_tensor_has_no_elements),
        cmocka_unit_test(what_is_no_layout_is_refused),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(row_major_has_two_spellings),
        cmocka_unit_test(a_conversion_puts_each_element_where_the_layout_says),
        cmocka_unit_test(reorders_do_what_conversions_do),
        cmocka_unit_test(types_without_whole_bytes_are_refused),
        cmocka_unit_test(a_descriptor_gives_the_layout_that_it_was_made_of),
        cmocka_unit_test(a_descriptor_with_gaps_is_no_layout),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
