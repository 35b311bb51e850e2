/* Sizes and values of inputs, derived from what a model says. */
#include "support/made_model.h"
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <string.h>

#include "onnx/inputs/derived_inputs.h"

struct derivation_test {
    struct made_model made;
    struct model *model;
    struct derived_inputs derived;
};

static void begin(struct derivation_test *test, int64_t opset)
{
    *test = (struct derivation_test){0};
    made_init(&test->made, opset);
}

static void derive_with(struct derivation_test *test, const struct derivation_shape *given, size_t count)
{
    test->model = made_open(&test->made);
    derived_inputs_init(&test->derived, test->model, given, count);
}

static void derive(struct derivation_test *test)
{
    derive_with(test, NULL, 0);
}

static void end(struct derivation_test *test)
{
    derived_inputs_release(&test->derived);
    model_free(test->model);
    made_release(&test->made);
}

static const struct derived_input *input_of(const struct derived_inputs *derived, const char *name)
{
    for (size_t i = 0; i < derived->count; i++)
        if (strcmp(derived->items[i].name, name) == 0)
            return &derived->items[i];
    fail_msg("no input '%s'", name);
    return NULL;
}

static void assert_shape(const struct derived_inputs *derived, const char *name, const char *expected)
{
    SCOPED_STRING(text);

    shape_to_text(&input_of(derived, name)->shape, &text);
    assert_string_equal(text.data, expected);
}

static void assert_values(const struct derived_inputs *derived, const char *name, enum derived_values values,
                          int64_t low, int64_t high)
{
    const struct derived_input *input = input_of(derived, name);

    assert_int_equal(input->values, values);
    assert_int_equal(input->low, low);
    assert_int_equal(input->high, high);
}

/* A cache to which a projection of words is appended, and a Softmax along it. */
static void make_cached_attention(struct derivation_test *test)
{
    const struct node_attribute axis = INTEGER("axis", 1);

    begin(test, 17);
    made_symbolic_input(&test->made, "ids", DATA_INT64, "b s");
    made_symbolic_input(&test->made, "past", DATA_FLOAT32, "b p 8");
    made_constant(&test->made, "table", MADE_SHAPE(30, 8), -1, 1);
    made_node(&test->made, "embed", "Gather", "table ids", "words", NULL, 0);
    made_node(&test->made, "append", "Concat", "past words", "present", &axis, 1);
    made_node(
        &test->made, "turn", "Transpose", "present", "turned",
        &(struct node_attribute){
            .name = TEXT("perm"), .kind = ATTRIBUTE_KIND_INTEGERS, .integers = (const int64_t[]){0, 2, 1}, .count = 3},
        1);
    made_node(&test->made, "scores", "MatMul", "words turned", "scored", NULL, 0);
}

static void sequence_and_cache_get_representative_sizes(void **state)
{
    struct derivation_test test;

    make_cached_attention(&test);
    made_node(&test.made, "weights", "Softmax", "scored", "weighted", NULL, 0);
    made_output(&test.made, "weighted");
    derive(&test);
    assert_shape(&test.derived, "ids", "(1, 16)");
    assert_shape(&test.derived, "past", "(1, 5, 8)");
    assert_values(&test.derived, "ids", DERIVED_INTEGERS, 0, 29);
    assert_true(test.derived.defaults_fit);
    assert_true(test.derived.is_proven);
    end(&test);
}

static void mask_gets_the_length_of_the_scores_without_any_name(void **state)
{
    struct derivation_test test;

    make_cached_attention(&test);
    made_symbolic_input(&test.made, "mask", DATA_BOOL, "x 1 y");
    made_constant(&test.made, "least", MADE_SHAPE(1), -1, 1);
    made_node(&test.made, "masked", "Where", "mask scored least", "chosen", NULL, 0);
    made_node(&test.made, "weights", "Softmax", "chosen", "weighted", NULL, 0);
    made_output(&test.made, "weighted");
    derive(&test);
    assert_shape(&test.derived, "mask", "(1, 1, 21)");
    assert_values(&test.derived, "mask", DERIVED_MASK, 3, 1);
    end(&test);
}

static void given_sizes_decide_on_the_others(void **state)
{
    const struct derivation_shape given = {.input = 1, .shape = MADE_SHAPE(2, 9, 8)};
    struct derivation_test test;

    make_cached_attention(&test);
    made_output(&test.made, "scored");
    derive_with(&test, &given, 1);
    assert_shape(&test.derived, "ids", "(2, 16)");
    assert_shape(&test.derived, "past", "(2, 9, 8)");
    end(&test);
}

