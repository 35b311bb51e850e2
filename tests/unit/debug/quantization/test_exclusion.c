/* Names of nodes that keep quantizers away, and which others go with them. */
#include "support/made_model.h"
#include "support/unit_test.h"

#include "debug/quantization/exclusion.h"

enum { INPUT, WEIGHT, BIAS, RESULT, QUANTIZERS };

struct excluded {
    struct made_model quantized_made, plain_made;
    struct quantization_subject subject;
};

/* A copy of x and what a Gemm makes of it are quantized; the latter in place of a Relu. */
static void init(struct excluded *excluded, const char *gemm)
{
    struct made_model *made = &excluded->quantized_made, *plain = &excluded->plain_made;
    struct quantization_subject *subject = &excluded->subject;
    static const float scale = 0.5F, weight[] = {1, -1, 2, -2};
    static const int8_t stored_weight[] = {2, -2, 4, -4};
    static const int32_t stored_bias[] = {4, -4};
    static const float bias[] = {2, -2};

    made_init(made, 13);
    made_input(made, "x", MADE_SHAPE(1, 2));
    made_tensor(made, "s", DATA_FLOAT32, (struct shape){0}, &scale);
    made_tensor(made, "w_q", DATA_INT8, MADE_SHAPE(2, 2), stored_weight);
    made_tensor(made, "b_q", DATA_INT32, MADE_SHAPE(2), stored_bias);
    made_node(made, "copy", "Identity", "x", "xi", NULL, 0);
    made_node(made, "qx", "QuantizeLinear", "xi s", "x_i", NULL, 0);
    made_node(made, "dx", "DequantizeLinear", "x_i s", "x_d", NULL, 0);
    made_node(made, "dw", "DequantizeLinear", "w_q s", "w_d", NULL, 0);
    made_node(made, "db", "DequantizeLinear", "b_q s", "b_d", NULL, 0);
    made_node(made, gemm, "Gemm", "x_d w_d b_d", "g", NULL, 0);
    made_node(made, "qg", "QuantizeLinear", "g s", "g_i", NULL, 0);
    made_node(made, "dg", "DequantizeLinear", "g_i s", "y", NULL, 0);
    made_output(made, "y");
    made_init(plain, 13);
    made_input(plain, "x", MADE_SHAPE(1, 2));
    made_tensor(plain, "w", DATA_FLOAT32, MADE_SHAPE(2, 2), weight);
    made_tensor(plain, "b", DATA_FLOAT32, MADE_SHAPE(2), bias);
    made_node(plain, "copy", "Identity", "x", "xi", NULL, 0);
    made_node(plain, "gemm", "Gemm", "xi w b", "g", NULL, 0);
    made_node(plain, "relu", "Relu", "g", "y", NULL, 0);
    made_output(plain, "y");
    *subject = (struct quantization_subject){.model = made_open(made), .float_model = made_open(plain)};
    quantizers_find(subject->model, NULL, &subject->quantizers);
    quantizers_match(&subject->quantizers, subject->model, subject->float_model, &subject->twins);
    assert_int_equal(subject->quantizers.count, QUANTIZERS);
}

static void release(struct excluded *excluded)
{
    quantization_subject_release(&excluded->subject);
    made_release(&excluded->quantized_made);
    made_release(&excluded->plain_made);
}

/* For `quantizer` these nodes are named, and these quantizers, a bit for each, go with them. */
static void assert_exclusion(const struct excluded *excluded, enum exclusion_style style, size_t quantizer,
                             const char *names, unsigned left_out)
{
    struct quantizer_exclusion exclusion;
    struct string_builder text;
    struct bitset off;

    string_init(&text);
    string_add(&text, "");
    bitset_init(&off, QUANTIZERS);
    bitset_add(&off, quantizer);
    quantizer_exclusion_find(&excluded->subject, &off, style, &exclusion);
    for (size_t i = 0; i < exclusion.names.count; i++)
        string_add_format(&text, "%s" TEXT_FORMAT, i > 0 ? " " : "", TEXT_ARGS(exclusion.names.items[i]));
    assert_string_equal(text.data, names);
    for (size_t i = 0; i < QUANTIZERS; i++)
        assert_int_equal(bitset_has(&exclusion.left_out, i), left_out >> i & 1);
    assert_int_equal(exclusion.leaves_out_enough, left_out >> quantizer & 1);
    assert_int_equal(exclusion.unnamed + exclusion.unknown, 0);
    quantizer_exclusion_release(&exclusion);
    bitset_release(&off);
    string_release(&text);
}

