/* Pairs of caches and roles of inputs of decoders. */
#include "support/made_model.h"
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <string.h>

#include "onnx/inputs/decoder.h"

struct decoder_test {
    struct made_model made;
    struct model *model;
    struct decoder decoder;
    struct error error;
};

static const struct decoder_words no_words;

static int find_roles(struct decoder_test *test, const struct decoder_words *words)
{
    test->model = made_open(&test->made);
    return decoder_find(test->model, words, &test->decoder, &test->error);
}

static void end(struct decoder_test *test)
{
    decoder_release(&test->decoder);
    model_free(test->model);
    made_release(&test->made);
}

/* A decoder without attention whose logits are computed of the sum of its cache. */
static void make_decoder(struct decoder_test *test, const char *past, const char *present)
{
    *test = (struct decoder_test){0};
    made_init(&test->made, 17);
    made_symbolic_input(&test->made, "ids", DATA_INT64, "b s");
    made_symbolic_input(&test->made, past, DATA_FLOAT32, "b p 8");
    made_constant(&test->made, "table", MADE_SHAPE(30, 8), -1, 1);
    made_constant(&test->made, "head", MADE_SHAPE(8, 30), -1, 1);
    made_node(&test->made, "embed", "Gather", "table ids", "words", NULL, 0);
    made_node(&test->made, "project", "MatMul", "words head", "scores", NULL, 0);
    SCOPED_STRING(inputs);
    string_add_format(&inputs, "%s words", past);
    made_node(&test->made, "append", "Concat", inputs.data, present, &INTEGER("axis", 1), 1);
    made_symbolic_output(&test->made, "scores", DATA_FLOAT32, "b s 30");
    made_symbolic_output(&test->made, present, DATA_FLOAT32, "b p_+_s 8");
}

static const struct decoder_input *input_of(const struct decoder_test *test, const char *name)
{
    for (size_t i = 0; i < test->decoder.count; i++)
        if (strcmp(test->decoder.inputs[i].name, name) == 0)
            return &test->decoder.inputs[i];
    fail_msg("no input '%s'", name);
    return NULL;
}

static void assert_role(const struct decoder_test *test, const char *name, enum decoder_role role)
{
    assert_string_equal(decoder_role_name(input_of(test, name)->role), decoder_role_name(role));
}

static void cache_is_paired_by_name_and_grows_along_the_axis_of_its_entries(void **state)
{
    static const char *const names[][2] = {{"past.0", "present.0"},
                                           {"past_key_values.0", "present.0"},
                                           {"past_key_self_1", "present_key_self_1"},
                                           {"past_key_values_3", "present_key_values_3"}};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct decoder_test test;

        make_decoder(&test, names[i][0], names[i][1]);
        assert_int_equal(find_roles(&test, &no_words), 0);
        assert_role(&test, names[i][0], DECODER_CACHE);
        assert_string_equal(test.decoder.inputs[1].present, names[i][1]);
        assert_int_equal(test.decoder.inputs[1].axis, 1);
        assert_int_equal(test.decoder.inputs[1].rule, CACHE_BY_NAME);
        assert_false(test.decoder.inputs[0].by_name);
        assert_false(test.decoder.logits_by_name);
        assert_role(&test, "ids", DECODER_TOKENS);
        assert_string_equal(test.decoder.logits, "scores");
        end(&test);
    }
}

/* The cache is computed anew: no operator appends to it. */
static void make_recomputed_cache(struct decoder_test *test, const char *past, const char *present)
{
    *test = (struct decoder_test){0};
    made_init(&test->made, 17);
    made_symbolic_input(&test->made, "ids", DATA_INT64, "b s");
    made_symbolic_input(&test->made, past, DATA_FLOAT32, "b 8");
    made_constant(&test->made, "table", MADE_SHAPE(30, 8), -1, 1);
    made_node(&test->made, "embed", "Gather", "table ids", "scores", NULL, 0);
    made_node(&test->made, "decay", "Tanh", past, present, NULL, 0);
    made_symbolic_output(&test->made, "scores", DATA_FLOAT32, "b s 8");
    made_symbolic_output(&test->made, present, DATA_FLOAT32, "b 8");
}

static void pairs_that_neither_names_nor_the_graph_show_are_given(void **state)
{
    const char *pair = "a:0:b:0";
    struct decoder_test test;

    make_recomputed_cache(&test, "a:0", "b:0");
    assert_int_equal(find_roles(&test, &no_words), ERR_UNSUPPORTED);
    assert_non_null(strstr(test.error.message, "--cache"));
    end(&test);
    make_decoder(&test, "a:0", "b:0");
    assert_int_equal(find_roles(&test, &(struct decoder_words){.caches = {&pair, 1}}), 0);
    assert_string_equal(test.decoder.inputs[1].present, "b:0");
    assert_int_equal(test.decoder.inputs[1].rule, CACHE_GIVEN);
    end(&test);
    pair = "a:0:c";
    make_decoder(&test, "a:0", "b:0");
    assert_int_equal(find_roles(&test, &(struct decoder_words){.caches = {&pair, 1}}), ERR_INVALID);
    end(&test);
}

