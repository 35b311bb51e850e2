/* cli/surgeon/edit.c: see edit.h. */
#include "cli/surgeon/edit.h"

int surgeon_edit(struct surgeon_job job, int (*edit)(const struct surgeon_job *job, struct error *err),
                 struct error *err)
{
    struct result_file result SCOPED(result_file_close) = {0};
    int rc = result_file_open(&result, job.context, job.json, job.file, err);

    if (rc < 0)
        return rc;
    job.result = &result;
    rc = model_file_load_original(job.context, job.file, &job.model, err);
    if (rc == 0)
        rc = edit(&job, err);
    if (rc == 0)
        rc = result_file_save(&result, job.file->save.path, err);
    model_free(job.model);
    return rc;
}
