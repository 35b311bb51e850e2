/* test_onnxrt_run.c: what goes into ONNX Runtime and what comes out. */
#include "support/onnxrt_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/library.h"
#include "backend/onnxrt/values.h"
#include "base/memory.h"

static void identity_gives_back_what_it_is_fed(void **state)
{
    static const float values[] = {1, -2, 3.5f, 0};
    struct shape shape = {4, {1, 1, 2, 2}};
    struct tensor_list feed = {0}, outputs = {0};
    struct backend_session *session;
    const struct backend_io *inputs;
    struct error err = {0};
    struct tensor tensor;
    double seconds = -1;
    size_t count;

    require_onnxruntime();
    session = open_model("identity");
    inputs = session->inputs;
    count = session->input_count;
    assert_int_equal(count, 1);
    assert_string_equal(inputs[0].name, "x");
    assert_int_equal(inputs[0].type, DATA_FLOAT32);
    assert_null(inputs[0].not_a_tensor);
    assert_true(inputs[0].has_shape);
    assert_true(shape_equal(&inputs[0].shape, &shape));

    tensor_borrow(DATA_FLOAT32, &shape, values, sizeof(values), &tensor);
    tensor_list_add(&feed, TEXT("x"), &tensor);
    assert_int_equal(onnxrt_backend.run(session, &feed, NULL, &outputs, &seconds, &err), 0);
    assert_int_equal(outputs.count, 1);
    assert_string_equal(outputs.items[0].name, "y");
    assert_true(shape_equal(&outputs.items[0].tensor.shape, &shape));
    assert_floats(&outputs.items[0].tensor, values, 4);
    assert_true(seconds >= 0);
    tensor_list_release(&outputs);
    tensor_list_release(&feed);
    onnxrt_backend.close(session);
}

static void symbolic_dimensions_have_names_and_take_any_size(void **state)
{
    struct backend_session *session;
    const struct backend_io *inputs;
    size_t count;

    require_onnxruntime();
    session = open_model("symbolic_dimensions");
    inputs = session->inputs;
    count = session->input_count;
    assert_int_equal(count, 2);
    assert_string_equal(inputs[0].name, "a");
    assert_int_equal(inputs[0].shape.rank, 3);
    assert_int_equal(inputs[0].shape.dims[0], -1);
    assert_int_equal(inputs[0].shape.dims[1], -1);
    assert_int_equal(inputs[0].shape.dims[2], 2);
    assert_string_equal(inputs[0].symbols[0], "n");
    assert_null(inputs[0].symbols[1]);
    assert_null(inputs[0].symbols[2]);
    for (int64_t n = 0; n < 4; n++) {
        float values[8] = {1, 2, 3, 4, 5, 6, 7, 8}, doubled[8];
        struct shape shape = {3, {n, 1, 2}};
        struct tensor_list feed = {0}, outputs;
        struct tensor tensor;

        for (size_t i = 0; i < ARRAY_LEN(values); i++)
            doubled[i] = 2 * values[i];
        for (size_t i = 0; i < 2; i++) {
            tensor_borrow(DATA_FLOAT32, &shape, values, (size_t)n * 2 * sizeof(float), &tensor);
            tensor_list_add(&feed, text_of(i == 0 ? "a" : "b"), &tensor);
        }
        run_model(session, &feed, &outputs);
        assert_true(shape_equal(&outputs.items[0].tensor.shape, &shape));
        assert_non_null(outputs.items[0].tensor.data); /* also when it is empty */
        assert_floats(&outputs.items[0].tensor, doubled, (size_t)n * 2);
        tensor_list_release(&outputs);
        tensor_list_release(&feed);
    }
    onnxrt_backend.close(session);
}

