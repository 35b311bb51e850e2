/* What trtexec writes: its lines, and exported outputs. */
#include "support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/trtexec/exported_output.h"
#include "backend/trtexec/report.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "support/captured_log.h"

static char *read_golden(const char *version, const char *name, size_t *ret_size)
{
    char path[200], *data;
    struct error error = {0};

    snprintf(path, sizeof(path), "tests/golden/trtexec/front_end/%s/%s", version, name);
    assert_int_equal(file_read(path, 1 << 20, &data, ret_size, &error), 0);
    return data;
}

static void the_front_end_of_each_version_is_understood(void **state)
{
    static const char *const versions[] = {"10.16", "11.0"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        struct trtexec_report report;
        const struct trtexec_binding *binding;
        struct arena arena;
        size_t size;
        char *out = read_golden(versions[i], "stdout.txt", &size);

        arena_init(&arena);
        trtexec_report_read((struct text){out, size}, (struct text){0}, &arena, NULL, &report);
        assert_true(report.passed);
        assert_int_equal(report.bindings.count, 3);
        binding = trtexec_find_binding(&report, "y/out:0");
        assert_non_null(binding);
        assert_true(binding->is_output);
        assert_int_equal(binding->type, DATA_FLOAT32);
        assert_int_equal(binding->shape.rank, 2);
        assert_int_equal(binding->shape.dims[1], 3);
        assert_false(trtexec_find_binding(&report, "x")->is_output);
        assert_int_equal(report.dumps.count, 3);
        assert_string_equal(report.dumps.items[1].name, "y/out:0");
        assert_string_equal(report.dumps.items[1].file, "y_out_0.output.2.3.fp32.raw");
        assert_int_equal(report.dumps.items[0].type, DATA_FLOAT16);
        assert_int_equal(report.loaded.count, 1);
        assert_string_equal(report.loaded.items[0], "x");
        assert_int_equal(report.errors.size, 0);
        trtexec_report_release(&report);
        arena_release(&arena);
        free(out);
    }
}

#define STAMP "[11/22/2026-08:02:20] "

static void read_lines(const char *out, const char *error_out, struct arena *arena, struct trtexec_report *ret)
{
    arena_init(arena);
    trtexec_report_read(text_of(out), text_of(error_out), arena, NULL, ret);
}

static void names_may_hold_what_separates_them(void **state)
{
    struct trtexec_report report;
    struct arena arena;

    (void)state;
    read_lines(STAMP
               "[I] Input binding for a with dimensions 7 with dimensions 2x3 and type int64 is created.\n" STAMP
               "[I] Output binding for s with dimensions  and type fp32 is created.\n" STAMP
               "[I] Output binding for old with dimensions 1x2 is created.\n" STAMP
               "[I] Output binding for d is dynamic and will be created during execution using OutputAllocator.\n" STAMP
               "[I] Writing file for output binding y (with datatype fp16 and dimensions 3) to z (with datatype "
               "bf16 and dimensions -1.2) to y_.output.-1.2.bf16.raw\n" STAMP
               "[I] Writing file for output binding up (with datatype fp16 and dimensions 3) to ../up\n" STAMP
               "[I] Using values loaded from i0 for input a for input b\n" STAMP
               "[W] Shape missing for input with dynamic shape: xAutomatically setting shape to: 1x3\n",
               "", &arena, &report);
    assert_false(report.passed);
    assert_int_equal(report.bindings.count, 4);
    assert_string_equal(report.bindings.items[0].name, "a with dimensions 7");
    assert_int_equal(report.bindings.items[0].type, DATA_INT64);
    assert_int_equal(report.bindings.items[1].shape.rank, 0);
    assert_int_equal(report.bindings.items[2].type, DATA_UNDEFINED);
    assert_int_equal(report.bindings.items[2].shape.rank, 2);
    assert_true(report.bindings.items[3].by_allocator);
    assert_int_equal(report.dumps.count, 1); /* none that lies in another folder */
    assert_string_equal(report.dumps.items[0].name, "y (with datatype fp16 and dimensions 3) to z");
    assert_int_equal(report.dumps.items[0].type, DATA_BFLOAT16);
    assert_int_equal(report.dumps.items[0].shape.dims[0], -1);
    assert_string_equal(report.loaded.items[0], "b");
    assert_string_equal(report.open_inputs.items[0], "x");
    trtexec_report_release(&report);
    arena_release(&arena);
}

static void what_tensorrt_says_is_not_taken_for_what_trtexec_says(void **state)
{
    struct trtexec_report report;
    struct arena arena;

    (void)state;
    read_lines(STAMP "[I] [TRT] Output binding for y with dimensions 1 and type fp32 is created.\n"
                     "Output binding for z with dimensions 1 and type fp32 is created.\n" STAMP
                     "[V] [TRT] For layer conv a non-conforming implementation was chosen than was requested\n" STAMP
                     "[I] Set layer conv to precision fp16\n",
               STAMP "[W] [TRT] Could not read cache from: timing.cache. A new cache will be generated and written.\n",
               &arena, &report);
    assert_int_equal(report.bindings.count, 0);
    assert_int_equal(report.other_layers.count, 1);
    assert_string_equal(report.set_layers.items[0], "conv");
    assert_true(report.lost_timing_cache);
    trtexec_report_release(&report);
    arena_release(&arena);
}

