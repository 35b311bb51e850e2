/* What a runtime has made of quantizers is read in the model as it has rewritten it. */
#include <stdio.h>
#include <string.h>

#include "debug/quantization/rewriting.h"
#include "onnx/edit/model.h"
#include "support/made_model.h"
#include "support/unit_test.h"

struct fixture {
    struct made_model made, changed;
    struct quantization_subject subject;
    struct model *rewritten;
    struct quantization_rewriting found;
};

static void add_constants(struct made_model *made)
{
    static const float scales[] = {0.25F, 0.5F, 0.75F, 1, 2};
    static const char *const names[] = {"sa", "sb", "sc", "sw", "sv"};
    static const uint8_t zero, integers[4] = {1, 2, 3, 4};

    made_init(made, 13);
    made_input(made, "x", MADE_SHAPE(1, 2, 4, 4));
    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
        made_tensor(made, names[i], DATA_FLOAT32, (struct shape){0}, &scales[i]);
    made_tensor(made, "z", DATA_UINT8, (struct shape){0}, &zero);
    made_tensor(made, "zi", DATA_INT8, (struct shape){0}, &zero);
    made_tensor(made, "w", DATA_INT8, MADE_SHAPE(2, 2, 1, 1), integers);
    made_tensor(made, "v", DATA_INT8, MADE_SHAPE(2, 2, 1, 1), integers);
}

static void add_pair(struct made_model *made, const char *inputs, const char *between, const char *outputs)
{
    made_node(made, "", "QuantizeLinear", inputs, between, NULL, 0);
    if (outputs != NULL) {
        char again[32];

        snprintf(again, sizeof(again), "%s%s", between, strchr(inputs, ' '));
        made_node(made, "", "DequantizeLinear", again, outputs, NULL, 0);
    }
}

/* x is quantized twice in a row, then there are two layers, of which the second makes what nothing quantizes. */
static void begin(struct fixture *fixture)
{
    struct made_model *made = &fixture->made;
    struct error err = {0};

    *fixture = (struct fixture){0};
    add_constants(made);
    add_pair(made, "x sa z", "xi", "x1");
    add_pair(made, "x1 sb z", "x1i", "x2");
    made_node(made, "", "DequantizeLinear", "w sw zi", "wd", NULL, 0);
    made_node(made, "first", "Conv", "x2 wd", "c", NULL, 0);
    add_pair(made, "c sc z", "ci", "c1");
    made_node(made, "", "DequantizeLinear", "v sv zi", "vd", NULL, 0);
    made_node(made, "second", "Conv", "c1 vd", "y", NULL, 0);
    made_output(made, "y");
    fixture->subject.model = made_open(made);
    if (model_lower_constants(fixture->subject.model, &err) < 0)
        fail_msg("%s", err.message);
    quantizers_find(fixture->subject.model, NULL, &fixture->subject.quantizers);
    assert_int_equal(fixture->subject.quantizers.count, 5);
    add_constants(&fixture->changed);
}

static void find(struct fixture *fixture)
{
    made_output(&fixture->changed, "y");
    fixture->rewritten = made_open(&fixture->changed);
    quantization_rewriting_find(&fixture->subject, fixture->rewritten, &fixture->found);
}

static bool has(const struct fixture *fixture, const struct bitset *set, const char *name)
{
    for (size_t i = 0; i < fixture->subject.quantizers.count; i++)
        if (strcmp(fixture->subject.quantizers.items[i].name, name) == 0)
            return bitset_has(set, i);
    fail_msg("no quantizer '%s'", name);
    return false;
}

static void end(struct fixture *fixture)
{
    quantization_rewriting_release(&fixture->found);
    model_free(fixture->rewritten);
    quantization_subject_release(&fixture->subject);
    made_release(&fixture->made);
    made_release(&fixture->changed);
}

/* The first layer works on integers, whose tensors have other names now; of the two pairs in a row one is left. */
static void layers_on_integers_and_in_float_are_told_apart(void **state)
{
    struct fixture fixture;

    begin(&fixture);
    add_pair(&fixture.changed, "x sa z", "other", NULL);
    made_node(&fixture.changed, "a", "QLinearConv", "other sa z w sw zi sc z", "another", NULL, 0);
    made_node(&fixture.changed, "", "DequantizeLinear", "another sc z", "c1", NULL, 0);
    made_node(&fixture.changed, "", "DequantizeLinear", "v sv zi", "vd", NULL, 0);
    made_node(&fixture.changed, "b", "com.microsoft.FusedConv", "c1 vd", "y", NULL, 0);
    find(&fixture);
    assert_int_equal(fixture.found.integer_kernels, 1);
    assert_int_equal(fixture.found.in_float.count, 1);
    assert_string_equal(fixture.found.in_float.items[0], "b");
    assert_int_equal(bitset_count(&fixture.found.dequantized), 2);
    assert_true(has(&fixture, &fixture.found.dequantized, "c") && has(&fixture, &fixture.found.dequantized, "v"));
    assert_int_equal(bitset_count(&fixture.found.gone), 1);
    assert_true(has(&fixture, &fixture.found.gone, "x1"));
    end(&fixture);
}

static void a_model_that_was_left_as_it_is_has_lost_nothing(void **state)
{
    struct fixture fixture;

    begin(&fixture);
    quantization_rewriting_find(&fixture.subject, fixture.subject.model, &fixture.found);
    assert_int_equal(fixture.found.integer_kernels, 0);
    assert_int_equal(fixture.found.in_float.count, 2);
    assert_int_equal(bitset_count(&fixture.found.gone), 0);
    assert_false(has(&fixture, &fixture.found.dequantized, "x"));
    end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_on_integers_and_in_float_are_told_apart),
        cmocka_unit_test(a_model_that_was_left_as_it_is_has_lost_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
