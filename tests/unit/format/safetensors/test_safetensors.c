/* Files of named tensors. */
#include "support/format_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "format/data/file.h"
#include "format/polygraphy/run_results.h"
#include "format/safetensors/safetensors.h"

/* A file with this header, which is padded with blanks to `room` bytes, and `data_size` bytes of data. */
static struct span make_file(const char *header, size_t room, size_t data_size)
{
    size_t length = room > strlen(header) ? room : strlen(header);
    uint8_t *bytes = memory_alloc_zero(8 + length + data_size, 1);

    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)((uint64_t)length >> 8 * i);
    memset(bytes + 8, ' ', length);
    memcpy(bytes + 8, header, strlen(header));
    for (size_t i = 0; i < data_size; i++)
        bytes[8 + length + i] = (uint8_t)i;
    return (struct span){bytes, 8 + length + data_size};
}

static void assert_refused(const char *header, size_t data_size, int code, const char *part)
{
    struct span file = make_file(header, 0, data_size);
    struct safetensors tensors = {0};
    struct error error = {0};

    assert_int_equal(safetensors_open_memory(file, "test", &tensors, &error), code);
    assert_message_contains(&error, part);
    assert_int_equal(tensors.count, 0);
    free((void *)file.data);
}

/* All tensors of a file, in their order. */
static struct tensor_list read_tensors(const struct safetensors *file)
{
    struct tensor_list ret = {0};

    for (size_t i = 0; i < file->count; i++) {
        struct tensor tensor;
        SCOPED_STRING(name);

        assert_int_equal(safetensors_read_name(file, i, &name, NULL), 0);
        assert_int_equal(safetensors_read(file, i, &tensor, NULL), 0);
        tensor_list_add(&ret, (struct text){name.data, name.size}, &tensor);
    }
    return ret;
}

static void tensors_refer_to_the_file_in_the_order_of_their_data(void **state)
{
    struct span file =
        make_file("{\"b\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},\"__metadata__\":{\"k\":"
                  "\"v\"},\"e\":{\"dtype\":\"F64\",\"shape\":[0,7],\"data_offsets\":[3,3]},"
                  "\"a\":{\"dtype\":\"BF16\",\"shape\":[1,2],\"data_offsets\":[3,7]}}",
                  300, 7);
    struct safetensors tensors;
    struct tensor_list list;
    struct error error = {0};

    if (safetensors_open_memory(file, "test", &tensors, &error) < 0)
        fail_msg("%s", error.message);
    list = read_tensors(&tensors);
    assert_int_equal(list.count, 3);
    assert_string_equal(list.items[0].name, "b");
    assert_string_equal(list.items[1].name, "e");
    assert_string_equal(list.items[2].name, "a");
    assert_ptr_equal(list.items[0].tensor.data, file.data + 308);
    assert_ptr_equal(list.items[2].tensor.data, file.data + 311);
    assert_int_equal(list.items[2].tensor.type, DATA_BFLOAT16);
    assert_int_equal(list.items[2].tensor.shape.rank, 2);
    assert_string_equal(safetensors_find_metadata(&tensors, "k"), "v");
    assert_null(safetensors_find_metadata(&tensors, "v"));
    tensor_list_release(&list);
    safetensors_close(&tensors);
    free((void *)file.data);
}

#define ENTRY(name, dtype, shape, offsets)                                                                             \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