/* The bytes are such that in some floating types they are NaN, whose bits are easily lost. */
static void every_element_type_passes_bit_by_bit(void **state)
{
    struct tensor_list feed = {0}, outputs;
    struct backend_session *session;
    const struct backend_io *inputs;
    uint64_t bytes[3];
    struct text words[] = {TEXT("a"), TEXT(""), TEXT("größe")};
    size_t count;

    require_onnxruntime();
    memset(bytes, 0xf9, sizeof(bytes));
    session = open_model("every_type");
    inputs = session->inputs;
    count = session->input_count;
    assert_int_equal(count, 20);
    for (size_t i = 0; i < count; i++) {
        static const uint8_t truths[] = {1, 0, 1};
        static const uint8_t nibbles[] = {0x21, 0x0f};
        enum data_type type = data_type_parse(text_of(inputs[i].name));
        struct shape shape = {1, {3}};
        struct tensor strings;

        assert_int_equal(inputs[i].type, type);
        if (type == DATA_STRING) {
            assert_int_equal(tensor_set_strings(&shape, words, &strings, NULL), 0);
            tensor_list_add(&feed, text_of(inputs[i].name), &strings);
        } else {
            feed_add(&feed, inputs[i].name, type, 3,
                     type == DATA_BOOL           ? truths
                     : data_type_bits(type) == 4 ? (const void *)nibbles
                                                 : bytes);
        }
    }
    run_model(session, &feed, &outputs);
    assert_int_equal(outputs.count, count);
    for (size_t i = 0; i < count; i++)
        if (!tensor_identical(&outputs.items[i].tensor, &feed.items[i].tensor))
            fail_msg("%s", feed.items[i].name);
    tensor_list_release(&outputs);
    tensor_list_release(&feed);
    onnxrt_backend.close(session);
}

static void strings_may_be_empty_or_long_or_hold_a_nul(void **state)
{
    static char long_word[100000];
    struct text words[] = {TEXT(""), TEXT("a\0b"), {long_word, sizeof(long_word)}};
    struct shape shape = {1, {3}};
    struct tensor_list feed = {0}, outputs;
    struct backend_session *session;
    struct tensor tensor;

    require_onnxruntime();
    memset(long_word, 'w', sizeof(long_word));
    session = open_model("strings");
    assert_int_equal(tensor_set_strings(&shape, words, &tensor, NULL), 0);
    tensor_list_add(&feed, TEXT("words"), &tensor);
    run_model(session, &feed, &outputs);
    onnxrt_backend.close(session);

    const struct text *ended = output_named(&outputs, "ended")->data;
    assert_true(text_equal(ended[0], TEXT("!")));
    assert_true(text_equal(ended[1], TEXT("a\0b!")));
    assert_int_equal(ended[2].size, sizeof(long_word) + 1);
    assert_memory_equal(ended[2].data, long_word, sizeof(long_word));
    tensor_list_release(&outputs);
    tensor_list_release(&feed);
}

static void empty_string_tensor_passes(void **state)
{
    struct shape shape = {1, {0}};
    struct tensor_list feed = {0}, outputs;
    struct backend_session *session;
    struct tensor tensor;

    require_onnxruntime();
    session = open_model("strings");
    assert_int_equal(tensor_set_strings(&shape, NULL, &tensor, NULL), 0);
    tensor_list_add(&feed, TEXT("words"), &tensor);
    run_model(session, &feed, &outputs);
    assert_int_equal(outputs.items[0].tensor.type, DATA_STRING);
    assert_true(shape_equal(&outputs.items[0].tensor.shape, &shape));
    tensor_list_release(&outputs);
    tensor_list_release(&feed);
    onnxrt_backend.close(session);
}

/* Whether the scalar has a shape depends on the runtime's release: see backend/onnxrt/onnxrt.c. */
static void unknown_shape_is_no_scalar(void **state)
{
    static const float scalar[] = {7}, row[] = {1, 2, 3};
    struct tensor_list feed = {0}, outputs;
    struct backend_session *session;
    const struct backend_io *inputs;

    require_onnxruntime();
    session = open_model("scalar_and_unknown_shape");
    inputs = session->inputs;
    assert_int_equal(inputs[0].shape.rank, 0);
    assert_false(inputs[1].has_shape);
    feed_add(&feed, "scalar", DATA_FLOAT32, -1, scalar);
    feed_add(&feed, "unknown", DATA_FLOAT32, 3, row);
    run_model(session, &feed, &outputs);
    assert_floats(output_named(&outputs, "scalar_out"), scalar, 1);
    assert_int_equal(output_named(&outputs, "scalar_out")->shape.rank, 0);
    assert_floats(output_named(&outputs, "unknown_out"), row, 3);
    tensor_list_release(&outputs);
    tensor_list_release(&feed);
    onnxrt_backend.close(session);
}

