/* What struct error holds after a failure. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/text/text.h"
#include "support/unit_test.h"

static void failure_is_one_line(void **state)
{
    struct error err = {0};

    assert_int_equal(error_set(&err, ERR_CORRUPT, "'%s': byte %d", "a.onnx", 7), ERR_CORRUPT);
    assert_int_equal(err.code, ERR_CORRUPT);
    assert_string_equal(err.message, "'a.onnx': byte 7");
}

static void nobody_has_to_want_the_message(void **state)
{
    errno = ENOENT;
    assert_int_equal(error_set(NULL, ERR_IO, "%d", 1), ERR_IO);
    assert_int_equal(error_set_errno(NULL, ERR_IO, "%d", 1), ERR_IO);
}

static void reason_of_the_system_is_appended(void **state)
{
    struct error err = {0};

    errno = ENOSPC;
    error_set_errno(&err, ERR_IO, "cannot write '%s'", "a");
    assert_string_equal(err.message, "cannot write 'a': No space left on device");
}

static void context_goes_in_front_and_keeps_the_code(void **state)
{
    struct error err = {0};

    error_set(&err, ERR_MISSING, "no tensor 'x'");
    assert_int_equal(error_context(&err, "node '%s'", "conv"), ERR_MISSING);
    assert_string_equal(err.message, "node 'conv': no tensor 'x'");
}

static void message_may_be_made_of_the_message_before(void **state)
{
    struct error err = {0};

    error_set(&err, ERR_IO, "inner");
    error_set(&err, ERR_IO, "outer (%s)", err.message);
    assert_string_equal(err.message, "outer (inner)");
}

static void message_is_one_line_whatever_names_it_holds(void **state)
{
    struct error err = {0};

    error_set(&err, ERR_CORRUPT, "node '%s'", "a\nb\033[2Jc\x7F\xC3\xA9");
    assert_string_equal(err.message, "node 'a b [2Jc \xC3\xA9'");
}

static void long_message_is_cut_between_characters(void **state)
{
    struct error err = {0};
    char text[4096];

    for (size_t i = 0; i + 2 < sizeof(text); i += 2)
        memcpy(text + i, "\xC3\xA9", 3); /* e with an acute accent */
    for (int offset = 0; offset < 2; offset++) {
        error_set(&err, ERR_IO, "%.*s%s", offset, "x", text);
        size_t length = strlen(err.message);
        assert_in_range(length, sizeof(err.message) - 3, sizeof(err.message) - 1);
        for (size_t i = (size_t)offset; i < length; i += 2)
            assert_int_equal(text_utf8_length(err.message + i, length - i), 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failure_is_one_line),
        cmocka_unit_test(nobody_has_to_want_the_message),
        cmocka_unit_test(reason_of_the_system_is_appended),
        cmocka_unit_test(context_goes_in_front_and_keeps_the_code),
        cmocka_unit_test(message_may_be_made_of_the_message_before),
        cmocka_unit_test(message_is_one_line_whatever_names_it_holds),
        cmocka_unit_test(long_message_is_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