static void damaged_headers_are_refused(void **state)
{
    assert_refused("{" ENTRY("a", "U8", "[4]", "[0,5]") "}", 4, ERR_CORRUPT, "are outside of the 4 bytes");
    assert_refused("{" ENTRY("a", "U8", "[4]", "[4,0]") "}", 4, ERR_CORRUPT, "are outside of the");
    assert_refused("{" ENTRY("a", "U8", "[4]", "[-1,3]") "}", 4, ERR_CORRUPT, "are outside of the");
    assert_refused("{" ENTRY("a", "U8", "[4]", "[0]") "}", 4, ERR_CORRUPT, "two numbers");
    assert_refused("{" ENTRY("a", "U8", "[3]", "[0,4]") "}", 4, ERR_CORRUPT, "do not match its");
    assert_refused("{" ENTRY("a", "F32", "[4]", "[0,4]") "}", 4, ERR_CORRUPT, "do not match its");
    assert_refused("{" ENTRY("a", "F32", "[4294967296,4294967296]", "[0,0]") "}", 0, ERR_CORRUPT, "do not match its");
    assert_refused("{" ENTRY("a", "F32", "[4611686018427387904]", "[0,0]") "}", 0, ERR_CORRUPT, "do not match its");
    assert_refused("{" ENTRY("a", "U8", "[-4]", "[0,4]") "}", 4, ERR_CORRUPT, "dimension 0");
    assert_refused("{" ENTRY("a", "U8", "4", "[0,4]") "}", 4, ERR_CORRUPT, "not a list");
    assert_refused("{" ENTRY("a", "Q3", "[4]", "[0,4]") "}", 4, ERR_UNSUPPORTED, "'Q3'");
    assert_refused("{" ENTRY("a", "U8", "[4]", "[0,4]") "}", 5, ERR_CORRUPT, "1 bytes at the end");
    assert_refused("{" ENTRY("a", "U8", "[3]", "[1,4]") "}", 4, ERR_CORRUPT, "begin at byte 1");
    assert_refused("{" ENTRY("a", "U8", "[3]", "[0,3]") "," ENTRY("b", "U8", "[2]", "[2,4]") "}", 4, ERR_CORRUPT,
                   "'b': its data begin at byte 2");
    assert_refused("{\"a\":1}", 0, ERR_CORRUPT, "'a'");
    assert_refused("{\"__metadata__\":{\"k\":1}}", 0, ERR_CORRUPT, "__metadata__");
    assert_refused("{\"__metadata__\":{},\"__metadata__\":{\"polygraphy\":\"inputs\"}}", 0, ERR_CORRUPT,
                   "two members '__metadata__'");
    assert_refused("{\"a\":", 0, ERR_CORRUPT, "test': 'header': byte");
    assert_refused("{" ENTRY("a", "U8", "[1]", "[0,1]") ",\"b\":1x}", 1, ERR_CORRUPT, "byte 59");
    assert_refused("[]", 0, ERR_CORRUPT, "not a safetensors file");
}

static void file_that_ends_in_its_header_is_refused(void **state)
{
    struct span file = make_file("{}", 0, 0);
    struct safetensors tensors;
    struct error error = {0};

    for (size_t size = 0; size < file.size; size++)
        assert_int_equal(safetensors_open_memory((struct span){file.data, size}, "test", &tensors, &error),
                         ERR_CORRUPT);
    assert_int_equal(safetensors_open_memory(file, "test", &tensors, &error), 0);
    assert_int_equal(tensors.count, 0);
    safetensors_close(&tensors);
    free((void *)file.data);
}

static void write_bytes(struct safetensors_writer *writer, const char *name, enum data_type type, int64_t elements)
{
    static const uint8_t bytes[64] = {1, 2, 3, 0xff, 5, 6, 7, 8, 9};
    struct error error = {0};
    struct tensor tensor;

    tensor_borrow(type, &(struct shape){1, {elements}}, bytes, tensor_bytes(type, (size_t)elements), &tensor);
    if (safetensors_writer_add(writer, name, &tensor, &error) < 0)
        fail_msg("%s", error.message);
}

static void every_type_of_the_format_keeps_its_bytes(void **state)
{
    const char *path = scratch_path("types.safetensors");
    struct safetensors_writer writer;
    struct safetensors tensors;
    struct tensor_list list;
    struct error error = {0};
    size_t found = 0;

    assert_int_equal(safetensors_writer_open(&writer, path, &error), 0);
    for (int type = 1; type < DATA_TYPE_COUNT; type++)
        if (type != DATA_STRING && type != DATA_COMPLEX128 && type != DATA_INT4 && type != DATA_UINT4)
            write_bytes(&writer, data_type_name((enum data_type)type), (enum data_type)type, 4);
    assert_int_equal(safetensors_writer_commit(&writer, NULL, 0, &error), 0);
    safetensors_writer_release(&writer);
    assert_true(safetensors_recognize(path));
    if (safetensors_open(path, &tensors, &error) < 0)
        fail_msg("%s", error.message);
    list = read_tensors(&tensors);
    for (size_t i = 0; i < list.count; i++) {
        const struct named_tensor *item = &list.items[i];

        assert_string_equal(item->name, data_type_name(item->tensor.type));
        assert_int_equal(((const uint8_t *)item->tensor.data)[1], 2);
        found++;
    }
    assert_int_equal(found, DATA_TYPE_COUNT - 1 - 4);
    safetensors_close(&tensors);
    tensor_list_release(&list);
    unlink(path);
}

