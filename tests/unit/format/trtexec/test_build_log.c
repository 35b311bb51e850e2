/* Verbose logs: a piece of a real one, odd lines, and what is none. */
#include "support/unit_test.h"

#include <string.h>

#include "format/trtexec/build_log.h"

static void open_log(struct build_log *log)
{
    struct error error = {0};

    if (build_log_open(log, "tests/golden/trtexec/real/10.16.verbose.excerpt.log", &error) < 0)
        fail_msg("%s", error.message);
}

static void timed_kernels_have_layer_formats_name_and_time(void **state)
{
    struct build_log log;
    const struct build_timing *timing;

    open_log(&log);
    timing = &log.timings.items[0];
    assert_true(text_equal_string(timing->layer, "node_conv2d + node_relu"));
    assert_true(text_equal_string(timing->runner, "CaskConvolution"));
    assert_true(text_equal_string(timing->formats, "Float(784,784,28,1) -> Float(25088,784,28,1)"));
    assert_int_equal(timing->tactic, (int64_t)0x967f94e9db2001a8);
    assert_true(timing->milliseconds == 0.00615314);
    assert_true(text_contains(timing->tactic_name, TEXT("tilesize64x64x8_stage3")));
    build_log_release(&log);
}

static void candidates_are_those_of_the_same_formats(void **state)
{
    struct layer_info_layer layer = {
        .name = "node_conv2d + node_relu", .has_tactic = true, .tactic = 0x5b8bf1b8028629d9};
    struct build_candidates candidates;
    struct build_log log;

    open_log(&log);
    assert_true(build_log_candidates(&log, &layer, &candidates));
    assert_int_equal(candidates.timed, 28);
    assert_true(candidates.milliseconds == 0.00534603);
    assert_true(candidates.next == 0.00545964);
    assert_true(text_contains(candidates.next_name, TEXT("tilesize32x32x8_stage3_warpsize1x2x1_g1_ffma_aligna4")));
    layer.tactic++;
    assert_false(build_log_candidates(&log, &layer, &candidates));
    layer =
        (struct layer_info_layer){.name = "node_max_pool2d", .has_tactic = true, .tactic = (int64_t)0xdd39499496c9cc38};
    assert_true(build_log_candidates(&log, &layer, &candidates));
    assert_true(candidates.milliseconds <= 0.00294885); /* which came out of the cache later on */
    build_log_release(&log);
}

static void other_formats_and_cached_times_are_no_candidates(void **state)
{
    static const char text[] =
        "[V] [TRT] *************** Autotuning format combination: Float(1) -> Float(1) ********\n"
        "[V] [TRT] --------------- Timing Runner: conv (CaskConvolution[0x80000009])\n"
        "[V] [TRT] Tactic: 0x01 Time: 2\n"
        "[V] [TRT] Tactic: 0x02 Time: 3\n"
        "[V] [TRT] *************** Autotuning format combination: Half(1) -> Half(1) **********\n"
        "[V] [TRT] --------------- Timing Runner: conv (CaskConvolution[0x80000009])\n"
        "[V] [TRT] Tactic: 0x03 Time: 2.5\n"
        "[V] [TRT] conv [Float(1) -> Float(1)] got cached result: CaskConvolution, tactic 0x01, 2 ms\n";
    const struct layer_info_layer layer = {.name = "conv", .has_tactic = true, .tactic = 1};
    struct build_candidates candidates;
    struct build_log log;
    struct error error = {0};

    assert_int_equal(build_log_parse(&log, text_of(text), "test", &error), 0);
    assert_int_equal(log.timings.count, 4);
    assert_true(build_log_candidates(&log, &layer, &candidates));
    assert_int_equal(candidates.timed, 3);
    assert_true(candidates.milliseconds == 2);
    assert_true(candidates.next == 3);
    build_log_release(&log);
}

static void the_last_list_of_layers_counts(void **state)
{
    struct build_log log;
    struct layer_info info;
    const struct layer_info_layer *layer;

    open_log(&log);
    build_log_layers(&log, &info);
    assert_int_equal(info.layers.count, 6);
    layer = &info.layers.items[1];
    assert_string_equal(layer->type, "CaskPooling");
    assert_string_equal(layer->name, "node_max_pool2d");
    assert_int_equal(layer->tactic, (int64_t)0xdd39499496c9cc38);
    assert_int_equal(layer->outputs.items[0].dims[1], 32);
    layer = &info.layers.items[2];
    assert_string_equal(layer->outputs.items[0].name,
                        "Reformatted Input Tensor 0 to {ForeignNode[node_conv2d_1...node_relu_1]}");
    assert_string_equal(layer->outputs.items[0].format, "Half in vectors of 8");
    assert_int_equal(layer->outputs.items[0].type, DATA_FLOAT16);
    layer = &info.layers.items[5];
    assert_int_equal(layer->outputs.count, 2);
    assert_string_equal(layer->outputs.items[1].name, "z");
    assert_int_equal(layer->outputs.items[1].type, DATA_INT64);
    layer_info_release(&info);
    build_log_release(&log);
}

static void odd_lines_do_no_harm(void **state)
{
    struct build_log log;
    struct layer_info info;
    struct build_candidates candidates;
    struct error error = {0};

    assert_int_equal(build_log_open(&log, "tests/fuzz/corpus/fuzz_trtexec_log/odd.log", &error), 0);
    assert_int_equal(log.timings.count, 3);
    assert_true(text_equal_string(log.timings.items[0].layer, "a (b)"));
    assert_true(log.timings.items[2].cached);
    assert_true(text_equal_string(log.timings.items[2].layer, "a [x"));
    build_log_layers(&log, &info);
    assert_int_equal(info.layers.count, 2);
    assert_string_equal(info.layers.items[0].name, "a (b)");
    assert_int_equal(info.layers.items[0].outputs.count, 1);
    assert_string_equal(info.layers.items[0].outputs.items[0].name, "y, z (w)");
    assert_int_equal(info.layers.items[1].inputs.count, 0);
    assert_string_equal(info.layers.items[1].outputs.items[0].name, "y");
    assert_true(build_log_candidates(&log, &info.layers.items[0], &candidates));
    layer_info_release(&info);
    build_log_release(&log);
}

static void a_log_of_something_else_is_told(void **state)
{
    struct build_log log;
    struct error error = {0};

    assert_int_equal(build_log_parse(&log, TEXT("[I] Engine built in 1 sec.\n"), "a.log", &error), ERR_INVALID);
    assert_non_null(strstr(error.message, "'a.log' tells nothing of a build"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timed_kernels_have_layer_formats_name_and_time),
        cmocka_unit_test(candidates_are_those_of_the_same_formats),
        cmocka_unit_test(other_formats_and_cached_times_are_no_candidates),
        cmocka_unit_test(the_last_list_of_layers_counts),
        cmocka_unit_test(odd_lines_do_no_harm),
        cmocka_unit_test(a_log_of_something_else_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
