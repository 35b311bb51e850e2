/* Tests of polygraphy_run_command(): documents, errors, logs, checks and cancellation, with the real program. */
#include <polygraphy/command.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/scratch_folder.h"
#include "support/unit_test.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* What the callbacks do, and have seen. */
struct command_script {
    int32_t code; /* of the check */
    uint64_t checks;
    uint64_t cancelled_after; /* calls of cancelled(); 0: never */
    uint64_t calls;
    char log[8192]; /* lines "20 text" */
    char request[512];
};

static int32_t check_candidate(void *context, const char *request, const char **output)
{
    struct command_script *script = context;

    script->checks++;
    snprintf(script->request, sizeof(script->request), "%s", request);
    *output = "printed by the check";
    return script->code;
}

static void keep_line(void *context, int32_t level, const char *message)
{
    struct command_script *script = context;
    size_t size = strlen(script->log);

    snprintf(script->log + size, sizeof(script->log) - size, "%d %s\n", (int)level, message);
}

static bool is_cancelled(void *context)
{
    struct command_script *script = context;

    return script->cancelled_after > 0 && ++script->calls >= script->cancelled_after;
}

static int32_t run_words(const char *const *words, struct command_script *script, bool checks,
                         struct polygraphy_command_result *result, struct polygraphy_error *error)
{
    struct polygraphy_command command = {.program = getenv("POLYGRAPHY"),
                                         .words = words,
                                         .check = checks ? check_candidate : NULL,
                                         .log = keep_line,
                                         .cancelled = is_cancelled,
                                         .context = script};

    return polygraphy_run_command(&command, result, error);
}

/* The lowest one. */
static int find_free_descriptor(void)
{
    int ret = dup(0);

    close(ret);
    return ret;
}

static void document_and_log_are_the_programs(void **state)
{
    struct command_script script = {0};
    struct polygraphy_command_result result;

    assert_int_equal(run_words(WORDS("inspect", "model", "tests/models/identity.onnx"), &script, false, &result, NULL),
                     0);
    assert_int_equal(result.exit_code, 0);
    assert_non_null(strstr(result.document, "\"Identity\""));
    assert_non_null(strstr(script.log, "20 ==== ONNX Model ===="));
    polygraphy_command_result_release(&result);
    polygraphy_command_result_release(&result);
}

static void error_of_the_command_has_its_message(void **state)
{
    struct command_script script = {0};
    struct polygraphy_command_result result;
    struct polygraphy_error error;

    assert_int_equal(run_words(WORDS("inspect", "model", "nowhere.onnx"), &script, false, &result, &error),
                     POLYGRAPHY_ERROR_COMMAND);
    assert_int_equal(result.exit_code, 1);
    assert_null(result.document);
    assert_non_null(strstr(error.message, "nowhere.onnx"));
    polygraphy_command_result_release(&result);
}

static void check_is_a_function_of_this_process(void **state)
{
    struct command_script script = {.code = 7};
    struct polygraphy_command_result result;

    assert_int_equal(
        run_words(WORDS("debug", "repeat", "--until", "3", "--save-debug-replay", ""), &script, true, &result, NULL),
        0);
    assert_int_equal(script.checks, 3);
    assert_non_null(strstr(script.request, "\"iteration\": 2}"));
    assert_non_null(strstr(result.document, "\"failed\": 3"));
    assert_non_null(strstr(script.log, "printed by the check"));
    polygraphy_command_result_release(&result);
}

static void check_can_end_the_command(void **state)
{
    struct command_script script = {.code = -1};
    struct polygraphy_command_result result;

    assert_int_equal(
        run_words(WORDS("debug", "repeat", "--until", "100", "--save-debug-replay", ""), &script, true, &result, NULL),
        POLYGRAPHY_ERROR_INTERRUPTED);
    assert_int_equal(script.checks, 1);
    polygraphy_command_result_release(&result);
}

