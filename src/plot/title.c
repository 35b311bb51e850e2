/* plot/title.c: see title.h. */
#include "plot/title.h"

#include "base/text/number.h"

static void add_line(struct string_builder *text, double x, double y, enum svg_style style, struct svg *svg)
{
    svg_text(svg, x, y, style, (struct text){text->data, text->size});
    string_clear(text);
}

static void add_side(const char *which, const char *runner, const struct named_tensor *output,
                     struct string_builder *text)
{
    string_add_format(text, "%s: %s | '%s' | %s ", which, runner, output->name, data_type_name(output->tensor.type));
    shape_to_text(&output->tensor.shape, text);
}

void plot_title_draw(const struct compared_outputs *compared, const struct compare_options *options, const char *what,
                     double x, struct svg *svg)
{
    char absolute[NUMBER_TEXT_SIZE], relative[NUMBER_TEXT_SIZE];
    struct string_builder text;

    string_init(&text);
    string_add_format(&text, "%s | %s", what, compared->first->name);
    add_line(&text, x, 32, SVG_HEADING, svg);
    add_side("first", compared->first_runner, compared->first, &text);
    add_line(&text, x, 54, SVG_NORMAL, svg);
    add_side("second (reference)", compared->second_runner, compared->second, &text);
    add_line(&text, x, 72, SVG_NORMAL, svg);
    string_add_format(&text, "iteration %zu | %zu of %zu elements exceed both tolerances (atol %s, rtol %s) | %s",
                      compared->iteration, compared->result->mismatches, compared->result->elements,
                      number_to_text_rounded(options->absolute_tolerance, 'g', 5, absolute),
                      number_to_text_rounded(options->relative_tolerance, 'g', 5, relative),
                      compared->result->passed ? "PASSED" : "FAILED");
    add_line(&text, x, 90, SVG_NORMAL, svg);
    string_release(&text);
}