static void graph_pairs_what_names_do_not(void **state)
{
    struct decoder_test test;

    make_decoder(&test, "kvo", "zgf");
    made_symbolic_input(&test.made, "wqx", DATA_FLOAT32, "b p 8");
    made_node(&test.made, "append_more", "Concat", "wqx words", "joined", &INTEGER("axis", 1), 1);
    made_node(&test.made, "same", "Identity", "joined", "ubr", NULL, 0);
    made_symbolic_output(&test.made, "ubr", DATA_FLOAT32, "b p_+_s 8");
    assert_int_equal(find_roles(&test, &no_words), 0);
    assert_string_equal(input_of(&test, "kvo")->present, "zgf");
    assert_string_equal(input_of(&test, "wqx")->present, "ubr");
    assert_int_equal(input_of(&test, "wqx")->rule, CACHE_BY_GRAPH);
    assert_int_equal(input_of(&test, "wqx")->axis, 1);
    assert_role(&test, "ids", DECODER_TOKENS);
    end(&test);
}

static void slots_of_attention_are_pairs_in_any_layer(void **state)
{
    const struct node_attribute heads[] = {INTEGER("num_heads", 4), INTEGER("kv_num_heads", 2)};
    struct decoder_test test = {0};

    made_init(&test.made, 17);
    made_symbolic_input(&test.made, "v", DATA_FLOAT32, "b 2 p 16");
    made_symbolic_input(&test.made, "ids", DATA_INT64, "b s");
    made_symbolic_input(&test.made, "k", DATA_FLOAT32, "b 2 p 16");
    made_symbolic_input(&test.made, "last", DATA_INT32, "b 1");
    made_symbolic_input(&test.made, "total", DATA_INT32, "1");
    made_constant(&test.made, "queries", MADE_SHAPE(30, 64), -1, 1);
    made_constant(&test.made, "keys", MADE_SHAPE(30, 32), -1, 1);
    made_node(&test.made, "", "Gather", "queries ids", "query", NULL, 0);
    made_node(&test.made, "", "Gather", "keys ids", "key", NULL, 0);
    made_node(&test.made, "attend", "com.microsoft.GroupQueryAttention", "query key key k v last total", "y k2 v2",
              heads, 2);
    made_symbolic_output(&test.made, "v2", DATA_FLOAT32, "b 2 t 16");
    made_symbolic_output(&test.made, "y", DATA_FLOAT32, "b s 64");
    made_symbolic_output(&test.made, "k2", DATA_FLOAT32, "b 2 t 16");
    assert_int_equal(find_roles(&test, &no_words), 0);
    assert_string_equal(input_of(&test, "k")->present, "k2");
    assert_string_equal(input_of(&test, "v")->present, "v2");
    assert_int_equal(input_of(&test, "v")->rule, CACHE_BY_GRAPH);
    end(&test);
}

static void input_that_two_outputs_append_to_is_left_to_the_user(void **state)
{
    struct decoder_test test;

    make_decoder(&test, "kvo", "zgf");
    made_node(&test.made, "twin", "Concat", "kvo words", "ubr", &INTEGER("axis", 1), 1);
    made_symbolic_output(&test.made, "ubr", DATA_FLOAT32, "b p_+_s 8");
    assert_int_equal(find_roles(&test, &no_words), ERR_UNSUPPORTED);
    assert_non_null(strstr(test.error.message, "--cache"));
    end(&test);
}

static void name_that_the_graph_contradicts_is_marked(void **state)
{
    struct decoder_test test;

    make_decoder(&test, "past.0", "present.1");
    made_symbolic_input(&test.made, "past.1", DATA_FLOAT32, "b p 8");
    made_node(&test.made, "other", "Concat", "past.1 words", "present.0", &INTEGER("axis", 1), 1);
    made_symbolic_output(&test.made, "present.0", DATA_FLOAT32, "b p_+_s 8");
    assert_int_equal(find_roles(&test, &no_words), 0);
    assert_string_equal(input_of(&test, "past.0")->present, "present.0");
    assert_string_equal(input_of(&test, "past.0")->other_source, "past.1");
    end(&test);
    make_decoder(&test, "past.0", "present.0");
    assert_int_equal(find_roles(&test, &no_words), 0);
    assert_null(input_of(&test, "past.0")->other_source);
    end(&test);
}