static void type_that_the_format_lacks_is_refused_with_a_hint(void **state)
{
    const char *path = scratch_path("strings.safetensors");
    struct safetensors_writer writer;
    struct error error = {0};
    struct tensor strings;

    assert_int_equal(tensor_set_strings(&(struct shape){1, {1}}, (struct text[]){TEXT("a")}, &strings, NULL), 0);
    assert_int_equal(safetensors_writer_open(&writer, path, &error), 0);
    assert_int_equal(safetensors_writer_add(&writer, "s", &strings, &error), ERR_UNSUPPORTED);
    assert_message_contains(&error, ".json");
    safetensors_writer_release(&writer);
    assert_false(file_exists(path));
    tensor_release(&strings);
}

/* With and without the module that all these names need. */
static void header_may_outgrow_its_room(void **state)
{
    const char *path = scratch_path("many.safetensors");

    for (int expected = 0; expected < 2; expected++) {
        struct safetensors_metadata metadata = {memory_strdup("k\n"), memory_strdup("\"v\"")};
        struct safetensors_writer writer;
        struct safetensors tensors;
        struct tensor_list list;
        struct error error = {0};
        char name[32];

        assert_int_equal(safetensors_writer_open(&writer, path, &error), 0);
        if (expected)
            safetensors_writer_expect(&writer, 1000, 8000);
        for (int i = 0; i < 1000; i++) {
            snprintf(name, sizeof(name), "t/\"%d\"", i);
            write_bytes(&writer, name, DATA_INT16, 1 + i % 5);
        }
        if (safetensors_writer_commit(&writer, &metadata, 1, &error) < 0)
            fail_msg("%s", error.message);
        safetensors_writer_release(&writer);
        if (safetensors_open(path, &tensors, &error) < 0)
            fail_msg("%s", error.message);
        list = read_tensors(&tensors);
        assert_int_equal(list.count, 1000);
        assert_string_equal(list.items[999].name, "t/\"999\"");
        assert_int_equal(list.items[999].tensor.shape.dims[0], 5);
        assert_int_equal(((const uint8_t *)list.items[999].tensor.data)[8], 9);
        assert_int_equal((uintptr_t)list.items[0].tensor.data % 8, 0);
        assert_string_equal(safetensors_find_metadata(&tensors, "k\n"), "\"v\"");
        tensor_list_release(&list);
        safetensors_close(&tensors);
        free(metadata.name);
        free(metadata.value);
        unlink(path);
    }
}

static struct run_results make_results(void)
{
    struct run_results results = {0};

    for (int runner = 0; runner < 2; runner++) {
        run_results_add_runner(&results, TEXT("same/name"));
        for (int i = 0; i < 2 + runner; i++) {
            struct iteration_result *iteration =
                runner_results_add_iteration(&results.items[runner], i == 1 ? NAN : 0.25 * i);
            int64_t numbers[] = {runner, i};
            struct tensor borrowed, tensor;

            tensor_borrow(DATA_INT64, &(struct shape){1, {2}}, numbers, sizeof(numbers), &borrowed);
            for (int k = 0; k < i; k++) { /* none in the first iteration */
                assert_int_equal(tensor_copy(&borrowed, &tensor, NULL), 0);
                tensor_list_add(&iteration->outputs, k == 0 ? TEXT("z/1/y") : TEXT("a"), &tensor);
            }
        }
    }
    return results;
}

