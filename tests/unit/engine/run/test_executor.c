/* The executor on made-up engines: layouts, precisions, memory, shapes that change, and what can go wrong. */
#include "support/unit_test.h"

#include <math.h>
#include <signal.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "engine/run/executor.h"
#include "onnx/proto/fields.h"
#include "support/captured_log.h"
#include "support/fake_engine.h"
#include "support/in_child.h"

/* --- helpers --- */

static void add_feed(struct tensor_list *feed, const char *name, const float *values, int64_t rows, int64_t columns)
{
    struct tensor tensor;

    tensor_borrow(DATA_FLOAT32, &(struct shape){2, {rows, columns}}, values, (size_t)(rows * columns) * sizeof(*values),
                  &tensor);
    tensor_list_add(feed, text_of(name), &tensor);
}

/* Runs with one input "x"; the caller releases the outputs. */
static int run(struct executor *executor, const float *x, int64_t rows, int64_t columns, struct tensor_list *ret,
               struct error *err)
{
    struct tensor_list feed = {0};
    int rc;

    add_feed(&feed, "x", x, rows, columns);
    *ret = (struct tensor_list){0};
    rc = executor_run(executor, &feed, NULL, ret, NULL, err);
    tensor_list_release(&feed);
    return rc;
}

static void assert_output(struct executor *executor, const float *x, int64_t rows, int64_t columns,
                          const float *expected, size_t count)
{
    struct tensor_list outputs;
    struct error err = {0};

    if (run(executor, x, rows, columns, &outputs, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(outputs.count, 1);
    assert_int_equal(outputs.items[0].tensor.size, count * sizeof(*expected));
    assert_memory_equal(outputs.items[0].tensor.data, expected, count * sizeof(*expected));
    tensor_list_release(&outputs);
}

static struct executor *executor_of(struct fake_engine *fake, struct log *log)
{
    struct executor *executor;
    struct error err = {0};

    if (executor_new(&fake->engine, log, &executor, &err) < 0)
        fail_msg("%s", err.message);
    return executor;
}

/* y = relu(x + c), then half of that, plus the first: three layers, one of which is read twice. */
static void make_diamond(struct fake_engine *fake)
{
    static const float constant[6] = {1, -1, 1, -1, 1, -1};
    struct model_maker maker;

    maker_init(&maker);
    maker_node(&maker, "Add", "x c", "sum");
    maker_node(&maker, "Relu", "sum", "positive");
    maker_node(&maker, "Halve", "positive", "half");
    maker_node(&maker, "Add", "positive half", "y");
    maker_constant(&maker, "c", constant, 2, 3);
    maker_io(&maker, GRAPH_INPUT, "x", DATA_FLOAT32);
    maker_io(&maker, GRAPH_OUTPUT, "y", DATA_FLOAT32);
    fake_engine_init(fake, maker_finish(&maker));
}

static const float diamond_input[6] = {1, 2, 3, -4, -5, 6};
static const float diamond_output[6] = {3, 1.5f, 6, 0, 0, 7.5f};

/* --- tests --- */

static void memory_is_shared_after_the_first_run(void **state)
{
    struct fake_engine fake;
    struct executor *executor;
    size_t without_reuse;

    make_diamond(&fake);
    executor = executor_of(&fake, NULL);
    for (int i = 0; i < 3; i++)
        assert_output(executor, diamond_input, 2, 3, diamond_output, 6);
    assert_int_equal(fake_creations, 4);
    assert_int_equal(fake_runs, 12);
    assert_int_equal(executor_memory(executor, &without_reuse), 128); /* two at a time; the output is the caller's */
    assert_int_equal(without_reuse, 192);
    executor_free(executor);
    assert_int_equal(fake_kernels, 0);
    fake_engine_release(&fake);
}

static void tensors_go_into_the_layouts_that_tactics_want(void **state)
{
    for (unsigned columns = 0; columns < 16; columns++) {
        struct fake_engine fake;
        struct executor *executor;

        make_diamond(&fake);
        for (size_t i = 0; i < 4; i++)
            if (columns >> i & 1 && i > 0) /* constants stay row-major, so that the first layer has no choice */
                fake_choose(&fake, i, "columns");
        if (columns & 1)
            fake_choose(&fake, 2, "unknown");
        executor = executor_of(&fake, NULL);
        for (int i = 0; i < 3; i++)
            assert_output(executor, diamond_input, 2, 3, diamond_output, 6);
        executor_free(executor);
        fake_engine_release(&fake);
    }
}

static void inputs_constants_and_outputs_are_rounded(void **state)
{
    static const float input[6] = {1.0001f, 70000, 1, 1, 1, 1}, expected[6] = {3, INFINITY, 3, 0, 3, 0};
    struct fake_engine fake;
    struct executor *executor;

    make_diamond(&fake);
    for (size_t i = 0; i < 4; i++)
        fake_set_precision(&fake, i, PRECISION_FLOAT16);
    executor = executor_of(&fake, NULL);
    for (int i = 0; i < 2; i++)
        assert_output(executor, input, 2, 3, expected, 6);
    executor_free(executor);
    fake_engine_release(&fake);
}

static void only_the_layer_at_a_low_precision_rounds(void **state)
{
    /* 2049 is no float16; a reader at float16 sees 2048, the others see what was stored */
    static const float input[6] = {2048, 2, 3, -4, -5, 6}, expected[6] = {2049 + 1024, 1.5f, 6, 0, 0, 7.5f};
    struct fake_engine fake;
    struct executor *executor;

    make_diamond(&fake);
    fake_set_precision(&fake, 2, PRECISION_FLOAT16);
    executor = executor_of(&fake, NULL);
    for (int i = 0; i < 2; i++)
        assert_output(executor, input, 2, 3, expected, 6);
    executor_free(executor);
    fake_engine_release(&fake);
}

static void int8_layers_read_quantized_inputs_and_store_float32(void **state)
{
    /* in steps of 0.5: 0.7 is nearest to 0.5, 0.75 lies between two and goes to the even one, 1000 saturates at 127
     * steps */
    static const float input[6] = {0.7f, 0.75f, 1000, -1000, 0, 3}, expected[6] = {0.25f, 0.5f, 31.75f, -32, 0, 1.5f};
    struct model_maker maker;
    struct fake_engine fake;
    struct executor *executor;

    for (int columns = 0; columns < 2; columns++) {
        maker_init(&maker);
        maker_node(&maker, "Halve", "x", "y");
        maker_io(&maker, GRAPH_INPUT, "x", DATA_FLOAT32);
        maker_io(&maker, GRAPH_OUTPUT, "y", DATA_FLOAT32);
        fake_engine_init(&fake, maker_finish(&maker));
        fake_choose(&fake, 0, columns ? "columns" : "known");
        fake_set_precision(&fake, 0, PRECISION_INT8);
        fake.engine.layers[0].input_scales = memory_alloc_zero(1, sizeof(float));
        fake.engine.layers[0].input_scales[0] = 0.5f;
        executor = executor_of(&fake, NULL);
        for (int i = 0; i < 2; i++)
            assert_output(executor, input, 2, 3, expected, 6);
        executor_free(executor);
        fake_engine_release(&fake);
    }
}

static void other_shapes_get_kernels_of_their_own(void **state)
{
    static const float x[12] = {-1, 2, -3, 4, 5, 6, 7, -8, 9, 10, 11, 12};
    static const float positive[12] = {0, 2, 0, 4, 5, 6, 7, 0, 9, 10, 11, 12};
    struct model_maker maker;
    struct fake_engine fake;
    struct executor *executor;

    maker_init(&maker);
    maker_node(&maker, "Relu", "x", "y");
    maker_io(&maker, GRAPH_INPUT, "x", DATA_FLOAT32);
    maker_io(&maker, GRAPH_OUTPUT, "y", DATA_FLOAT32);
    fake_engine_init(&fake, maker_finish(&maker));
    executor = executor_of(&fake, NULL);
    for (int round = 0; round < 2; round++)
        for (int64_t rows = 1; rows <= 4; rows++)
            assert_output(executor, x, rows, 3, positive, (size_t)rows * 3);
    assert_int_equal(fake_creations, 4);
    for (int64_t rows = 1; rows <= 12; rows++) /* more than are kept */
        assert_output(executor, x, rows, 1, positive, (size_t)rows);
    assert_int_equal(fake_kernels, 4);
    executor_free(executor);
    assert_int_equal(fake_kernels, 0);
    fake_engine_release(&fake);
}

static void empty_tensors_pass_through(void **state)
{
    struct fake_engine fake;
    struct executor *executor;
    struct model_maker maker;

    maker_init(&maker);
    maker_node(&maker, "Relu", "x", "r");
    maker_node(&maker, "Halve", "r", "y");
    maker_io(&maker, GRAPH_INPUT, "x", DATA_FLOAT32);
    maker_io(&maker, GRAPH_OUTPUT, "y", DATA_FLOAT32);
    fake_engine_init(&fake, maker_finish(&maker));
    fake_choose(&fake, 1, "columns");
    executor = executor_of(&fake, NULL);
    for (int i = 0; i < 3; i++)
        assert_output(executor, diamond_input, 0, 3, diamond_output, 0);
    executor_free(executor);
    fake_engine_release(&fake);
}

static void shapes_that_data_decide_may_change_between_runs(void **state)
{
    static const float few[6] = {1, -2, -3, 4, -5, -6}, many[6] = {1, 2, 3, -4, 5, 6}, none[6] = {-1, 0, 0, 0, 0, -1};
    static const float few_out[2] = {0.75f, 3}, many_out[5] = {0.75f, 1.5f, 2.25f, 3.75f, 4.5f};
    struct model_maker maker;
    struct fake_engine fake;
    struct executor *executor;

    maker_init(&maker);
    maker_node(&maker, "Positive", "x", "p");
    maker_node(&maker, "Halve", "p", "h");
    maker_node(&maker, "Halve", "h", "q");
    maker_node(&maker, "Add", "h q", "y");
    maker_io(&maker, GRAPH_INPUT, "x", DATA_FLOAT32);
    maker_io(&maker, GRAPH_OUTPUT, "y", DATA_FLOAT32);
    fake_engine_init(&fake, maker_finish(&maker));
    executor = executor_of(&fake, NULL);
    for (int i = 0; i < 3; i++) {
        float expected[1] = {0};

        assert_output(executor, few, 2, 3, (const float[2]){0.75f, 3}, 2);
        assert_output(executor, many, 2, 3, many_out, 5);
        assert_output(executor, none, 2, 3, expected, 0);
        assert_output(executor, few, 2, 3, few_out, 2);
    }
    assert_int_equal(fake_creations, 4 + 3 + 3);
    executor_free(executor);
    assert_int_equal(fake_kernels, 0);
    fake_engine_release(&fake);
}

static void a_tactic_that_does_not_take_a_shape_is_replaced_with_a_warning(void **state)
{
    static const float x[6] = {1, -2, 3, -4, 5, -6}, expected[6] = {1, 0, 3, 0, 5, 0};
    struct captured_log log;
    struct model_maker maker;
    struct fake_engine fake;
    struct executor *executor;

    captured_log_init(&log);
    maker_init(&maker);
    maker_node(&maker, "Relu", "x", "y");
    maker_io(&maker, GRAPH_INPUT, "x", DATA_FLOAT32);
    maker_io(&maker, GRAPH_OUTPUT, "y", DATA_FLOAT32);
    fake_engine_init(&fake, maker_finish(&maker));
    fake_choose(&fake, 0, "small");
    executor = executor_of(&fake, &log.log);
    assert_output(executor, x, 2, 2, expected, 4);
    assert_int_equal(log.text.size, 0);
    assert_output(executor, x, 2, 3, expected, 6);
    assert_true(captured_log_has(&log, "W Layer 'layer0': its tactic 'small' does not take inputs of these shapes, so "
                                       "'fake:known' is used for them"));
    executor_free(executor);
    fake_engine_release(&fake);
    captured_log_release(&log);
}

static void a_tactic_that_is_gone_is_an_error_for_the_shapes_that_it_was_chosen_for(void **state)
{
    struct tensor_list outputs = {0};
    struct model_maker maker;
    struct fake_engine fake;
    struct executor *executor;
    struct error err = {0};

    maker_init(&maker);
    maker_node(&maker, "Relu", "x", "y");
    maker_io(&maker, GRAPH_INPUT, "x", DATA_FLOAT32);
    maker_io(&maker, GRAPH_OUTPUT, "y", DATA_FLOAT32);
    fake_engine_init(&fake, maker_finish(&maker));
    fake_choose(&fake, 0, "small");
    fake.engine.layers[0].input_shapes = memory_alloc_zero(1, sizeof(struct shape));
    fake.engine.layers[0].input_shapes[0] = (struct shape){2, {2, 3}};
    executor = executor_of(&fake, NULL);
    assert_int_equal(run(executor, diamond_input, 2, 3, &outputs, &err), ERR_UNSUPPORTED);
    assert_string_equal(err.message, "the engine was built on another machine or with other libraries, and has to be "
                                     "built again: too large for this kernel");
    executor_free(executor);
    fake_engine_release(&fake);
}

static void tensors_of_other_types_and_omitted_inputs_are_left_alone(void **state)
{
    static const int64_t numbers[2] = {INT64_MAX, -1};
    struct text texts[2] = {TEXT("ab"), TEXT("")};
    struct tensor_list feed = {0}, outputs;
    struct model_maker maker;
    struct fake_engine fake;
    struct executor *executor;
    struct tensor tensor;
    struct error err = {0};

    maker_init(&maker);
    maker_node(&maker, "Echo", "n -", "m");
    maker_node(&maker, "Echo", "s", "t");
    maker_node(&maker, "Echo", "s", "t2");
    maker_io(&maker, GRAPH_INPUT, "n", DATA_INT64);
    maker_io(&maker, GRAPH_INPUT, "s", DATA_STRING);
    maker_io(&maker, GRAPH_OUTPUT, "m", DATA_INT64);
    maker_io(&maker, GRAPH_OUTPUT, "t", DATA_STRING);
    fake_engine_init(&fake, maker_finish(&maker));
    fake_choose(&fake, 1, "unknown");
    fake_choose(&fake, 2, "unknown");
    for (size_t i = 0; i < 3; i++)
        fake_set_precision(&fake, i, PRECISION_FLOAT16);
    executor = executor_of(&fake, NULL);
    tensor_borrow(DATA_INT64, &(struct shape){2, {1, 2}}, numbers, sizeof(numbers), &tensor);
    tensor_list_add(&feed, TEXT("n"), &tensor);
    assert_int_equal(tensor_set_strings(&(struct shape){2, {2, 1}}, texts, &tensor, &err), 0);
    tensor_list_add(&feed, TEXT("s"), &tensor);
    for (int i = 0; i < 3; i++) {
        outputs = (struct tensor_list){0};
        assert_int_equal(executor_run(executor, &feed, NULL, &outputs, NULL, &err), 0);
        assert_int_equal(outputs.count, 2);
        assert_true(tensor_identical(&outputs.items[0].tensor, &feed.items[0].tensor));
        assert_true(tensor_identical(&outputs.items[1].tensor, &feed.items[1].tensor));
        tensor_list_release(&outputs);
    }
    tensor_list_release(&feed);
    executor_free(executor);
    fake_engine_release(&fake);
}

/* Outputs can be inputs, constants, tensors that others read, and asked for twice. */
static void outputs_belong_to_the_caller(void **state)
{
    static const float constant[2] = {7, 8}, x[2] = {-1, 2};
    static const char *const wanted[] = {"y", "c", "x", "r", "y"};
    static const float expected[5][2] = {{0, 1}, {7, 8}, {-1, 2}, {0, 2}, {0, 1}};
    struct tensor_list feed = {0}, outputs[2] = {0};
    struct model_maker maker;
    struct fake_engine fake;
    struct executor *executor;
    struct error err = {0};

    maker_init(&maker);
    maker_node(&maker, "Relu", "x", "r");
    maker_node(&maker, "Halve", "r", "y");
    maker_constant(&maker, "c", constant, 1, 2);
    maker_io(&maker, GRAPH_INPUT, "x", DATA_FLOAT32);
    for (size_t i = 0; i < 4; i++)
        maker_io(&maker, GRAPH_OUTPUT, wanted[i], DATA_FLOAT32);
    fake_engine_init(&fake, maker_finish(&maker));
    fake_choose(&fake, 0, "columns");
    executor = executor_of(&fake, NULL);
    add_feed(&feed, "x", x, 1, 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(executor_run(executor, &feed, &(struct words){wanted, 5}, &outputs[i], NULL, &err), 0);
    tensor_list_release(&feed);
    executor_free(executor);
    fake_engine_release(&fake);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(outputs[i].count, 5);
        for (size_t k = 0; k < 5; k++) {
            assert_string_equal(outputs[i].items[k].name, wanted[k]);
            assert_memory_equal(outputs[i].items[k].tensor.data, expected[k], sizeof(expected[k]));
        }
        tensor_list_release(&outputs[i]);
    }
}

static void what_cannot_be_run_is_told(void **state)
{
    struct tensor_list feed = {0}, outputs = {0};
    static const char *const unknown[] = {"z"};
    struct fake_engine fake;
    struct executor *executor;
    struct error err = {0};

    make_diamond(&fake);
    fake_set_profile(&fake, 1, 3);
    executor = executor_of(&fake, NULL);
    assert_int_equal(run(executor, diamond_input, 1, 4, &outputs, &err), ERR_INVALID);
    assert_string_equal(err.message, "input 'x' has a tensor of shape (1, 4), but the engine was built for (1 to 3, "
                                     "1 to 3)");
    assert_int_equal(executor_run(executor, &feed, NULL, &outputs, NULL, &err), ERR_MISSING);
    assert_string_equal(err.message, "input 'x' of the engine is not fed");
    add_feed(&feed, "x", diamond_input, 2, 3);
    assert_int_equal(executor_run(executor, &feed, &(struct words){unknown, 1}, &outputs, NULL, &err), ERR_INVALID);
    assert_string_equal(err.message, "the engine has no output 'z'");
    feed.items[0].tensor.type = DATA_INT32;
    assert_int_equal(executor_run(executor, &feed, NULL, &outputs, NULL, &err), ERR_INVALID);
    assert_string_equal(err.message, "input 'x' of the engine takes float32, but is fed int32");
    tensor_list_release(&feed);
    assert_output(executor, diamond_input, 2, 3, diamond_output, 6); /* and goes on working */
    executor_free(executor);
    fake_engine_release(&fake);
}

static void a_kernel_that_fails_names_its_layer(void **state)
{
    struct tensor_list outputs = {0};
    struct fake_engine fake;
    struct executor *executor;
    struct error err = {0};

    make_diamond(&fake);
    fake_choose(&fake, 2, "failing");
    executor = executor_of(&fake, NULL);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run(executor, diamond_input, 2, 3, &outputs, &err), ERR_BACKEND);
        assert_string_equal(err.message, "layer 'layer2': this kernel fails");
    }
    executor_free(executor);
    fake_engine_release(&fake);
}

