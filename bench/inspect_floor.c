/* bench/inspect_floor.c: the lower bound for `inspect model`: indexing the model, and writing as many bytes as the
 * model has.
 *
 *   inspect_floor MODEL
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "onnx/model/model.h"

int main(int argc, char **argv)
{
    struct model *model;
    struct error err = {0};

    if (argc != 2) {
        fprintf(stderr, "usage: inspect_floor MODEL\n");
        return 2;
    }
    if (model_open(argv[1], NULL, &model, &err) < 0) {
        fprintf(stderr, "inspect_floor: %s\n", err.message);
        return 2;
    }
    for (size_t at = 0; at < model->map.size;) {
        ssize_t done = write(STDOUT_FILENO, model->map.data + at, model->map.size - at);

        if (done < 0) {
            fprintf(stderr, "inspect_floor: %s\n", strerror(errno));
            return 2;
        }
        at += (size_t)done;
    }
    model_free(model);
    return 0;
}
