/* Files of input data. */
#include "support/format_fixture.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "format/data/file.h"

static void load(struct feed_dicts *feeds, const char *path)
{
    struct error error = {0};

    if (data_file_add_inputs(feeds, path, &error) < 0)
        fail_msg("%s", error.message);
}

static void assert_refused(const char *json, int code, const char *part)
{
    struct feed_dicts feeds = {0};
    struct error error = {0};

    assert_int_equal(feed_dicts_parse(&feeds, json, strlen(json), "test.json", &error), code);
    assert_message_contains(&error, part);
    assert_int_equal(feeds.count, 0);
}

static void polygraphys_files_come_out_as_they_were(void **state)
{
    static const char *const names[] = {"all_dtypes_2iters", "run_save_inputs_2iters", "to_input_merged.correct"};
    const char *copy = scratch_path("inputs.json");

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct feed_dicts feeds = {0};
        struct error error = {0};
        char path[128];

        snprintf(path, sizeof(path), "tests/golden/inputs/%s.json", names[i]);
        load(&feeds, path);
        if (feed_dicts_save(&feeds, copy, &error) < 0)
            fail_msg("%s", error.message);
        assert_same_content(copy, path);
        feed_dicts_release(&feeds);
    }
    unlink(copy);
}

static void iterations_of_several_files_are_joined(void **state)
{
    struct feed_dicts feeds = {0};
    const float x0 = 2.0763083F;

    load(&feeds, "tests/golden/inputs/run_save_inputs_2iters.json");
    load(&feeds, "tests/golden/inputs/all_dtypes_2iters.json");
    assert_int_equal(feeds.count, 4);
    assert_string_equal(feeds.items[0].items[0].name, "X0");
    assert_memory_equal(feeds.items[0].items[0].tensor.data, &x0, sizeof(x0));
    assert_string_equal(feeds.items[2].items[0].name, "f32");
    feed_dicts_release(&feeds);
}

static void results_file_is_refused_with_a_hint(void **state)
{
    struct feed_dicts feeds = {0};
    struct error error = {0};

    assert_int_equal(data_file_add_inputs(&feeds, "tests/golden/run/duplicate_runner_names.json", &error), ERR_INVALID);
    assert_message_contains(&error, "data merge");
    assert_int_equal(feeds.count, 0);
}

static void bare_feed_dict_is_one_iteration(void **state)
{
    struct feed_dicts feeds = {0};

    load(&feeds, "tests/golden/inputs/bare_feed_dict.json");
    load(&feeds, "tests/golden/inputs/run_save_inputs_2iters.json");
    assert_int_equal(feeds.count, 3);
    assert_string_equal(feeds.items[0].items[0].name, "x");
    assert_false(feeds.items[0].items[0].is_untyped);
    feed_dicts_release(&feeds);
}

static void error_changes_nothing(void **state)
{
    const char json[] = "[{}, {\"x\": null}]";
    struct feed_dicts feeds = {0};
    struct error error = {0};

    load(&feeds, "tests/golden/inputs/run_save_inputs_2iters.json");
    assert_int_equal(feed_dicts_parse(&feeds, json, strlen(json), "test.json", &error), ERR_CORRUPT);
    assert_message_contains(&error, "'test.json': iteration 1: input 'x': ");
    assert_int_equal(feeds.count, 2);
    feed_dicts_release(&feeds);
}

static void what_is_no_list_of_feed_dicts_is_refused(void **state)
{
    assert_refused("[{}, 1]", ERR_CORRUPT, "iteration 1");
    assert_refused("[{}, []]", ERR_CORRUPT, "a list");
    assert_refused("[{\"array\": \"\", \"polygraphy_class\": \"ndarray\"}]", ERR_CORRUPT, "an ndarray");
    assert_refused("{\"array\": \"\", \"polygraphy_class\": \"ndarray\"}", ERR_INVALID, "an ndarray");
    assert_refused("{\"polygraphy_class\": \"Foo\"}", ERR_UNSUPPORTED, "Could not decode serialized type: Foo");
    assert_refused("[{]", ERR_CORRUPT, "line 1");
}

static void iterations_need_not_have_the_same_inputs(void **state)
{
    const char *path = scratch_path("feeds.json");
    struct feed_dicts feeds = {0}, back = {0};
    struct tensor tensor;

    *VECTOR_APPEND(&feeds) = (struct tensor_list){0};
    *VECTOR_APPEND(&feeds) = (struct tensor_list){0};
    assert_int_equal(
        tensor_set_strings(&(struct shape){1, {2}}, (struct text[]){TEXT("\xc3\xa9"), TEXT("")}, &tensor, NULL), 0);
    tensor_list_add(&feeds.items[1], TEXT("texts"), &tensor);
    assert_int_equal(feed_dicts_save(&feeds, path, NULL), 0);
    load(&back, path);
    assert_int_equal(back.count, 2);
    assert_int_equal(back.items[0].count, 0);
    assert_true(tensor_identical(&back.items[1].items[0].tensor, &feeds.items[1].items[0].tensor));
    feed_dicts_release(&feeds);
    feed_dicts_release(&back);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polygraphys_files_come_out_as_they_were),
        cmocka_unit_test(iterations_of_several_files_are_joined),
        cmocka_unit_test(results_file_is_refused_with_a_hint),
        cmocka_unit_test(bare_feed_dict_is_one_iteration),
        cmocka_unit_test(error_changes_nothing),
        cmocka_unit_test(what_is_no_list_of_feed_dicts_is_refused),
        cmocka_unit_test(iterations_need_not_have_the_same_inputs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
