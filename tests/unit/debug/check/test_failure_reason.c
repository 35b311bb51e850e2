/* How a run inside of a check tells the debug tool why it has failed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "debug/check/failure_reason.h"
#include "support/unit_test.h"

/* A child of this process, which finds `variable` in its environment, fails like this. */
static void fail_in_child(const char *variable, int foreign_code, const char *message)
{
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        struct error err;

        putenv((char *)variable);
        error_file_attach();
        error_set(&err, ERR_BACKEND, "%s", message);
        err.foreign_code = foreign_code;
        error_file_write(RECORD_ERROR, &err);
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void the_tool_hears_what_the_last_run_has_told(void **state)
{
    char said[PROCESS_REASON_SIZE] = "nothing yet";
    struct error_file errors;

    if (!error_file_open(&errors))
        skip();
    fail_in_child(errors.variable, 10, "Fatal error: :Foo(-1) is not a registered function/op");
    fail_in_child(errors.variable, 1, "Node (gemm) Op (Gemm) [ShapeInferenceError] no");
    failure_reason_read(&errors, said);
    error_file_close(&errors);
    assert_string_equal(said, "error 1 of the runtime, Gemm");
}

static void codes_operators_and_messages_are_reasons(void **state)
{
    static const struct {
        int code;
        const char *message, *expected;
    } cases[] = {
        {-11, "the process of a runner was ended", "signal 11 (Segmentation fault)"},
        {0, "layer 'x': while running Conv node", "Conv"},
        {1005, "TensorRT's parser refuses node 3 'a (b)' (Less), in the function f of g: it fails (code 5)",
         "error 5 of the parser, Less in f of g"},
        {0, "TensorRT's builder fails: layer 'conv1' has 3 inputs",
         "message: TensorRT's builder fails: layer has inputs"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char said[PROCESS_REASON_SIZE] = "nothing yet";
        struct error_file errors;

        if (!error_file_open(&errors))
            skip();
        fail_in_child(errors.variable, cases[i].code, cases[i].message);
        failure_reason_read(&errors, said);
        error_file_close(&errors);
        assert_string_equal(said, cases[i].expected);
    }
}

/* On another machine the same path may lead to a file of somebody else's. */
static void a_file_with_another_mark_is_left_alone(void **state)
{
    char said[PROCESS_REASON_SIZE] = "nothing yet";
    struct error_file errors;
    char *digit;

    if (!error_file_open(&errors))
        skip();
    digit = strchr(errors.variable, '=') + 1;
    *digit = *digit == '0' ? '1' : '0';
    fail_in_child(errors.variable, 1, "while running Conv node");
    failure_reason_read(&errors, said);
    error_file_close(&errors);
    assert_string_equal(said, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tool_hears_what_the_last_run_has_told),
        cmocka_unit_test(codes_operators_and_messages_are_reasons),
        cmocka_unit_test(a_file_with_another_mark_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
