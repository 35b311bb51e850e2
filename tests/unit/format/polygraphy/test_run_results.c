/* Files of run results: Polygraphy's own, old and new, and damaged ones. */
#include "support/format_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "format/polygraphy/run_results.h"

#define VALUE_BASE64 /* a .npy file: float32, shape (3,), 1 2 3 */                                                     \
    "k05VTVBZAQB2AHsnZGVzY3InOiAnPGY0JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDMsKSwgfSAgICAgICAgICAgICAgICAg" \
    "I"                                                                                                                \
    "CAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAIA/AAAAQAAAQEA="

static const float one_two_three[] = {1, 2, 3};

static void load(struct run_results *results, const char *path)
{
    struct error error = {0};

    if (run_results_load(results, path, &error) < 0)
        fail_msg("%s", error.message);
}

/* A results file with one output, whose value is `output`. */
static void make_file(const char *output, struct string_builder *ret)
{
    string_init(ret);
    string_add_format(ret,
                      "{\"lst\": [[\"r\", [{\"outputs\": {\"o\": %s}, \"runtime\": 0.5, \"runner_name\": \"r\", "
                      "\"polygraphy_class\": \"IterationResult\"}]]], \"polygraphy_class\": \"RunResults\"}",
                      output);
}

static int parse(struct run_results *results, const char *json, struct error *err)
{
    return run_results_parse(results, json, strlen(json), "test.json", err);
}

static void assert_output(const char *output)
{
    struct run_results results = {0};
    struct string_builder json;
    struct error error = {0};
    const struct tensor *tensor;

    make_file(output, &json);
    if (parse(&results, json.data, &error) < 0)
        fail_msg("%s: %s", output, error.message);
    tensor = &results.items[0].items[0].outputs.items[0].tensor;
    assert_int_equal(tensor->type, DATA_FLOAT32);
    assert_int_equal(tensor->size, sizeof(one_two_three));
    assert_memory_equal(tensor->data, one_two_three, sizeof(one_two_three));
    run_results_release(&results);
    string_release(&json);
}

static void assert_refused(const char *json, int code, const char *part)
{
    struct run_results results = {0};
    struct error error = {0};

    assert_int_equal(parse(&results, json, &error), code);
    assert_message_contains(&error, part);
    assert_int_equal(results.count, 0);
}

static void assert_output_refused(const char *output, int code, const char *part)
{
    struct string_builder json;

    make_file(output, &json);
    assert_refused(json.data, code, part);
    string_release(&json);
}

static void polygraphys_files_come_out_as_they_were(void **state)
{
    static const char *const names[] = {"all_dtypes_2runners_2iters", "duplicate_runner_names",
                                        "run_layerwise_mark_all", "run_save_outputs_2runners_2iters"};
    const char *copy = scratch_path("results.json");

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct run_results results = {0};
        struct error error = {0};
        char path[128];

        snprintf(path, sizeof(path), "tests/golden/run/%s.json", names[i]);
        load(&results, path);
        if (run_results_save(&results, copy, &error) < 0)
            fail_msg("%s", error.message);
        assert_same_content(copy, path);
        run_results_release(&results);
    }
    unlink(copy);
}

static void runners_iterations_and_outputs_keep_their_order(void **state)
{
    struct run_results results = {0};
    const struct iteration_result *iteration;

    load(&results, "tests/golden/run/all_dtypes_2runners_2iters.json");
    assert_int_equal(results.count, 2);
    assert_string_equal(results.items[0].name, "runner-a");
    assert_string_equal(results.items[1].name, "runner-b");
    assert_int_equal(results.items[1].count, 2);
    iteration = &results.items[1].items[1];
    assert_string_equal(iteration->runner_name, "runner-b");
    assert_true(iteration->runtime == 0.002);
    assert_int_equal(iteration->outputs.count, 15);
    assert_string_equal(iteration->outputs.items[0].name, "f32");
    assert_string_equal(iteration->outputs.items[14].name, "rank5");
    assert_int_equal(iteration->outputs.items[12].tensor.shape.rank, 0);
    assert_int_equal(iteration->outputs.items[13].tensor.size, 0);
    assert_int_equal(iteration->outputs.items[10].tensor.type, DATA_UINT64);
    assert_memory_equal(iteration->outputs.items[10].tensor.data, "\0\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff",
                        16);
    run_results_release(&results);
}

