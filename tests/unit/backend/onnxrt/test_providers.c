/* Each provider is asked for through the runtime's own functions for it, with its options as they were typed: a library
 * that stands in for the runtime writes down what it is called with. */
#include "support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/onnxrt/apart/backend.h"
#include "backend/onnxrt/providers.h"
#include "backend/onnxrt/unchecked_keys.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/string_builder.h"
#include "support/captured_log.h"
#include "support/scratch_folder.h"

static const char record[] = "record";

static const char *library(void)
{
    static char path[4096];
    const char *folder = getenv("POLYGRAPHY_TEST_PROGRAMS");

    snprintf(path, sizeof(path), "%s/plugins/onnxruntime_that_records.so", folder ? folder : "");
    return path;
}

static int enter(void **state)
{
    return scratch_folder_enter(state) != 0 || setenv("ONNXRUNTIME_RECORD", record, 1) != 0 ? -1 : 0;
}

struct case_of_options {
    const char *providers[4];
    struct onnxrt_entry options[4];
    const char *expected; /* in what was written down; or in the refusal */
};

static int open_with(const struct backend *backend, const struct case_of_options *wanted, struct log *log,
                     struct error *err)
{
    static const char bytes[] = "nobody reads this model";
    struct onnxrt_settings settings = {
        .library = library(),
        .optimization_level = -1,
        .execution = {.providers = wanted->providers, .provider_options = {wanted->options, 0}},
    };
    const struct backend_request request = {
        .model.data = bytes, .model.size = sizeof(bytes), .settings = &settings, .log = log};
    struct backend_session *session = NULL;
    int rc;

    while (settings.execution.provider_options.count < 4 &&
           wanted->options[settings.execution.provider_options.count].key != NULL)
        settings.execution.provider_options.count++;
    unlink(record);
    rc = backend->open(&request, &session, err);
    if (rc == 0)
        backend->close(session);
    return rc;
}

static void assert_recorded(const char *expected)
{
    char *text;
    size_t size;
    struct error err = {0};

    if (file_read(record, 1 << 20, &text, &size, &err) < 0)
        fail_msg("%s", err.message);
    if (!text_contains((struct text){text, size}, text_of(expected)))
        fail_msg("'%.*s' does not have '%s'", (int)size, text, expected);
    free(text);
}

static const struct case_of_options cases[] = {
    {{"tensorrt"},
     {{"tensorrt", "trt_fp16_enable", "1"}, {"TensorRT", "trt_profile_min_shapes", "x:1x3,y:2=3"}},
     "slot 171:\nslot 172: trt_fp16_enable=1 trt_profile_min_shapes=x:1x3,y:2=3\nslot 170:\nslot 174:\n"},
    {{"cuda"}, {{.provider = NULL}}, "slot 205:\nslot 204:\nslot 208:\n"},
    {{"cuda", "cpu"},
     {{"cuda", "device_id", "0"}, {"cuda", "use_tf32", "0"}, {"CUDAExecutionProvider", "device_id", "1"}},
     "slot 205:\nslot 206: device_id=1 use_tf32=0\nslot 204:\nslot 208:\n"},
    {{"dnnl"}, {{"dnnl", "use_arena", "1"}}, "slot 240:\nslot 241: use_arena=1\nslot 239:\nslot 243:\n"},
    {{"rocm"}, {{"rocm", "a", "b"}}, "slot 255:\nslot 256: a=b\nslot 153:\nslot 258:\n"},
    {{"cann"}, {{"cann", "a", "b"}}, "slot 221:\nslot 222: a=b\nslot 220:\nslot 224:\n"},
    {{"openvino"}, {{"openvino", "device_type", "HETERO:GPU,CPU"}}, "slot 275: device_type=HETERO:GPU,CPU\n"},
    {{"migraphx"}, {{"migraphx", "migraphx_fp16_enable", "1"}}, "slot 216: MIGraphX migraphx_fp16_enable=1\n"},
    {{"xnnpack", "cuda"},
     {{"cuda", "c", "d"}, {"xnnpack", "a", "b"}},
     "slot 216: XNNPACK a=b\nslot 205:\nslot 206: c=d\nslot 204:\n"},
};

static void options_go_through_the_functions_of_their_provider(void **state)
{
    const struct backend *const backends[] = {&onnxrt_apart_backend, &onnxrt_backend}; /* a fork comes first */

    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(backends); k++)
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
            struct error err = {0};

            if (open_with(backends[k], &cases[i], NULL, &err) < 0)
                fail_msg("%s: %s", cases[i].providers[0], err.message);
            assert_recorded(cases[i].expected);
        }
}

static void an_older_release_knows_openvino_by_another_name(void **state)
{
    const struct case_of_options openvino = {{"openvino"}, {{"openvino", "a", "b"}}, NULL};
    const struct onnxrt *ort;
    struct onnxrt older;
    struct error err = {0};

    (void)state;
    assert_int_equal(open_with(&onnxrt_backend, &openvino, NULL, &err), 0);
    assert_int_equal(onnxrt_load(NULL, &ort, &err), 0);
    assert_int_equal(ort->release, 30);
    assert_non_null(strstr(ort->path, "onnxruntime_that_records.so"));
    older = *ort;
    older.release = 16;
    struct ort_session_options *options = NULL;
    struct onnxrt_providers providers;
    const struct onnxrt_execution execution = {.providers = openvino.providers,
                                               .provider_options = {openvino.options, 1}};

    assert_int_equal(onnxrt_providers_init(&older, &execution, &providers, &err), 0);
    assert_null(older.api->create_session_options(&options));
    assert_int_equal(onnxrt_providers_append(&providers, options, &err), 0);
    assert_recorded("slot 216: OPENVINO a=b\n");
    older.api->release_session_options(options);
    onnxrt_providers_release(&providers);
}

