/* Files with arrays, in any format, and the words that name them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "format/data/file.h"
#include "format/data/writer.h"
#include "format/data/word.h"
#include "onnx/proto/tensor_proto.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

static const float numbers[] = {1, 2, 3, 4, 5, 6};

static void write_text(const char *path, const char *text)
{
    assert_int_equal(file_write(path, text, strlen(text), FILE_INTERMEDIATE, NULL), 0);
}

static void write_numbers(const char *path)
{
    assert_int_equal(file_write(path, numbers, sizeof(numbers), FILE_INTERMEDIATE, NULL), 0);
}

/* One feed dict with an array of `numbers` for each name, NULL at the end. */
static void add_feed(struct feed_dicts *feeds, const char *const *names)
{
    struct tensor_list *feed = VECTOR_APPEND(feeds);

    *feed = (struct tensor_list){0};
    for (; *names != NULL; names++) {
        struct tensor tensor;

        tensor_borrow(DATA_FLOAT32, &(struct shape){2, {2, 3}}, numbers, sizeof(numbers), &tensor);
        tensor_list_add(feed, text_of(*names), &tensor);
    }
}

static void save(const struct feed_dicts *feeds, const char *path)
{
    struct error error = {0};

    if (data_file_save(feeds, path, &error) < 0)
        fail_msg("%s", error.message);
}

static void load(struct feed_dicts *feeds, const char *word)
{
    struct error error = {0};

    if (data_file_add_inputs(feeds, word, &error) < 0)
        fail_msg("%s", error.message);
}

static void assert_numbers(const struct named_tensor *item, const char *name)
{
    assert_string_equal(item->name, name);
    assert_int_equal(item->tensor.type, DATA_FLOAT32);
    assert_true(shape_equal(&item->tensor.shape, &(struct shape){2, {2, 3}}));
    assert_memory_equal(item->tensor.data, numbers, sizeof(numbers));
}

static void assert_refused(const char *word, int code, const char *part)
{
    struct feed_dicts feeds = {0};
    struct error error = {0};

    assert_int_equal(data_file_add_inputs(&feeds, word, &error), code);
    assert_message_contains(&error, part);
    assert_int_equal(feeds.count, 0);
}

/* ---- Formats ---- */

static void what_is_saved_comes_back_from_every_format(void **state)
{
    static const char *const paths[] = {"a.npz", "a.json", "a.safetensors", "folder/"};
    static const char *const names[] = {"encoder/out:0", "x", NULL};

    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        for (size_t count = 1; count <= 2; count++) {
            struct feed_dicts feeds = {0}, back = {0};
            char path[64];

            snprintf(path, sizeof(path), "%zu_%s", count, paths[i]);
            for (size_t k = 0; k < count; k++)
                add_feed(&feeds, names);
            save(&feeds, path);
            load(&back, path);
            assert_int_equal(back.count, count);
            for (size_t k = 0; k < count; k++) {
                assert_int_equal(back.items[k].count, 2);
                assert_numbers(tensor_list_find(&back.items[k], TEXT("encoder/out:0")), "encoder/out:0");
                assert_numbers(tensor_list_find(&back.items[k], TEXT("x")), "x");
            }
            feed_dicts_release(&feeds);
            feed_dicts_release(&back);
        }
}

static void only_iteration_of_numbered_names_stays_one(void **state)
{
    struct feed_dicts feeds = {0}, back = {0};

    add_feed(&feeds, (const char *const[]){"7/x", "1/y", NULL});
    save(&feeds, "numbered.npz");
    load(&back, "numbered.npz");
    assert_int_equal(back.count, 1);
    assert_numbers(&back.items[0].items[0], "7/x");
    feed_dicts_release(&feeds);
    feed_dicts_release(&back);
}

static void single_array_is_unnamed_but_for_the_word(void **state)
{
    struct feed_dicts feeds = {0}, back = {0};

    add_feed(&feeds, (const char *const[]){"x", NULL});
    save(&feeds, "one.npy");
    load(&back, "one.npy");
    load(&back, "input:0:one.npy");
    assert_int_equal(back.count, 2);
    assert_numbers(&back.items[0].items[0], "one");
    assert_true(back.items[0].items[0].is_unnamed);
    assert_numbers(&back.items[1].items[0], "input:0");
    assert_false(back.items[1].items[0].is_unnamed);
    feed_dicts_release(&feeds);
    feed_dicts_release(&back);
}

static void named_arrays_share_an_iteration_until_a_name_returns(void **state)
{
    static const char *const words[] = {"x:raw.bin:float32:2x3", "y:raw.bin:float32:2x3", "x:raw.bin:float32:2x3",
                                        "raw.bin:float32:2x3", "y:raw.bin:float32:2x3"};
    struct feed_dicts feeds = {0};

    write_numbers("raw.bin");
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        load(&feeds, words[i]);
    assert_int_equal(feeds.count, 4);
    assert_int_equal(feeds.items[0].count, 2);
    assert_numbers(&feeds.items[0].items[1], "y");
    assert_int_equal(feeds.items[1].count, 1);
    assert_int_equal(feeds.items[3].count, 1);
    feed_dicts_release(&feeds);
}

