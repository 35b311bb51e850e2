/* test_worker.c: questions, answers, log lines and errors between a backend and its worker process. */
#include "support/unit_test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/worker/worker.h"
#include "base/memory.h"

enum question {
    QUESTION_DOUBLE,
    QUESTION_FAIL,
    QUESTION_CRASH,
    QUESTION_KEEP,
    QUESTION_KEPT,
    QUESTION_SLOW,
    QUESTIONS
};

/* Gives each float of the feed twice its value, and logs a line before and after. */
static int answer_double(struct worker_question *question, struct worker_reply *reply, struct error *err)
{
    struct tensor_list feed = {0};
    int rc = message_take_tensors(&question->message, &feed, err);

    log_message(worker_log(), LOG_WARNING, "%zu tensors", feed.count);
    for (size_t i = 0; rc == 0 && i < feed.count; i++) {
        const struct tensor *from = &feed.items[i].tensor;
        const float *values = from->data;
        struct tensor tensor;
        void *data;

        if ((uintptr_t)from->data % 64 != 0)
            rc = error_set(err, ERR_INVALID, "not aligned");
        else
            rc = message_allocate_tensor(DATA_FLOAT32, &from->shape, &tensor, &data, err);
        for (size_t k = 0; rc == 0 && k < from->size / sizeof(float); k++)
            ((float *)data)[k] = 2 * values[k];
        if (rc == 0)
            tensor_list_add(&reply->tensors, text_of(feed.items[i].name), &tensor);
    }
    log_message(worker_log(), LOG_VERBOSE, "not shown");
    message_put_string(&reply->message, "done");
    message_put_tensors(&reply->message, &reply->tensors);
    tensor_list_release(&feed);
    return rc;
}

static int answer_slowly(struct worker_question *question, struct worker_reply *reply, struct error *err)
{
    (void)question, (void)reply, (void)err;
    for (uint64_t i = 0; i < 3; i++)
        worker_report_progress("thinking", i, 3);
    return 0;
}

static int answer_fail(struct worker_question *question, struct worker_reply *reply, struct error *err)
{
    (void)question;
    message_put_string(&reply->message, "is not sent");
    error_set(err, ERR_UNSUPPORTED, "no such operator");
    err->foreign_code = 9;
    return ERR_UNSUPPORTED;
}

static int answer_crash(struct worker_question *question, struct worker_reply *reply, struct error *err)
{
    (void)question, (void)reply, (void)err;
    log_message(worker_log(), LOG_ERROR, "about to crash");
    raise(SIGKILL);
    return 0;
}

static struct text kept;

static int answer_keep(struct worker_question *question, struct worker_reply *reply, struct error *err)
{
    (void)reply, (void)err;
    kept = message_take_text(&question->message);
    worker_question_keep(question);
    return 0;
}

static int answer_kept(struct worker_question *question, struct worker_reply *reply, struct error *err)
{
    (void)question, (void)err;
    message_put_text(&reply->message, kept);
    return 0;
}

static worker_function *const functions[QUESTIONS] = {answer_double, answer_fail, answer_crash,
                                                      answer_keep,   answer_kept, answer_slowly};
static const struct worker_work work = {.name = "the library", .functions = functions, .function_count = QUESTIONS};
static struct worker_process worker = WORKER(&work);
static const struct bounds no_bounds;

static void keep_line(void *data, enum log_level level, int depth, struct text line)
{
    (void)depth;
    string_add_format(data, "%d " TEXT_FORMAT "\n", (int)level, TEXT_ARGS(line));
}

static void add_tensor(struct tensor_list *list, const char *name, size_t count)
{
    struct shape shape = {.rank = 1, .dims = {(int64_t)count}};
    struct tensor tensor;

    assert_int_equal(tensor_allocate(DATA_FLOAT32, &shape, &tensor, NULL), 0);
    for (size_t i = 0; i < count; i++)
        ((float *)tensor_writable(&tensor))[i] = (float)(i % 1000);
    tensor_list_add(list, text_of(name), &tensor);
}