static void data_that_are_not_aligned_are_copied(void **state)
{
    static const float values[] = {1, 2};
    _Alignas(float) char bytes[sizeof(values) + 1];
    struct shape shape = {1, {2}};
    const struct onnxrt *ort;
    struct ort_value *value;
    struct tensor tensor;
    void *data;

    require_onnxruntime();
    assert_int_equal(onnxrt_load(NULL, &ort, NULL), 0);
    memcpy(bytes + 1, values, sizeof(values));
    tensor_borrow(DATA_FLOAT32, &shape, bytes + 1, sizeof(values), &tensor);
    assert_int_equal(onnxrt_value_new(ort, &tensor, &value, NULL), 0);
    assert_null(ort->api->tensor_data(value, &data));
    assert_int_equal((uintptr_t)data % sizeof(float), 0);
    assert_memory_equal(data, values, sizeof(values));
    ort->api->release_value(value);

    tensor_borrow(DATA_FLOAT32, &shape, values, sizeof(values), &tensor);
    assert_int_equal(onnxrt_value_new(ort, &tensor, &value, NULL), 0);
    assert_null(ort->api->tensor_data(value, &data));
    assert_ptr_equal(data, values);
    ort->api->release_value(value);
}

static void outputs_outlive_session_and_feed(void **state)
{
    struct tensor_list feed = {0}, outputs;
    struct backend_session *session;
    float *values;

    require_onnxruntime();
    values = memory_alloc(2 * sizeof(float));
    values[0] = 1, values[1] = 2;
    session = open_model("input_and_weight_are_outputs");
    feed_add(&feed, "x", DATA_FLOAT32, 2, values);
    run_model(session, &feed, &outputs);
    onnxrt_backend.close(session);
    values[0] = values[1] = 0;
    free(values);
    tensor_list_release(&feed);

    assert_floats(output_named(&outputs, "x"), (const float[]){1, 2}, 2);
    assert_floats(output_named(&outputs, "weight"), (const float[]){3, 4}, 2);
    assert_floats(output_named(&outputs, "sum"), (const float[]){4, 6}, 2);
    tensor_list_release(&outputs);
}

static void wanted_outputs_come_in_the_order_asked_for(void **state)
{
    static const float values[] = {1, 2};
    static const char *const wanted[] = {"sum", "x"}, *const unknown[] = {"sum", "nonsense"};
    struct tensor_list feed = {0}, outputs = {0};
    struct backend_session *session;
    struct error err = {0};

    require_onnxruntime();
    session = open_model("input_and_weight_are_outputs");
    feed_add(&feed, "x", DATA_FLOAT32, 2, values);
    assert_int_equal(onnxrt_backend.run(session, &feed, &(struct words){wanted, 2}, &outputs, NULL, &err), 0);
    assert_int_equal(outputs.count, 2);
    assert_string_equal(outputs.items[0].name, "sum");
    assert_string_equal(outputs.items[1].name, "x");
    assert_floats(&outputs.items[1].tensor, values, 2);
    tensor_list_release(&outputs);

    assert_int_equal(onnxrt_backend.run(session, &feed, &(struct words){unknown, 2}, &outputs, NULL, &err),
                     ERR_INVALID);
    assert_message_contains(&err, "has no output 'nonsense'");
    assert_null(outputs.items);
    tensor_list_release(&feed);
    onnxrt_backend.close(session);
}

static void feed_that_does_not_fit_is_an_error_that_says_how(void **state)
{
    static const double values[8];
    struct shape shape = {3, {1, 1, 3}};
    struct tensor_list feed = {0};
    struct backend_session *session;
    struct tensor tensor;
    struct error err;

    require_onnxruntime();
    session = open_model("symbolic_dimensions");
    run_fails(session, &feed, ERR_MISSING, &err);
    assert_message_contains(&err, "input 'a' of ");
    assert_message_contains(&err, "symbolic_dimensions.onnx' is not fed");

    feed_add(&feed, "a", DATA_FLOAT32, 2, values);
    run_fails(session, &feed, ERR_INVALID, &err);
    assert_message_contains(&err, "takes float32 (-1, -1, 2), but is fed float32 (2,)");
    tensor_list_release(&feed);

    tensor_borrow(DATA_FLOAT32, &shape, values, 12, &tensor);
    tensor_list_add(&feed, TEXT("a"), &tensor);
    run_fails(session, &feed, ERR_INVALID, &err);
    assert_message_contains(&err, "takes float32 (-1, -1, 2), but is fed float32 (1, 1, 3)");
    tensor_list_release(&feed);

    shape.dims[2] = 2;
    tensor_borrow(DATA_FLOAT64, &shape, values, 16, &tensor);
    tensor_list_add(&feed, TEXT("a"), &tensor);
    run_fails(session, &feed, ERR_INVALID, &err);
    assert_message_contains(&err, "takes float32 (-1, -1, 2), but is fed float64 (1, 1, 2)");
    tensor_list_release(&feed);
    onnxrt_backend.close(session);
}

