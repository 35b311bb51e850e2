/* test_progress_text.c: the line that tells how far a session is. */
#include "support/unit_test.h"

#include <math.h>
#include <string.h>

#include "cli/terminal/progress_text.h"

static const struct session_progress halfway = {
    .done = 12, .expected = 14, .nodes_now = 34, .nodes_whole = 276, .running = 1, .seconds_per_check = 3};

static void assert_line(struct session_progress progress, unsigned step, size_t width, const char *expected)
{
    struct string_builder text;

    string_init(&text);
    progress_to_text(&progress, 0, step, width, &text);
    assert_string_equal(text.data, expected);
    string_release(&text);
}

static void assert_time(int64_t expected, double seconds_per_check, const char *text)
{
    struct session_progress progress = {.done = 1,
                                        .expected = expected,
                                        .nodes_now = -1,
                                        .nodes_whole = -1,
                                        .running = 1,
                                        .seconds_per_check = seconds_per_check};
    struct string_builder line;
    const char *comma;

    string_init(&line);
    progress_to_text(&progress, 0, 0, 100, &line);
    comma = strchr(line.data, ',');
    if (text) {
        assert_non_null(comma);
        assert_string_equal(comma, text);
    } else {
        assert_null(comma);
    }
    string_release(&line);
}

static void bar_checks_nodes_and_time_make_one_line(void **state)
{
    assert_line(halfway, 0, 79, "[=========>          ] 12 of ~26 checks, 34 of 276 nodes left, about 0:42 left");
}

static void the_bar_is_empty_at_first_and_full_at_the_end(void **state)
{
    struct session_progress progress = {.expected = 9, .nodes_now = -1, .nodes_whole = -1, .running = 1};

    assert_line(progress, 0, 79, "[>                   ] 0 of ~9 checks");
    progress.done = 9, progress.expected = 0;
    assert_line(progress, 0, 79, "[====================] 9 of 9 checks");
    progress.done = 0;
    assert_line(progress, 0, 79, "[>                   ] 0 of 0 checks");
}

static void a_number_that_is_no_estimate_has_no_tilde(void **state)
{
    struct session_progress progress = {
        .done = 1, .expected = 1, .exact = true, .nodes_now = -1, .nodes_whole = -1, .running = 1};

    assert_line(progress, 0, 79, "[==========>         ] 1 of 2 checks");
}

static void without_a_known_end_a_mark_wanders_to_and_fro(void **state)
{
    struct session_progress progress = {.done = 1, .expected = -1, .nodes_now = 7, .nodes_whole = -1, .running = 1};

    assert_line(progress, 0, 79, "[<=>                 ] 1 check, 7 nodes left");
    assert_line(progress, 1, 79, "[ <=>                ] 1 check, 7 nodes left");
    assert_line(progress, 17, 79, "[                 <=>] 1 check, 7 nodes left");
    assert_line(progress, 18, 79, "[                <=> ] 1 check, 7 nodes left");
    assert_line(progress, 34, 79, "[<=>                 ] 1 check, 7 nodes left");
}

static void a_narrow_terminal_costs_the_bar_then_the_nodes_then_the_time(void **state)
{
    assert_line(halfway, 0, 78, "[=========>          ] 12 of ~26 checks, 34 of 276 nodes left, about 0:42 left");
    assert_line(halfway, 0, 77, "[========>          ] 12 of ~26 checks, 34 of 276 nodes left, about 0:42 left");
    assert_line(halfway, 0, 66, "[===>    ] 12 of ~26 checks, 34 of 276 nodes left, about 0:42 left");
    assert_line(halfway, 0, 65, "12 of ~26 checks, 34 of 276 nodes left, about 0:42 left");
    assert_line(halfway, 0, 54, "[========>         ] 12 of ~26 checks, about 0:42 left");
    assert_line(halfway, 0, 33, "12 of ~26 checks, about 0:42 left");
    assert_line(halfway, 0, 32, "[======>      ] 12 of ~26 checks");
    assert_line(halfway, 0, 16, "12 of ~26 checks");
}

static void no_line_is_longer_than_the_terminal_is_wide(void **state)
{
    struct string_builder text;

    string_init(&text);
    for (size_t width = 0; width < 100; width++)
        for (unsigned step = 0; step < 40; step++) {
            struct session_progress progress = halfway;

            progress.expected = step % 2 ? halfway.expected : -1;
            string_clear(&text);
            progress_to_text(&progress, 0, step, width, &text);
            assert_true(text.size <= width);
        }
    string_release(&text);
}

static void time_is_told_in_minutes_then_hours_then_days(void **state)
{
    assert_time(1, 1, ", about 0:01 left");
    assert_time(1, 59.6, ", about 1:00 left");
    assert_time(10, 61, ", about 10:10 left");
    assert_time(1, 3600, ", about 1:00:00 left");
    assert_time(100, 1000, ", about 27:46:40 left");
    assert_time(100, 86400 / 2., ", about 50 days left");
    assert_time(INT64_MAX / 2, 1e300, ", about 1000000 days left");
}