static void cache_of_another_shape_is_refused(void **state)
{
    struct decoder_test test;

    make_decoder(&test, "past", "other");
    made_constant(&test.made, "wide", MADE_SHAPE(8, 9), -1, 1);
    made_node(&test.made, "widen", "MatMul", "other wide", "present", NULL, 0);
    made_symbolic_output(&test.made, "present", DATA_FLOAT32, "b p_+_s 9");
    assert_int_equal(find_roles(&test, &no_words), ERR_UNSUPPORTED);
    assert_non_null(strstr(test.error.message, "'past' cannot get output 'present'"));
    end(&test);
}

static void two_caches_cannot_get_one_output(void **state)
{
    const char *pairs[] = {"past:present", "second:present"};
    struct decoder_test test;

    make_decoder(&test, "past", "present");
    made_symbolic_input(&test.made, "second", DATA_FLOAT32, "b p 8");
    assert_int_equal(find_roles(&test, &(struct decoder_words){.caches = {pairs, 2}}), ERR_INVALID);
    assert_non_null(strstr(test.error.message, "both paired"));
    end(&test);
}

static void unknown_input_is_refused_until_its_role_is_given(void **state)
{
    const char *role = "kinds:constant";
    struct decoder_test test;

    for (int given = 0; given < 2; given++) {
        make_decoder(&test, "past", "present");
        made_symbolic_input(&test.made, "kinds", DATA_INT64, "b s");
        made_constant(&test.made, "of_kinds", MADE_SHAPE(2, 8), -1, 1);
        made_node(&test.made, "look_up", "Gather", "of_kinds kinds", "looked_up", NULL, 0);
        made_symbolic_output(&test.made, "looked_up", DATA_INT64, "b s 8");
        if (given == 0) {
            /* Either could be the tokens. */
            assert_int_equal(find_roles(&test, &no_words), ERR_UNSUPPORTED);
            assert_non_null(strstr(test.error.message, "--step-roles"));
        } else {
            assert_int_equal(find_roles(&test, &(struct decoder_words){.roles = {&role, 1}}), 0);
            assert_role(&test, "ids", DECODER_TOKENS);
            assert_role(&test, "kinds", DECODER_CONSTANT);
        }
        end(&test);
    }
}

static void role_needs_a_type_that_can_advance(void **state)
{
    const char *role = "bias:mask";
    struct decoder_test test;

    make_decoder(&test, "past", "present");
    made_symbolic_input(&test.made, "bias", DATA_FLOAT32, "b t");
    assert_int_equal(find_roles(&test, &(struct decoder_words){.roles = {&role, 1}}), ERR_UNSUPPORTED);
    assert_non_null(strstr(test.error.message, "'bias' cannot have the role 'mask'"));
    end(&test);
    role = "bias:wheel";
    make_decoder(&test, "past", "present");
    assert_int_equal(find_roles(&test, &(struct decoder_words){.roles = {&role, 1}}), ERR_INVALID);
    end(&test);
}

static void embedded_sequence_is_unknown(void **state)
{
    struct decoder_test test;

    make_decoder(&test, "past", "present");
    made_symbolic_input(&test.made, "embedded", DATA_FLOAT32, "b s 8");
    made_node(&test.made, "sum", "Add", "embedded words", "summed", NULL, 0);
    made_output(&test.made, "summed");
    assert_int_equal(find_roles(&test, &no_words), ERR_UNSUPPORTED);
    assert_non_null(strstr(test.error.message, "'embedded'"));
    end(&test);
}

static void roles_that_names_decide_are_marked(void **state)
{
    struct decoder_test test;

    make_decoder(&test, "past", "present");
    made_symbolic_input(&test.made, "input_ids", DATA_INT64, "b s");
    made_node(&test.made, "look_up", "Gather", "table input_ids", "logits", NULL, 0);
    made_symbolic_output(&test.made, "logits", DATA_FLOAT32, "b s 8");
    assert_int_equal(find_roles(&test, &(struct decoder_words){.roles = {(const char *[]){"ids:constant"}, 1}}), 0);
    assert_false(decoder_find_role(&test.decoder, DECODER_TOKENS)->by_name);
    assert_string_equal(test.decoder.logits, "logits");
    assert_true(test.decoder.logits_by_name);
    end(&test);
    make_decoder(&test, "past", "present");
    made_symbolic_input(&test.made, "input_ids", DATA_INT64, "b s");
    made_symbolic_input(&test.made, "position_ids", DATA_INT64, "b s");
    made_node(&test.made, "look_up", "Gather", "table input_ids", "looked_up", NULL, 0);
    made_symbolic_output(&test.made, "looked_up", DATA_FLOAT32, "b s 8");
    assert_int_equal(
        find_roles(&test, &(struct decoder_words){.roles = {(const char *[]){"ids:constant", "scores:logits"}, 2}}), 0);
    assert_role(&test, "position_ids", DECODER_POSITIONS);
    assert_true(decoder_find_role(&test.decoder, DECODER_POSITIONS)->by_name);
    assert_false(decoder_find_role(&test.decoder, DECODER_POSITIONS)->has_rule);
    assert_false(test.decoder.logits_by_name);
    end(&test);
}