static void sequence_output_is_described_and_refused(void **state)
{
    static const float values[] = {1, 2};
    static const char *const wanted[] = {"negative"};
    struct tensor_list feed = {0}, outputs = {0};
    struct backend_session *session;
    const struct backend_io *described;
    struct error err;
    size_t count;

    require_onnxruntime();
    session = open_model("sequence_output");
    described = session->outputs;
    count = session->output_count;
    assert_int_equal(count, 2);
    assert_null(described[0].not_a_tensor);
    assert_string_equal(described[1].not_a_tensor, "sequence");
    assert_int_equal(described[1].type, DATA_UNDEFINED);

    feed_add(&feed, "x", DATA_FLOAT32, 2, values);
    run_fails(session, &feed, ERR_UNSUPPORTED, &err);
    assert_message_contains(&err, "output 'pair'");
    assert_message_contains(&err, "is no tensor but a sequence");

    assert_int_equal(onnxrt_backend.run(session, &feed, &(struct words){wanted, 1}, &outputs, NULL, &err), 0);
    assert_floats(output_named(&outputs, "negative"), (const float[]){-1, -2}, 2);
    tensor_list_release(&outputs);
    tensor_list_release(&feed);
    onnxrt_backend.close(session);
}

static void sequence_input_is_refused(void **state)
{
    static const float values[] = {1, 2};
    struct tensor_list feed = {0};
    struct backend_session *session;
    struct error err;

    require_onnxruntime();
    session = open_model("sequences");
    feed_add(&feed, "x", DATA_FLOAT32, 2, values);
    feed_add(&feed, "sequence", DATA_FLOAT32, 2, values);
    run_fails(session, &feed, ERR_UNSUPPORTED, &err);
    assert_message_contains(&err, "input 'sequence'");
    tensor_list_release(&feed);
    onnxrt_backend.close(session);
}

static void failure_at_run_time_names_the_model_in_one_line(void **state)
{
    static const float values[6];
    struct tensor_list feed = {0};
    struct backend_session *session;
    struct error err;

    require_onnxruntime();
    session = open_model("symbolic_dimensions");
    for (int64_t n = 2; n <= 3; n++) {
        struct shape shape = {3, {n, 1, 2}};
        struct tensor tensor;

        tensor_borrow(DATA_FLOAT32, &shape, values, (size_t)n * 8, &tensor);
        tensor_list_add(&feed, text_of(n == 2 ? "a" : "b"), &tensor);
    }
    run_fails(session, &feed, ERR_BACKEND, &err);
    assert_message_contains(&err, "symbolic_dimensions.onnx': ");
    assert_message_contains(&err, "'add'");
    assert_null(strchr(err.message, '\n'));
    tensor_list_release(&feed);
    onnxrt_backend.close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identity_gives_back_what_it_is_fed),
        cmocka_unit_test(symbolic_dimensions_have_names_and_take_any_size),
        cmocka_unit_test(every_element_type_passes_bit_by_bit),
        cmocka_unit_test(strings_may_be_empty_or_long_or_hold_a_nul),
        cmocka_unit_test(empty_string_tensor_passes),
        cmocka_unit_test(unknown_shape_is_no_scalar),
        cmocka_unit_test(data_that_are_not_aligned_are_copied),
        cmocka_unit_test(outputs_outlive_session_and_feed),
        cmocka_unit_test(wanted_outputs_come_in_the_order_asked_for),
        cmocka_unit_test(feed_that_does_not_fit_is_an_error_that_says_how),
        cmocka_unit_test(sequence_output_is_described_and_refused),
        cmocka_unit_test(sequence_input_is_refused),
        cmocka_unit_test(failure_at_run_time_names_the_model_in_one_line),
    };

    return cmocka_run_group_tests(tests, find_models, NULL);
}
