/* test_data_loader.c: what inputs are fed, generated or loaded. */
#include <string.h>

#include "base/memory.h"
#include "base/memory_limit.h"
#include "comparator/data/loader.h"
#include "support/results_fixture.h"
#include "support/scratch_folder.h"
#include "tensor/generate/data_generator.h"

static struct data_loader *loader_of(const struct data_loader_settings *settings, struct log *log)
{
    struct data_loader *loader;
    struct error error;

    if (data_loader_new(settings, log, &loader, &error) < 0)
        fail_msg("%s", error.message);
    return loader;
}

static struct tensor_list feed_of(struct data_loader *loader, const struct backend_io *inputs, size_t count,
                                  int64_t iteration)
{
    struct tensor_list feed = {0};
    struct error error;

    if (data_loader_feed(loader, inputs, count, iteration, &feed, &error) < 0)
        fail_msg("%s", error.message);
    assert_int_equal(feed.count, count);
    return feed;
}

static void inputs_draw_in_their_order_from_seed_plus_iteration(void **state)
{
    struct data_loader_settings settings = {.seed = 7, .iterations = 3};
    struct backend_io inputs[] = {input_of("a", DATA_FLOAT32, SHAPE(2, 2)), input_of("b", DATA_INT64, SHAPE(3))};
    struct data_loader *loader = loader_of(&settings, NULL);

    assert_int_equal(data_loader_iterations(loader), 3);
    for (int64_t iteration = 0; iteration < 3; iteration++) {
        struct tensor_list feed = feed_of(loader, inputs, 2, iteration);
        struct mersenne_twister random;

        mersenne_twister_seed(&random, (uint32_t)(7 + iteration));
        for (size_t i = 0; i < 2; i++) {
            struct tensor expected;

            tensor_generate(&random, inputs[i].type, &inputs[i].shape, (struct number_range){0, 1}, &expected, NULL);
            assert_string_equal(feed.items[i].name, inputs[i].name);
            assert_true(tensor_identical(&feed.items[i].tensor, &expected));
            tensor_release(&expected);
        }
        tensor_list_release(&feed);
    }
    data_loader_free(loader);
}

static void ranges_are_found_by_name_then_for_all(void **state)
{
    struct data_loader_range ranges[] = {{"", 5, 5}, {"b", 6, 6}};
    struct data_loader_settings settings = {.iterations = 1, .ranges = {ranges, 2}};
    struct backend_io inputs[] = {input_of("a", DATA_FLOAT32, SHAPE(1)), input_of("b", DATA_FLOAT32, SHAPE(1)),
                                  input_of("c", DATA_INT32, SHAPE(1))};
    struct data_loader *loader = loader_of(&settings, NULL);
    struct tensor_list feed = feed_of(loader, inputs, 3, 0);

    assert_true(*(const float *)feed.items[0].tensor.data == 5);
    assert_true(*(const float *)feed.items[1].tensor.data == 6);
    assert_int_equal(*(const int32_t *)feed.items[2].tensor.data, 5);
    tensor_list_release(&feed);
    data_loader_free(loader);
}

static void deprecated_ranges_go_by_kind_of_type_and_before_others(void **state)
{
    struct data_loader_range ranges[] = {{"", 5, 5}};
    struct data_loader_settings settings = {
        .iterations = 1, .ranges = {ranges, 1}, .has_integer_range = true, .integer_minimum = 9, .integer_maximum = 9};
    struct backend_io inputs[] = {input_of("a", DATA_FLOAT32, SHAPE(1)), input_of("b", DATA_INT8, SHAPE(1))};
    struct data_loader *loader = loader_of(&settings, NULL);
    struct tensor_list feed = feed_of(loader, inputs, 2, 0);

    assert_true(*(const float *)feed.items[0].tensor.data == 5);
    assert_int_equal(*(const int8_t *)feed.items[1].tensor.data, 9);
    tensor_list_release(&feed);
    data_loader_free(loader);
    settings.has_float_range = true;
    settings.float_minimum = settings.float_maximum = -2;
    loader = loader_of(&settings, NULL);
    feed = feed_of(loader, inputs, 2, 0);
    assert_true(*(const float *)feed.items[0].tensor.data == -2);
    tensor_list_release(&feed);
    data_loader_free(loader);
}

static void a_shape_tensor_gets_the_numbers_as_its_values(void **state)
{
    struct data_loader_shape shapes[] = {{"s", SHAPE(2, -1, 300)}};
    struct data_loader_settings settings = {.iterations = 1, .shapes = shapes, .shape_count = 1};
    struct backend_io input = input_of("s", DATA_INT32, SHAPE(3));
    struct data_loader *loader = loader_of(&settings, NULL);
    struct tensor_list feed = feed_of(loader, &input, 1, 0);
    const int32_t expected[] = {2, -1, 300};
    struct error error;

    assert_shape(&feed.items[0].tensor.shape, "(3,)");
    assert_memory_equal(feed.items[0].tensor.data, expected, sizeof(expected));
    tensor_list_release(&feed);
    input.type = DATA_INT8;
    assert_int_equal(data_loader_feed(loader, &input, 1, 0, &feed, &error), ERR_INVALID);
    assert_message_contains(&error, "input 's': a number given as its shape does not fit int8");
    data_loader_free(loader);
}

