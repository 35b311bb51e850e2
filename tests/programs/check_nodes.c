/* tests/programs/check_nodes.c: a check whose verdict is known: it fails when all named nodes are in the model.
 *
 *   check_nodes MODEL [--fail-node NAME]... [--fail-return-code N] [--default-return-code N]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/model/model.h"

static bool has_node(const struct model *model, const char *name)
{
    for (size_t i = 0; i < model->nodes.count; i++)
        if (text_equal_string(model->nodes.items[i].name, name))
            return true;
    return false;
}

int main(int argc, char **argv)
{
    int fail_code = 1, default_code = 0;
    bool all = argc > 1;
    struct model *model;
    struct error err = {0};

    if (argc < 2 || model_open(argv[1], NULL, &model, &err) < 0) {
        fprintf(stderr, "check_nodes: %s\n", err.message);
        return 99;
    }
    for (int i = 2; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--fail-node") == 0)
            all = all && has_node(model, argv[i + 1]);
        else if (strcmp(argv[i], "--fail-return-code") == 0)
            fail_code = (int)strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--default-return-code") == 0)
            default_code = (int)strtol(argv[i + 1], NULL, 10);
    }
    model_free(model);
    if (all)
        puts("REALLY BAD! FOUND A BAD NODE!");
    return all ? fail_code : default_code;
}
