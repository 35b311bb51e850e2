/* Other people's code in a copy of this program: what it answers, how it ends, and what is said of that. */
#include "support/unit_test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/process/bounded.h"
#include "base/process/process.h"
#include "base/system.h"
#include "base/text/string_builder.h"

static void answer(const void *data, int answer_to, struct bounded_bytes bytes)
{
    static int count; /* in the copy */
    const char *question = bytes.data;
    size_t size = bytes.size;
    struct text parts[2] = {{question, size}, {"", 0}};
    char number[16];

    if (strcmp(question, "crash") == 0)
        raise(SIGKILL); /* the test library handles the others */
    if (strcmp(question, "exit") == 0)
        _exit(7);
    if (strcmp(question, "hang") == 0)
        pause();
    if (strcmp(question, "notes") == 0) {
        bounded_process_note(answer_to, &(struct text){"first", 5}, 1);
        bounded_process_note(answer_to, (struct text[]){{"sec", 3}, {"ond", 3}}, 2);
    }
    if (strcmp(question, "allocate") == 0) {
        char *block = malloc((size_t)1 << 28);

        parts[1] = text_of(block != NULL ? "d" : " refused");
        free(block);
    } else if (size > 0 && size < 8) {
        snprintf(number, sizeof(number), " %d", ++count);
        parts[1] = text_of(number);
    }
    bounded_process_answer(answer_to, parts, 2, NULL);
    bounded_bytes_release(&bytes);
}

static void take_note(void *data, struct text note)
{
    string_add_format(data, TEXT_FORMAT ";", TEXT_ARGS(note));
}

static const struct bounded_work work = {
    .name = "somebody's code", .more_memory = "--memory", .more_time = "--time", .answer = answer, .note = take_note};

static struct bounded_process *start(void)
{
    struct bounded_process *process = NULL;
    struct error err = {0};

    if (bounded_process_start(&work, &process, &err) < 0)
        fail_msg("%s", err.message);
    return process;
}

/* The question with the NUL behind it. */
static int ask(struct bounded_process *process, const char *question, struct bounds bounds, struct bounded_bytes *ret,
               struct error *err)
{
    const struct text part = {question, strlen(question) + 1};

    *err = (struct error){0};
    return bounded_process_ask(process, &(struct bounded_question){.parts = &part, .count = 1, .bounds = bounds}, ret,
                               err);
}

