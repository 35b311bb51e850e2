/* test_line.c: paths in the place of placeholders in a line of the shell. */
#include "support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/command/line.h"
#include "base/memory.h"

static const char *const paths[COMMAND_FILES] = {
    [COMMAND_MODEL] = "/a b/it's \"$HOME\".onnx", [COMMAND_INPUTS] = "/t/in.npz", [COMMAND_OUTPUTS] = "/t/out"};

static void assert_line(const char *line, const char *expected)
{
    char *made = command_line_for(line, paths);

    assert_string_equal(made, expected);
    free(made);
}

static void placeholders_become_paths(void **state)
{
    (void)state;
    assert_line("./run {inputs} -o={outputs}", "./run /t/in.npz -o=/t/out");
    assert_line("{inputs:npz}{outputs:npy}", "/t/in.npz/t/out");
    assert_line("", "");
}

static void other_braces_stay(void **state)
{
    (void)state;
    assert_line("awk '{print $1}' {input} {INPUTS} {inputs: npz} {model:onnx} {inputs",
                "awk '{print $1}' {input} {INPUTS} {inputs: npz} {model:onnx} {inputs");
    assert_line("a {engine}", "a {engine}"); /* there is none */
}

/* What the shell makes of the line is the path itself, whatever quotes are around it. */
static void a_shell_takes_paths_as_they_are(void **state)
{
    static const char *const lines[] = {"printf %s {model}", "printf %s \"{model}\"", "printf %s '{model}'",
                                        "printf %s 'x'\\''y'{model}\"z\" | sed \"s/^x'y//; s/z$//\""};
    char found[128];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        char *made = command_line_for(lines[i], paths);
        FILE *shell = popen(made, "r");
        size_t size;

        assert_non_null(shell);
        size = fread(found, 1, sizeof(found) - 1, shell);
        found[size] = '\0';
        pclose(shell);
        assert_string_equal(found, paths[COMMAND_MODEL]);
        free(made);
    }
}

static void a_line_break_in_a_path_stays(void **state)
{
    const char *const strange[COMMAND_FILES] = {[COMMAND_MODEL] = "a\nb"};
    char *made = command_line_for("cat {model}", strange);

    (void)state;
    assert_string_equal(made, "cat a'\n'b");
    free(made);
}

static void formats_are_said_by_placeholders(void **state)
{
    enum command_format formats[COMMAND_FILES];

    (void)state;
    assert_int_equal(command_line_formats("./run", formats, NULL), 0);
    assert_int_equal(formats[COMMAND_INPUTS], COMMAND_SAFETENSORS);
    assert_int_equal(command_line_formats("X={inputs:npz} ./run {inputs} {outputs:npy}", formats, NULL), 0);
    assert_int_equal(formats[COMMAND_INPUTS], COMMAND_NPZ);
    assert_int_equal(formats[COMMAND_OUTPUTS], COMMAND_NPY);
    assert_string_equal(command_format_extension(COMMAND_NPZ), ".npz");
    assert_string_equal(command_format_extension(COMMAND_NPY), "");
}

static void unknown_and_contrary_formats_are_refused(void **state)
{
    enum command_format formats[COMMAND_FILES];
    struct error error = {0};

    (void)state;
    assert_int_equal(command_line_formats("./run {inputs:csv}", formats, &error), ERR_INVALID);
    assert_non_null(strstr(error.message, "{inputs:csv}: 'csv' is no format"));
    assert_int_equal(command_line_formats("{outputs:npz} {outputs:json}", formats, &error), ERR_INVALID);
    assert_non_null(strstr(error.message, "{outputs:npz} and {outputs:json} stand for one file"));
}

static void a_line_names_files(void **state)
{
    (void)state;
    assert_true(command_line_names("./run '{engine}'", COMMAND_ENGINE));
    assert_false(command_line_names("./run {model} engine", COMMAND_ENGINE));
}

static void a_command_that_stays_has_two_pipes(void **state)
{
    const char *const pipes[COMMAND_FILES] = {[COMMAND_REQUESTS] = "/t/r", [COMMAND_ANSWERS] = "/t/a"};
    char *made = command_line_for("./serve {requests:npz} {answers}", pipes);
    enum command_format formats[COMMAND_FILES];

    (void)state;
    assert_string_equal(made, "./serve /t/r /t/a");
    free(made);
    assert_false(command_line_stays("./run {model} {inputs} {outputs}"));
    assert_true(command_line_stays("./serve {requests:npz} {answers}"));
    assert_int_equal(command_line_formats("./serve {requests:npz} {answers}", formats, NULL), 0);
    assert_int_equal(formats[COMMAND_INPUTS], COMMAND_NPZ);
    assert_int_equal(formats[COMMAND_OUTPUTS], COMMAND_NPZ);
    assert_int_equal(command_line_formats("./serve {requests}", formats, NULL), ERR_INVALID);
    assert_int_equal(command_line_formats("./serve {answers}", formats, NULL), ERR_INVALID);
    assert_int_equal(command_line_formats("./serve {requests} {answers} {inputs}", formats, NULL), ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_that_stays_has_two_pipes),
        cmocka_unit_test(placeholders_become_paths),
        cmocka_unit_test(other_braces_stay),
        cmocka_unit_test(a_shell_takes_paths_as_they_are),
        cmocka_unit_test(a_line_break_in_a_path_stays),
        cmocka_unit_test(formats_are_said_by_placeholders),
        cmocka_unit_test(unknown_and_contrary_formats_are_refused),
        cmocka_unit_test(a_line_names_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
