/* test_caller.c: checks that the process at the other end of a socket carries out. */
#include "debug/check/caller.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/unit_test.h"

/* The other end: keeps the request, sends `answer` in two pieces, and closes the socket. */
struct other_end {
    int socket;
    const char *answer;
    char request[512];
};

static void *answer_once(void *data)
{
    struct other_end *other = data;
    size_t half = strlen(other->answer) / 2;
    ssize_t size = recv(other->socket, other->request, sizeof(other->request) - 1, 0);

    other->request[size > 0 ? size : 0] = '\0';
    if (send(other->socket, other->answer, half, 0) >= 0)
        send(other->socket, other->answer + half, strlen(other->answer) - half, 0);
    close(other->socket);
    return NULL;
}

static int ask(const struct caller_request *request, const char *answer, char request_line[512],
               struct process_result *ret, struct error *err)
{
    struct other_end other = {.answer = answer};
    pthread_t thread;
    int ends[2], rc;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    other.socket = ends[1];
    assert_int_equal(pthread_create(&thread, NULL, answer_once, &other), 0);
    rc = caller_ask(ends[0], request, ret, err);
    pthread_join(thread, NULL);
    close(ends[0]);
    if (request_line != NULL)
        memcpy(request_line, other.request, sizeof(other.request));
    return rc;
}

static void answer_counts_as_exit_code_and_output(void **state)
{
    const struct caller_request request = {.files.items = {[CANDIDATE_ARTIFACT] = "a \"b\".onnx"}, .iteration = 3};
    struct process_result result;
    char line[512];
    struct error err;

    assert_int_equal(ask(&request, "{\"exit_code\": 7, \"output\": \"wrong\\n\"}\n", line, &result, &err), 0);
    assert_string_equal(line, "{\"artifact\": \"a \\\"b\\\".onnx\",\"inputs\": null,\"golden\": null,"
                              "\"information\": null,\"disabled\": null,\"iteration\": 3}\n");
    assert_int_equal(result.end, PROCESS_EXITED);
    assert_int_equal(result.code, 7);
    assert_int_equal(result.out.size, 6);
    assert_memory_equal(result.out.data, "wrong\n", 6);
    assert_true(result.seconds >= 0);
    process_result_release(&result);
}

static void list_of_what_to_disable_is_passed_on(void **state)
{
    const struct caller_request request = {
        .files.items = {[CANDIDATE_ARTIFACT] = "list"}, .disabled = "a;b", .iteration = -1};
    struct process_result result;
    char line[512];

    assert_int_equal(ask(&request, "{\"exit_code\": 0}\n", line, &result, NULL), 0);
    assert_non_null(strstr(line, "\"disabled\": \"a;b\",\"iteration\": -1}"));
    assert_int_equal(result.code, 0);
    assert_int_equal(result.out.size, 0);
    process_result_release(&result);
}

static void invalid_answer_is_an_error(void **state)
{
    static const char *const answers[] = {
        "{\"exit_code\": 256}\n", "{\"exit_code\": -1}\n", "{\"exit_code\": \"0\"}\n", "0\n", "\n", "{}\n"};
    const struct caller_request request = {.iteration = 0};
    struct process_result result;

    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct error err;

        assert_int_equal(ask(&request, answers[i], NULL, &result, &err), ERR_IO);
        assert_non_null(strstr(err.message, "the answer is not a line {\"exit_code\": N"));
    }
}

static void end_of_the_other_process_is_an_error(void **state)
{
    const struct caller_request request = {.iteration = 0};
    struct process_result result;
    struct error err;

    assert_int_equal(ask(&request, "{\"exit_code\": 0}", NULL, &result, &err), ERR_IO);
    assert_non_null(strstr(err.message, "has closed its end"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answer_counts_as_exit_code_and_output),
        cmocka_unit_test(list_of_what_to_disable_is_passed_on),
        cmocka_unit_test(invalid_answer_is_an_error),
        cmocka_unit_test(end_of_the_other_process_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
