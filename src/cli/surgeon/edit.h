/* cli/surgeon/edit.h: what all tools of `surgeon` do around their work.
 *
 * The module cli/surgeon/ has a file for each of these tools: it changes a model in memory as its options say.
 */
#ifndef CLI_SURGEON_EDIT_H
#define CLI_SURGEON_EDIT_H

#include "cli/model_file.h"
#include "cli/result_file.h"

/* Everything is borrowed. */
struct surgeon_job {
    const struct command_context *context;
    const void *settings; /* of the command */
    const struct json_values *json;
    const struct model_file_settings *file;
    struct model *model;        /* set by surgeon_edit(), like what follows */
    struct result_file *result; /* for what `edit` did */
};

/* Loads the model, has `edit` change and save it, and writes the file of --json. Errors are those of `edit`, of
 * model_file_load_original() and of the result file. */
int surgeon_edit(struct surgeon_job job, int (*edit)(const struct surgeon_job *job, struct error *err),
                 struct error *err);

#endif