static int run_after_a_signal(void)
{
    struct tensor_list outputs = {0};
    struct fake_engine fake;
    struct executor *executor;
    struct error err = {0};

    make_diamond(&fake);
    executor = executor_of(&fake, NULL);
    interrupt_install();
    raise(SIGINT);
    CHECK_OR_FAIL(run(executor, diamond_input, 2, 3, &outputs, &err) == ERR_INTERRUPTED);
    CHECK_OR_FAIL(fake_runs == 0);
    executor_free(executor);
    fake_engine_release(&fake);
    return 0;
}

static void a_signal_ends_a_run(void **state)
{
    assert_int_equal(in_child(run_after_a_signal), 0);
}

static void layers_are_timed_when_asked(void **state)
{
    struct fake_engine fake;
    struct executor *executor;
    const double *seconds;
    size_t runs;

    make_diamond(&fake);
    executor = executor_of(&fake, NULL);
    assert_output(executor, diamond_input, 2, 3, diamond_output, 6);
    executor_set_profiling(executor, true);
    for (int i = 0; i < 5; i++)
        assert_output(executor, diamond_input, 2, 3, diamond_output, 6);
    seconds = executor_layer_seconds(executor, &runs);
    assert_int_equal(runs, 5);
    for (size_t i = 0; i < 4; i++)
        assert_true(seconds[i] > 0);
    executor_free(executor);
    fake_engine_release(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_shared_after_the_first_run),
        cmocka_unit_test(tensors_go_into_the_layouts_that_tactics_want),
        cmocka_unit_test(inputs_constants_and_outputs_are_rounded),
        cmocka_unit_test(only_the_layer_at_a_low_precision_rounds),
        cmocka_unit_test(int8_layers_read_quantized_inputs_and_store_float32),
        cmocka_unit_test(other_shapes_get_kernels_of_their_own),
        cmocka_unit_test(empty_tensors_pass_through),
        cmocka_unit_test(shapes_that_data_decide_may_change_between_runs),
        cmocka_unit_test(a_tactic_that_does_not_take_a_shape_is_replaced_with_a_warning),
        cmocka_unit_test(a_tactic_that_is_gone_is_an_error_for_the_shapes_that_it_was_chosen_for),
        cmocka_unit_test(tensors_of_other_types_and_omitted_inputs_are_left_alone),
        cmocka_unit_test(outputs_belong_to_the_caller),
        cmocka_unit_test(what_cannot_be_run_is_told),
        cmocka_unit_test(a_kernel_that_fails_names_its_layer),
        cmocka_unit_test(a_signal_ends_a_run),
        cmocka_unit_test(layers_are_timed_when_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