static void results_come_back_with_runners_iterations_and_runtimes(void **state)
{
    const char *path = scratch_path("results.safetensors");
    struct run_results results = make_results(), back = {0};
    struct error error = {0};

    assert_int_equal(run_results_save(&results, path, &error), 0);
    if (run_results_load(&back, path, &error) < 0)
        fail_msg("%s", error.message);
    unlink(path); /* the mapping stays */
    assert_int_equal(back.count, 2);
    for (size_t r = 0; r < 2; r++) {
        assert_string_equal(back.items[r].name, "same/name");
        assert_int_equal(back.items[r].count, results.items[r].count);
        for (size_t i = 0; i < back.items[r].count; i++) {
            const struct iteration_result *a = &results.items[r].items[i], *b = &back.items[r].items[i];

            assert_int_equal(isnan(a->runtime), isnan(b->runtime));
            assert_true(isnan(a->runtime) || a->runtime == b->runtime);
            assert_int_equal(a->outputs.count, b->outputs.count);
            for (size_t k = 0; k < a->outputs.count; k++) {
                assert_string_equal(a->outputs.items[k].name, b->outputs.items[k].name);
                assert_true(tensor_identical(&a->outputs.items[k].tensor, &b->outputs.items[k].tensor));
            }
        }
    }
    run_results_release(&results);
    run_results_release(&back);
}

static void runners_can_be_written_in_turns(void **state)
{
    const char *path = scratch_path("turns.safetensors");
    struct run_results_writer writer;
    struct run_results back = {0};
    struct error error = {0};
    float number = 0;
    struct tensor tensor;

    tensor_borrow(DATA_FLOAT32, &(struct shape){0}, &number, sizeof(number), &tensor);
    assert_int_equal(run_results_writer_open(&writer, path, &error), 0);
    run_results_writer_begin_runner(&writer, "A", &error);
    run_results_writer_begin_runner(&writer, "B", &error);
    for (size_t k = 0; k < 4; k++) {
        run_results_writer_select(&writer, k % 2);
        number = (float)k;
        assert_int_equal(run_results_writer_add(&writer, k < 2 ? "first" : "last", &tensor, &error), 0);
    }
    for (size_t r = 0; r < 2; r++) {
        run_results_writer_select(&writer, r);
        run_results_writer_end_iteration(&writer, 0, r == 0 ? "A" : "B", &error);
    }
    assert_int_equal(run_results_writer_commit(&writer, FILE_DURABLE, &error), 0);
    run_results_writer_release(&writer);
    assert_int_equal(run_results_load(&back, path, &error), 0);
    assert_string_equal(back.items[1].name, "B");
    assert_string_equal(back.items[1].items[0].outputs.items[0].name, "first");
    assert_true(*(const float *)back.items[1].items[0].outputs.items[1].tensor.data == 3);
    run_results_release(&back);
    unlink(path);
}

static void inputs_come_back_and_are_no_results(void **state)
{
    const char *path = scratch_path("inputs.safetensors");
    struct feed_dicts feeds = {0}, back = {0};
    struct run_results results = {0};
    struct error error = {0};

    assert_int_equal(data_file_add_inputs(&feeds, "tests/golden/inputs/run_save_inputs_2iters.json", &error), 0);
    *VECTOR_APPEND(&feeds) = (struct tensor_list){0};
    assert_int_equal(feed_dicts_save(&feeds, path, &error), 0);
    if (data_file_add_inputs(&back, path, &error) < 0)
        fail_msg("%s", error.message);
    assert_int_equal(back.count, feeds.count);
    for (size_t i = 0; i < feeds.count; i++) {
        assert_int_equal(back.items[i].count, feeds.items[i].count);
        for (size_t k = 0; k < feeds.items[i].count; k++) {
            assert_string_equal(back.items[i].items[k].name, feeds.items[i].items[k].name);
            assert_true(tensor_identical(&back.items[i].items[k].tensor, &feeds.items[i].items[k].tensor));
        }
    }
    assert_int_equal(run_results_load(&results, path, &error), ERR_INVALID);
    assert_message_contains(&error, "inputs, not results");
    feed_dicts_release(&feeds);
    feed_dicts_release(&back);
    unlink(path);
}