static void odd_layouts_become_plain_ones(void **state)
{
    const float by_rows[] = {0, 1, 2, 3, 4, 5};
    struct run_results results = {0};
    const struct tensor_list *outputs;
    const struct text *texts;

    load(&results, "tests/golden/run/odd_layouts.json");
    outputs = &results.items[0].items[0].outputs;
    assert_true(isnan(results.items[0].items[0].runtime));
    assert_memory_equal(tensor_list_find(outputs, TEXT("fortran"))->tensor.data, by_rows, sizeof(by_rows));
    assert_memory_equal(tensor_list_find(outputs, TEXT("big_endian"))->tensor.data, by_rows, 12);
    assert_memory_equal(tensor_list_find(outputs, TEXT("transposed"))->tensor.data, ((const float[]){0, 3, 1, 4, 2, 5}),
                        sizeof(by_rows));
    texts = tensor_list_find(outputs, TEXT("unicode"))->tensor.data;
    assert_true(text_equal_string(texts[0], "a") && text_equal_string(texts[1], "bcd"));
    run_results_release(&results);
}

static void old_files_are_read(void **state)
{
    static const char *const names[] = {"LazyNumpyArray", "bare_ndarray_outputs", "old_markers"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct run_results results = {0};
        const struct tensor *tensor;
        char path[128];

        snprintf(path, sizeof(path), "tests/golden/legacy/run_results_%s.json", names[i]);
        load(&results, path);
        assert_true(results.items[0].items[0].runtime == 0.5);
        tensor = &results.items[0].items[0].outputs.items[0].tensor;
        assert_memory_equal(tensor->data, one_two_three, sizeof(one_two_three));
        run_results_release(&results);
    }
}

static void old_forms_of_arrays_are_read(void **state)
{
    static const char *const names[] = {"base64_npz", "latin1_npy", "latin1_npz_old_marker", "marker_base64"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char path[128];
        size_t size;

        snprintf(path, sizeof(path), "tests/golden/legacy/ndarray_%s.json", names[i]);
        char *array = content_of(path, &size);
        assert_output(array);
        free(array);
    }
}

static void array_may_be_written_in_any_way_that_json_allows(void **state)
{
    assert_output("{\"polygraphy_class\": \"ndarray\", \"array\": \"" VALUE_BASE64 "\"}");
    assert_output("{\"polygraphy_class\": \"nd\\u0061rray\", \"extra\": 1, \"\\u0061rray\": \"" VALUE_BASE64 "\"}");
    assert_output(
        "{\"ndarray\": \"polygraphy_serialized_json_type\", \"array\": \"\\u006b"
        "05VTVBZAQB2AHsnZGVzY3InOiAnPGY0JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDMsKSwgfSAgICAgICAgICAg"
        "ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAIA\\/AAAAQAAAQEA=\"}");
    assert_output("{\"__polygraphy_encoded_LazyNumpyArray\": \"polygraphy_serialized_json_type\", \"values\": "
                  "{\"polygraphy_class\": \"ndarray\", \"array\": \"" VALUE_BASE64 "\"}}");
}

static void arrays_that_only_python_or_tensorrt_reads_are_refused_by_name(void **state)
{
    assert_output_refused("{\"tensor\": \"UEsD\", \"polygraphy_class\": \"Tensor\"}", ERR_UNSUPPORTED, "torch Tensor");
    assert_output_refused("{\"values\": {\"array\": null, \"shape\": [], \"polygraphy_class\": \"FormattedArray\"}, "
                          "\"polygraphy_class\": \"LazyArray\"}",
                          ERR_UNSUPPORTED, "FormattedArray");
}

