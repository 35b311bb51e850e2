/* Which layer gets which precision, and what of it is rounded. */
#include "support/network_fixture.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "engine/precision/precision.h"

static const int64_t shape_values[] = {2, 32};

/* x -> conv -> relu -> t -> reshape -> u -> matmul -> v -> softmax -> y; integers: n -> twice -> n2 */
static struct network *make_network(struct made_model *made)
{
    require_onnxruntime();
    made_init(made, 13);
    made_input(made, "x", MADE_SHAPE(2, 2, 4, 4));
    made_typed_input(made, "n", DATA_INT64, MADE_SHAPE(3));
    made_constant(made, "w", MADE_SHAPE(2, 2, 1, 1), -1.0001F, 70000);
    made_constant(made, "b", MADE_SHAPE(2), -1.0001F, 1.0001F);
    made_integers(made, "s", shape_values, 2);
    made_constant(made, "m", MADE_SHAPE(32, 3), -1, 1);
    made_node(made, "conv", "Conv", "x w b", "c", NULL, 0);
    made_node(made, "relu", "Relu", "c", "t", NULL, 0);
    made_node(made, "reshape", "Reshape", "t s", "u", NULL, 0);
    made_node(made, "matmul", "MatMul", "u m", "v", NULL, 0);
    made_node(made, "softmax", "Softmax", "v", "y", NULL, 0);
    made_node(made, "twice", "Add", "n n", "n2", NULL, 0);
    made_output(made, "y");
    made_typed_output(made, "n2", DATA_INT64);
    return made_network(made);
}

struct assignment {
    struct made_model made;
    struct network *network;
    struct precision_settings settings;
    struct captured_log log;
    struct layer_precision precisions[8];
    struct error err;
    int rc;
};

static void init(struct assignment *assignment)
{
    memset(assignment, 0, sizeof(*assignment));
    assignment->network = make_network(&assignment->made);
    captured_log_init(&assignment->log);
}

static void assign(struct assignment *assignment)
{
    assert_true(assignment->network->layers.count <= ARRAY_LEN(assignment->precisions));
    assignment->rc = precisions_assign(assignment->network, &assignment->settings, &assignment->log.log,
                                       assignment->precisions, &assignment->err);
}

static void release(struct assignment *assignment)
{
    if (assignment->rc == 0)
        precisions_release(assignment->precisions, assignment->network->layers.count);
    network_free(assignment->network);
    captured_log_release(&assignment->log);
    made_release(&assignment->made);
}

static const struct layer *layer_of(const struct assignment *assignment, const char *name)
{
    const struct layer *layer = find_layer(assignment->network, text_of(name));

    if (layer == NULL)
        fail_msg("there is no layer of '%s'", name);
    return layer;
}

static const struct layer_precision *precision_of(const struct assignment *assignment, const char *name)
{
    return &assignment->precisions[layer_of(assignment, name) - assignment->network->layers.items];
}

static void layers_that_compute_get_the_lowest_precision_that_they_can_have(void **state)
{
    struct assignment a;

    init(&a);
    a.settings.enabled[PRECISION_BFLOAT16] = a.settings.enabled[PRECISION_FLOAT16] = true;
    a.settings.enabled[PRECISION_INT8] = true;
    assign(&a);
    assert_int_equal(a.rc, 0);
    assert_int_equal(precision_of(&a, "conv")->precision, PRECISION_INT8);
    assert_int_equal(precision_of(&a, "conv")->outputs[0], PRECISION_FLOAT32);
    assert_int_equal(precision_of(&a, "matmul")->precision, PRECISION_INT8);
    assert_int_equal(precision_of(&a, "softmax")->precision, PRECISION_FLOAT16);
    assert_int_equal(precision_of(&a, "softmax")->outputs[0], PRECISION_FLOAT16);
    assert_int_equal(precision_of(&a, "reshape")->precision, PRECISION_FLOAT32);
    release(&a);
}

static void everything_is_float32_when_nothing_is_enabled_or_time_counts(void **state)
{
    for (int i = 0; i < 2; i++) {
        struct assignment a;

        init(&a);
        a.settings.enabled[PRECISION_FLOAT16] = i == 1;
        a.settings.policy = i == 1 ? PRECISION_POLICY_FASTEST : PRECISION_POLICY_LOWEST;
        assign(&a);
        for (size_t k = 0; k < a.network->layers.count; k++)
            assert_int_equal(a.precisions[k].precision, PRECISION_FLOAT32);
        release(&a);
    }
}

