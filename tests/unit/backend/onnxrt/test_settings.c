/* test_settings.c: entries that a tool adds to the user's session configuration. */
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/settings.h"

static const struct onnxrt_entry user_entries[] = {{NULL, "key", "of the user"}};

static void an_entry_is_added_unless_the_user_has_set_it(void **state)
{
    struct onnxrt_settings settings = {.execution.session_config = {user_entries, 1}};
    struct onnxrt_entry *first, *second;

    (void)state;
    first = onnxrt_settings_add(&settings, (struct onnxrt_entry){NULL, "key", "of the tool"});
    assert_int_equal(settings.execution.session_config.count, 1);
    assert_string_equal(settings.execution.session_config.items[0].value, "of the user");
    second = onnxrt_settings_add(&settings, (struct onnxrt_entry){NULL, "other", "of the tool"});
    assert_int_equal(settings.execution.session_config.count, 2);
    assert_string_equal(settings.execution.session_config.items[1].key, "other");
    free(second);
    free(first);
}

static bool refuses_fallback(const char *const *providers)
{
    static const struct onnxrt_entry library = {.key = "cpu_of_ours", .value = "ours.so"};
    struct onnxrt_settings settings = {.execution = {.providers = providers, .provider_libraries = {&library, 1}}};
    struct onnxrt_entry *entries = onnxrt_settings_refuse_fallback(&settings);
    bool ret = entries != NULL && settings.execution.session_config.count == 1 &&
               strcmp(entries[0].key, "session.disable_cpu_ep_fallback") == 0 && strcmp(entries[0].value, "1") == 0;

    assert_true(ret || settings.execution.session_config.count == 0);
    free(entries);
    return ret;
}

static void fallback_to_the_processor_is_refused_unless_it_is_asked_for(void **state)
{
    (void)state;
    assert_true(refuses_fallback((const char *const[]){"cuda", NULL}));
    assert_true(refuses_fallback((const char *const[]){"TensorrtExecutionProvider", "cuda", NULL}));
    assert_true(refuses_fallback((const char *const[]){"cpu_of_ours", NULL}));
    assert_true(refuses_fallback((const char *const[]){"my_cpu", NULL}));
    assert_false(refuses_fallback((const char *const[]){"cuda", "cpu", NULL}));
    assert_false(refuses_fallback((const char *const[]){"cpu_of_ours", "CPU", NULL}));
    assert_false(refuses_fallback((const char *const[]){"CPUExecutionProvider", NULL}));
    assert_false(refuses_fallback((const char *const[]){NULL}));
    assert_false(refuses_fallback(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_is_added_unless_the_user_has_set_it),
        cmocka_unit_test(fallback_to_the_processor_is_refused_unless_it_is_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
