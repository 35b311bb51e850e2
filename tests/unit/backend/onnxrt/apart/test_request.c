/* test_apart/request.c: a request arrives in the other process as it was sent, member by member. */
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/apart/request.h"
#include "base/memory.h"

/* Sends `request`; what arrives refers to `ret_bytes`, which the caller frees. False: it is damaged. */
static bool pass_on(const struct backend_request *request, struct arena *arena, struct onnxrt_settings *ret_settings,
                    struct backend_request *ret, char **ret_bytes)
{
    struct message_reader reader = {0};
    struct string_builder bytes;
    struct message message;
    struct text *parts;
    size_t count;

    message_init(&message);
    onnxrt_request_put(&message, request);
    parts = message_parts(&message, &count);
    string_init(&bytes);
    for (size_t i = 0; i < count; i++)
        string_add_text(&bytes, parts[i]);
    reader.size = bytes.size;
    reader.data = *ret_bytes = string_take(&bytes);
    onnxrt_request_take(&reader, arena, ret_settings, ret);
    free(parts);
    message_release(&message);
    return !reader.damaged && reader.at == reader.size;
}

static void assert_same_string(const char *a, const char *b)
{
    assert_int_equal(a != NULL, b != NULL);
    if (a != NULL)
        assert_string_equal(a, b);
}

static void assert_same_strings(const char *const *a, const char *const *b)
{
    assert_int_equal(a != NULL, b != NULL);
    for (; a != NULL && *a != NULL; a++, b++)
        assert_same_string(*a, *b);
    assert_true(b == NULL || *b == NULL);
}

static void assert_same_entries(const struct onnxrt_entries *a, const struct onnxrt_entries *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_same_string(a->items[i].provider, b->items[i].provider);
        assert_same_string(a->items[i].key, b->items[i].key);
        assert_same_string(a->items[i].value, b->items[i].value);
    }
}

static void assert_same_words(const struct words *a, const struct words *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++)
        assert_same_string(a->items[i], b->items[i]);
}

static void assert_same_settings(const struct onnxrt_settings *a, const struct onnxrt_settings *b)
{
    assert_same_string(a->library, b->library);
    assert_same_strings(a->execution.providers, b->execution.providers);
    assert_same_entries(&a->execution.provider_libraries, &b->execution.provider_libraries);
    assert_same_entries(&a->execution.provider_options, &b->execution.provider_options);
    assert_same_entries(&a->execution.session_config, &b->execution.session_config);
    assert_same_strings(a->custom_op_libraries, b->custom_op_libraries);
    assert_int_equal(a->optimization_level, b->optimization_level);
    assert_int_equal(a->intra_threads, b->intra_threads);
    assert_int_equal(a->inter_threads, b->inter_threads);
    assert_same_words(&a->on_processor, &b->on_processor);
    assert_same_string(a->optimized_path, b->optimized_path);
}

static void assert_same_request(const struct backend_request *a, const struct backend_request *b)
{
    assert_same_string(a->model.path, b->model.path);
    assert_int_equal(a->model.size, b->model.size);
    if (a->model.size > 0)
        assert_memory_equal(a->model.data, b->model.data, a->model.size);
    assert_same_string(a->model.external_folder, b->model.external_folder);
    assert_same_words(&a->hidden_outputs, &b->hidden_outputs);
    assert_int_equal(a->frugal, b->frugal);
    assert_int_equal(a->bounds.memory, b->bounds.memory);
    assert_true(a->bounds.seconds == b->bounds.seconds);
}

/* Each member is set here by its place, so a member that is added to a struct does not compile before it is given a
 * value here and a comparison above; which fails unless the table has a row for it. */
static void every_member_arrives(void **state)
{
    static const char *const providers[] = {"cuda", "cpu", NULL}, *const libraries[] = {"a.so", NULL};
    static const char *const hidden[] = {"x", "y", NULL}, *const moved[] = {"Relu@r", NULL};
    static const struct onnxrt_entry options[] = {{"cuda", "use_tf32", "0"}, {"cpu", "k", ""}};
    static const struct onnxrt_entry given[] = {{NULL, "ours", "/lib/libours.so"}};
    static const struct onnxrt_entry config[] = {{NULL, "session.k", "v=w"}};
    const struct onnxrt_settings settings = {
        "/lib/runtime",       {providers, {given, 1}, {options, 2}, {config, 1}}, libraries, -1, 2, 3, NULL, {moved, 1},
        "/tmp/rewritten.onnx"};
    const struct backend_request request = {
        {"model.onnx", "bytes", 5, "/weights"}, {hidden, 2}, true, {UINT64_MAX - 1, 0.25}, &settings, NULL};
    struct onnxrt_settings settings_there = {0};
    struct backend_request there = {0};
    struct arena arena;
    char *bytes;

    (void)state;
    arena_init(&arena);
    assert_true(pass_on(&request, &arena, &settings_there, &there, &bytes));
    assert_ptr_equal(there.settings, &settings_there);
    assert_same_settings(&settings, &settings_there);
    assert_same_request(&request, &there);
    free(bytes);
    arena_release(&arena);
}

static void what_is_not_there_is_not_there_afterwards(void **state)
{
    const struct backend_request request = {.model.path = "model.onnx"};
    struct onnxrt_settings there = {.optimization_level = 7, .library = "other"};
    struct backend_request request_there = {.frugal = true};
    struct arena arena;
    char *bytes;

    (void)state;
    arena_init(&arena);
    assert_true(pass_on(&request, &arena, &there, &request_there, &bytes));
    assert_same_settings(&(const struct onnxrt_settings){0}, &there);
    assert_same_request(&request, &request_there);
    free(bytes);
    arena_release(&arena);
}

/* The tables read nothing beyond the message, and a list that it has no room for is not made. */
static void a_message_that_is_cut_off_is_damaged(void **state)
{
    static const char *const providers[] = {"cpu", NULL};
    const struct onnxrt_settings settings = {.execution.providers = providers};
    const struct backend_request request = {.model = {.data = "bytes", .size = 5}, .settings = &settings};
    struct onnxrt_settings there;
    struct backend_request request_there;
    struct message message;
    struct arena arena;

    (void)state;
    arena_init(&arena);
    message_init(&message);
    onnxrt_request_put(&message, &request);
    for (size_t size = 0; size < message.head.size; size++) {
        char *cut = memory_copy(message.head.data, size);
        struct message_reader reader = {.data = cut, .size = size};

        there = (struct onnxrt_settings){0};
        request_there = (struct backend_request){0};
        onnxrt_request_take(&reader, &arena, &there, &request_there);
        assert_true(reader.damaged);
        free(cut);
    }
    message_release(&message);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_arrives),
        cmocka_unit_test(what_is_not_there_is_not_there_afterwards),
        cmocka_unit_test(a_message_that_is_cut_off_is_damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
