/* Our table of ONNX Runtime's functions: each one that we use is called, and does what its name says. */
#define _GNU_SOURCE /* strcasestr */
#include "support/onnxrt_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/library.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "tensor/values/data_type.h"

static const struct ort_api *api;
static const struct onnxrt *ort;

#define REQUIRE_API()                                                                                                  \
    do {                                                                                                               \
        require_onnxruntime();                                                                                         \
        assert_int_equal(onnxrt_load(NULL, &ort, NULL), 0);                                                            \
        api = ort->api;                                                                                                \
    } while (0)

static void assert_done(struct ort_status *status)
{
    if (status != NULL)
        fail_msg("%s", api->get_error_message(status));
}

/* That the function refuses what it was given, and says something with `word` in it, in whatever case. */
static void assert_refused(struct ort_status *status, const char *word)
{
    assert_non_null(status);
    assert_int_not_equal(api->get_error_code(status), 0);
    if (strcasestr(api->get_error_message(status), word) == NULL)
        fail_msg("'%s' does not speak of '%s'", api->get_error_message(status), word);
    api->release_status(status);
}

static void options_are_taken_and_refused(void **state)
{
    struct ort_session_options *options = NULL, *copy = NULL;
    struct ort_value *one = NULL;
    const char *name = "nothing";
    int64_t dims[1] = {1};

    REQUIRE_API();
    assert_done(api->create_session_options(&options));
    assert_done(api->clone_session_options(options, &copy));
    assert_non_null(copy);
    assert_ptr_not_equal(copy, options);
    assert_done(api->disable_cpu_memory_arena(copy));
    assert_done(api->set_session_log_severity(copy, ORT_SEVERITY_ERROR));
    assert_done(api->set_intra_op_threads(copy, 1));
    assert_done(api->set_inter_op_threads(copy, 1));
    assert_done(api->set_graph_optimization_level(copy, 1));
    assert_refused(api->set_graph_optimization_level(copy, 12345), "optimization");
    assert_done(api->add_session_config(copy, "session.some_key", "value"));
    assert_refused(api->add_session_config(copy, "", "value"), "key");
    assert_refused(api->append_provider(copy, "NoSuchProvider", NULL, NULL, 0), "NoSuchProvider");
    assert_refused(api->register_custom_ops_library(copy, "/missing/operators.so"), "operators.so");
    assert_done(api->create_tensor(ort->allocator, dims, 1, DATA_FLOAT32, &one));
    assert_refused(api->add_external_initializers(copy, &name, (const struct ort_value *const *)&one, 1), "");
    api->release_value(one);
    assert_done(api->disable_per_session_threads(copy));
    api->release_session_options(copy);
    api->release_session_options(options);
}

/* The model `identity` has one input "x" and one output "y" of float32 [1, 1, 2, 2]. */
static void assert_identity(struct ort_session *session)
{
    struct ort_type_info *types[2] = {NULL, NULL};
    char *names[2] = {NULL, NULL};
    size_t counts[2] = {0, 0};

    assert_done(api->session_input_count(session, &counts[0]));
    assert_done(api->session_output_count(session, &counts[1]));
    assert_int_equal(counts[0], 1);
    assert_int_equal(counts[1], 1);
    assert_done(api->session_input_name(session, 0, ort->allocator, &names[0]));
    assert_done(api->session_output_name(session, 0, ort->allocator, &names[1]));
    assert_string_equal(names[0], "x");
    assert_string_equal(names[1], "y");
    assert_done(api->session_input_type(session, 0, &types[0]));
    assert_done(api->session_output_type(session, 0, &types[1]));
    for (size_t i = 0; i < 2; i++) {
        const struct ort_tensor_info *info = NULL;
        const char *symbols[4] = {NULL};
        int64_t dims[4] = {0};
        size_t rank = 0;
        int number = -1;

        assert_done(api->allocator_free(ort->allocator, names[i]));
        assert_done(api->type_kind(types[i], &number));
        assert_int_equal(number, ORT_KIND_TENSOR);
        assert_done(api->type_tensor_info(types[i], &info));
        assert_done(api->element_type(info, &number));
        assert_int_equal(number, DATA_FLOAT32);
        assert_done(api->rank(info, &rank));
        assert_int_equal(rank, 4);
        assert_done(api->dimensions(info, dims, rank));
        assert_true(dims[0] == 1 && dims[1] == 1 && dims[2] == 2 && dims[3] == 2);
        assert_done(api->symbolic_dimensions(info, symbols, rank));
        assert_string_equal(symbols[3], "");
        if (ort->tells_shape)
            assert_true(api->has_shape(info));
        api->release_type_info(types[i]);
    }
}