/* Names of a single iteration, which come back whether or not they look like numbered ones. */
static void single_iteration_keeps_its_names(void **state)
{
    static const char *const names[][2] = {{"x", "0/y"}, {"0/x", "1/y"}};
    const char *path = scratch_path("single.safetensors");

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct feed_dicts feeds = {0}, back = {0};
        const char *found;
        struct tensor value;

        *VECTOR_APPEND(&feeds) = (struct tensor_list){0};
        for (size_t k = 0; k < 2; k++) {
            tensor_borrow(DATA_UINT8, &(struct shape){1, {3}}, "abc", 3, &value);
            tensor_list_add(&feeds.items[0], text_of(names[i][k]), &value);
        }
        assert_int_equal(feed_dicts_save(&feeds, path, NULL), 0);
        assert_int_equal(data_file_add_inputs(&back, path, NULL), 0);
        assert_int_equal(back.count, 1);
        for (size_t k = 0; k < 2; k++)
            assert_string_equal(back.items[0].items[k].name, names[i][k]);

        /* Only where they are called that in the file, too, it is one of just these tensors, as long as it is there. */
        found = safetensors_find_file(&back.items[0]);
        assert_true(i == 0 ? found != NULL && strcmp(found, path) == 0 : found == NULL);
        assert_null(safetensors_find_file(&feeds.items[0]));
        unlink(path);
        assert_null(safetensors_find_file(&back.items[0]));
        feed_dicts_release(&feeds);
        feed_dicts_release(&back);
    }
}

static void file_of_another_program_is_one_iteration(void **state)
{
    const char *path = scratch_path("foreign.safetensors");
    struct safetensors_writer writer;
    struct run_results results = {0};
    struct feed_dicts feeds = {0};

    assert_int_equal(safetensors_writer_open(&writer, path, NULL), 0);
    write_bytes(&writer, "layer.0", DATA_FLOAT16, 3);
    assert_int_equal(safetensors_writer_commit(&writer, NULL, 0, NULL), 0);
    safetensors_writer_release(&writer);
    assert_int_equal(run_results_load(&results, path, NULL), 0);
    assert_int_equal(data_file_add_inputs(&feeds, path, NULL), 0);
    assert_string_equal(results.items[0].items[0].outputs.items[0].name, "layer.0");
    assert_string_equal(feeds.items[0].items[0].name, "layer.0");
    run_results_release(&results);
    feed_dicts_release(&feeds);
    unlink(path);
}

static void results_whose_names_fit_no_runner_are_refused(void **state)
{
    static const char *const bad[] = {"a", "0/a", "1/0/a", "0/1/a", "/0/a", "0//a", "99999999999999999999999/0/a"};
    const char *path = scratch_path("misfit.safetensors");

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct safetensors_metadata metadata[] = {
            {memory_strdup("polygraphy"), memory_strdup("results")},
            {memory_strdup("runners"), memory_strdup("[{\"name\":\"r\",\"runtimes\":[1.5]}]")}};
        struct safetensors_writer writer;
        struct run_results results = {0};
        struct error error = {0};

        assert_int_equal(safetensors_writer_open(&writer, path, NULL), 0);
        write_bytes(&writer, "0/0/fine", DATA_UINT8, 3);
        write_bytes(&writer, bad[i], DATA_UINT8, 3);
        assert_int_equal(safetensors_writer_commit(&writer, metadata, 2, NULL), 0);
        safetensors_writer_release(&writer);
        assert_int_equal(run_results_load(&results, path, &error), ERR_CORRUPT);
        assert_message_contains(&error, bad[i]);
        assert_int_equal(results.count, 0);
        for (size_t k = 0; k < 2; k++) {
            free(metadata[k].name);
            free(metadata[k].value);
        }
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_refer_to_the_file_in_the_order_of_their_data),
        cmocka_unit_test(damaged_headers_are_refused),
        cmocka_unit_test(file_that_ends_in_its_header_is_refused),
        cmocka_unit_test(every_type_of_the_format_keeps_its_bytes),
        cmocka_unit_test(type_that_the_format_lacks_is_refused_with_a_hint),
        cmocka_unit_test(header_may_outgrow_its_room),
        cmocka_unit_test(results_come_back_with_runners_iterations_and_runtimes),
        cmocka_unit_test(runners_can_be_written_in_turns),
        cmocka_unit_test(inputs_come_back_and_are_no_results),
        cmocka_unit_test(single_iteration_keeps_its_names),
        cmocka_unit_test(file_of_another_program_is_one_iteration),
        cmocka_unit_test(results_whose_names_fit_no_runner_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
