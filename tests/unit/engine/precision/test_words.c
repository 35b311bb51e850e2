/* What decides on precisions, as words of the command line and back. */
#include "support/unit_test.h"

#include <string.h>

#include "base/memory.h"
#include "engine/precision/words.h"

static void assert_words(const struct precision_settings *settings, const char *expected)
{
    struct tactic_options words = {0};
    struct string_builder text;

    string_init(&text);
    precision_words_of(settings, &words);
    assert_true(words.known);
    tactic_options_text(&words, &text);
    assert_string_equal(text.data, expected);
    string_release(&text);
    tactic_options_release(&words);
}

/* Whether the settings that words stand for have these words again. */
static void assert_come_back(const struct precision_settings *settings)
{
    struct tactic_options words = {0}, again = {0};
    struct precision_settings read;
    struct error error = {0};
    struct arena arena;

    arena_init(&arena);
    precision_words_of(settings, &words);
    assert_int_equal(precision_words_read(&words, &arena, &read, &error), 0);
    assert_true(read.enabled[PRECISION_FLOAT32]);
    precision_words_of(&read, &again);
    assert_true(tactic_options_equal(&words, &again));
    tactic_options_release(&words);
    tactic_options_release(&again);
    arena_release(&arena);
}

static void settings_come_back_from_their_words(void **state)
{
    const struct precision_override layers[] = {{"a: b:c", DATA_FLOAT32}, {"d", DATA_BFLOAT16}};
    const struct precision_override tensors[] = {{"t", DATA_FLOAT16}};
    struct precision_settings settings = {.layers = {layers, 2}, .tensors = {tensors, 1}};

    assert_words(&(struct precision_settings){0}, "no option for precision");
    assert_come_back(&(struct precision_settings){0});
    settings.enabled[PRECISION_FLOAT16] = settings.enabled[PRECISION_INT8] = true;
    assert_words(&settings, "--fp16 --int8 --tensor-dtypes t:float16"); /* layers count with constraints only */
    settings.constraints = PRECISION_CONSTRAINTS_OBEY;
    settings.policy = PRECISION_POLICY_FASTEST;
    assert_words(&settings,
                 "--fp16 --int8 --precision-policy fastest --precision-constraints obey "
                 "--layer-precisions a: b:c:float32 --layer-precisions d:bfloat16 --tensor-dtypes t:float16");
    assert_come_back(&settings);
}

static void words_that_mean_nothing_here_are_refused(void **state)
{
    const char *const unknown[] = {"--fp4", "--layer-precisions nothing", "--layer-precisions a:float3", ""};

    for (size_t i = 0; i < ARRAY_LEN(unknown); i++) {
        struct tactic_options words = {.known = true};
        struct precision_settings read;
        struct error error = {0};
        struct arena arena;

        arena_init(&arena);
        tactic_options_add(&words, text_of("--fp16"));
        tactic_options_add(&words, text_of(unknown[i]));
        assert_int_equal(precision_words_read(&words, &arena, &read, &error), ERR_UNSUPPORTED);
        assert_non_null(strstr(error.message, unknown[i]));
        tactic_options_release(&words);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_come_back_from_their_words),
        cmocka_unit_test(words_that_mean_nothing_here_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