static void lengths_of_grouped_attention_grow(void **state)
{
    const struct node_attribute heads[] = {INTEGER("num_heads", 4), INTEGER("kv_num_heads", 2)};
    struct decoder_test test = {0};

    made_init(&test.made, 17);
    made_symbolic_input(&test.made, "ids", DATA_INT64, "b s");
    made_symbolic_input(&test.made, "past_key", DATA_FLOAT32, "b 2 p 16");
    made_symbolic_input(&test.made, "past_value", DATA_FLOAT32, "b 2 p 16");
    made_symbolic_input(&test.made, "last_index", DATA_INT32, "b 1");
    made_symbolic_input(&test.made, "total", DATA_INT32, "1");
    made_constant(&test.made, "queries", MADE_SHAPE(30, 64), -1, 1);
    made_constant(&test.made, "keys", MADE_SHAPE(30, 32), -1, 1);
    made_node(&test.made, "", "Gather", "queries ids", "query", NULL, 0);
    made_node(&test.made, "", "Gather", "keys ids", "key", NULL, 0);
    made_node(&test.made, "attend", "com.microsoft.GroupQueryAttention",
              "query key key past_key past_value last_index total", "logits present_key present_value", heads, 2);
    made_symbolic_output(&test.made, "logits", DATA_FLOAT32, "b s 64");
    made_symbolic_output(&test.made, "present_key", DATA_FLOAT32, "b 2 t 16");
    made_symbolic_output(&test.made, "present_value", DATA_FLOAT32, "b 2 t 16");
    assert_int_equal(find_roles(&test, &no_words), 0);
    assert_role(&test, "last_index", DECODER_TOTAL_LENGTH);
    assert_role(&test, "total", DECODER_TOTAL_LENGTH);
    end(&test);
}

static void roles_of_exported_decoders_are_known(void **state)
{
    static const struct {
        const char *file, *input;
        enum decoder_role role;
    } expected[] = {
        {"exported/decoder_dynamo", "attention_mask", DECODER_MASK},
        {"exported/decoder_dynamo", "position_ids", DECODER_POSITIONS},
        {"exported/decoder_legacy", "attention_mask", DECODER_MASK},
        {"exported/gpt2_legacy", "position_ids", DECODER_POSITIONS},
        {"exported/genai_int4", "attention_mask", DECODER_MASK},
        {"exported/genai_int4", "past_key_values.1.value", DECODER_CACHE},
        {"exported/t5_decoder", "past_key_values.0.decoder.key", DECODER_CACHE},
        {"exported/t5_decoder", "past_key_values.0.encoder.key", DECODER_CONSTANT},
        {"exported/t5_decoder", "encoder_attention_mask", DECODER_CONSTANT},
    };

    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        struct decoder_test test = {.model = fixture_open(expected[i].file)};

        assert_int_equal(decoder_find(test.model, &no_words, &test.decoder, &test.error), 0);
        assert_role(&test, expected[i].input, expected[i].role);
        assert_role(&test, "input_ids", DECODER_TOKENS);
        assert_string_equal(test.decoder.logits, "logits");
        decoder_release(&test.decoder);
        model_free(test.model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cache_is_paired_by_name_and_grows_along_the_axis_of_its_entries),
        cmocka_unit_test(pairs_that_neither_names_nor_the_graph_show_are_given),
        cmocka_unit_test(graph_pairs_what_names_do_not),
        cmocka_unit_test(slots_of_attention_are_pairs_in_any_layer),
        cmocka_unit_test(input_that_two_outputs_append_to_is_left_to_the_user),
        cmocka_unit_test(name_that_the_graph_contradicts_is_marked),
        cmocka_unit_test(cache_of_another_shape_is_refused),
        cmocka_unit_test(two_caches_cannot_get_one_output),
        cmocka_unit_test(unknown_input_is_refused_until_its_role_is_given),
        cmocka_unit_test(role_needs_a_type_that_can_advance),
        cmocka_unit_test(embedded_sequence_is_unknown),
        cmocka_unit_test(roles_that_names_decide_are_marked),
        cmocka_unit_test(lengths_of_grouped_attention_grow),
        cmocka_unit_test(roles_of_exported_decoders_are_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