static void plain_lists_have_values_and_no_type(void **state)
{
    struct feed_dicts feeds = {0};

    write_text("named.json", "{\"x\": [[1, 2.5]], \"n\": 3}");
    write_text("list.json", "[[1, 2]]");
    write_text("both.json", "[{\"x\": [1]}, {\"x\": [2]}]");
    load(&feeds, "named.json");
    load(&feeds, "list.json");
    load(&feeds, "both.json");
    assert_int_equal(feeds.count, 4);
    assert_true(feeds.items[0].items[0].is_untyped);
    assert_int_equal(feeds.items[0].items[1].tensor.shape.rank, 0);
    assert_true(feeds.items[1].items[0].is_untyped && feeds.items[1].items[0].is_unnamed);
    assert_string_equal(feeds.items[1].items[0].name, "list");
    assert_int_equal(*(const int64_t *)feeds.items[3].items[0].tensor.data, 2);
    feed_dicts_release(&feeds);
}

static void write_proto(const char *path, const char *name)
{
    struct string_builder message;
    struct tensor tensor;

    string_init(&message);
    tensor_borrow(DATA_FLOAT32, &(struct shape){2, {2, 3}}, numbers, sizeof(numbers), &tensor);
    tensor_proto_write(&message, text_of(name), &tensor);
    assert_int_equal(file_write(path, message.data, message.size, FILE_INTERMEDIATE, NULL), 0);
    string_release(&message);
}

static void test_data_of_onnx_are_inputs_in_their_order(void **state)
{
    struct feed_dicts feeds = {0};
    char path[64];

    for (int i = 0; i < 11; i++) {
        snprintf(path, sizeof(path), "model/test_data_set_0/input_%d.pb", i);
        write_proto(path, i == 10 ? "last" : "");
    }
    write_proto("model/test_data_set_1/input_0.pb", "only");
    write_proto("model/test_data_set_1/output_0.pb", "result");
    load(&feeds, "model");
    assert_int_equal(feeds.count, 2);
    assert_int_equal(feeds.items[0].count, 11);
    assert_numbers(&feeds.items[0].items[2], "input_2");
    assert_true(feeds.items[0].items[2].is_unnamed);
    assert_numbers(&feeds.items[0].items[10], "last");
    assert_int_equal(feeds.items[1].count, 1);
    feed_dicts_release(&feeds);
}

static void arrays_are_results_of_a_runner_called_like_their_file(void **state)
{
    struct run_results results = {0};
    struct error error = {0};

    write_proto("golden/input_0.pb", "x");
    write_proto("golden/output_0.pb", "y");
    write_numbers("raw.bin");
    write_text("lists.json", "{\"y\": [1]}");
    assert_int_equal(data_file_add_results(&results, "golden", &error), 0);
    assert_int_equal(data_file_add_results(&results, "y:raw.bin:float32:2x3", &error), 0);
    assert_int_equal(data_file_add_results(&results, "lists.json", &error), ERR_INVALID);
    assert_int_equal(results.count, 2);
    assert_string_equal(results.items[0].name, "golden");
    assert_int_equal(results.items[0].items[0].outputs.count, 1);
    assert_numbers(&results.items[0].items[0].outputs.items[0], "y");
    assert_string_equal(results.items[1].name, "raw.bin");
    assert_numbers(&results.items[1].items[0].outputs.items[0], "y");
    run_results_release(&results);
}

/* ---- What is refused ---- */

static void file_of_no_format_is_refused_with_the_formats(void **state)
{
    write_text("notes.txt", "hello");
    write_text("cut.npy", "\x93NUM");
    write_text("cut.npz", "PK\3\4");
    write_text("cut.pb", "\x0a\xff");
    assert_refused("notes.txt", ERR_INVALID, ".safetensors, .npz, .npy, ONNX's .pb");
    assert_refused("cut.npy", ERR_CORRUPT, "cut.npy");
    assert_refused("cut.npz", ERR_CORRUPT, "the end-of-directory record is missing");
    assert_refused("cut.pb", ERR_CORRUPT, "read as a TensorProto");
    assert_int_equal(mkdir("empty", 0777), 0);
    assert_refused("empty", ERR_INVALID, "contains no data");
    assert_int_equal(file_make_folders("gap/0", NULL), 0);
    assert_int_equal(file_make_folders("gap/2", NULL), 0);
    assert_refused("gap", ERR_INVALID, "expected 1: numbers start at 0");
    assert_int_equal(symlink("circle.npy", "circle.npy"), 0);
    assert_refused("circle.npy", ERR_IO, "circle.npy");
}

static void files_with_one_name_are_refused(void **state)
{
    struct feed_dicts feeds = {0};

    add_feed(&feeds, (const char *const[]){"x", NULL});
    save(&feeds, "twice/a.npy");
    save(&feeds, "twice/%61.npy");
    assert_refused("twice", ERR_INVALID, "the second array 'a'");
    feed_dicts_release(&feeds);
}

