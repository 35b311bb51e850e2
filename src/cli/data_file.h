/* cli/data_file.h: a file with arrays, for tools that take any kind: results of `run`, input data, or one feed dict. */
#ifndef CLI_DATA_FILE_H
#define CLI_DATA_FILE_H

#include "format/polygraphy/feed_dicts.h"
#include "format/polygraphy/run_results.h"

struct data_file {
    bool holds_results;
    struct run_results results; /* with holds_results */
    struct feed_dicts feeds;    /* otherwise; a bare feed dict is one iteration */
};

int data_file_load(struct data_file *ret, const char *path, struct error *err);
void data_file_release(struct data_file *file);

#endif
