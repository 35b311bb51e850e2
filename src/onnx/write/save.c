/* onnx/write/save.c: see save.h. */
#include "onnx/write/save.h"

#include <stdlib.h>

#include "onnx/external/data.h"

static int provide_external_data(const struct subgraph *subgraph, const char *path, struct path_list *ret_made,
                                 struct error *err)
{
    char *folder = file_folder(path);
    int rc = external_data_provide(subgraph, folder, EXTERNAL_COPY, ret_made, err);

    free(folder);
    return rc;
}

int model_save(const struct subgraph *subgraph, const char *path, const struct external_settings *external,
               bool ignore_external_data, struct error *err)
{
    struct path_list made = {0};
    int rc = 0;

    file_remove_leftovers(path);
    if (!ignore_external_data)
        rc = provide_external_data(subgraph, path, &made, err);
    if (rc == 0)
        rc = model_write(subgraph, path, external, FILE_DURABLE, err);
    if (rc < 0)
        path_list_remove(&made);
    path_list_release(&made);
    return rc;
}