static void damaged_array_is_refused_with_its_place(void **state)
{
    const char *const place = "'test.json': runner 0: iteration 0: output 'o': ";

    assert_output_refused("{\"array\": \"????\", \"polygraphy_class\": \"ndarray\"}", ERR_CORRUPT, place);
    assert_output_refused("{\"array\": \"\\u20ac\\u20ac\", \"polygraphy_class\": \"ndarray\"}", ERR_CORRUPT,
                          "neither base64 nor bytes");
    assert_output_refused("{\"array\": \"\", \"polygraphy_class\": \"ndarray\"}", ERR_CORRUPT, place);
    assert_output_refused("{\"array\": 1, \"polygraphy_class\": \"ndarray\"}", ERR_CORRUPT, place);
    assert_output_refused("{\"polygraphy_class\": \"ndarray\"}", ERR_CORRUPT, place);
    assert_output_refused("{\"polygraphy_class\": \"LazyArray\"}", ERR_CORRUPT, place);
    assert_output_refused("{\"polygraphy_class\": \"RunResults\"}", ERR_CORRUPT, place);
    assert_output_refused("[1, 2]", ERR_CORRUPT, place);
    assert_output_refused("{\"array\": \"UEsDBA==\", \"polygraphy_class\": \"ndarray\"}", ERR_CORRUPT, place);
}

static void unknown_class_is_refused_wherever_it_is(void **state)
{
    assert_refused("{\"lst\": [], \"x\": [{\"polygraphy_class\": \"Foo\"}], \"polygraphy_class\": \"RunResults\"}",
                   ERR_UNSUPPORTED, "Could not decode serialized type: Foo");
    assert_output_refused("{\"polygraphy_class\": 3}", ERR_UNSUPPORTED, "Could not decode serialized type:");
}

static void file_of_another_kind_is_told_apart_from_a_damaged_one(void **state)
{
    assert_refused("[]", ERR_INVALID,
                   "Provided JSON cannot be decoded into a RunResults. Note: 'test.json' holds a list");
    assert_refused("{}", ERR_INVALID, "Provided JSON cannot be decoded into a RunResults.");
    assert_refused("{\"replay\": {}, \"polygraphy_class\": \"TacticReplayData\"}", ERR_INVALID, "a TacticReplayData");
    assert_refused("{\"polygraphy_class\": \"RunResults\"}", ERR_CORRUPT, "'lst'");
    assert_refused("{\"lst\": [[\"r\"]], \"polygraphy_class\": \"RunResults\"}", ERR_CORRUPT, "runner 0");
    assert_refused("{\"lst\": [[\"r\", [], 1]], \"polygraphy_class\": \"RunResults\"}", ERR_CORRUPT, "runner 0");
    assert_refused("{\"lst\": [[1, []]], \"polygraphy_class\": \"RunResults\"}", ERR_CORRUPT, "name");
    assert_refused("{\"lst\": [[\"r\", [{}]]], \"polygraphy_class\": \"RunResults\"}", ERR_CORRUPT, "iteration 0");
    assert_refused("{\"lst\": [[\"a\\u0000b\", []]], \"polygraphy_class\": \"RunResults\"}", ERR_CORRUPT, "NUL");
}

static void file_cut_off_anywhere_is_refused_and_changes_nothing(void **state)
{
    size_t size;
    char *content = content_of("tests/golden/run/duplicate_runner_names.json", &size);
    struct run_results results = {0};

    load(&results, "tests/golden/run/duplicate_runner_names.json");
    for (size_t length = 0; length < size; length++) {
        char *cut = malloc(length ? length : 1);

        memcpy(cut, content, length);
        assert_true(run_results_parse(&results, cut, length, "cut", NULL) < 0);
        free(cut);
    }
    assert_int_equal(results.count, 2);
    assert_string_equal(results.items[1].name, results.items[0].name);
    run_results_release(&results);
    free(content);
}

static void empty_results_are_polygraphys(void **state)
{
    const char *path = scratch_path("empty.json");
    struct run_results results = {0};
    size_t size;
    char *content;

    assert_int_equal(run_results_save(&results, path, NULL), 0);
    content = content_of(path, &size);
    assert_string_equal(content, "{\n    \"lst\": [],\n    \"polygraphy_class\": \"RunResults\"\n}");
    load(&results, path);
    assert_int_equal(results.count, 0);
    free(content);
    unlink(path);
}

