/* test_candidates.c: what the word at the end of a command line can become. */
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/string_builder.h"
#include "cli/commands.h"
#include "cli/completion/candidates.h"
#include "support/made_model.h"
#include "support/scratch_folder.h"

static const struct command *const tools[] = {&cmd_run, &cmd_debug, &cmd_surgeon, &cmd_inspect, &cmd_help};
static const struct command root = {.name = "polygraphy", .subcommands = tools, .subcommand_count = ARRAY_LEN(tools)};

static struct string_builder text;

static const char *fits_at(const char *const *typed, size_t index)
{
    struct words words = {.items = typed};
    struct candidates candidates;

    while (typed[words.count] != NULL)
        words.count++;
    candidates_find(&root, words, index < words.count ? index : words.count - 1, &candidates);
    string_clear(&text);
    for (size_t i = 0; i < candidates.count; i++)
        string_add_format(&text, "%s%s", i > 0 ? " " : "", candidates.items[i].word);
    if (candidates.files)
        string_add_format(&text, "<files %s>", candidates.extensions != NULL ? candidates.extensions : "");
    if (candidates.folders)
        string_add(&text, "<folders>");
    if (candidates.command != SIZE_MAX)
        string_add_format(&text, "<command %zu>", candidates.command);
    candidates_release(&candidates);
    return text.size > 0 ? text.data : "";
}

/* What the last word can become: words with a blank between them, then kinds of paths. */
#define FITS(...) fits_at((const char *const[]){"polygraphy", __VA_ARGS__, NULL}, SIZE_MAX)

/* The same for the word of that number. */
#define FITS_AT(index, ...) fits_at((const char *const[]){"polygraphy", __VA_ARGS__, NULL}, (index))

static void commands_come_first(void **state)
{
    assert_string_equal(FITS(""), "run debug surgeon inspect help");
    assert_string_equal(FITS("de"), "debug");
    assert_string_equal(FITS("debug", "re"), "reduce releases repeat");
    assert_string_equal(FITS("-v", "debug", "re"), "reduce releases repeat");
    assert_string_equal(FITS("nothing", "re"), "");
    assert_string_equal(FITS("help", "debug", "red"), "reduce");
    assert_string_equal(FITS("help", "nothing", "red"), "");
}

static void options_have_their_first_names_unless_another_one_is_begun(void **state)
{
    assert_string_equal(FITS("run", "--onnx-"),
                        "--onnx-outputs --onnx-exclude-outputs --onnx-outputs-by-type --onnx-flags");
    assert_string_equal(FITS("run", "--abs"), "--abs-tol");
    assert_string_equal(FITS("debug", "-"),
                        "-h --help -v --verbose -q --quiet --verbosity --silent --log-format --log-file");
}

static void an_option_that_would_be_refused_is_not_offered(void **state)
{
    assert_string_equal(FITS("run", "--tf"), "--tf32");
    assert_string_equal(FITS("run", "--shape-inference", "--no-sh"), "--no-shape-check");
    assert_string_equal(FITS("run", "--save-tactics", "a.json", "--load-t"), "--load-timing-cache");
    assert_string_equal(FITS("run", "--load-t"), "--load-timing-cache --load-tactics");
    assert_string_equal(FITS_AT(2, "run", "--load-t", "--save-tactics", "a.json"), "--load-timing-cache");
}

static void what_was_given_is_offered_again_only_where_it_adds_up(void **state)
{
    assert_string_equal(FITS("run", "--seed", "1", "--see"), "");
    assert_string_equal(FITS("run", "--verbose", "--verb"), "--verbose --verbosity");
    assert_string_equal(FITS("debug", "reduce", "--fail-regex", "a", "--fail-reg"), "--fail-regex");
}

static void choices_and_hints_are_offered_once(void **state)
{
    assert_string_equal(FITS("debug", "reduce", "--mode", ""), "bisect linear minimal");
    assert_string_equal(FITS("debug", "reduce", "--mode", "li"), "linear");
    assert_string_equal(FITS("debug", "reduce", "--mode=li"), "--mode=linear");
    assert_string_equal(FITS("debug", "reduce", "--mode="), "--mode=bisect --mode=linear --mode=minimal");
    assert_string_equal(FITS("debug", "reduce", "--simplify", "weights", ""), "attributes shapes bodies");
    assert_string_equal(FITS("debug", "repeat", "--until", ""), "good bad");
    assert_string_equal(FITS("run", "--seed", ""), "");
    assert_string_equal(FITS("run", "--no-shape-check="), "");
}

static void files_are_told_by_what_is_in_them(void **state)
{
    assert_string_equal(FITS("debug", "reduce", ""), "<files onnx>");
    assert_string_equal(FITS("debug", "reduce", "--", "-"), "<files onnx>");
    assert_string_equal(FITS("run", "--load-inputs", ""), "<files json npz npy safetensors>");
    assert_string_equal(FITS("run", "--load-inputs=x"), "<files json npz npy safetensors>");
    assert_string_equal(FITS("run", "--log-file", ""), "<files >");
    assert_string_equal(FITS("debug", "repeat", "--art-dir", ""), "<folders>");
    assert_string_equal(FITS("debug", "reduce", "a.onnx", "--load-debug-replay", "-"), "<files json>");
}