static void command_ends_when_cancelled(void **state)
{
    struct command_script script = {.cancelled_after = 2};
    struct polygraphy_command_result result;
    struct polygraphy_error error;

    assert_int_equal(
        run_words(WORDS("debug", "repeat", "--until", "100000", "--save-debug-replay", "", "--check", "sleep 0.05"),
                  &script, false, &result, &error),
        POLYGRAPHY_ERROR_INTERRUPTED);
    assert_string_equal(error.message, "interrupted");
    assert_null(result.document);
    polygraphy_command_result_release(&result);
}

static void end_without_a_document_is_an_error(void **state)
{
    const char *program = "./program";
    struct polygraphy_command_result result;
    struct polygraphy_error error;

    scratch_file(program, "#!/bin/sh\nkill -KILL $$\n");
    assert_int_equal(polygraphy_run_command(&(struct polygraphy_command){.program = program, .words = WORDS("run")},
                                            &result, &error),
                     POLYGRAPHY_ERROR_IO);
    assert_int_equal(result.exit_code, -SIGKILL);
    assert_string_equal(error.message, "the program was terminated by signal 9");
    scratch_file(program, "#!/bin/sh\nexit 3\n");
    assert_int_equal(polygraphy_run_command(&(struct polygraphy_command){.program = program, .words = WORDS("run")},
                                            &result, &error),
                     POLYGRAPHY_ERROR_COMMAND);
    assert_int_equal(result.exit_code, 3);
}

static void missing_program_is_an_error(void **state)
{
    struct polygraphy_command_result result;
    struct polygraphy_error error;

    assert_int_equal(
        polygraphy_run_command(&(struct polygraphy_command){.program = "/nowhere/polygraphy", .words = WORDS("run")},
                               &result, &error),
        POLYGRAPHY_ERROR_MISSING);
    assert_string_equal(error.message, "the program '/nowhere/polygraphy' was not found");
    assert_int_equal(polygraphy_run_command(&(struct polygraphy_command){.words = WORDS(NULL)}, &result, &error),
                     POLYGRAPHY_ERROR_INVALID);
}

static void nothing_is_left_behind(void **state)
{
    struct command_script script = {0};
    struct polygraphy_command_result result;
    int before = find_free_descriptor();

    for (int i = 0; i < 20; i++) {
        run_words(WORDS("debug", "repeat", "--until", "2", "--save-debug-replay", ""), &script, true, &result, NULL);
        polygraphy_command_result_release(&result);
        script.log[0] = '\0';
    }
    assert_int_equal(find_free_descriptor(), before);
}

/* There are as many descriptors left as a pipe has. */
static void process_is_not_started_without_a_descriptor_for_its_log(void **state)
{
    struct command_script script = {0};
    struct polygraphy_command_result result;
    struct polygraphy_error error;
    int before = find_free_descriptor();
    struct rlimit usual, low;
    int rc;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    low = usual;
    low.rlim_cur = (rlim_t)before + 2;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    rc = run_words(WORDS("inspect", "model", "tests/models/identity.onnx"), &script, false, &result, &error);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
    assert_true(rc < 0);
    assert_non_null(strstr(error.message, "cannot start"));
    polygraphy_command_result_release(&result);
    assert_int_equal(find_free_descriptor(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(document_and_log_are_the_programs),
        cmocka_unit_test(error_of_the_command_has_its_message),
        cmocka_unit_test(check_is_a_function_of_this_process),
        cmocka_unit_test(check_can_end_the_command),
        cmocka_unit_test(command_ends_when_cancelled),
        cmocka_unit_test_setup_teardown(end_without_a_document_is_an_error, scratch_folder_enter, scratch_folder_leave),
        cmocka_unit_test(missing_program_is_an_error),
        cmocka_unit_test(nothing_is_left_behind),
        cmocka_unit_test(process_is_not_started_without_a_descriptor_for_its_log),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