static void errors_are_kept_and_help_is_dropped(void **state)
{
    struct trtexec_report report;
    struct captured_log captured;
    struct arena arena;

    (void)state;
    arena_init(&arena);
    captured_log_init(&captured);
    trtexec_report_read(TEXT("=== Model Options ===\n  --onnx=<file>  the model\n"),
                        TEXT(STAMP "[E] Unknown option: --x 1\n" STAMP "[W] [TRT] a warning\n" STAMP
                                   "[E] [TRT] \x1b[31mred\nUncaught exception detected: file size\n"),
                        &arena, &captured.log, &report);
    assert_string_equal(report.errors.data, "Unknown option: --x 1; red; Uncaught exception detected: file size");
    assert_non_null(strstr(captured.text.data, "TensorRT: a warning"));
    assert_null(strstr(captured.text.data, "--onnx"));
    captured_log_release(&captured);
    trtexec_report_release(&report);
    arena_release(&arena);
}

static void errors_without_end_make_no_message_without_end(void **state)
{
    struct trtexec_report report;
    struct string_builder lines;
    struct arena arena;

    (void)state;
    arena_init(&arena);
    string_init(&lines);
    for (size_t i = 0; i < 10000; i++)
        string_add(&lines, STAMP "[E] [TRT] once more\n");
    trtexec_report_read(TEXT(""), (struct text){lines.data, lines.size}, &arena, NULL, &report);
    assert_in_range(report.errors.size, 1000, 2000);
    trtexec_report_release(&report);
    string_release(&lines);
    arena_release(&arena);
}

static void whole_numbers_of_open_shape_are_exact(void **state)
{
    static const int64_t expected[] = {0, 1, 2, 3};
    struct error error = {0};
    struct tensor tensor = {0};
    size_t size;
    char *file = read_golden("10.16", "exportOutput_dds_invalid.json", &size);
    struct text text = {file, size};

    (void)state;
    assert_int_equal(exported_output_read(text, "dds", DATA_INT64, &tensor, &error), 0);
    assert_int_equal(tensor.shape.rank, 2);
    assert_int_equal(tensor.shape.dims[0], 2);
    assert_memory_equal(tensor.data, expected, sizeof(expected));
    tensor_release(&tensor);
    assert_int_equal(exported_output_read(text, "h", DATA_UINT8, &tensor, &error), 0);
    assert_int_equal(((const uint8_t *)tensor.data)[2], 2);
    tensor_release(&tensor);
    assert_int_equal(exported_output_read(text, "dds", DATA_FLOAT32, &tensor, &error), ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "six digits"));
    assert_int_equal(exported_output_read(text, "y/out:0", DATA_INT32, &tensor, &error), ERR_CORRUPT); /* 0.333333 */
    assert_int_equal(exported_output_read(text, "dds", DATA_BOOL, &tensor, &error), ERR_CORRUPT);      /* 2 */
    assert_int_equal(exported_output_read(text, "nothing", DATA_INT32, &tensor, &error), ERR_CORRUPT);
    free(file);
}

static void exported_values_have_to_be_as_many_as_their_shape_has(void **state)
{
    static const char *const files[] = {
        "{ \"name\" : \"a\"\n  , \"dimensions\" : \"2x3\"\n  , \"values\" : [ 1, 2 ]\n  }\n",
        "{ \"name\" : \"a\"\n  , \"dimensions\" : \"1\"\n  , \"values\" : [ 1, 2 ]\n  }\n",
        "{ \"name\" : \"a\"\n  , \"dimensions\" : \"-1\"\n  , \"values\" : [ 1, 2 ]\n  }\n",
        "{ \"name\" : \"a\"\n  , \"dimensions\" : \"99999999999x99999999999\"\n  , \"values\" : [ 1, 2 ]\n  }\n",
        "{ \"name\" : \"a\"\n  , \"dimensions\" : \"2\"\n  , \"values\" : [ 1, 2",
        "{ \"name\" : \"a\"\n  , \"dimensions\" : \"0\"\n  , \"values\" : [ 1 ]\n",
    };
    struct error error = {0};
    struct tensor tensor = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        assert_int_equal(exported_output_read(text_of(files[i]), "a", DATA_INT32, &tensor, &error), ERR_CORRUPT);
    assert_int_equal(exported_output_read(TEXT("{ \"name\" : \"a\"\n  , \"dimensions\" : \"0x2\"\n  , \"values\" : [  "
                                               "]\n  }\n"),
                                          "a", DATA_INT32, &tensor, &error),
                     0);
    assert_int_equal(tensor.size, 0);
    tensor_release(&tensor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_front_end_of_each_version_is_understood),
        cmocka_unit_test(names_may_hold_what_separates_them),
        cmocka_unit_test(what_tensorrt_says_is_not_taken_for_what_trtexec_says),
        cmocka_unit_test(errors_are_kept_and_help_is_dropped),
        cmocka_unit_test(errors_without_end_make_no_message_without_end),
        cmocka_unit_test(whole_numbers_of_open_shape_are_exact),
        cmocka_unit_test(exported_values_have_to_be_as_many_as_their_shape_has),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
