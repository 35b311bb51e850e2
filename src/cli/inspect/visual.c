/* cli/inspect/visual.c: see visual.h. */
#include "cli/inspect/visual.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/system.h"
#include "cli/options/groups.h"
#include "report/model.h"

extern char **environ;

static int choose_temporary_page(struct string_builder *ret, struct error *err)
{
    string_add_format(ret, "%s/polygraphy-XXXXXX", system_temporary_folder());
    if (mkdtemp(ret->data) == NULL)
        return error_set(err, ERR_IO, "cannot create the folder '%s': %s; pass --save-visual FILE", ret->data,
                         strerror(errno));
    string_add(ret, "/model.html");
    return 0;
}

/* Where there is no desktop, or no browser, the path in the log is enough. */
static void open_browser(const char *page)
{
    const char *words[] = {"xdg-open", page, NULL};
    pid_t child;

    if (getenv("DISPLAY") != NULL || getenv("WAYLAND_DISPLAY") != NULL)
        (void)posix_spawnp(&child, words[0], NULL, NULL, (char **)words, environ);
}

static int write_visual_page(const struct command_context *context, const struct visual_settings *settings,
                             const char *model_path, struct model *model, const char *page, struct error *err)
{
    const struct report_model_settings details = {
        .path = model_path, .statistics = true, .types = true, .ignore_external_data = settings->ignore_external_data};
    const struct report_values values = {.files.page = page};
    struct report *report = report_begin_always(context, "inspect model", model_path);
    int rc;

    report_set_verdict(report, REPORT_UNKNOWN, TEXT_FORMAT, TEXT_ARGS(model->graph_name));
    rc = report_model_write(model, &details, report_begin_network(report), err);
    if (rc < 0) {
        report_free(report);
        return rc;
    }
    return report_finish(context, &values, report, err);
}

int inspect_model_visual(const struct command_context *context, const struct visual_settings *settings,
                         const char *model_path, struct model *model, struct error *err)
{
    const char *page = settings->save;
    SCOPED_STRING(temporary);
    int rc = 0;

    if (page == NULL && !settings->show)
        return 0;
    if (page == NULL) {
        rc = choose_temporary_page(&temporary, err);
        page = temporary.data;
    }
    if (rc < 0)
        return rc;
    rc = write_visual_page(context, settings, model_path, model, page, err);
    if (rc == 0 && settings->show)
        open_browser(page);
    if (rc < 0 && settings->save == NULL) {
        char *folder SCOPED_FREE = file_folder(page);

        (void)file_remove_tree(folder, NULL);
    }
    return rc;
}