static void layers_and_tensors_take_what_is_asked_for(void **state)
{
    const struct precision_override layers[] = {
        {"relu", DATA_FLOAT16}, {"relu", DATA_FLOAT32}, {"matmul", DATA_BFLOAT16}};
    const struct precision_override tensors[] = {{"y", DATA_FLOAT32}, {"u", DATA_FLOAT16}};
    struct assignment a;

    init(&a);
    a.settings.enabled[PRECISION_FLOAT16] = a.settings.enabled[PRECISION_BFLOAT16] = true;
    a.settings.constraints = PRECISION_CONSTRAINTS_OBEY;
    a.settings.layers = (struct precision_overrides){layers, ARRAY_LEN(layers)};
    a.settings.tensors = (struct precision_overrides){tensors, ARRAY_LEN(tensors)};
    assign(&a);
    assert_int_equal(a.rc, 0);
    assert_int_equal(precision_of(&a, "conv")->precision, PRECISION_FLOAT32); /* the last word, by a node's name */
    assert_true(precision_of(&a, "conv")->constrained);
    assert_int_equal(precision_of(&a, "matmul")->precision, PRECISION_BFLOAT16);
    assert_int_equal(precision_of(&a, "softmax")->precision, PRECISION_FLOAT16);
    assert_false(precision_of(&a, "softmax")->constrained);
    assert_int_equal(precision_of(&a, "softmax")->outputs[0], PRECISION_FLOAT32);
    assert_int_equal(precision_of(&a, "reshape")->outputs[0], PRECISION_FLOAT16);
    assert_string_equal(a.log.text.data, "");
    release(&a);
}

static void what_cannot_be_had_is_an_error_a_warning_or_ignored(void **state)
{
    const struct precision_override layers[] = {
        {"twice", DATA_FLOAT32}, {"conv", DATA_INT8}, {"softmax", DATA_FLOAT16}};
    const char *expected = "is not possible for layer 'twice' (float32), layer 'conv + relu' (int8)";

    for (enum precision_constraints i = PRECISION_CONSTRAINTS_NONE; i <= PRECISION_CONSTRAINTS_OBEY; i++) {
        struct assignment a;

        init(&a);
        a.settings.enabled[PRECISION_FLOAT16] = true;
        a.settings.constraints = i;
        a.settings.layers = (struct precision_overrides){layers, ARRAY_LEN(layers)};
        assign(&a);
        assert_int_equal(a.rc, i == PRECISION_CONSTRAINTS_OBEY ? ERR_INVALID : 0);
        if (i == PRECISION_CONSTRAINTS_OBEY)
            assert_non_null(strstr(a.err.message, expected));
        else if (i == PRECISION_CONSTRAINTS_PREFER)
            assert_true(captured_log_has(&a.log, expected));
        else
            assert_true(captured_log_has(&a.log, "--layer-precisions are ignored: they count only with"));
        release(&a);
    }
}

static void assert_refused(const struct precision_override *layer, const struct precision_override *tensor,
                           const char *message)
{
    struct assignment a;

    init(&a);
    a.settings.constraints = PRECISION_CONSTRAINTS_PREFER;
    a.settings.layers = (struct precision_overrides){layer, layer != NULL};
    a.settings.tensors = (struct precision_overrides){tensor, tensor != NULL};
    assign(&a);
    assert_int_equal(a.rc, ERR_INVALID);
    assert_string_equal(a.err.message, message);
    release(&a);
}

static void names_and_types_that_make_no_sense_are_refused(void **state)
{
    assert_refused(&(struct precision_override){"matmull", DATA_FLOAT32}, NULL,
                   "--layer-precisions: the network has no layer 'matmull'; did you mean 'matmul'?");
    assert_refused(&(struct precision_override){"matmul", DATA_INT64}, NULL,
                   "--layer-precisions: 'matmul' cannot be int64: choose float32, float16, bfloat16 or int8");
    assert_refused(NULL, &(struct precision_override){"x", DATA_FLOAT16},
                   "--tensor-dtypes: 'x' is not an output of any layer");
}

static void assert_explains(const struct assignment *a, enum precision precision, bool surprise, const char *part)
{
    struct string_builder why;

    string_init(&why);
    assert_int_equal(precision_explain_unused(a->network, &a->settings, a->precisions, precision, &why), surprise);
    if (!strstr(why.data, part))
        fail_msg("%s", why.data);
    string_release(&why);
}

