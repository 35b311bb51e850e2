/* plot/plots.h: pictures of the errors of outputs, drawn while outputs are compared.
 *
 * The module plot/ draws errors: comparisons come in while they are made, SVG files go out. It uses tensor/ and the
 * results of comparator/compare/; svg.h and color_scale.h know of neither.
 *
 * Files, in the folders that were asked for:
 *   absolute_error_<output>.svg, relative_error_<output>.svg   heat maps, see picture.h
 *   error_metrics_<output>.svg                                 likewise
 * From the second iteration on "_iteration_<number>" follows the output's name. Characters that file names are better
 * without become '_'. No two plots of a run have the same name: a number is added. What an earlier run left is
 * replaced.
 */
#ifndef PLOT_PLOTS_H
#define PLOT_PLOTS_H

#include "base/container/arena.h"
#include "base/container/name_map.h"
#include "comparator/compare/comparison.h"

struct plots_settings {
    const char *heat_map_folder, *error_plot_folder; /* NULL: not wanted */
    struct log *log;
};

struct plots {
    struct plots_settings settings;
    struct name_map paths; /* of this run */
    struct arena memory;   /* of the paths */
    size_t saved;
    int rc; /* of the first one that could not be saved; no others were drawn then */
    struct error error;
};

/* Makes the folders: what cannot be saved is said before anything is run. Release in any case. */
int plots_init(struct plots *plots, const struct plots_settings *settings, struct error *err);
void plots_release(struct plots *plots);

/* For `on_compared` of whoever compares; `data` is a struct plots. Outputs without elements or whose shapes do not go
 * together have no plots, strings only heat maps; other functions than the simple one have none at all. */
void plots_add_comparison(void *data, const struct compared_outputs *compared);

/* Whether all went well: 0, or the first error. */
int plots_finish(const struct plots *plots, struct error *err);

#endif