static void positions_follow_a_cache_of_given_size(void **state)
{
    const struct derivation_shape given = {.input = 1, .shape = MADE_SHAPE(1, 9, 8)};
    struct derivation_test test;

    make_cached_attention(&test);
    made_symbolic_input(&test.made, "position_ids", DATA_INT64, "b s");
    made_node(&test.made, "to_float", "Cast", "position_ids", "positions", &INTEGER("to", DATA_FLOAT32), 1);
    made_node(&test.made, "turn_by", "Sin", "positions", "angles", NULL, 0);
    made_output(&test.made, "scored");
    made_output(&test.made, "angles");
    derive_with(&test, &given, 1);
    assert_shape(&test.derived, "past", "(1, 9, 8)");
    assert_values(&test.derived, "position_ids", DERIVED_POSITIONS, 9, INT64_MAX);
    end(&test);
}

static void names_of_sums_are_equations(void **state)
{
    struct derivation_test test;

    begin(&test, 17);
    made_symbolic_input(&test.made, "past", DATA_FLOAT32, "1 past_length 4");
    made_symbolic_input(&test.made, "added", DATA_FLOAT32, "1 length 4");
    made_symbolic_input(&test.made, "mask", DATA_FLOAT32, "1 past_length_+_length");
    made_node(&test.made, "append", "Concat", "past added", "present", &INTEGER("axis", 1), 1);
    made_node(&test.made, "copy", "Identity", "mask", "copied", NULL, 0);
    made_output(&test.made, "present");
    made_output(&test.made, "copied");
    derive_with(&test, &(struct derivation_shape){.input = 0, .shape = MADE_SHAPE(1, 4, 4)}, 1);
    assert_shape(&test.derived, "mask", "(1, 5)");
    assert_true(input_of(&test.derived, "mask")->by_name);
    assert_false(input_of(&test.derived, "past")->by_name);
    end(&test);
}

static void size_that_a_node_demands_is_derived_and_1_refused(void **state)
{
    struct derivation_test test;

    begin(&test, 17);
    made_symbolic_input(&test.made, "x", DATA_FLOAT32, "b h");
    made_constant(&test.made, "w", MADE_SHAPE(6, 3), -1, 1);
    made_node(&test.made, "product", "MatMul", "x w", "y", NULL, 0);
    made_output(&test.made, "y");
    derive(&test);
    assert_shape(&test.derived, "x", "(1, 6)");
    assert_false(test.derived.defaults_fit);
    assert_non_null(strstr(test.derived.refusal, "product"));
    end(&test);
}

static void windows_get_enough_to_move_along(void **state)
{
    const struct node_attribute strides = {
        .name = TEXT("strides"), .kind = ATTRIBUTE_KIND_INTEGERS, .integers = (const int64_t[]){4}, .count = 1};
    struct derivation_test test;

    begin(&test, 17);
    made_symbolic_input(&test.made, "x", DATA_FLOAT32, "b 1 t");
    made_constant(&test.made, "w", MADE_SHAPE(2, 1, 100), -1, 1);
    made_node(&test.made, "window", "Conv", "x w", "y", &strides, 1);
    made_output(&test.made, "y");
    derive(&test);
    assert_shape(&test.derived, "x", "(1, 1, 224)"); /* 64 are less than the window */
    assert_false(test.derived.defaults_fit);
    end(&test);
}

static void indices_are_bounded_by_the_smallest_table_and_by_shifts(void **state)
{
    struct derivation_test test;

    begin(&test, 17);
    made_typed_input(&test.made, "ids", DATA_INT64, MADE_SHAPE(1, 3));
    made_constant(&test.made, "large", MADE_SHAPE(30, 2), -1, 1);
    made_constant(&test.made, "small", MADE_SHAPE(12, 2), -1, 1);
    made_tensor(&test.made, "two", DATA_INT64, (struct shape){0}, &(int64_t){2});
    made_node(&test.made, "shift", "Add", "ids two", "shifted", NULL, 0);
    made_node(&test.made, "first", "Gather", "large ids", "a", NULL, 0);
    made_node(&test.made, "second", "Gather", "small shifted", "b", NULL, 0);
    made_node(&test.made, "sum", "Add", "a b", "y", NULL, 0);
    made_output(&test.made, "y");
    derive(&test);
    assert_values(&test.derived, "ids", DERIVED_INTEGERS, 0, 9);
    assert_true(test.derived.defaults_fit);
    end(&test);
}