static void assert_doubled(const struct tensor_list *list, const char *name, size_t count)
{
    const struct named_tensor *found = tensor_list_find(list, text_of(name));

    assert_non_null(found);
    assert_int_equal(found->tensor.size, count * sizeof(float));
    assert_int_equal((uintptr_t)found->tensor.data % 64, 0);
    for (size_t i = 0; i < count; i++)
        assert_true(((const float *)found->tensor.data)[i] == (float)(2 * (i % 1000)));
}

/* Has tensors of `count` and of 5 floats doubled; `shares`: large ones are in memory that both processes map. */
static void ask_for_double(size_t count, bool shares, struct tensor_list *ret)
{
    struct tensor_list feed = {0};
    struct worker_exchange exchange;
    struct error err = {0};
    SCOPED_STRING(lines);
    struct log log = {.threshold = LOG_INFO, .write = keep_line, .data = &lines};
    SCOPED_ARENA(arena);

    add_tensor(&feed, "a", count);
    add_tensor(&feed, "b", 5);
    worker_exchange_begin(&exchange, &worker, QUESTION_DOUBLE, &no_bounds, 0, &log);
    if (shares)
        worker_exchange_put_tensors(&exchange, &feed);
    else
        message_put_tensors(&exchange.question, &feed);
    if (worker_exchange_ask(&exchange, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(message_take_string(&exchange.answer, &arena), "done");
    assert_int_equal(message_take_tensors(&exchange.answer, ret, &err), 0);
    assert_false(exchange.answer.damaged);
    worker_exchange_own(&exchange, ret);
    worker_exchange_end(&exchange);
    assert_string_equal(lines.data, "30 2 tensors\n");
    tensor_list_release(&feed);
}

static void assert_both_doubled(const struct tensor_list *outputs, size_t count)
{
    assert_doubled(outputs, "a", count);
    assert_doubled(outputs, "b", 5);
}

/* A small message and one in memory that is shared give the same. */
static void tensors_arrive_aligned_in_messages_of_any_size(void **state)
{
    static const size_t counts[] = {3, 1000, 16384, 300000};

    (void)state;
    for (size_t i = 0; i < 2 * ARRAY_LEN(counts); i++) {
        struct tensor_list outputs = {0};

        ask_for_double(counts[i / 2], i % 2 == 1, &outputs);
        assert_both_doubled(&outputs, counts[i / 2]);
        tensor_list_release(&outputs);
    }
    worker_stop(&worker);
}

/* Memory for questions grows, and goes to each process that answers; answers stay what they were. */
static void shared_tensors_outlive_further_questions_and_processes(void **state)
{
    static const size_t counts[] = {300000, 20000, 400000};
    struct tensor_list outputs[ARRAY_LEN(counts)] = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        ask_for_double(counts[i], true, &outputs[i]);
        if (i == 1)
            worker_stop(&worker);
    }
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        assert_both_doubled(&outputs[i], counts[i]);
    worker_stop(&worker);
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        assert_both_doubled(&outputs[i], counts[i]);
        tensor_list_release(&outputs[i]);
    }
}

/* As many descriptors go with an answer as fit; other tensors are in the message. */
static void more_large_tensors_arrive_than_files_go_with_a_message(void **state)
{
    enum { COUNT = BOUNDED_MOST_FILES + 4 };
    struct tensor_list feed = {0};

    (void)state;
    for (int i = 0; i < COUNT; i++) {
        char name[8];

        snprintf(name, sizeof(name), "t%d", i);
        add_tensor(&feed, name, 20000);
    }
    for (int round = 0; round < 2; round++) {
        struct tensor_list outputs = {0};
        struct worker_exchange exchange;
        struct error err = {0};
        SCOPED_ARENA(arena);

        worker_exchange_begin(&exchange, &worker, QUESTION_DOUBLE, &no_bounds, 0, NULL);
        worker_exchange_put_tensors(&exchange, &feed);
        assert_int_equal(worker_exchange_ask(&exchange, &err), 0);
        assert_int_equal(exchange.bytes.files.count, BOUNDED_MOST_FILES);
        message_take_string(&exchange.answer, &arena);
        assert_int_equal(message_take_tensors(&exchange.answer, &outputs, &err), 0);
        assert_false(exchange.answer.damaged);
        worker_exchange_own(&exchange, &outputs);
        worker_exchange_end(&exchange);
        assert_int_equal(outputs.count, COUNT);
        for (int i = 0; i < COUNT; i++)
            assert_doubled(&outputs, outputs.items[i].name, 20000);
        tensor_list_release(&outputs);
    }
    tensor_list_release(&feed);
    worker_stop(&worker);
}

