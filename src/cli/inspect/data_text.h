/* cli/inspect/data_text.h: the arrays of a file, as `inspect data` shows them. */
#ifndef CLI_INSPECT_DATA_TEXT_H
#define CLI_INSPECT_DATA_TEXT_H

#include "cli/data_file.h"
#include "tensor/values/text.h"

struct inspect_data_settings {
    bool all;               /* iterations, not just the first */
    bool values, histogram; /* beside statistics */
    struct tensor_text_options layout;
};

void inspect_data_to_text(const struct data_file *file, const struct inspect_data_settings *settings,
                          struct string_builder *text);

/* The same as JSON: {"kind": "results", "runners": [{"name", "iteration_count", "iterations": [[{"name", "dtype",
 * ...}]]}]}, or {"kind": "inputs", "iteration_count", "iterations"}. */
int inspect_data_save(const struct data_file *file, const struct inspect_data_settings *settings, const char *path,
                      struct error *err);

#endif
