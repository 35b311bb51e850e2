/* Pictures of errors: what is in them, and what they must never become. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "plot/picture.h"
#include "support/results_fixture.h"
#include "support/unit_test.h"

static const char *name = "out";
static struct svg svg;

static bool has(const char *part)
{
    return strstr(svg.text.data, part) != NULL;
}

/* Draws a heat map, or the error plot, of two tensors of this many floats. */
static void draw(const float *a, const float *b, struct shape shape, bool heat_map)
{
    struct named_tensor first = {.name = (char *)name, .tensor = tensor_of(DATA_FLOAT32, shape, a)};
    struct named_tensor second = {.name = (char *)name, .tensor = tensor_of(DATA_FLOAT32, shape, b)};
    struct compare_options options = COMPARE_DEFAULTS;
    struct comparison_criteria criteria = {.simple = options};
    struct compare_result result;
    struct compared_outputs compared = {COMPARISON_SIMPLE, "A", "B", 3, &first, &second, &criteria, &result};

    assert_int_equal(compare_outputs(&first.tensor, &second.tensor, &options, &result, NULL), 0);
    if (heat_map)
        assert_int_equal(heat_map_draw(&compared, &options, DIFFERENCE_ABSOLUTE, &svg, NULL), 0);
    else
        assert_int_equal(error_plot_draw(&compared, &options, &svg, NULL), 0);
    assert_true(has("</svg>\n"));
}

static void a_single_bad_element_of_a_million_stays_visible(void **state)
{
    size_t count = 1 << 20;
    float *a = memory_alloc_zero(count, sizeof(*a)), *b = memory_alloc_zero(count, sizeof(*b));

    a[777777] = 2;
    draw(a, b, SHAPE(1024, 1024), true);
    assert_true(has("<path stroke=\"#2b0010\" d=\"M140 189h1\"/>")); /* 759 and 561, four in a cell */
    assert_true(has("greatest (encircled): 2 at (759, 561)") && has("<circle "));
    assert_true(has("zero: 1048575"));
    svg_release(&svg);
    free(a);
    free(b);
}

static void nan_and_infinities_have_colors_of_their_own(void **state)
{
    draw((float[]){1, NAN, INFINITY, 2}, (float[]){1, 1, 1, 1}, SHAPE(2, 2), true);
    assert_true(has("NaN: 1") && has("infinite: 1") && has("zero: 1"));
    assert_true(has("<path stroke=\"#00c030\" d=\"M1 0h1\"/>"));
    assert_true(has("<path stroke=\"#0090ff\" d=\"M0 1h1\"/>"));
    assert_true(has("iteration 3 | 3 of 4 elements exceed both tolerances"));
    svg_release(&svg);
}

static void equal_outputs_have_no_scale(void **state)
{
    draw((float[]){1, 2}, (float[]){1, 2}, SHAPE(2), true);
    assert_true(has("no element differs"));
    assert_false(has("<circle ") || has("nan") || has("inf"));
    svg_release(&svg);
    draw((float[]){0, 0}, (float[]){0, 0}, SHAPE(2), false);
    svg_release(&svg);
    draw((float[]){5}, (float[]){5}, (struct shape){0}, true);
    svg_release(&svg);
}

static void a_picture_of_noise_is_bounded(void **state)
{
    size_t count = 2048 * 512;
    float *a = memory_alloc_zero(count, sizeof(*a)), *b = memory_alloc_zero(count, sizeof(*b));
    uint32_t random = 1;

    for (size_t i = 0; i < count; i++) {
        random = random * 1664525 + 1013904223;
        a[i] = powf(10, (float)(random >> 24) / 8 - 16);
        b[i] = random & 0x800000 ? 1 : a[i] * 1.5F;
    }
    draw(a, b, SHAPE(2048, 512), true);
    assert_true(svg.text.size < 1000000);
    svg_release(&svg);
    draw(a, b, SHAPE(2048, 512), false);
    assert_true(svg.text.size < 400000);
    svg_release(&svg);
    free(a);
    free(b);
}

static void the_error_plot_shows_tolerances_and_who_exceeds_them(void **state)
{
    draw((float[]){1, 10, 100, NAN}, (float[]){1.1F, 10, 100.00001F, 1}, SHAPE(4), false);
    assert_true(has("stroke=\"#008000\"/>"));       /* atol */
    assert_true(has("stroke-dasharray=\"6 3\"/>")); /* rtol, sloping */
    assert_true(has("2 of 4 elements exceed both tolerances (atol 1e-05, rtol 1e-05) | FAILED"));
    svg_release(&svg);
}

static void extreme_values_and_tolerances_stay_finite(void **state)
{
    draw((float[]){1e-45F, 3e38F, 0, INFINITY, -INFINITY}, (float[]){0, -3e38F, 1e-45F, INFINITY, 5}, SHAPE(5), false);
    assert_false(has("\"nan\"") || has("\"inf\"") || has("=\"-inf") || has("=\"-nan"));
    svg_release(&svg);
    draw((float[]){1e-45F, 3e38F, 0, INFINITY, -INFINITY}, (float[]){0, -3e38F, 1e-45F, INFINITY, 5}, SHAPE(5), true);
    assert_false(has("\"nan\"") || has("\"inf\"") || has("=\"-inf") || has("=\"-nan"));
    svg_release(&svg);
}

static void names_are_escaped_and_shortened(void **state)
{
    char longer[5000];

    name = "<a&b>\xFF\x01";
    draw((float[]){1}, (float[]){2}, SHAPE(1), true);
    assert_true(has("Absolute error | &lt;a&amp;b&gt;\xEF\xBF\xBD\xEF\xBF\xBD</text>"));
    assert_false(has("<a&") || has("\xFF\x01"));
    svg_release(&svg);
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    name = longer;
    draw((float[]){1}, (float[]){2}, SHAPE(1), true);
    assert_true(has("xxx...xxx") && svg.text.size < 10000);
    svg_release(&svg);
    name = "out";
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_single_bad_element_of_a_million_stays_visible),
        cmocka_unit_test(nan_and_infinities_have_colors_of_their_own),
        cmocka_unit_test(equal_outputs_have_no_scale),
        cmocka_unit_test(a_picture_of_noise_is_bounded),
        cmocka_unit_test(the_error_plot_shows_tolerances_and_who_exceeds_them),
        cmocka_unit_test(extreme_values_and_tolerances_stay_finite),
        cmocka_unit_test(names_are_escaped_and_shortened),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