static void raw_data_need_their_exact_size(void **state)
{
    write_numbers("raw.bin");
    write_text("bits.bin", "\1\2");
    assert_refused("raw.bin:float32:2x4", ERR_INVALID, "has 24 bytes, but float32 of shape (2, 4) takes 32");
    assert_refused("raw.bin:float32:5", ERR_INVALID, "has 24 bytes, but float32 of shape (5,) takes 20");
    assert_refused("raw.bin:float32:4294967296x4294967296", ERR_INVALID, "more than");
    assert_refused("raw.bin:float32:2xx3", ERR_INVALID, "'2xx3' after the type float32 is not a shape");
    assert_refused("raw.bin:float32:99999999999999999999", ERR_INVALID, "is not a shape");
    assert_refused("x:raw.bin:float33:2", ERR_INVALID, "'float33' is not a type of raw data");
    assert_refused("raw.bin:string:2", ERR_UNSUPPORTED, "strings");
    assert_refused("bits.bin:bool:2", ERR_CORRUPT, "byte 1 is 2");
    assert_refused("x:y:missing.bin:float32:2", ERR_MISSING, "x:in.bin:float32:1x3x224x224");
}

static void shapes_of_raw_data_are_written_in_several_ways(void **state)
{
    static const char *const words[] = {"raw.bin:float32:2x3", "raw.bin:float32:[2,3]", "raw.bin:FLOAT32:(2,3)"};
    struct feed_dicts feeds = {0};

    write_numbers("raw.bin");
    assert_int_equal(file_write("single.bin", numbers, 4, FILE_INTERMEDIATE, NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        load(&feeds, words[i]);
        assert_numbers(&feeds.items[i].items[0], "raw");
    }
    load(&feeds, "single.bin:float32:[]");
    assert_int_equal(feeds.items[3].items[0].tensor.shape.rank, 0);
    feed_dicts_release(&feeds);
}

static void existing_file_wins_over_parts_of_its_name(void **state)
{
    struct data_word word;
    struct error error = {0};

    write_numbers("x:raw.bin:float32:2x3");
    write_numbers("raw.bin");
    assert_int_equal(data_word_parse("x:raw.bin:float32:2x3", &word, &error), 0);
    assert_string_equal(word.path, "x:raw.bin:float32:2x3");
    assert_int_equal(word.name.size, 0);
    data_word_release(&word);
    write_numbers("b:c");
    write_numbers("c");
    assert_int_equal(data_word_parse("a:b:c", &word, &error), ERR_INVALID);
    assert_message_contains(&error, "several colons");
    data_word_release(&word);
    assert_int_equal(data_word_parse("a:b:./c", &word, &error), 0);
    assert_string_equal(word.path, "./c");
    data_word_release(&word);
    assert_int_equal(data_word_parse("a:./b:c", &word, &error), 0);
    assert_string_equal(word.path, "./b:c");
    assert_true(text_equal_string(word.name, "a"));
    data_word_release(&word);
}

static void what_a_format_cannot_hold_is_refused(void **state)
{
    struct feed_dicts feeds = {0};
    struct error error = {0};

    assert_int_equal(data_file_save(&feeds, "none.npz", &error), ERR_INVALID);
    add_feed(&feeds, (const char *const[]){"x", "y", NULL});
    assert_int_equal(data_file_save(&feeds, "two.npy", &error), ERR_INVALID);
    assert_message_contains(&error, "can contain one array");
    write_text("full/file", "mine");
    assert_int_equal(data_file_save(&feeds, "full/", &error), ERR_EXISTS);
    assert_true(file_exists("full/file"));
    assert_int_equal(mkdir("emptied", 0777), 0);
    assert_int_equal(symlink("emptied", "link"), 0);
    assert_int_equal(data_file_save(&feeds, "link/", &error), ERR_EXISTS);
    assert_message_contains(&error, "not an empty folder");
    add_feed(&feeds, (const char *const[]){NULL});
    assert_int_equal(data_file_save(&feeds, "new/", &error), ERR_INVALID);
    assert_message_contains(&error, "iteration 1");
    assert_false(file_exists("new"));
    feed_dicts_release(&feeds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_saved_comes_back_from_every_format),
        cmocka_unit_test(only_iteration_of_numbered_names_stays_one),
        cmocka_unit_test(single_array_is_unnamed_but_for_the_word),
        cmocka_unit_test(named_arrays_share_an_iteration_until_a_name_returns),
        cmocka_unit_test(plain_lists_have_values_and_no_type),
        cmocka_unit_test(test_data_of_onnx_are_inputs_in_their_order),
        cmocka_unit_test(arrays_are_results_of_a_runner_called_like_their_file),
        cmocka_unit_test(file_of_no_format_is_refused_with_the_formats),
        cmocka_unit_test(files_with_one_name_are_refused),
        cmocka_unit_test(raw_data_need_their_exact_size),
        cmocka_unit_test(shapes_of_raw_data_are_written_in_several_ways),
        cmocka_unit_test(existing_file_wins_over_parts_of_its_name),
        cmocka_unit_test(what_a_format_cannot_hold_is_refused),
    };

    return cmocka_run_group_tests(tests, scratch_folder_enter, scratch_folder_leave);
}