/* What a process that was forked off asks its own worker does not change what the first one sees. */
static void a_forked_process_shares_memory_with_its_own_worker(void **state)
{
    struct tensor_list outputs = {0}, of_child = {0}, later = {0};
    int status = 0;
    pid_t child;

    (void)state;
    ask_for_double(300000, true, &outputs);
    child = fork();
    if (child == 0) {
        ask_for_double(200000, true, &of_child);
        assert_both_doubled(&of_child, 200000);
        assert_both_doubled(&outputs, 300000);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ask_for_double(250000, true, &later);
    assert_both_doubled(&later, 250000);
    assert_both_doubled(&outputs, 300000);
    tensor_list_release(&outputs);
    tensor_list_release(&later);
    worker_stop(&worker);
}

/* A worker may say anything of where its tensors are. */
static void places_outside_of_what_came_are_damage(void **state)
{
    struct tensor_list list = {0};
    struct message message;

    (void)state;
    add_tensor(&list, "a", 20000);
    message_init(&message);
    message.shares = true;
    message_put_tensors(&message, &list);
    for (size_t missing = 0; missing < 3; missing++) {
        size_t size = missing == 2 ? 0 : message.shared_size - missing * 64;
        char *memory = memory_alloc_zero(message.shared_size, 1);
        struct message_reader reader = {.data = message.head.data, .size = message.head.size, .shared = {memory, size}};
        struct tensor_list taken = {0};

        message_fill_shared(&message, memory);
        assert_int_equal(message_take_tensors(&reader, &taken, NULL), 0);
        assert_int_equal(reader.damaged, missing > 0);
        tensor_list_release(&taken);
        free(memory);
    }
    message_release(&message);
    tensor_list_release(&list);
}

static void an_error_of_the_worker_is_an_error_here(void **state)
{
    struct worker_exchange exchange;
    struct error err = {0};

    (void)state;
    worker_exchange_begin(&exchange, &worker, QUESTION_FAIL, &no_bounds, 0, NULL);
    assert_int_equal(worker_exchange_ask(&exchange, &err), ERR_UNSUPPORTED);
    assert_string_equal(err.message, "no such operator");
    assert_int_equal(err.code, ERR_UNSUPPORTED);
    assert_int_equal(err.foreign_code, 9);
    assert_false(bounded_process_is_end(&err));
    worker_exchange_end(&exchange);

    worker_exchange_begin(&exchange, &worker, QUESTIONS, &no_bounds, 0, NULL);
    assert_int_equal(worker_exchange_ask(&exchange, &err), ERR_CORRUPT);
    worker_exchange_end(&exchange);
    worker_stop(&worker);
}

static void keep_progress(void *context, const char *what, size_t done, size_t all)
{
    string_add_format(context, "%s %zu of %zu\n", what, done, all);
}

static void progress_is_passed_on_where_it_is_wanted(void **state)
{
    struct worker_exchange exchange;
    SCOPED_STRING(steps);
    struct error err;

    (void)state;
    for (int wanted = 0; wanted < 2; wanted++) {
        worker_exchange_begin(&exchange, &worker, QUESTION_SLOW, &no_bounds, 0, NULL);
        exchange.progress = wanted ? keep_progress : NULL;
        exchange.progress_context = &steps;
        assert_int_equal(worker_exchange_ask(&exchange, &err), 0);
        worker_exchange_end(&exchange);
    }
    assert_string_equal(steps.data, "thinking 0 of 3\nthinking 1 of 3\nthinking 2 of 3\n");
}

/* Lines that were logged before are not lost, and what the process held is not asked for in vain. */
static void a_crash_is_an_error_and_loses_what_the_process_held(void **state)
{
    struct worker_exchange exchange;
    struct error err = {0};
    SCOPED_STRING(lines);
    struct log log = {.threshold = LOG_INFO, .write = keep_line, .data = &lines};
    uint64_t generation;

    (void)state;
    worker_exchange_begin(&exchange, &worker, QUESTION_CRASH, &no_bounds, 0, &log);
    assert_int_equal(worker_exchange_ask(&exchange, &err), ERR_BACKEND);
    assert_string_equal(err.message, "the library crashes: signal 9 (Killed) ended its process");
    assert_true(bounded_process_is_end(&err));
    assert_string_equal(lines.data, "40 about to crash\n");
    generation = exchange.generation;
    worker_exchange_end(&exchange);

    worker_exchange_begin(&exchange, &worker, QUESTION_KEPT, &no_bounds, generation, NULL);
    assert_int_equal(worker_exchange_ask(&exchange, &err), ERR_BACKEND);
    assert_string_equal(err.message, "the process of the library has ended, and its sessions with it");
    worker_exchange_end(&exchange);
    worker_stop(&worker);
}

static void bytes_of_a_question_can_be_kept(void **state)
{
    struct worker_exchange exchange;
    struct error err = {0};
    size_t size = (size_t)1 << 20;
    char *bytes = memory_alloc_zero(size, 1);

    (void)state;
    memset(bytes, 'x', size);
    worker_exchange_begin(&exchange, &worker, QUESTION_KEEP, &no_bounds, 0, NULL);
    message_put_text(&exchange.question, (struct text){bytes, size});
    assert_int_equal(worker_exchange_ask(&exchange, &err), 0);
    worker_exchange_end(&exchange);
    worker_exchange_begin(&exchange, &worker, QUESTION_KEPT, &no_bounds, 0, NULL);
    assert_int_equal(worker_exchange_ask(&exchange, &err), 0);
    assert_true(text_equal(message_take_text(&exchange.answer), (struct text){bytes, size}));
    worker_exchange_end(&exchange);
    worker_stop(&worker);
    free(bytes);
}

/* The worker of the process that it was forked off from answers that one only. */
static void a_forked_process_has_a_worker_of_its_own(void **state)
{
    struct worker_exchange exchange;
    struct error err = {0};
    int status = 0;
    pid_t child;

    (void)state;
    worker_exchange_begin(&exchange, &worker, QUESTION_KEEP, &no_bounds, 0, NULL);
    message_put_string(&exchange.question, "kept by the first");
    assert_int_equal(worker_exchange_ask(&exchange, &err), 0);
    worker_exchange_end(&exchange);
    child = fork();
    if (child == 0) {
        worker_exchange_begin(&exchange, &worker, QUESTION_KEPT, &no_bounds, 0, NULL);
        _exit(worker_exchange_ask(&exchange, &err) == 0 && message_take_text(&exchange.answer).size == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    worker_exchange_begin(&exchange, &worker, QUESTION_KEPT, &no_bounds, 0, NULL);
    assert_int_equal(worker_exchange_ask(&exchange, &err), 0);
    assert_true(text_equal_string(message_take_text(&exchange.answer), "kept by the first"));
    worker_exchange_end(&exchange);
    worker_stop(&worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_arrive_aligned_in_messages_of_any_size),
        cmocka_unit_test(shared_tensors_outlive_further_questions_and_processes),
        cmocka_unit_test(more_large_tensors_arrive_than_files_go_with_a_message),
        cmocka_unit_test(a_forked_process_shares_memory_with_its_own_worker),
        cmocka_unit_test(places_outside_of_what_came_are_damage),
        cmocka_unit_test(an_error_of_the_worker_is_an_error_here),
        cmocka_unit_test(progress_is_passed_on_where_it_is_wanted),
        cmocka_unit_test(a_crash_is_an_error_and_loses_what_the_process_held),
        cmocka_unit_test(bytes_of_a_question_can_be_kept),
        cmocka_unit_test(a_forked_process_has_a_worker_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