static void assert_answer(struct bounded_process *process, const char *question, struct bounds bounds,
                          const char *expected)
{
    struct bounded_bytes given = {0};
    struct error err;

    if (ask(process, question, bounds, &given, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(given.size, strlen(question) + 1 + strlen(expected));
    assert_memory_equal(given.data + strlen(question) + 1, expected, strlen(expected));
    bounded_bytes_release(&given);
}

static void questions_are_answered_one_after_the_other_by_the_same_copy(void **state)
{
    struct bounded_process *process = start();

    (void)state;
    assert_answer(process, "one", (struct bounds){0}, " 1");
    assert_answer(process, "two", (struct bounds){0}, " 2");
    bounded_process_stop(process);
}

static void questions_and_answers_may_be_larger_than_any_pipe(void **state)
{
    struct bounded_process *process = start();
    size_t size = (size_t)20 << 20;
    char *bytes = memory_alloc(size);
    const struct text parts[] = {{bytes, size / 2}, {bytes + size / 2, size - size / 2}};
    const struct bounded_question question = {.parts = parts, .count = 2};
    struct bounded_bytes given = {0};

    (void)state;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(i * 2654435761u >> 13);
    assert_int_equal(bounded_process_ask(process, &question, &given, NULL), 0);
    assert_int_equal(given.size, size);
    assert_memory_equal(given.data, bytes, size);
    bounded_bytes_release(&given);
    free(bytes);
    bounded_process_stop(process);
}

static void notes_come_before_the_answer_in_their_order(void **state)
{
    struct bounded_process *process = start();
    const struct text part = {"notes", sizeof("notes")};
    struct bounded_bytes given = {0};
    struct error err = {0};
    SCOPED_STRING(notes);

    (void)state;
    assert_int_equal(bounded_process_ask(process,
                                         &(struct bounded_question){.parts = &part, .count = 1, .note_data = &notes},
                                         &given, &err),
                     0);
    assert_string_equal(notes.data, "first;second;");
    assert_string_equal(given.data, "notes");
    bounded_bytes_release(&given);
    bounded_process_stop(process);
}

static void crash_is_an_error_that_names_the_signal(void **state)
{
    struct bounded_process *process = start();
    struct bounded_bytes given = {0};
    struct error err;

    (void)state;
    assert_int_equal(ask(process, "crash", (struct bounds){0}, &given, &err), ERR_BACKEND);
    assert_string_equal(err.message, "somebody's code crashes: signal 9 (Killed) ended its process");
    assert_int_equal(err.foreign_code, -SIGKILL);
    assert_true(bounded_process_is_end(&err));
    assert_false(bounded_process_is_out_of_time(&err));
    bounded_process_stop(process);

    process = start();
    assert_int_equal(ask(process, "exit", (struct bounds){0}, &given, &err), ERR_BACKEND);
    assert_string_equal(err.message, "somebody's code exits with code 7");
    assert_true(bounded_process_is_end(&err));
    bounded_process_stop(process);
}

static void work_without_end_is_ended(void **state)
{
    struct bounded_process *process = start();
    double begin = stopwatch_now();
    struct bounded_bytes given = {0};
    struct error err;

    (void)state;
    assert_int_equal(ask(process, "hang", (struct bounds){.seconds = 0.2}, &given, &err), ERR_BACKEND);
    assert_string_equal(err.message, "somebody's code timed out after 0.2 s; --time raises the limit");
    assert_true(bounded_process_is_end(&err));
    assert_true(bounded_process_is_out_of_time(&err));
    assert_true(stopwatch_now() - begin >= 0.2);
    bounded_process_stop(process);
}

static void memory_has_the_bound_of_each_question(void **state)
{
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
    struct bounded_process *process = start();

    (void)state;
    assert_answer(process, "allocate", (struct bounds){.memory = (size_t)64 << 20}, " refused");
    assert_answer(process, "allocate", (struct bounds){.memory = (size_t)1 << 30}, "d");
    assert_answer(process, "allocate", (struct bounds){.memory = (size_t)64 << 20}, " refused");
    assert_answer(process, "allocate", (struct bounds){0}, "d");
    bounded_process_stop(process);
#else
    (void)state;
    skip();
#endif
}

static void run_true(void)
{
    static const char *const words[] = {"true", NULL};
    struct process_result result;
    struct error err = {0};

    if (process_run(&(struct process_request){.arguments = words}, &result, &err) < 0)
        fail_msg("%s", err.message);
    process_result_release(&result);
}

/* What a child leaves behind is killed when it ends: the copy was left behind by nobody. */
static void other_children_that_end_leave_the_copy_alone(void **state)
{
    struct bounded_process *process;

    (void)state;
    run_true();
    process = start();
    run_true();
    assert_answer(process, "a", (struct bounds){.seconds = 60}, " 1");
    bounded_process_stop(process);
}

static void request_to_end_ends_the_copy(void **state)
{
    struct bounded_process *process = start();
    struct bounded_bytes given = {0};
    struct error err;

    (void)state;
    interrupt_install();
    raise(SIGTERM);
    assert_int_equal(ask(process, "hang", (struct bounds){.seconds = 60}, &given, &err), ERR_INTERRUPTED);
    bounded_process_stop(process);
    interrupt_forget();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_are_answered_one_after_the_other_by_the_same_copy),
        cmocka_unit_test(questions_and_answers_may_be_larger_than_any_pipe),
        cmocka_unit_test(notes_come_before_the_answer_in_their_order),
        cmocka_unit_test(crash_is_an_error_that_names_the_signal),
        cmocka_unit_test(work_without_end_is_ended),
        cmocka_unit_test(memory_has_the_bound_of_each_question),
        cmocka_unit_test(other_children_that_end_leave_the_copy_alone),
        cmocka_unit_test(request_to_end_ends_the_copy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
