/* plot/plots.h: plots of the errors of outputs, drawn during comparison.
 *
 * The module plot/ draws errors of compared outputs as SVG files. It depends on tensor/ and comparator/compare/; svg.h
 * and color_scale.h depend on neither.
 *
 * Files in the requested folders:
 *   absolute_error_<output>.svg, relative_error_<output>.svg   heat maps, see picture.h
 *   error_metrics_<output>.svg                                 likewise
 * From the second iteration on "_iteration_<number>" follows the output's name. Unsuitable characters in file names
 * become '_'. Plots of a run get unique names by an added number. Files of an earlier run are replaced.
 */
#ifndef PLOT_PLOTS_H
#define PLOT_PLOTS_H

#include "base/container/arena.h"
#include "base/container/name_map.h"
#include "comparator/compare/comparison.h"

struct plots_settings {
    const char *heat_map_folder, *error_plot_folder; /* NULL: none */
    struct log *log;
};

struct plots {
    struct plots_settings settings;
    struct name_map paths; /* of this run */
    struct arena memory;   /* of the paths */
    size_t saved;
    int rc; /* first error; later plots are not drawn */
    struct error error;
};

/* Creates the folders, so that errors are reported before the models run. Call plots_release() in any case. */
int plots_init(struct plots *plots, const struct plots_settings *settings, struct error *err);
void plots_release(struct plots *plots);

/* Callback for `on_compared`; `data` is a struct plots. Outputs without elements or with incompatible shapes have no
 * plots, strings only heat maps; comparison functions other than simple have none. */
void plots_add_comparison(void *data, const struct compared_outputs *compared);

/* Returns 0, or the first error. */
int plots_finish(const struct plots *plots, struct error *err);

#endif