static void what_cannot_be_generated_names_the_input(void **state)
{
    struct data_loader_range ranges[] = {{"", 0, 1000}};
    struct data_loader_settings settings = {.iterations = 1, .ranges = {ranges, 1}};
    struct data_loader *loader = loader_of(&settings, NULL);
    struct backend_io inputs[] = {input_of("ok", DATA_FLOAT32, SHAPE(1)), input_of("bad", DATA_BFLOAT16, SHAPE(1))};
    struct tensor_list feed = {0};
    struct error error;

    assert_int_equal(data_loader_feed(loader, inputs, 2, 0, &feed, &error), ERR_UNSUPPORTED);
    assert_message_contains(&error, "input 'bad': ");
    assert_message_contains(&error, "--load-inputs");
    assert_int_equal(feed.count, 0);
    inputs[1].type = DATA_INT8;
    assert_int_equal(data_loader_feed(loader, inputs, 2, 0, &feed, &error), ERR_INVALID);
    assert_message_contains(&error, "input 'bad': ");
    inputs[0].not_a_tensor = "sequence";
    assert_int_equal(data_loader_feed(loader, inputs, 2, 0, &feed, &error), ERR_UNSUPPORTED);
    assert_message_contains(&error, "input 'ok' is no tensor but a sequence");
    data_loader_free(loader);
}

static void kept_data_serve_inputs_in_another_order(void **state)
{
    struct data_loader_settings settings = {.seed = 1, .iterations = 2};
    struct backend_io inputs[] = {input_of("a", DATA_FLOAT32, SHAPE(2)), input_of("b", DATA_FLOAT32, SHAPE(2))};
    struct backend_io turned[] = {inputs[1], inputs[0]};
    struct data_loader *loader = loader_of(&settings, NULL);

    assert_int_equal(data_loader_keep(loader, inputs, 2, NULL), 0);
    assert_int_equal(data_loader_keep(loader, turned, 2, NULL), 0); /* does nothing */
    assert_int_equal(data_loader_kept(loader)->count, 2);
    struct tensor_list first = feed_of(loader, inputs, 2, 1), second = feed_of(loader, turned, 2, 1);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(second.items[i].name, turned[i].name);
        assert_true(tensor_identical(&first.items[i].tensor, &second.items[1 - i].tensor));
    }
    tensor_list_release(&first);
    tensor_list_release(&second);
    data_loader_free(loader);
}

static void inputs_that_kept_data_lack_are_generated(void **state)
{
    struct data_loader_settings settings = {.seed = 1, .iterations = 1};
    struct backend_io first = input_of("a", DATA_FLOAT32, SHAPE(2));
    struct backend_io others[] = {first, input_of("new", DATA_INT32, SHAPE(4))};
    struct data_loader *loader = loader_of(&settings, NULL);
    struct data_loader *fresh = loader_of(&settings, NULL);

    assert_int_equal(data_loader_keep(loader, &first, 1, NULL), 0);
    struct tensor_list feed = feed_of(loader, others, 2, 0), expected = feed_of(fresh, others, 2, 0);
    assert_true(tensor_identical(&feed.items[1].tensor, &expected.items[1].tensor));
    tensor_list_release(&feed);
    tensor_list_release(&expected);
    data_loader_free(loader);
    data_loader_free(fresh);
}

/* Writes a file with one feed dict per number, each with the input "x". */
static void save_feeds(const char *path, const float *values, size_t count)
{
    struct feed_dicts feeds = {0};

    for (size_t i = 0; i < count; i++) {
        struct tensor_list *feed = VECTOR_APPEND(&feeds);

        *feed = (struct tensor_list){0};
        ADD_FLOATS(feed, "x", values[i]);
    }
    assert_int_equal(feed_dicts_save(&feeds, path, NULL), 0);
    feed_dicts_release(&feeds);
}

static void loaded_files_follow_each_other(void **state)
{
    const char *files[] = {"one.json", "two.json"};
    struct data_loader_settings settings = {.iterations = 9, .files = {files, 2}};
    struct backend_io input = input_of("x", DATA_FLOAT32, SHAPE(1));
    struct captured_log log;

    captured_log_init(&log);
    save_feeds("one.json", (const float[]){1, 2}, 2);
    save_feeds("two.json", (const float[]){3}, 1);
    struct data_loader *loader = loader_of(&settings, &log.log);
    assert_string_equal(log.text.data, "I Loading input data from one.json\nI Loading input data from two.json\n");
    assert_int_equal(data_loader_iterations(loader), 3);
    assert_int_equal(data_loader_keep(loader, &input, 1, NULL), 0);
    for (int64_t i = 0; i < 3; i++) {
        struct tensor_list feed = feed_of(loader, &input, 1, i);

        assert_true(*(const float *)feed.items[0].tensor.data == (float)(i + 1));
        tensor_list_release(&feed);
    }
    data_loader_free(loader);
    captured_log_release(&log);
}