static void what_nobody_takes_is_refused(void **state)
{
    static const struct case_of_options refusals[] = {
        {{"cuda"}, {{"tensorrt", "a", "b"}}, "'tensorrt:a=b': no such provider is among --providers"},
        {{"cuda"}, {{"nobody", "a", "b"}}, "'nobody:a=b': no such provider is among --providers"},
        {{"cpu", "cuda"}, {{"cuda", "a", "b"}}, "'cuda:a=b': no such provider is among --providers"},
        {{NULL}, {{"cuda", "a", "b"}}, "which are ['CPUExecutionProvider']"},
        {{"cpu"}, {{"cpu", "a", "b"}}, "CPUExecutionProvider takes no options"},
        {{"cuda"},
         {{"cuda", "a", "b"}, {"cuda", "refused", "1"}},
         "CUDAExecutionProvider does not work here with a=b, refused=1: Unknown provider option: \"refused\""},
        {{"vitisai"}, {{.provider = NULL}}, "VitisAIExecutionProvider does not work here: VitisAI: Failed to load"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        struct error err = {0};

        assert_int_equal(open_with(&onnxrt_backend, &refusals[i], NULL, &err), ERR_INVALID);
        assert_message_contains(&err, refusals[i].expected);
    }
}

static void nodes_that_run_elsewhere_are_told_in_one_line(void **state)
{
    static const struct case_of_options cuda = {{"cuda", "cpu"}, {{.provider = NULL}}, NULL};
    static const struct case_of_options processor = {{"cpu", "cuda"}, {{.provider = NULL}}, NULL};
    const struct backend *const backends[] = {&onnxrt_apart_backend, &onnxrt_backend};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(backends); i++) {
        struct captured_log captured;
        struct error err = {0};

        captured_log_init(&captured);
        assert_int_equal(open_with(backends[i], &processor, &captured.log, &err), 0);
        assert_false(captured_log_has(&captured, "W "));
        assert_int_equal(open_with(backends[i], &cuda, &captured.log, &err), 0);
        assert_true(captured_log_has(&captured,
                                     "W CUDAExecutionProvider: 3 of 5 nodes run on CPUExecutionProvider instead: "
                                     "RandomNormalLike (random), Loop (loop), Identity ()\n"));
        assert_false(captured_log_has(&captured, "Neg (neg)"));
        captured_log_release(&captured);
    }
    assert_int_equal(open_with(&onnxrt_backend, &cuda, NULL, NULL), 0);
    assert_recorded("slot 7: CUDAExecutionProvider\nslot 41: 3\n"); /* runs are not verbose */
}

static void assert_key(const char *area, const char *key, bool is_there, const char *instead)
{
    static const char bytes[] = "\0\1junk\0session.disable_prepacking\0ep.context_enable\0optimization.two words\0"
                                "ep.some.deviceId\0session.cut_off\1";
    struct string_builder text;

    string_init(&text);
    assert_int_equal(onnxrt_library_has_key((struct text){bytes, sizeof(bytes) - 2}, area, key, &text), is_there);
    assert_string_equal(text.size > 0 ? text.data : "", instead);
    string_release(&text);
}

static void a_key_is_known_when_the_library_holds_it_whole(void **state)
{
    (void)state;
    assert_key("", "session.disable_prepacking", true, "");
    assert_key("", "ep.context_enable", true, "");
    assert_key("", "session.disable_prepackin", false, "; did you mean 'session.disable_prepacking'?");
    assert_key("", "optimization.two", false, "");
    assert_key("", "session.cut_off", false, "");
    assert_key("ep.some.", "deviceId", true, "");
    assert_key("ep.some.", "devicId", false, "; did you mean 'deviceId'?");
    assert_key("ep.other.", "devicId", false, "");
}

static void a_key_that_a_careless_provider_does_not_know_is_told(void **state)
{
    static const struct case_of_options xnnpack = {
        {"xnnpack", "cuda"}, {{"xnnpack", "no_such_key", "1"}, {"cuda", "no_such_key_either", "1"}}, NULL};
    struct captured_log captured;
    struct error err = {0};

    (void)state;
    captured_log_init(&captured);
    assert_int_equal(open_with(&onnxrt_backend, &xnnpack, &captured.log, &err), 0);
    assert_true(captured_log_has(&captured,
                                 "W --provider-options xnnpack:no_such_key: the library of ONNX Runtime 1.30.0 "
                                 "does not hold this name"));
    assert_false(captured_log_has(&captured, "no_such_key_either"));
    captured_log_release(&captured);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(options_go_through_the_functions_of_their_provider, enter,
                                        scratch_folder_leave),
        cmocka_unit_test_setup_teardown(an_older_release_knows_openvino_by_another_name, enter, scratch_folder_leave),
        cmocka_unit_test_setup_teardown(nodes_that_run_elsewhere_are_told_in_one_line, enter, scratch_folder_leave),
        cmocka_unit_test_setup_teardown(what_nobody_takes_is_refused, enter, scratch_folder_leave),
        cmocka_unit_test_setup_teardown(a_key_that_a_careless_provider_does_not_know_is_told, enter,
                                        scratch_folder_leave),
        cmocka_unit_test(a_key_is_known_when_the_library_holds_it_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
