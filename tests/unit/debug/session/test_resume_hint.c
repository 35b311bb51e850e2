/* test_resume_hint.c: the command line that continues a session. */
#include "support/unit_test.h"

#include <stdlib.h>

#include "debug/record/session_replay.h"

static void assert_hint(const char *const *words, bool options_after_check, const char *expected)
{
    char *hint = resume_hint_make(words, "r.json", options_after_check);

    assert_string_equal(hint, expected);
    free(hint);
}

static void option_goes_before_the_check(void **state)
{
    const char *const words[] = {"polygraphy", "debug", "repeat", "--until", "3", "--check", "./check.sh", "-v", NULL};

    assert_hint(words, false, "polygraphy debug repeat --until 3 --load-debug-replay r.json --check ./check.sh -v");
}

static void option_goes_to_the_end_when_there_is_no_check(void **state)
{
    const char *const words[] = {"polygraphy", "debug", "reduce", "m.onnx", "-o", "r.onnx", NULL};

    assert_hint(words, false, "polygraphy debug reduce m.onnx -o r.onnx --load-debug-replay r.json");
}

static void older_option_is_replaced(void **state)
{
    const char *const apart[] = {"p", "--load-debug-replay", "old", "x", "--check=a b", NULL};
    const char *const joined[] = {"p", "--load-debug-replay=old", "x", NULL};
    const char *const last[] = {"p", "--load-debug-replay", NULL};

    assert_hint(apart, true, "p x --load-debug-replay r.json '--check=a b'");
    assert_hint(joined, false, "p x --load-debug-replay r.json");
    assert_hint(last, false, "p --load-debug-replay r.json");
}

static void words_of_the_check_are_left_alone(void **state)
{
    const char *const words[] = {"p", "--check", "c", "--load-debug-replay", "its", "--check", "own", NULL};

    assert_hint(words, false, "p --load-debug-replay r.json --check c --load-debug-replay its --check own");
}

static void options_behind_a_quoted_check_are_options(void **state)
{
    const char *const words[] = {"p", "--check-inference", "c d", "--load-debug-replay", "old", "-v", NULL};

    assert_hint(words, true, "p --load-debug-replay r.json --check-inference 'c d' -v");
}

static void words_are_quoted_for_the_shell(void **state)
{
    const char *const words[] = {"p", "it's", "", "a\"$b", "x:[1,2]", "~", NULL};

    assert_hint(words, false, "p 'it'\\''s' '' 'a\"$b' 'x:[1,2]' '~' --load-debug-replay r.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(option_goes_before_the_check),
        cmocka_unit_test(option_goes_to_the_end_when_there_is_no_check),
        cmocka_unit_test(older_option_is_replaced),
        cmocka_unit_test(words_of_the_check_are_left_alone),
        cmocka_unit_test(options_behind_a_quoted_check_are_options),
        cmocka_unit_test(words_are_quoted_for_the_shell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
