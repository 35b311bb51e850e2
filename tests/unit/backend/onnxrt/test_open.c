/* test_onnxrt_open.c: what a session with ONNX Runtime is made of, and what can be wrong with it. */
#include "backend/onnxrt/settings.h"
#include "support/onnxrt_fixture.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/onnxrt/library.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "support/captured_log.h"
#include "support/scratch_folder.h"

/* Opens, expecting a failure of that code, whose message goes to `err`. */
static void open_fails(const struct backend_request *request, int code, struct error *err)
{
    struct backend_session *session = NULL;

    *err = (struct error){0};
    assert_int_equal(onnxrt_backend.open(request, &session, err), code);
    assert_int_equal(err->code, code);
    assert_null(session);
    assert_null(strchr(err->message, '\n'));
}

static void run_with_weights(struct backend_session *session)
{
    static const float zeros[256];
    struct tensor_list feed = {0}, outputs;

    feed_add(&feed, "x", DATA_FLOAT32, 256, zeros);
    run_model(session, &feed, &outputs);
    for (size_t i = 0; i < 256; i++)
        assert_true(((const float *)outputs.items[0].tensor.data)[i] == (float)i);
    tensor_list_release(&outputs);
    tensor_list_release(&feed);
}

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void copy_file(const char *from, const char *to)
{
    char *data;
    size_t size;

    assert_int_equal(file_read(from, SIZE_MAX, &data, &size, NULL), 0);
    write_file(to, data, size);
    free(data);
}

/* Runs first: a library that was loaded stays. */
static void library_that_is_missing_is_an_error_and_may_be_named_better_later(void **state)
{
    struct backend_request request = {.model.path = model_path("identity"),
                                      .settings = &(struct onnxrt_settings){.library = "/no/such/folder"}};
    struct error err;

    open_fails(&request, ERR_MISSING, &err);
    assert_message_contains(&err, "'/no/such/folder'");
    assert_message_contains(&err, "--onnxrt-library");
    require_onnxruntime();
    onnxrt_backend.close(open_model("identity"));
}

static void missing_model_is_an_error(void **state)
{
    struct backend_request request = {.model.path = "no_such_model.onnx"};
    struct error err;

    open_fails(&request, ERR_MISSING, &err);
    assert_message_contains(&err, "'no_such_model.onnx'");
}

static void damaged_model_is_an_error_in_one_line(void **state)
{
    struct error err;
    size_t size;
    char *data;

    require_onnxruntime();
    assert_int_equal(file_read(model_path("every_type"), SIZE_MAX, &data, &size, NULL), 0);
    for (size_t cut = 1; cut < size; cut += size / 20) {
        struct backend_request request = {.model.data = data, .model.size = size - cut};

        open_fails(&request, ERR_BACKEND, &err);
        assert_message_contains(&err, "the model in memory: ");
    }
    memset(data, 0xff, size);
    open_fails(&(struct backend_request){.model.data = data, .model.size = size}, ERR_BACKEND, &err);
    write_file("damaged.onnx", data, size);
    open_fails(&(struct backend_request){.model.path = "damaged.onnx"}, ERR_CORRUPT, &err);
    assert_message_contains(&err, "'damaged.onnx': Protobuf parsing failed");
    free(data);
}

static void model_in_memory_need_not_outlive_the_opening(void **state)
{
    static const float values[] = {1, 2};
    struct tensor_list feed = {0}, outputs;
    struct backend_request request = {0};
    struct backend_session *session;
    char *data;

    require_onnxruntime();
    assert_int_equal(file_read(model_path("input_and_weight_are_outputs"), SIZE_MAX, &data, &request.model.size, NULL),
                     0);
    request.model.data = data;
    session = open_request(&request);
    memset(data, 0, request.model.size);
    free(data);
    feed_add(&feed, "x", DATA_FLOAT32, 2, values);
    run_model(session, &feed, &outputs);
    assert_floats(output_named(&outputs, "sum"), (const float[]){4, 6}, 2);
    tensor_list_release(&outputs);
    tensor_list_release(&feed);
    onnxrt_backend.close(session);
}