static void what_is_not_known_is_left_out(void **state)
{
    assert_time(-1, 3, NULL);
    assert_time(5, 0, NULL);
    assert_time(5, -1, NULL);
    assert_time(5, NAN, NULL);
    assert_time(5, INFINITY, NULL);
    assert_time(0, 3, NULL);
}

static void checks_at_the_same_time_divide_what_is_left(void **state)
{
    struct session_progress progress = halfway;

    assert_float_equal(progress_time_left(&progress, 0), 42, 1e-9);
    progress.running = 4;
    assert_float_equal(progress_time_left(&progress, 0), 10.5, 1e-9);
    progress.running = 0;
    assert_float_equal(progress_time_left(&progress, 0), 42, 1e-9);
}

static void time_passes_while_a_check_runs_but_not_for_those_that_have_not_begun(void **state)
{
    assert_float_equal(progress_time_left(&halfway, 2), 40, 1e-9);
    assert_float_equal(progress_time_left(&halfway, 1000), 39, 1e-9);
    assert_float_equal(progress_time_left(&halfway, -5), 42, 1e-9);
}

/* ---- Layers ---- */

static void assert_layer(const char *name, size_t number, size_t width, const char *expected)
{
    struct layer_progress layer = {.name = name, .number = number, .count = 26};
    struct string_builder text;

    string_init(&text);
    layer_to_text(&layer, width, &text);
    assert_string_equal(text.data, expected);
    string_release(&text);
}

static void a_layer_that_is_being_built_is_not_done_yet(void **state)
{
    assert_layer("conv1", 1, 79, "[>                   ] layer 1 of 26: conv1");
    assert_layer("conv1 + relu1", 13, 79, "[=========>          ] layer 13 of 26: conv1 + relu1");
    assert_layer("conv26", 26, 79, "[===================>] layer 26 of 26: conv26");
}

static void a_narrow_terminal_costs_the_end_of_the_name_then_the_bar(void **state)
{
    assert_layer("convolution", 13, 44, "[=========>          ] layer 13 of 26: convo");
    assert_layer("convolution", 13, 37, "[=========>          ] layer 13 of 26");
    assert_layer("convolution", 13, 36, "layer 13 of 26: convolution");
    assert_layer("convolution", 13, 20, "layer 13 of 26: conv");
    assert_layer("convolution", 13, 7, "layer 1");
    assert_layer("convolution", 13, 0, "");
}

static void a_name_is_cut_between_characters_and_moves_no_cursor(void **state)
{
    assert_layer("a\xc3\xa4\xc3\xb6", 13, 19, "layer 13 of 26: a\xc3\xa4");
    assert_layer("a\xc3\xa4\xc3\xb6", 13, 20, "layer 13 of 26: a\xc3\xa4");
    assert_layer("\xa4\xa4\xa4\xa4\xa4\xa4", 13, 19, "layer 13 of 26: ");
    assert_layer("a\033[2J\r\nb\x7f", 13, 36, "layer 13 of 26: a?[2J??b?");
}

static void the_layer_stands_behind_a_session_where_there_is_room(void **state)
{
    struct layer_progress layer = {.name = "conv", .number = 3, .count = 11};
    struct string_builder text;

    string_init(&text);
    string_add(&text, "\r1 check");
    layer_add_to_text(&layer, 1, 21, &text);
    assert_string_equal(text.data, "\r1 check");
    layer_add_to_text(&layer, 1, 22, &text);
    assert_string_equal(text.data, "\r1 check, layer 3 of 11");
    layer.unit = "step";
    layer_add_to_text(&layer, 1, 40, &text);
    assert_string_equal(text.data, "\r1 check, layer 3 of 11, step 3 of 11");
    string_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bar_checks_nodes_and_time_make_one_line),
        cmocka_unit_test(the_bar_is_empty_at_first_and_full_at_the_end),
        cmocka_unit_test(a_number_that_is_no_estimate_has_no_tilde),
        cmocka_unit_test(without_a_known_end_a_mark_wanders_to_and_fro),
        cmocka_unit_test(a_narrow_terminal_costs_the_bar_then_the_nodes_then_the_time),
        cmocka_unit_test(no_line_is_longer_than_the_terminal_is_wide),
        cmocka_unit_test(time_is_told_in_minutes_then_hours_then_days),
        cmocka_unit_test(what_is_not_known_is_left_out),
        cmocka_unit_test(checks_at_the_same_time_divide_what_is_left),
        cmocka_unit_test(time_passes_while_a_check_runs_but_not_for_those_that_have_not_begun),
        cmocka_unit_test(a_layer_that_is_being_built_is_not_done_yet),
        cmocka_unit_test(a_narrow_terminal_costs_the_end_of_the_name_then_the_bar),
        cmocka_unit_test(a_name_is_cut_between_characters_and_moves_no_cursor),
        cmocka_unit_test(the_layer_stands_behind_a_session_where_there_is_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
