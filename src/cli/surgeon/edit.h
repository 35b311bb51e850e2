/* cli/surgeon/edit.h: loading, saving and the result file, common to all tools of `surgeon`.
 *
 * The module cli/surgeon/ contains one file for each of these tools, which changes a model in memory.
 */
#ifndef CLI_SURGEON_EDIT_H
#define CLI_SURGEON_EDIT_H

#include "cli/model_file.h"
#include "cli/result_file.h"

/* All members are borrowed. */
struct surgeon_job {
    const struct command_context *context;
    const void *settings; /* settings of the command */
    const struct json_values *json;
    const struct model_file_settings *file;
    struct model *model;        /* set by surgeon_edit(), as are the following members */
    struct result_file *result; /* the result that `edit` fills */
};

/* Loads the model, calls `edit` to change and save it, and writes the file of --json. Returns errors of `edit`, of
 * model_file_load_original() and of the result file. */
int surgeon_edit(struct surgeon_job job, int (*edit)(const struct surgeon_job *job, struct error *err),
                 struct error *err);

/* Defines `function`, which runs a command whose settings of type `type` have the members `json` and `file`: it calls
 * surgeon_edit() with `edit`. */
#define DEFINE_SURGEON_RUN(function, type, edit)                                                                       \
    static int function(const struct command_context *context, const type *settings, struct error *err)                \
    {                                                                                                                  \
        const struct surgeon_job job = {context, settings, &settings->json, &settings->file, NULL, NULL};              \
                                                                                                                       \
        return surgeon_edit(job, edit, err);                                                                           \
    }                                                                                                                  \
    DEFINE_COMMAND_RUN(function, type)

#endif
