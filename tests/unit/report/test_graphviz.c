/* Where boxes and lines go, as Graphviz says. */
#include "base/memory.h"
#include "report/graphviz.h"
#include "support/unit_test.h"

static struct drawing drawing;

static int make_drawing(void **state)
{
    drawing = (struct drawing){0};
    for (int i = 0; i < 2; i++)
        *VECTOR_APPEND(&drawing.boxes) = (struct drawing_box){.width = 72, .height = 36, .cluster = CLUSTER_NONE};
    *VECTOR_APPEND(&drawing.lines) = (struct drawing_line){.from = 0, .to = 1};
    return 0;
}

static int release_drawing(void **state)
{
    drawing_release(&drawing);
    return 0;
}

static void lengths_are_points_from_the_upper_left_corner(void **state)
{
    struct error error;

    assert_int_equal(graphviz_read_plain(TEXT("graph 1 2 3\n"
                                              "node 1 1 0.5 1 0.5 \"\" solid box black lightgrey\n"
                                              "node 0 1 2.5 1 0.5 \"\" solid box black lightgrey\n"
                                              "edge 0 1 4 1 2.25 1 2 1 1 1 0.75 solid black\n"
                                              "stop\n"),
                                         &drawing, &error),
                     0);
    assert_float_equal(drawing.width, 144, 1e-9);
    assert_float_equal(drawing.height, 216, 1e-9);
    assert_float_equal(drawing.boxes.items[0].center.y, 36, 1e-9);
    assert_float_equal(drawing.boxes.items[1].center.y, 180, 1e-9);
    assert_int_equal(drawing.lines.items[0].point_count, 4);
    assert_float_equal(drawing.lines.items[0].points[3].y, 162, 1e-9);
}

static void check_refused(struct text answer, const char *why)
{
    struct error error;

    assert_int_equal(graphviz_read_plain(answer, &drawing, &error), ERR_CORRUPT);
    assert_message_contains(&error, why);
}

static void boxes_have_to_be_placed_once_each(void **state)
{
    check_refused(TEXT("graph 1 2 3\nnode 0 1 1\nstop\n"), "not placed all 2 boxes");
    check_refused(TEXT("graph 1 2 3\nnode 0 1 1\nnode 0 1 1\nstop\n"), "line 3 ");
    check_refused(TEXT("graph 1 2 3\nnode 2 1 1\n"), "line 2 ");
}

static void numbers_have_to_make_sense(void **state)
{
    check_refused(TEXT("graph 1 nan 3\n"), "line 1 ");
    check_refused(TEXT("graph 1 2 1e300\n"), "line 1 ");
    check_refused(TEXT("graph 1 2\n"), "line 1 ");
    check_refused(TEXT("edge 0 1 99999 1 1\n"), "line 1 ");
    check_refused(TEXT("edge 1 0 4 1 1 1 1 1 1 1 1\n"), "line 1 ");
    check_refused(TEXT("edge 0 1 5 1 1 1 1 1 1 1 1 1 1\n"), "line 1 ");
}

static void an_answer_has_an_end(void **state)
{
    check_refused(TEXT("graph 1 2 3\nnode 0 1 1\nnode 1 1 1\nedge 0 1 4 1 1 1 1 1 1 1 1\n"), "not placed");
    check_refused(TEXT(""), "not placed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lengths_are_points_from_the_upper_left_corner, make_drawing, release_drawing),
        cmocka_unit_test_setup_teardown(boxes_have_to_be_placed_once_each, make_drawing, release_drawing),
        cmocka_unit_test_setup_teardown(numbers_have_to_make_sense, make_drawing, release_drawing),
        cmocka_unit_test_setup_teardown(an_answer_has_an_end, make_drawing, release_drawing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