/* Without the Gemm nobody asks for its weight and bias. Where those who make a tensor count, too, it asks for its
 * result, and the copy for x; and so does the Relu that the quantizer of the result stands in for. */
static void nodes_take_all_with_them_that_only_they_ask_for(void **state)
{
    struct excluded excluded;

    init(&excluded, "gemm");
    assert_exclusion(&excluded, EXCLUSION_READERS, WEIGHT, "gemm", 1U << INPUT | 1U << WEIGHT | 1U << BIAS);
    assert_exclusion(&excluded, EXCLUSION_BOTH_SIDES, WEIGHT, "gemm", 1U << WEIGHT | 1U << BIAS | 1U << RESULT);
    assert_exclusion(&excluded, EXCLUSION_BOTH_SIDES, INPUT, "copy gemm",
                     1U << INPUT | 1U << WEIGHT | 1U << BIAS | 1U << RESULT);
    assert_exclusion(&excluded, EXCLUSION_BOTH_SIDES, RESULT, "gemm relu", 1U << WEIGHT | 1U << BIAS | 1U << RESULT);
    release(&excluded);
}

static void what_no_node_asks_for_cannot_be_excluded(void **state)
{
    struct excluded excluded;

    init(&excluded, "gemm");
    assert_exclusion(&excluded, EXCLUSION_READERS, RESULT, "", 0);
    release(&excluded);
}

/* In a row, the second one reads what comes out of the first one. */
static void nodes_of_quantizers_ask_for_nothing(void **state)
{
    static const float scale = 0.5F;
    struct excluded excluded = {0};
    struct made_model *made = &excluded.quantized_made;
    struct quantization_subject *subject = &excluded.subject;

    made_init(made, 13);
    made_init(&excluded.plain_made, 13);
    made_input(made, "x", MADE_SHAPE(1, 2));
    made_tensor(made, "s", DATA_FLOAT32, (struct shape){0}, &scale);
    made_node(made, "q1", "QuantizeLinear", "x s", "i", NULL, 0);
    made_node(made, "d1", "DequantizeLinear", "i s", "a", NULL, 0);
    made_node(made, "q2", "QuantizeLinear", "a s", "j", NULL, 0);
    made_node(made, "d2", "DequantizeLinear", "j s", "b", NULL, 0);
    made_node(made, "relu", "Relu", "b", "y", NULL, 0);
    made_output(made, "y");
    *subject = (struct quantization_subject){.model = made_open(made)};
    quantizers_find(subject->model, NULL, &subject->quantizers);
    assert_int_equal(subject->quantizers.count, 2);
    assert_exclusion(&excluded, EXCLUSION_BOTH_SIDES, 0, "", 0);
    assert_exclusion(&excluded, EXCLUSION_BOTH_SIDES, 1, "relu", 1U << 1);
    release(&excluded);
}

static void nodes_without_a_name_and_names_that_the_float_model_has_not_are_counted(void **state)
{
    static const struct {
        const char *gemm;
        size_t unnamed, unknown;
    } cases[] = {{"", 1, 0}, {"fused", 0, 1}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct quantizer_exclusion exclusion;
        struct excluded excluded;
        struct bitset off;

        init(&excluded, cases[i].gemm);
        bitset_init(&off, QUANTIZERS);
        bitset_add(&off, WEIGHT);
        quantizer_exclusion_find(&excluded.subject, &off, EXCLUSION_READERS, &exclusion);
        assert_int_equal(exclusion.unnamed, cases[i].unnamed);
        assert_int_equal(exclusion.unknown, cases[i].unknown);
        assert_int_equal(exclusion.names.count, 1 - cases[i].unnamed);
        quantizer_exclusion_release(&exclusion);
        bitset_release(&off);
        release(&excluded);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_take_all_with_them_that_only_they_ask_for),
        cmocka_unit_test(what_no_node_asks_for_cannot_be_excluded),
        cmocka_unit_test(nodes_of_quantizers_ask_for_nothing),
        cmocka_unit_test(nodes_without_a_name_and_names_that_the_float_model_has_not_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