static void sessions_are_made_of_files_and_bytes_and_run(void **state)
{
    static float values[] = {1, -2, 3.5f, 0};
    const char *x = "x", *y = "y";
    struct ort_session_options *options = NULL;
    struct ort_session *session = NULL, *other = NULL;
    struct ort_tensor_info *info = NULL;
    struct ort_memory_info *memory = NULL;
    struct ort_value *input = NULL, *output = NULL;
    int64_t dims[4] = {1, 1, 2, 2};
    size_t size, rank = 0;
    char *bytes;
    void *data = NULL;

    REQUIRE_API();
    assert_done(api->create_session_options(&options));
    assert_refused(api->create_session(ort->env, "missing_model.onnx", options, &session), "missing_model");
    assert_done(api->create_session(ort->env, model_path("identity"), options, &session));
    assert_identity(session);
    assert_int_equal(file_read(model_path("identity"), SIZE_MAX, &bytes, &size, NULL), 0);
    assert_done(api->create_session_from_array(ort->env, bytes, size, options, &other));
    assert_identity(other);
    api->release_session(other);
    free(bytes);

    assert_done(api->create_cpu_memory_info(ORT_ALLOCATOR_ARENA, ORT_MEMORY_DEFAULT, &memory));
    assert_done(api->create_tensor_with_data(memory, values, sizeof(values), dims, 4, DATA_FLOAT32, &input));
    assert_done(api->run(session, NULL, &x, (const struct ort_value *const *)&input, 1, &y, 1, &output));
    assert_done(api->tensor_data(output, &data));
    assert_memory_equal(data, values, sizeof(values));
    assert_done(api->value_tensor_info(output, &info));
    assert_done(api->rank(info, &rank));
    assert_int_equal(rank, 4);
    api->release_tensor_info(info);
    api->release_value(output);
    api->release_value(input);
    api->release_memory_info(memory);
    api->release_session(session);
    api->release_session_options(options);
}

static void string_tensors_are_filled_and_read(void **state)
{
    struct ort_value *value = NULL;
    int64_t dims[1] = {2};
    size_t size = 0, offsets[2] = {9, 9};
    char *element = NULL, content[4] = "";

    REQUIRE_API();
    assert_done(api->create_tensor(ort->allocator, dims, 1, DATA_STRING, &value));
    assert_done(api->resize_string_element(value, 0, 1, &element));
    memcpy(element, "a", 1);
    assert_done(api->resize_string_element(value, 1, 2, &element));
    memcpy(element, "bc", 2);
    assert_done(api->string_tensor_size(value, &size));
    assert_int_equal(size, 3);
    assert_done(api->string_tensor_content(value, content, size, offsets, 2));
    assert_string_equal(content, "abc");
    assert_true(offsets[0] == 0 && offsets[1] == 1);
    api->release_value(value);
}

static void drop_message(void *data, int severity, const char *category, const char *log_id, const char *code_location,
                         const char *message)
{
}

