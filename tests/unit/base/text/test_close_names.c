/* The names that somebody may have meant. */
#include "support/unit_test.h"

#include "base/memory.h"
#include "base/text/close_names.h"

static void assert_suggestion(const char *wanted, const char *const *offered, size_t count, const char *expected)
{
    struct close_names names;
    struct string_builder text;

    string_init(&text);
    close_names_start(&names, text_of(wanted));
    for (size_t i = 0; i < count; i++)
        close_names_offer(&names, text_of(offered[i]));
    close_names_add_to(&names, &text);
    assert_string_equal(text.size > 0 ? text.data : "", expected);
    string_release(&text);
}

static void closest_names_come_first_and_once(void **state)
{
    const char *const offered[] = {"conv12", "conv1", "relu", "conv1", "conv2", "convolution", "conv", "Conv1_bias"};

    assert_suggestion("conv1_", offered, ARRAY_LEN(offered), "; did you mean 'conv12', 'conv1' or 'conv2'?");
    assert_suggestion("CONV1_b", offered, ARRAY_LEN(offered), "; did you mean 'Conv1_bias'?");
}

static void nothing_is_suggested_when_nothing_is_close(void **state)
{
    const char *const offered[] = {"relu", "", "softmax"};

    assert_suggestion("conv", offered, ARRAY_LEN(offered), "");
    assert_suggestion("", offered, ARRAY_LEN(offered), "");
    assert_suggestion("conv", NULL, 0, "");
}

static void names_longer_than_the_table_are_compared_by_their_beginnings(void **state)
{
    char wanted[1000], other[1000];

    for (size_t i = 0; i < sizeof(wanted); i++)
        wanted[i] = other[i] = 'a';
    wanted[999] = other[999] = '\0';
    other[3] = 'b';
    const char *const offered[] = {other};
    struct close_names names;
    close_names_start(&names, text_of(wanted));
    close_names_offer(&names, text_of(offered[0]));
    assert_int_equal(names.count, 1);
    assert_int_equal(names.best[0].distance, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closest_names_come_first_and_once),
        cmocka_unit_test(nothing_is_suggested_when_nothing_is_close),
        cmocka_unit_test(names_longer_than_the_table_are_compared_by_their_beginnings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
