/* test_words.c: where the words of a check name the files of a candidate. */
#include "support/scratch_folder.h"
#include "support/unit_test.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "debug/check/words.h"

static const struct candidate_paths usual = {{[CANDIDATE_ARTIFACT] = "model.onnx", [CANDIDATE_INPUTS] = "out/in.json"}};
static const struct candidate_paths actual = {
    {[CANDIDATE_ARTIFACT] = "/tmp/model.3.onnx", [CANDIDATE_INPUTS] = "in.3"}};

static struct check_words words_of(const char **items, size_t count)
{
    return (struct check_words){.items = items, .count = count, .usual = usual};
}

static bool names(const char *word, enum candidate_file file)
{
    const struct check_words words = words_of(&word, 1);

    return check_words_name(&words, file);
}

static void assert_word(const char *word, const struct candidate_paths *paths, const char *expected)
{
    const struct check_words words = words_of(&word, 1);
    char **changed = check_words_for(&words, paths, NULL);

    assert_string_equal(changed[0], expected);
    assert_null(changed[1]);
    check_words_free(changed);
}

/* The word names the artifact, and becomes this one where the candidate is elsewhere. */
static void assert_artifact(const char *word, const char *expected)
{
    assert_true(names(word, CANDIDATE_ARTIFACT));
    assert_word(word, &actual, expected);
}

/* The line of the shell, where the artifact is at this path. */
static void assert_line(const char *line, const char *path, const char *expected)
{
    const struct candidate_paths paths = {{[CANDIDATE_ARTIFACT] = path, [CANDIDATE_INPUTS] = "in.3"}};
    const char *arguments[] = {"{artifact}", line};
    struct check_words words = words_of(arguments, ARRAY_LEN(arguments));
    char **changed;

    words.shell = true;
    changed = check_words_for(&words, &paths, NULL);
    assert_string_equal(changed[0], path);
    assert_string_equal(changed[1], expected);
    check_words_free(changed);
}

static void paths_are_quoted_in_a_line_of_the_shell(void **state)
{
    (void)state;
    assert_line("run {artifact} -v", "a b/m.onnx", "run a\\ b/m.onnx -v");
    assert_line("run '{artifact}' {artifact}", "a b/it's", "run 'a b/it'\\''s' a\\ b/it\\'s");
    assert_line("run \"{artifact}\"", "a b/$x", "run \"a b/\\$x\"");
    assert_line("echo \\' \"it's\"; run model.onnx", "a b", "echo \\' \"it's\"; run a\\ b");
    assert_line("run {artifact}", "w\xc3\xa9/m.j2.onnx", "run w\xc3\xa9/m.j2.onnx");
}

static void assert_unchanged(const char *word)
{
    assert_false(names(word, CANDIDATE_ARTIFACT));
    assert_false(names(word, CANDIDATE_INPUTS));
    assert_word(word, &actual, word);
}

static void placeholder_stands_for_its_file_anywhere(void **state)
{
    assert_string_equal(check_words_placeholder(CANDIDATE_ARTIFACT), "{artifact}");
    assert_artifact("{artifact}", "/tmp/model.3.onnx");
    assert_artifact("a{artifact}b{artifact}", "a/tmp/model.3.onnxb/tmp/model.3.onnx");
    assert_word("{inputs}", &actual, "in.3");
    assert_word("{artifact}:{inputs}", &usual, "model.onnx:out/in.json");
}

static void placeholder_of_a_file_that_there_is_not_stays(void **state)
{
    assert_unchanged("{golden}");
    assert_unchanged("{information}");
    assert_unchanged("{artifact");
    assert_unchanged("artifact}");
}

static void usual_path_is_a_word(void **state)
{
    assert_artifact("model.onnx", "/tmp/model.3.onnx");
    assert_word("out/in.json", &actual, "in.3");
}

static void usual_path_is_the_value_of_an_option(void **state)
{
    assert_artifact("--model=model.onnx", "--model=/tmp/model.3.onnx");
    assert_artifact("model:model.onnx", "model:/tmp/model.3.onnx");
    assert_artifact("a,model.onnx,b", "a,/tmp/model.3.onnx,b");
}

static void usual_path_is_in_a_line_of_the_shell(void **state)
{
    assert_artifact("run model.onnx >log; rm model.onnx", "run /tmp/model.3.onnx >log; rm /tmp/model.3.onnx");
    assert_artifact("run <model.onnx|grep x", "run </tmp/model.3.onnx|grep x");
    assert_artifact("(run 'model.onnx')", "(run '/tmp/model.3.onnx')");
    assert_artifact("run \"model.onnx\" && true", "run \"/tmp/model.3.onnx\" && true");
    assert_artifact("x=`cat model.onnx`", "x=`cat /tmp/model.3.onnx`");
    assert_artifact("run \\\n\tmodel.onnx\n", "run \\\n\t/tmp/model.3.onnx\n");
}

static void folder_in_front_of_it_may_be_spelt_out(void **state)
{
    assert_artifact("./model.onnx", "/tmp/model.3.onnx");
    assert_artifact("run ./model.onnx --x=./model.onnx", "run /tmp/model.3.onnx --x=/tmp/model.3.onnx");
    assert_word("./model.onnx", &usual, "./model.onnx"); /* as the user has written it */
}

static void no_longer_name_is_taken_for_it(void **state)
{
    assert_unchanged("model.onnx.bak");
    assert_unchanged("my_model.onnx");
    assert_unchanged("folder/model.onnx");
    assert_unchanged("../model.onnx");
    assert_unchanged("model.onnx/");
    assert_unchanged("model.onn");
    assert_unchanged("run my-model.onnx model.onnx2");
    assert_unchanged("in.json");
    assert_unchanged("");
}

