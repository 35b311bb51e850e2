/* cli/inspect/visual.h: a model as a page for a browser. */
#ifndef CLI_INSPECT_VISUAL_H
#define CLI_INSPECT_VISUAL_H

#include "cli/commands.h"
#include "onnx/model/model.h"

struct visual_settings {
    const char *save; /* path of the page; NULL: a temporary file, which is opened in a browser */
    bool show;        /* --visual */
    bool ignore_external_data;
};

/* Writes the page that these options request, if any, and logs its path. `model_path` is shown on the page, and stands
 * in its commands. */
int inspect_model_visual(const struct command_context *context, const struct visual_settings *settings,
                         const char *model_path, struct model *model, struct error *err);

#endif