static void external_data_are_found_beside_the_model(void **state)
{
    struct backend_session *session;

    require_onnxruntime();
    session = open_model("external_weights");
    run_with_weights(session);
    onnxrt_backend.close(session);
}

static void external_data_of_a_model_in_memory_are_found_in_the_folder_named(void **state)
{
    struct backend_request request = {.model.external_folder = models_folder};
    struct backend_session *session;
    struct error err;
    char *data;

    require_onnxruntime();
    assert_int_equal(file_read(model_path("external_weights"), SIZE_MAX, &data, &request.model.size, NULL), 0);
    request.model.data = data;
    session = open_request(&request);
    run_with_weights(session);
    onnxrt_backend.close(session);

    request.model.external_folder = ".";
    open_fails(&request, ERR_BACKEND, &err);
    assert_message_contains(&err, "weights");
    free(data);
}

/* What makes a copy of a model cheap: the runtime refuses a symbolic link that leads out of the model's folder. */
static void external_data_may_be_a_hard_link(void **state)
{
    struct backend_request request = {.model.path = "candidate/model.onnx"};
    struct backend_session *session;
    char weights[PATH_MAX];

    require_onnxruntime();
    snprintf(weights, sizeof(weights), "%s/weights.data", models_folder);
    assert_int_equal(mkdir("candidate", 0700), 0);
    copy_file(weights, "original.data");
    copy_file(model_path("external_weights"), "candidate/model.onnx");
    assert_int_equal(link("original.data", "candidate/weights.data"), 0);
    session = open_request(&request);
    run_with_weights(session);
    onnxrt_backend.close(session);
}

static void provider_may_be_spelled_in_part_and_in_any_case(void **state)
{
    static const char *const spellings[] = {"CPUExecutionProvider", "cpu", "CPUExecutionProvider, please", "cpuexec"};

    require_onnxruntime();
    for (size_t i = 0; i < ARRAY_LEN(spellings); i++) {
        struct captured_log captured;
        const char *providers[] = {spellings[i], NULL};
        struct backend_request request = {.model.path = model_path("identity"),
                                          .log = &captured.log,
                                          .settings = &(struct onnxrt_settings){.execution.providers = providers}};

        captured_log_init(&captured);
        captured.log.threshold = LOG_INFO;
        onnxrt_backend.close(open_request(&request));
        assert_string_equal(captured.text.data,
                            "I Creating ONNX-Runtime Inference Session with providers: ['CPUExecutionProvider']\n");
        captured_log_release(&captured);
    }
}

static void provider_that_there_is_not_is_an_error_that_lists_the_others(void **state)
{
    const char *providers[] = {"cpu", "nonsense", NULL};
    struct backend_request request = {.model.path = model_path("identity"),
                                      .settings = &(struct onnxrt_settings){.execution.providers = providers}};
    struct error err;

    require_onnxruntime();
    open_fails(&request, ERR_INVALID, &err);
    assert_ptr_equal(strstr(err.message, "Could not find specified ONNX-Runtime execution provider: 'nonsense'"),
                     err.message);
    assert_message_contains(&err, "'CPUExecutionProvider'");
}

static void optimization_level_and_threads_reach_the_runtime(void **state)
{
    struct onnxrt_settings settings = {.optimization_level = 99, .intra_threads = 1, .inter_threads = 1};
    const struct backend_request request = {.model.path = model_path("identity"), .settings = &settings};
    struct error err;

    require_onnxruntime();
    onnxrt_backend.close(open_request(&request));
    settings.optimization_level = 55;
    open_fails(&request, ERR_INVALID, &err);
    assert_message_contains(&err, "optimization");
}