static void rules_hold_behind_a_limit(void **state)
{
    static const char *const limits[] = {"Min", "Max"};

    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        struct derivation_test test;

        begin(&test, 17);
        made_symbolic_input(&test.made, "ids", DATA_INT64, "b s");
        made_constant(&test.made, "table", MADE_SHAPE(30, 8), -1, 1);
        made_integers(&test.made, "limit", (const int64_t[]){20}, 1);
        made_node(&test.made, "limit_ids", limits[i], "limit ids", "limited", NULL, 0);
        made_node(&test.made, "embed", "Gather", "table limited", "words", NULL, 0);
        made_output(&test.made, "words");
        derive(&test);
        assert_values(&test.derived, "ids", DERIVED_INTEGERS, 0, 29);
        end(&test);
    }
}

static void input_compared_with_a_constant_takes_it(void **state)
{
    struct derivation_test test;

    begin(&test, 17);
    made_typed_input(&test.made, "kind", DATA_INT64, MADE_SHAPE(1));
    made_typed_input(&test.made, "unused", DATA_INT64, MADE_SHAPE(1));
    made_integers(&test.made, "seven", (const int64_t[]){7}, 1);
    made_node(&test.made, "compare", "Equal", "kind seven", "is", NULL, 0);
    made_typed_output(&test.made, "is", DATA_BOOL);
    derive(&test);
    assert_values(&test.derived, "kind", DERIVED_NUMBER, 7, 7);
    assert_int_equal(input_of(&test.derived, "unused")->values, DERIVED_ANY);
    end(&test);
}

static void grouped_attention_says_sizes_and_lengths(void **state)
{
    const struct node_attribute heads[] = {INTEGER("num_heads", 4), INTEGER("kv_num_heads", 2)};
    struct derivation_test test;

    begin(&test, 17);
    made_symbolic_input(&test.made, "q", DATA_FLOAT32, "b s 128");
    made_symbolic_input(&test.made, "key", DATA_FLOAT32, "b2 2 p e");
    made_symbolic_input(&test.made, "value", DATA_FLOAT32, "b3 2 p3 f");
    made_symbolic_input(&test.made, "last", DATA_INT32, "b");
    made_typed_input(&test.made, "all", DATA_INT32, (struct shape){0});
    made_node(&test.made, "gqa", "com.microsoft.GroupQueryAttention", "q - - key value last all", "y pk pv", heads, 2);
    made_output(&test.made, "y");
    derive(&test);
    assert_shape(&test.derived, "key", "(1, 2, 5, 16)");
    assert_shape(&test.derived, "value", "(1, 2, 5, 16)");
    assert_values(&test.derived, "last", DERIVED_NUMBER, 20, 20);
    assert_values(&test.derived, "all", DERIVED_NUMBER, 21, 21);
    assert_false(test.derived.defaults_fit);
    end(&test);
}

/* Every exported network of ours: what was seen to run. */
static void exported_networks_have_the_sizes_that_run(void **state)
{
    static const struct {
        const char *file, *input, *shape;
        bool defaults_fit;
    } expected[] = {
        {"exported/decoder_dynamo", "attention_mask", "(1, 21)", false},
        {"exported/decoder_legacy", "attention_mask", "(1, 21)", false},
        {"exported/genai_int4", "past_key_values.1.value", "(1, 2, 5, 16)", false},
        {"exported/t5_decoder", "past_key_values.0.encoder.key", "(1, 4, 16, 4)", true},
        {"exported/mamba", "input_ids", "(1, 5)", false},
        {"exported/diffusion", "sample", "(1, 4, 64, 64)", false},
        {"exported/experts", "input_ids", "(1, 16)", true},
    };

    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        struct model *model = fixture_open(expected[i].file);
        struct derived_inputs derived;

        derived_inputs_init(&derived, model, NULL, 0);
        assert_shape(&derived, expected[i].input, expected[i].shape);
        assert_int_equal(derived.defaults_fit, expected[i].defaults_fit);
        derived_inputs_release(&derived);
        model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequence_and_cache_get_representative_sizes),
        cmocka_unit_test(mask_gets_the_length_of_the_scores_without_any_name),
        cmocka_unit_test(given_sizes_decide_on_the_others),
        cmocka_unit_test(positions_follow_a_cache_of_given_size),
        cmocka_unit_test(names_of_sums_are_equations),
        cmocka_unit_test(size_that_a_node_demands_is_derived_and_1_refused),
        cmocka_unit_test(windows_get_enough_to_move_along),
        cmocka_unit_test(indices_are_bounded_by_the_smallest_table_and_by_shifts),
        cmocka_unit_test(rules_hold_behind_a_limit),
        cmocka_unit_test(input_compared_with_a_constant_takes_it),
        cmocka_unit_test(grouped_attention_says_sizes_and_lengths),
        cmocka_unit_test(exported_networks_have_the_sizes_that_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