static void loaded_data_without_an_input_are_an_error(void **state)
{
    const char *files[] = {"one.json"};
    struct data_loader_settings settings = {.files = {files, 1}};
    struct backend_io inputs[] = {input_of("x", DATA_FLOAT32, SHAPE(1)), input_of("hidden", DATA_FLOAT32, SHAPE(1))};
    struct tensor_list feed = {0};
    struct error error;

    save_feeds("one.json", (const float[]){1}, 1);
    struct data_loader *loader = loader_of(&settings, NULL);
    assert_int_equal(data_loader_feed(loader, inputs, 2, 0, &feed, &error), ERR_MISSING);
    assert_message_contains(&error, "input 'hidden' (dtype=float32, shape=(1,)) is not among the loaded data; "
                                    "iteration 0 contains ['x']");
    assert_int_equal(feed.count, 0);
    data_loader_free(loader);
}

/* What is said of data for these inputs, which must not be made. */
static void check_refused(const struct data_loader_settings *settings, const struct backend_io *inputs, size_t count,
                          const char *expected)
{
    struct data_loader *loader = loader_of(settings, NULL);
    struct tensor_list feed = {0};
    struct error error;

    assert_int_equal(data_loader_feed(loader, inputs, count, 0, &feed, &error), ERR_MEMORY);
    assert_int_equal(feed.count, 0);
    assert_non_null(strstr(error.message, expected));
    assert_int_equal(data_loader_keep(loader, inputs, count, &error), ERR_MEMORY);
    assert_int_equal(data_loader_kept(loader)->count, 0);
    data_loader_free(loader);
}

static void data_of_gigabytes_are_generated_only_for_those_who_ask(void **state)
{
    struct data_loader_settings settings = {.iterations = 1};
    struct backend_io inputs[] = {input_of("small", DATA_INT64, SHAPE(4)),
                                  input_of("large", DATA_FLOAT32, SHAPE(1024, 1024, 1024)),
                                  input_of("immense", DATA_FLOAT32, SHAPE(INT64_MAX / 2, 8))};

    check_refused(
        &settings, inputs, 2,
        "generated data for input 'large' (float32 of shape (1024, 1024, 1024)), with those of other inputs, "
        "would take 4.0 GiB: more than 1 GiB is generated only for those who ask for it, by giving its shape, "
        "large:[1024,1024,1024], or with --max-memory 5G");
    check_refused(&settings, inputs, 3, "generated data for input 'immense'");
}

static void data_are_bounded_by_the_limit_that_was_set_whoever_asks(void **state)
{
    struct data_loader_shape shapes[] = {{"x", SHAPE(1024, 1024)}};
    struct data_loader_settings settings = {.iterations = 4, .shapes = shapes, .shape_count = 1};
    struct backend_io inputs[] = {input_of("x", DATA_FLOAT32, SHAPE(-1, -1))};
    struct data_loader *loader = loader_of(&settings, NULL);
    struct tensor_list feed;
    struct error error;

    memory_limit_set((size_t)4 << 20);
    feed = feed_of(loader, inputs, 1, 0);
    tensor_list_release(&feed);
    assert_int_equal(data_loader_keep(loader, inputs, 1, &error), ERR_MEMORY); /* all iterations at a time */
    assert_non_null(strstr(error.message, "but --max-memory allows"));
    data_loader_free(loader);
    memory_limit_set((size_t)3 << 20);
    check_refused(&settings, inputs, 1, "but --max-memory allows");
    memory_limit_set(0);
}

static void a_missing_file_is_an_error(void **state)
{
    const char *files[] = {"none.json"};
    struct data_loader_settings settings = {.files = {files, 1}};
    struct data_loader *loader = NULL;

    assert_int_equal(data_loader_new(&settings, NULL, &loader, NULL), ERR_MISSING);
    assert_null(loader);
    data_loader_free(loader);
}

#define IN_FOLDER(function) cmocka_unit_test_setup_teardown(function, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_draw_in_their_order_from_seed_plus_iteration),
        cmocka_unit_test(ranges_are_found_by_name_then_for_all),
        cmocka_unit_test(deprecated_ranges_go_by_kind_of_type_and_before_others),
        cmocka_unit_test(a_shape_tensor_gets_the_numbers_as_its_values),
        cmocka_unit_test(what_cannot_be_generated_names_the_input),
        cmocka_unit_test(kept_data_serve_inputs_in_another_order),
        cmocka_unit_test(inputs_that_kept_data_lack_are_generated),
        IN_FOLDER(loaded_files_follow_each_other),
        IN_FOLDER(loaded_data_without_an_input_are_an_error),
        IN_FOLDER(a_missing_file_is_an_error),
        IN_FOLDER(data_of_gigabytes_are_generated_only_for_those_who_ask),
        IN_FOLDER(data_are_bounded_by_the_limit_that_was_set_whoever_asks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