static void unknown_runtime_is_written_as_null_and_odd_ones_are_kept(void **state)
{
    static const double runtimes[] = {NAN, INFINITY, 0.0, 1e-7};
    const char *path = scratch_path("runtime.json");
    struct run_results results = {0}, back = {0};
    struct runner_results *runner = run_results_add_runner(&results, TEXT("a\xc3\xa9\"b"));
    size_t size;
    char *content;

    for (size_t i = 0; i < ARRAY_LEN(runtimes); i++)
        runner_results_add_iteration(runner, runtimes[i]);
    assert_int_equal(run_results_save(&results, path, NULL), 0);
    content = content_of(path, &size);
    assert_non_null(strstr(content, "\"runtime\": null"));
    assert_non_null(strstr(content, "\"runtime\": Infinity"));
    load(&back, path);
    assert_string_equal(back.items[0].name, "a\xc3\xa9\"b");
    assert_string_equal(back.items[0].items[0].runner_name, "a\xc3\xa9\"b");
    assert_true(isnan(back.items[0].items[0].runtime));
    for (size_t i = 1; i < ARRAY_LEN(runtimes); i++)
        assert_true(back.items[0].items[i].runtime == runtimes[i]);
    run_results_release(&results);
    run_results_release(&back);
    free(content);
    unlink(path);
}

/* Larger than any buffer on the way, and of a length that leaves base64 a remainder. */
static void large_output_comes_back(void **state)
{
    const char *path = scratch_path("large.json");
    struct shape shape = {1, {1000003}};
    struct run_results results = {0}, back = {0};
    struct iteration_result *iteration = runner_results_add_iteration(run_results_add_runner(&results, TEXT("r")), 1.0);
    struct tensor tensor;

    assert_int_equal(tensor_allocate(DATA_UINT8, &shape, &tensor, NULL), 0);
    for (size_t i = 0; i < tensor.size; i++)
        ((uint8_t *)tensor_writable(&tensor))[i] = (uint8_t)(i * i >> 3);
    tensor_list_add(&iteration->outputs, TEXT("large"), &tensor);
    assert_int_equal(run_results_save(&results, path, NULL), 0);
    load(&back, path);
    assert_true(tensor_identical(&iteration->outputs.items[0].tensor, &back.items[0].items[0].outputs.items[0].tensor));
    run_results_release(&results);
    run_results_release(&back);
    unlink(path);
}

static void output_that_cannot_be_written_leaves_the_old_file(void **state)
{
    const char *path = scratch_path("kept.json");
    struct run_results results = {0};
    struct iteration_result *iteration = runner_results_add_iteration(run_results_add_runner(&results, TEXT("r")), 1.0);
    struct tensor tensor = {0};
    struct error error = {0};
    size_t size;
    char *content;

    assert_int_equal(file_write(path, "old", 3, FILE_INTERMEDIATE, NULL), 0);
    tensor_list_add(&iteration->outputs, TEXT("typeless"), &tensor);
    assert_int_equal(run_results_save(&results, path, &error), ERR_UNSUPPORTED);
    assert_message_contains(&error, "output 'typeless'");
    content = content_of(path, &size);
    assert_string_equal(content, "old");
    free(content);
    run_results_release(&results);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polygraphys_files_come_out_as_they_were),
        cmocka_unit_test(runners_iterations_and_outputs_keep_their_order),
        cmocka_unit_test(odd_layouts_become_plain_ones),
        cmocka_unit_test(old_files_are_read),
        cmocka_unit_test(old_forms_of_arrays_are_read),
        cmocka_unit_test(array_may_be_written_in_any_way_that_json_allows),
        cmocka_unit_test(arrays_that_only_python_or_tensorrt_reads_are_refused_by_name),
        cmocka_unit_test(damaged_array_is_refused_with_its_place),
        cmocka_unit_test(unknown_class_is_refused_wherever_it_is),
        cmocka_unit_test(file_of_another_kind_is_told_apart_from_a_damaged_one),
        cmocka_unit_test(file_cut_off_anywhere_is_refused_and_changes_nothing),
        cmocka_unit_test(empty_results_are_polygraphys),
        cmocka_unit_test(unknown_runtime_is_written_as_null_and_odd_ones_are_kept),
        cmocka_unit_test(large_output_comes_back),
        cmocka_unit_test(output_that_cannot_be_written_leaves_the_old_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