static void a_precision_that_no_layer_has_is_explained(void **state)
{
    const struct precision_override layers[] = {
        {"conv", DATA_FLOAT32}, {"matmul", DATA_FLOAT32}, {"softmax", DATA_FLOAT32}};
    struct assignment a;

    init(&a);
    a.settings.enabled[PRECISION_FLOAT16] = a.settings.enabled[PRECISION_BFLOAT16] = true;
    assign(&a);
    assert_explains(&a, PRECISION_BFLOAT16, true, "got another one");
    assert_explains(&a, PRECISION_TF32, true, "NVIDIA");
    precisions_release(a.precisions, a.network->layers.count);
    a.settings.policy = PRECISION_POLICY_FASTEST;
    assign(&a);
    assert_explains(&a, PRECISION_FLOAT16, true, "--precision-policy fastest");
    precisions_release(a.precisions, a.network->layers.count);
    a.settings.policy = PRECISION_POLICY_LOWEST;
    a.settings.constraints = PRECISION_CONSTRAINTS_OBEY;
    a.settings.layers = (struct precision_overrides){layers, ARRAY_LEN(layers)};
    assign(&a);
    assert_explains(&a, PRECISION_FLOAT16, false, "asked to be something else");
    precisions_release(a.precisions, a.network->layers.count);
    a.settings.constraints = PRECISION_CONSTRAINTS_NONE;
    a.settings.layers.count = 0;
    for (size_t i = 0; i < a.network->model->values.count; i++) /* as without ONNX Runtime */
        if (a.network->model->values.items[i].producer != NODE_NONE)
            a.network->model->values.items[i].info = (struct span){0};
    assign(&a);
    assert_explains(&a, PRECISION_FLOAT16, true, "are not known");
    release(&a);
}

static void constants_are_rounded_as_their_layer_computes(void **state)
{
    struct assignment a;
    struct tensor weight, rounded;
    struct error err = {0};
    const float values[] = {1.0001F, 70000, -127, 0.4F};

    init(&a);
    tensor_borrow(DATA_FLOAT32, &MADE_SHAPE(2, 2, 1, 1), values, sizeof(values), &weight);
    const struct layer *conv = layer_of(&a, "conv");
    rounded = weight;
    assert_int_equal(precision_constant(a.network, conv, 1, PRECISION_FLOAT16, &rounded, &err), 0);
    const float *result = rounded.data;
    assert_true(result[0] == 1 && isinf(result[1]) && result[2] == -127 && result[3] == 0x1.998p-2F);
    tensor_release(&rounded);
    rounded = weight;
    assert_int_equal(precision_constant(a.network, conv, 1, PRECISION_INT8, &rounded, &err), 0);
    result = rounded.data; /* per output channel: the second one's scale is 1 */
    assert_true(result[0] == 0 && fabsf(result[1] - 70000) < 0.01F && result[2] == -127 && result[3] == 0);
    tensor_release(&rounded);
    rounded = weight;
    assert_int_equal(precision_constant(a.network, conv, 2, PRECISION_INT8, &rounded, &err), 0);
    assert_ptr_equal(rounded.data, values); /* a bias */
    assert_int_equal(precision_constant(a.network, conv, 1, PRECISION_TF32, &rounded, &err), 0);
    assert_ptr_equal(rounded.data, values);
    a.rc = -1;
    release(&a);
}

/* Columns are the output channels of a product, rows those of a Gemm with transB. */
static void channels_of_a_product_are_where_the_operator_has_them(void **state)
{
    const float values[] = {127, 0.3F, 254, 1};

    require_onnxruntime();
    for (int transposed = 0; transposed < 2; transposed++) {
        struct made_model made;
        struct network *network;
        struct tensor weight, rounded;
        struct error err = {0};
        struct node_attribute attribute = INTEGER("transB", transposed);

        made_init(&made, 13);
        made_input(&made, "x", MADE_SHAPE(1, 2));
        made_constant(&made, "w", MADE_SHAPE(2, 2), -1, 1);
        made_node(&made, "gemm", "Gemm", "x w", "y", &attribute, 1);
        made_output(&made, "y");
        network = made_network(&made);
        tensor_borrow(DATA_FLOAT32, &MADE_SHAPE(2, 2), values, sizeof(values), &weight);
        rounded = weight;
        assert_int_equal(precision_constant(network, &network->layers.items[0], 1, PRECISION_INT8, &rounded, &err), 0);
        const float *result = rounded.data;
        if (transposed) {
            assert_true(result[0] == 127 && result[1] == 0 && result[2] == 254 && result[3] == 0);
        } else {
            assert_true(result[0] == 128 || result[0] == 126); /* a step of 2: half to even */
            assert_true(fabsf(result[1] - 0.3F) < 1.0F / 127 && result[2] == 254 && fabsf(result[3] - 1) < 1e-6F);
        }
        tensor_release(&rounded);
        network_free(network);
        made_release(&made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_that_compute_get_the_lowest_precision_that_they_can_have),
        cmocka_unit_test(everything_is_float32_when_nothing_is_enabled_or_time_counts),
        cmocka_unit_test(layers_and_tensors_take_what_is_asked_for),
        cmocka_unit_test(what_cannot_be_had_is_an_error_a_warning_or_ignored),
        cmocka_unit_test(names_and_types_that_make_no_sense_are_refused),
        cmocka_unit_test(a_precision_that_no_layer_has_is_explained),
        cmocka_unit_test(constants_are_rounded_as_their_layer_computes),
        cmocka_unit_test(channels_of_a_product_are_where_the_operator_has_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