static void the_environment_is_one_and_counted(void **state)
{
    struct ort_threading_options *threading = NULL;
    struct ort_session_options *options = NULL;
    struct ort_session *session = NULL;
    struct ort_env *first = NULL, *second = NULL;

    REQUIRE_API();
    assert_done(api->create_env_with_custom_logger(drop_message, NULL, ORT_SEVERITY_ERROR, "test", &first));
    assert_non_null(first);
    assert_done(api->create_threading_options(&threading));
    assert_done(api->create_env_with_custom_logger_and_threads(drop_message, NULL, ORT_SEVERITY_ERROR, "test",
                                                               threading, &second));
    assert_non_null(second);
    api->release_threading_options(threading);
    api->release_env(second);
    api->release_env(first);
    assert_done(api->create_session_options(&options)); /* ours is still there */
    assert_done(api->create_session(ort->env, model_path("identity"), options, &session));
    api->release_session(session);
    api->release_session_options(options);
}

static void allocators_and_threads_of_the_environment_are_chosen(void **state)
{
    struct ort_threading_options *threading = NULL;
    struct ort_arena_config *config = NULL;
    struct ort_allocator *allocator = NULL;
    struct ort_memory_info *memory = NULL;

    REQUIRE_API();
    assert_done(api->create_threading_options(&threading));
    assert_done(api->set_global_intra_op_threads(threading, 1));
    assert_done(api->set_global_inter_op_threads(threading, 1));
    assert_done(api->set_global_spin_control(threading, 0));
    assert_refused(api->set_global_spin_control(threading, 7), "spin");
    api->release_threading_options(threading);

    assert_done(api->default_allocator(&allocator));
    assert_ptr_equal(allocator, ort->allocator);
    assert_done(api->create_cpu_memory_info(ORT_ALLOCATOR_ARENA, ORT_MEMORY_DEFAULT, &memory));
    assert_done(api->create_arena_config((size_t)1 << 26, -1, -1, -1, &config));
    assert_done(api->create_and_register_allocator(ort->env, memory, config));
    assert_done(api->unregister_allocator(ort->env, memory));
    assert_refused(api->unregister_allocator(ort->env, memory), "allocator"); /* there is none any more */
    api->release_arena_config(config);
    api->release_memory_info(memory);
}

static void providers_are_named(void **state)
{
    struct ort_provider_options *tensorrt = NULL, *cuda = NULL;
    struct ort_session_options *options = NULL;
    struct ort_status *status;
    char **names = NULL;
    bool found = false;
    int count = 0;

    REQUIRE_API();
    assert_done(api->available_providers(&names, &count));
    for (int i = 0; i < count; i++)
        found = found || strcmp(names[i], "CPUExecutionProvider") == 0;
    assert_true(found);
    assert_done(api->release_available_providers(names, count));

    /* Builds without these providers refuse already to make their options, or only to use them. */
    assert_done(api->create_session_options(&options));
    status = api->create_cuda_options(&cuda);
    if (status != NULL)
        assert_refused(status, "cuda");
    if (cuda != NULL) {
        status = api->append_cuda(options, cuda);
        if (status != NULL)
            assert_refused(status, "cuda");
        api->release_cuda_options(cuda);
    }
    status = api->create_tensorrt_options(&tensorrt);
    if (status != NULL)
        assert_refused(status, "tensorrt");
    if (tensorrt != NULL) {
        status = api->append_tensorrt(options, tensorrt);
        if (status != NULL)
            assert_refused(status, "tensorrt");
        api->release_tensorrt_options(tensorrt);
    }
    api->release_session_options(options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_taken_and_refused),
        cmocka_unit_test(sessions_are_made_of_files_and_bytes_and_run),
        cmocka_unit_test(string_tensors_are_filled_and_read),
        cmocka_unit_test(the_environment_is_one_and_counted),
        cmocka_unit_test(allocators_and_threads_of_the_environment_are_chosen),
        cmocka_unit_test(providers_are_named),
    };

    return cmocka_run_group_tests(tests, find_models, NULL);
}
