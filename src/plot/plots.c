/* plot/plots.c: see plots.h. */
#include "plot/plots.h"

#include <stdlib.h>

#include "base/file/file.h"
#include "plot/picture.h"

#define NAME_MOST 150 /* bytes of an output's name in a file name */

int plots_init(struct plots *plots, const struct plots_settings *settings, struct error *err)
{
    int rc = 0;

    *plots = (struct plots){.settings = *settings};
    name_map_init(&plots->paths);
    arena_init(&plots->memory);
    if (settings->heat_map_folder != NULL)
        rc = file_make_folders(settings->heat_map_folder, err);
    if (rc < 0)
        return error_context(err, "--save-heatmaps");
    if (settings->error_plot_folder != NULL)
        rc = file_make_folders(settings->error_plot_folder, err);
    return rc < 0 ? error_context(err, "--save-error-metrics-plot") : 0;
}

void plots_release(struct plots *plots)
{
    name_map_release(&plots->paths);
    arena_release(&plots->memory);
}

int plots_finish(const struct plots *plots, struct error *err)
{
    if (plots->rc < 0)
        *err = plots->error;
    return plots->rc;
}

/* ---- Names of files ---- */

static bool is_harmless(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
           c == '.';
}

static void add_file_name(const char *kind, const struct compared_outputs *compared, struct string_builder *name)
{
    const char *output = compared->first->name;

    string_add_format(name, "%s_", kind);
    for (size_t i = 0; output[i] != '\0' && i < NAME_MOST; i++)
        string_add_char(name, is_harmless(output[i]) ? output[i] : '_');
    if (compared->iteration > 0)
        string_add_format(name, "_iteration_%zu", compared->iteration);
}

/* A unique path for a plot of this run, valid as long as `plots`. */
static const char *make_path(struct plots *plots, const char *folder, const char *kind,
                             const struct compared_outputs *compared)
{
    SCOPED_STRING(name);
    size_t base;
    char *path;
    const char *kept;

    add_file_name(kind, compared, &name);
    base = name.size;
    string_add(&name, ".svg");
    path = file_join(folder, name.data);
    for (size_t i = 2; name_map_find(&plots->paths, text_of(path)) != NAME_MAP_NONE; i++) {
        free(path);
        string_truncate(&name, base);
        string_add_format(&name, "_%zu.svg", i);
        path = file_join(folder, name.data);
    }
    kept = arena_strdup(&plots->memory, path);
    name_map_add(&plots->paths, text_of(kept), 0);
    free(path);
    return kept;
}

/* ---- Drawing ---- */

static int save_plot(struct plots *plots, const char *folder, const char *kind, const struct compared_outputs *compared,
                     struct svg *svg, struct error *err)
{
    const char *path = make_path(plots, folder, kind, compared);
    int rc = file_write(path, svg->text.data, svg->text.size, FILE_DURABLE, err);

    svg_release(svg);
    if (rc < 0)
        return rc;
    plots->saved++;
    log_message(plots->settings.log, LOG_INFO, "Saving plot of '%s' to: '%s'", compared->first->name, path);
    return 0;
}

static int save_heat_map(struct plots *plots, const struct compared_outputs *compared,
                         const struct compare_options *options, enum difference_kind kind, struct error *err)
{
    struct svg svg;
    int rc = heat_map_draw(compared, options, kind, &svg, err);

    return rc < 0 ? rc
                  : save_plot(plots, plots->settings.heat_map_folder,
                              kind == DIFFERENCE_ABSOLUTE ? "absolute_error" : "relative_error", compared, &svg, err);
}

static int save_error_plot(struct plots *plots, const struct compared_outputs *compared,
                           const struct compare_options *options, struct error *err)
{
    struct svg svg;
    int rc = error_plot_draw(compared, options, &svg, err);

    return rc < 0 ? rc : save_plot(plots, plots->settings.error_plot_folder, "error_metrics", compared, &svg, err);
}

static bool has_magnitude(const struct compared_outputs *compared)
{
    return compared->first->tensor.type != DATA_STRING && compared->second->tensor.type != DATA_STRING;
}

static int draw_plots(struct plots *plots, const struct compared_outputs *compared, struct error *err)
{
    struct compare_options options = compared->criteria->simple;
    int rc = 0;

    options.atol = compared->result->atol;
    if (plots->settings.heat_map_folder != NULL)
        rc = save_heat_map(plots, compared, &options, DIFFERENCE_ABSOLUTE, err);
    if (rc == 0 && plots->settings.heat_map_folder != NULL)
        rc = save_heat_map(plots, compared, &options, DIFFERENCE_RELATIVE, err);
    if (rc == 0 && plots->settings.error_plot_folder != NULL && has_magnitude(compared))
        rc = save_error_plot(plots, compared, &options, err);
    return rc;
}

void plots_add_comparison(void *data, const struct compared_outputs *compared)
{
    struct plots *plots = data;

    if (plots->rc < 0 || compared->function != COMPARISON_SIMPLE || compared->result->shape_mismatch ||
        tensor_elements(&compared->first->tensor) == 0)
        return;
    plots->rc = draw_plots(plots, compared, &plots->error);
    if (plots->rc < 0)
        error_context(&plots->error, "plot of output '%s'", compared->first->name);
}