static void library_of_custom_operators_that_is_missing_or_none_is_an_error(void **state)
{
    static const char *const missing[] = {"no_such_library.so", NULL}, *const text[] = {"text.so", NULL};
    struct onnxrt_settings settings = {.custom_op_libraries = missing};
    const struct backend_request request = {.model.path = model_path("identity"), .settings = &settings};
    struct error err;

    require_onnxruntime();
    open_fails(&request, ERR_MISSING, &err);
    assert_message_contains(&err, "'no_such_library.so'");
    scratch_file("text.so", "not a library");
    settings.custom_op_libraries = text;
    open_fails(&request, ERR_INVALID, &err);
    assert_message_contains(&err, "'text.so'");
}

static void messages_of_the_runtime_go_to_the_log_and_nowhere_else(void **state)
{
    struct captured_log captured;
    struct backend_request request = {.model.path = model_path("identity"), .log = &captured.log};
    struct error err;
    int saved, file;

    require_onnxruntime();
    captured_log_init(&captured);
    scratch_file("damaged.onnx", "damaged");
    fflush(stderr);
    saved = dup(STDERR_FILENO);
    file = open("stderr.txt", O_CREAT | O_WRONLY, 0600);
    assert_true(saved >= 0 && file >= 0 && dup2(file, STDERR_FILENO) >= 0);
    onnxrt_backend.close(open_request(&request));
    open_fails(&(struct backend_request){.model.path = "damaged.onnx"}, ERR_CORRUPT, &err);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(file);
    assert_true(scratch_file_is("stderr.txt", ""));
    assert_true(captured_log_has(&captured, "V ONNX-Runtime: "));
    captured_log_release(&captured);
}

static bool is_child;

#ifdef __SANITIZE_ADDRESS__
/* Asked by LeakSanitizer at the end. What only the library's threads had referred to, which a child lacks, is no
 * leak. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return is_child;
}
#endif

/* A published ONNX Runtime reports to its maker unless told not to, with a thread whose absence hangs exit() in a
 * child. */
static void child_of_a_process_with_the_library_can_use_it_and_end(void **state)
{
    struct backend_session *session;
    int status;
    pid_t child;

    require_onnxruntime();
    onnxrt_backend.close(open_model("external_weights"));
    child = fork();
    assert_true(child >= 0);
    is_child = child == 0;
    if (child == 0) {
        alarm(120); /* a child that hangs is ended */
        session = open_model("external_weights");
        run_with_weights(session);
        onnxrt_backend.close(session);
        exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void environment_variables_stay_as_they_were(void **state)
{
    require_onnxruntime();
    onnxrt_backend.close(open_model("identity"));
    assert_null(getenv("ORT_DISABLE_TELEMETRY"));
}

static int prepare(void **state)
{
    unsetenv("ORT_DISABLE_TELEMETRY");
    return find_models(state);
}

#define IN_SCRATCH_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(library_that_is_missing_is_an_error_and_may_be_named_better_later),
        cmocka_unit_test(missing_model_is_an_error),
        IN_SCRATCH_FOLDER(damaged_model_is_an_error_in_one_line),
        cmocka_unit_test(model_in_memory_need_not_outlive_the_opening),
        cmocka_unit_test(external_data_are_found_beside_the_model),
        IN_SCRATCH_FOLDER(external_data_of_a_model_in_memory_are_found_in_the_folder_named),
        IN_SCRATCH_FOLDER(external_data_may_be_a_hard_link),
        cmocka_unit_test(provider_may_be_spelled_in_part_and_in_any_case),
        cmocka_unit_test(provider_that_there_is_not_is_an_error_that_lists_the_others),
        cmocka_unit_test(optimization_level_and_threads_reach_the_runtime),
        IN_SCRATCH_FOLDER(library_of_custom_operators_that_is_missing_or_none_is_an_error),
        IN_SCRATCH_FOLDER(messages_of_the_runtime_go_to_the_log_and_nowhere_else),
        cmocka_unit_test(child_of_a_process_with_the_library_can_use_it_and_end),
        cmocka_unit_test(environment_variables_stay_as_they_were),
    };

    return cmocka_run_group_tests(tests, prepare, NULL);
}