static void nothing_is_renamed_at_the_usual_place(void **state)
{
    assert_word("run model.onnx -i out/in.json", &usual, "run model.onnx -i out/in.json");
}

static void every_word_is_looked_at(void **state)
{
    const char *items[] = {"run", "--fast", "out/in.json"};
    const struct check_words words = words_of(items, ARRAY_LEN(items)), first = words_of(items, 2);
    char **changed = check_words_for(&words, &actual, NULL);

    assert_true(check_words_name(&words, CANDIDATE_INPUTS));
    assert_false(check_words_name(&words, CANDIDATE_ARTIFACT));
    assert_false(check_words_name(&first, CANDIDATE_INPUTS));
    assert_string_equal(changed[0], "run");
    assert_string_equal(changed[1], "--fast");
    assert_string_equal(changed[2], "in.3");
    assert_null(changed[3]);
    check_words_free(changed);
    check_words_free(NULL);
}

/* `polygraphy run` puts other files there. */
static void inputs_of_a_runner_are_left_to_it(void **state)
{
    const char *items[] = {"run", "{artifact}", "--runner", "./x {inputs} model.onnx", "--load-inputs", "{inputs}"};
    struct check_words words = words_of(items, ARRAY_LEN(items));
    char **changed = check_words_for(&words, &actual, NULL);

    (void)state;
    assert_string_equal(changed[3], "./x {inputs} /tmp/model.3.onnx");
    assert_string_equal(changed[5], "in.3");
    check_words_free(changed);
    words.count = 4;
    assert_false(check_words_name(&words, CANDIDATE_INPUTS));
    assert_line("run --runner 'a=./x {inputs}' --runner-build=\"{inputs} b\" {inputs}", "m.onnx",
                "run --runner 'a=./x {inputs}' --runner-build=\"{inputs} b\" in.3");
}

static void a_library_of_providers_is_a_file_that_the_check_names(void **state)
{
    const char *items[] = {"run",          "m.onnx",           "--onnxrt-provider-library",
                           "ours=ours.so", "--session-config", "k=ours.so"};
    struct check_words words = words_of(items, ARRAY_LEN(items));
    struct named_files named = {0};

    (void)state;
    assert_int_equal(file_write("ours.so", "x", 1, FILE_DURABLE, NULL), 0);
    check_words_list_files(&words, &named);
    assert_int_equal(named.count, 1);
    assert_string_equal(named.items[0].path, "ours.so");
    assert_true(named.items[0].vital);
    named_files_release(&named);
}

static void what_is_switched_off_is_a_value(void **state)
{
    const char *items[] = {"sh", "-c", "./check {disabled} '{disabled}'"};
    struct check_words words = words_of(items, ARRAY_LEN(items));
    char **changed;

    words.shell = true;
    changed = check_words_for(&words, &actual, "A;session.b=1");
    assert_string_equal(changed[2], "./check A\\;session.b=1 'A;session.b=1'");
    check_words_free(changed);
    changed = check_words_for(&words, &actual, NULL);
    assert_string_equal(changed[2], items[2]);
    check_words_free(changed);
    assert_false(check_words_name(&words, CANDIDATE_ARTIFACT));
    words.is_in_environment = true; /* it need not look at the file */
    assert_true(check_words_name(&words, CANDIDATE_ARTIFACT));
}

static void what_is_called_like_a_placeholder_keeps_its_name(void **state)
{
    assert_int_equal(mkdir("data", 0777), 0);
    assert_int_equal(mkdir("data/{artifact}", 0777), 0);
    assert_int_equal(mkdir("{artifact}", 0777), 0);
    assert_word("data/{artifact}/in.json", &actual, "data/{artifact}/in.json");
    assert_word("--load=data/{artifact}", &actual, "--load=data/{artifact}");
    assert_word("{artifact}/in.json", &actual, "{artifact}/in.json");
    assert_word("{artifact}", &actual, "/tmp/model.3.onnx");
    assert_word("other/{artifact}", &actual, "other//tmp/model.3.onnx"); /* there is no such folder */
    assert_false(names("data/{artifact}/in.json", CANDIDATE_ARTIFACT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(placeholder_stands_for_its_file_anywhere),
        cmocka_unit_test(placeholder_of_a_file_that_there_is_not_stays),
        cmocka_unit_test(usual_path_is_a_word),
        cmocka_unit_test(usual_path_is_the_value_of_an_option),
        cmocka_unit_test(usual_path_is_in_a_line_of_the_shell),
        cmocka_unit_test(folder_in_front_of_it_may_be_spelt_out),
        cmocka_unit_test(no_longer_name_is_taken_for_it),
        cmocka_unit_test(nothing_is_renamed_at_the_usual_place),
        cmocka_unit_test(paths_are_quoted_in_a_line_of_the_shell),
        cmocka_unit_test(every_word_is_looked_at),
        cmocka_unit_test(inputs_of_a_runner_are_left_to_it),
        cmocka_unit_test_setup_teardown(a_library_of_providers_is_a_file_that_the_check_names, scratch_folder_enter,
                                        scratch_folder_leave),
        cmocka_unit_test(what_is_switched_off_is_a_value),
        cmocka_unit_test_setup_teardown(what_is_called_like_a_placeholder_keeps_its_name, scratch_folder_enter,
                                        scratch_folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