static void a_command_behind_an_option_is_left_to_the_shell(void **state)
{
    assert_string_equal(FITS("debug", "reduce", "m.onnx", "--check", ""), "<command 5>");
    assert_string_equal(FITS("debug", "reduce", "m.onnx", "--check", "--", "ls", "-"), "<command 6>");
    assert_string_equal(FITS("debug", "reduce", "m.onnx", "--check", "ls -l", "--max-c"), "--max-checks");
}

static void make_model(void)
{
    struct made_model made;
    struct span bytes;

    made_init(&made, 13);
    made_input(&made, "image:0", MADE_SHAPE(-1, 3));
    made_typed_input(&made, "ids", DATA_INT64, MADE_SHAPE(2));
    made_constant(&made, "weight", MADE_SHAPE(3), 0, 1);
    made_node(&made, "first", "Mul", "image:0 weight", "image_scaled", NULL, 0);
    made_node(&made, "bad\nname", "Abs", "image_scaled", "\033[2J", NULL, 0);
    made_node(&made, "second", "Neg", "image_scaled", "$(end)", NULL, 0);
    made_output(&made, "$(end)");
    bytes = made_bytes(&made);
    assert_int_equal(file_write("m.onnx", bytes.data, bytes.size, FILE_INTERMEDIATE, NULL), 0);
    made_release(&made);
}

static void names_of_the_model_on_the_line_are_offered(void **state)
{
    make_model();
    assert_string_equal(FITS("run", "m.onnx", "--onnx-outputs", ""), "mark all image:0 ids image_scaled $(end)");
    assert_string_equal(FITS("run", "m.onnx", "--onnx-outputs", "ids", "i"), "image:0 image_scaled");
    assert_string_equal(FITS("run", "m.onnx", "--onnx-outputs=image_"), "--onnx-outputs=image_scaled");
    assert_string_equal(FITS_AT(2, "run", "--onnx-outputs=image_", "m.onnx"), "--onnx-outputs=image_scaled");
    assert_string_equal(FITS("run", "m.onnx", "--input-shapes", "im"), "image:0:");
    assert_string_equal(FITS("run", "m.onnx", "--input-shapes", "image:0:"), "image:0:[1,3]");
    assert_string_equal(FITS("run", "m.onnx", "--rtol", ""), "$(end):");
    assert_string_equal(FITS("run", "m.onnx", "--check-error-stat", "$(end):me"), "$(end):mean $(end):median");
    assert_string_equal(FITS("surgeon", "extract", "m.onnx", "--inputs", "image_scaled:"), "image_scaled:auto:auto");
    assert_string_equal(FITS("run", "m.onnx", "--layer-precisions", ""), "first: second:");
    assert_string_equal(FITS("run", "m.onnx", "--layer-precisions", "first:f"), "first:float32 first:float16");
}

static void a_check_of_this_program_knows_the_model_that_is_cut(void **state)
{
    make_model();
    assert_string_equal(FITS("debug", "reduce", "m.onnx", "--check", "/usr/bin/polygraphy", "run",
                             "polygraphy_debug.onnx", "--input-shapes", "id"),
                        "ids:");
    assert_string_equal(FITS("debug", "reduce", "m.onnx", "--check", "polygraphy", "run", "--see"), "--seed");
}

static void what_is_no_model_has_no_names(void **state)
{
    scratch_file("broken.onnx", "\x3a\xff\xff\xff\xff\x0f no model");
    assert_string_equal(FITS("run", "broken.onnx", "--rtol", ""), "");
    assert_string_equal(FITS("run", "missing.onnx", "--rtol", ""), "");
    assert_string_equal(FITS("run", "/dev/null", "--rtol", ""), "");
    assert_string_equal(FITS("run", ".", "--rtol", ""), "");
}

static void broken_lines_are_no_error(void **state)
{
    assert_string_equal(FITS("debug", "reduce", "--mode", "wrong", "--max-checks", "x", "--dea"), "--deadline");
    assert_string_equal(FITS("run", "--nothing=", "--see"), "--seed");
    assert_string_equal(FITS("run", "--nothing="), "");
    assert_string_equal(FITS_AT(0, "run"), "");
}

static int enter(void **state)
{
    string_init(&text);
    return scratch_folder_enter(state);
}

static int leave(void **state)
{
    string_release(&text);
    return scratch_folder_leave(state);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(commands_come_first),
        TEST(options_have_their_first_names_unless_another_one_is_begun),
        TEST(an_option_that_would_be_refused_is_not_offered),
        TEST(what_was_given_is_offered_again_only_where_it_adds_up),
        TEST(choices_and_hints_are_offered_once),
        TEST(files_are_told_by_what_is_in_them),
        TEST(a_command_behind_an_option_is_left_to_the_shell),
        TEST(names_of_the_model_on_the_line_are_offered),
        TEST(a_check_of_this_program_knows_the_model_that_is_cut),
        TEST(what_is_no_model_has_no_names),
        TEST(broken_lines_are_no_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
